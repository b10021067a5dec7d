// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

#include <locale.h>

#include "base/similar.h"
#include "host/privileges.h"
#include "tools/scoz/cmds.h"

static const struct {
	const char *name;
	bool profiles; /* the others only read files, which anybody may have written */
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "record", true, cmd_record, "record what threads do and what they wait for" },
	{ "top", true, cmd_top, "watch what threads do and what they wait for, live" },
	{ "report", false, cmd_report,
	  "print a causal profile as a ranking, or a recording as a table, or as JSON" },
	{ "plot", false, cmd_plot,
	  "make a page of the ranking with its curves (HTML), or a picture: SVG, PNG" },
	{ "diff", false, cmd_diff, "tell what changed between two causal profiles" },
	{ "export", false, cmd_export,
	  "convert for other viewers: COZ, CSV, JSON, flame graphs, speedscope, Firefox, pprof" },
	{ "targets", false, cmd_targets, "list which lines and functions can be targets" },
	{ "waits", false, cmd_waits,
	  "tell who waits for whom in a causal recording, and what holds all up" },
	{ "whatif", false, cmd_whatif,
	  "tell from a causal recording what faster functions would bring" },
	{ "doctor", true, cmd_doctor,
	  "tell what this machine can do and how to mend what is missing" },
};

static void usage(FILE *out)
{
	fprintf(out, "Usage: scoz COMMAND [OPTION...]\n\n"
		     "Reads the causal profiles that scozd records.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].what);
	fprintf(out, "\n  --help, --version\n\n"
		     "`scoz help COMMAND` tells the options of a command.\n"
		     "Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be concluded.\n");
}

/* Output that could not be written is a failure even when everything else went well. */
static int flush_output(int status)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		log_warn("standard output: cannot write: %s",
			 errno ? strerror(errno) : "an earlier write failed");
		return EXIT_FAILED;
	}
	return status;
}

/* A file is easily given without a command. */
static int no_such(const char *name)
{
	_cleanup_free_ char *like = NULL;
	struct similar s;

	if (access(name, F_OK) == 0) {
		log_warn("%s: a file, and no command: `scoz report %s` shows what is in it", name,
			 name);
		return EXIT_USAGE;
	}
	similar_init(&s, name);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		similar_add(&s, commands[i].name);
	like = similar_text(&s);
	log_warn("%s: no such %s%s: `scoz --help` lists the commands", name,
		 name[0] == '-' ? "option" : "command", like);
	return EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		static char name[32];

		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		if (!commands[i].profiles)
			privileges_keep_users();
		/* Who speaks, in messages of getopt as in ours. */
		snprintf(name, sizeof(name), "scoz %s", commands[i].name);
		argv[1] = program_invocation_short_name = name;
		return flush_output(commands[i].run(argc - 1, argv + 1));
	}
	return no_such(argv[1]);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc > 2 && argv[2][0] != '-') {
		char *help[] = { argv[0], argv[2], "--help", NULL };

		return run_command(3, help);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return flush_output(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		version_print(stdout, "scoz");
		return flush_output(EXIT_DONE);
	}
	return run_command(argc, argv);
}
