// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz report: options, and which file is meant. See report_text.c and record_report.c. */
#include <getopt.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/causal/report_text.h"
#include "tools/scoz/recording/record_model.h"
#include "tools/scoz/text.h"

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz report [OPTION...] [FILE] [TARGET]\n\n"
		"Prints what is in FILE: a causal profile (by scozd; default " DEFAULT_PROFILE
		") or a\n"
		"recording (by scoz record; default " DEFAULT_RECORDING
		"); without FILE the newer of the\n"
		"two defaults.\n\n"
		"  -j, --json  print JSON (schema scoz-report/1 or scoz-record-report/1)\n"
		"  --help\n\n"
		"A profile: the targets, ranked by what is surely gained: how much less time one\n"
		"unit of progress would take if the target took less, with 95 %% intervals.\n"
		"  Worth it           making the target faster makes the program faster\n"
		"  Harmful if faster  it makes the program slower (contention)\n"
		"  Surely worthless   whatever happens to the target, the program takes as long\n"
		"  Unclear            not measured well enough: run longer\n\n"
		"  TARGET                 its whole curve; what has TARGET in its name or place\n"
		"  --sort bound|estimate|samples|name|doubt\n"
		"                         the order within each kind (default bound)\n"
		"  --limit N              at most N rows of each kind, 0: all (default: all that "
		"is\n"
		"                         worth it or harmful, 5 of the others)\n"
		"  --filter TEXT          only targets with TEXT (or *, ?) in their name or place\n"
		"  --color auto|always|never  auto: on a terminal, unless NO_COLOR is set\n"
		"  --per WHAT             also the samples of each process or rank\n"
		"  --process LIST, --pid, --rank as below: count only the samples of these; "
		"predictions\n"
		"                         are about the whole program all the same\n\n"
		"A recording: where the time of threads went, on CPUs [.] (kernel: [k]), "
		"waiting for\n"
		"I/O [I], other threads [L], a CPU [S] or anything else [B].\n"
		"  -s, --sort KEYS        rows by comm, dso, sym, pid, tid, class, kind, cpu, "
		"waker,\n"
		"                         file, srcline, process, rank (default comm,dso,sym)\n"
		"  --children             also count what functions called; sort by that\n"
		"  --no-children          only the innermost function (default)\n"
		"  -g, --call-graph       callers below each row\n"
		"  --no-kernel            the function that called the kernel instead of "
		"kernel functions\n"
		"  --inline               inlined functions by their own names\n"
		"  --per WHAT             a table for each process, rank or thread; also --by\n"
		"  --percent-limit PCT    no rows below PCT\n"
		"  --top-waits[=N]        instead of rows: for each class the N (10) places "
		"where threads\n"
		"                         waited most, and who woke them\n"
		"  --hints                say at the end what to do about waits (default)\n"
		"  --no-hints\n"
		"  --no-idle              without threads that did nothing but wait for "
		"work\n" RECORD_FILTER_HELP "\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be concluded.\n");
}

enum { PROFILE_LIMIT = 2000, PROFILE_FILTER, PROFILE_COLOR };

/* What there is of options that only profiles have. */
static struct report_options shown;
static const char *shown_by; /* the first of them; NULL: none */

static int report_profile(const char *path, const struct record_options *o)
{
	struct error err = { 0 };
	bool json = o->json, nobody;
	struct model *m;
	int ret;

	if (model_load(path, &m, &err))
		return cannot_read(path, FILE_PROFILE, &err);
	nobody = model_choose(m, o, &err) != 0;
	if (nobody) {
		log_warn("%s", err.text);
		text_list_add(&m->reasons, xstrdup(err.text));
	}
	if (json)
		ret = model_write_json(m, &shown.choice, stdout);
	else
		ret = nobody ? EXIT_NOTHING : report_print(m, &shown);
	if (nobody && ret == EXIT_DONE)
		ret = EXIT_NOTHING;
	if (ret == EXIT_NOTHING && !nobody) {
		fflush(stdout);
		model_print_reasons(m);
	}
	for (size_t i = 0; json && i < m->warnings.n; i++) {
		_cleanup_free_ char *text = text_shown(m->warnings.text[i]);

		log_warn("%s", text);
	}
	model_free(m);
	return ret;
}

/* ------------------------------------------------------------------------------------------ */

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Options that only recordings have leave no doubt which of the two is meant. */
static const char *default_file(const struct record_options *o)
{
	struct stat profile, recording;
	bool newer;

	if (o->only)
		return DEFAULT_RECORDING;
	if (shown_by)
		return DEFAULT_PROFILE;
	if (stat(DEFAULT_RECORDING, &recording) < 0)
		return DEFAULT_PROFILE;
	if (stat(DEFAULT_PROFILE, &profile) < 0)
		return DEFAULT_RECORDING;
	newer = is_newer(&recording, &profile);
	log_warn("this is about %s, which is newer than %s: name a file to choose",
		 newer ? DEFAULT_RECORDING : DEFAULT_PROFILE,
		 newer ? DEFAULT_PROFILE : DEFAULT_RECORDING);
	return newer ? DEFAULT_RECORDING : DEFAULT_PROFILE;
}

static int report_file(const char *path, const struct record_options *o)
{
	bool recording = recording_is(path) || (o->only && access(path, F_OK) < 0);

	if (recording && shown_by) {
		log_warn("%s is for causal profiles (scozd), and %s is a recording%s", shown_by,
			 path, strcmp(shown_by, "--sort") ? "" : ": sort by " RECORD_SORT_WORDS);
		return EXIT_USAGE;
	}
	if (recording)
		return record_report(path, o);
	if (o->only) {
		log_warn("--%s is for recordings (scoz record), and %s is none%s", o->only, path,
			 strcmp(o->only, "sort") ? "" : ": sort by " RANKING_SORT_WORDS);
		return EXIT_USAGE;
	}
	return report_profile(path, o);
}

/* Processes and ranks are told apart in profiles, too. */
static bool of_profiles(int option, const char *arg)
{
	return option == FILTER_PROCESS || option == FILTER_PID || option == FILTER_RANK ||
	       (option == OPTION_PER && strcmp(arg, "thread"));
}

/* Returns false where @arg is wrong. */
static bool profile_option(int option, const char *arg)
{
	static const char *const colors[] = { "auto", "always", "never" };
	char *end;

	switch (option) {
	case PROFILE_LIMIT:
		shown_by = "--limit";
		shown.choice.limit = strtoul(arg, &end, 10);
		if (*arg >= '0' && *arg <= '9' && !*end)
			return true;
		log_warn("--limit: %s is not a number of rows", arg);
		return false;
	case PROFILE_FILTER:
		shown_by = "--filter";
		shown.choice.filter = arg;
		return true;
	case PROFILE_COLOR:
		for (size_t i = 0; i < ARRAY_SIZE(colors); i++) {
			if (!strcmp(arg, colors[i])) {
				shown.color = i;
				return true;
			}
		}
		log_warn("--color: %s is none of auto, always, never", arg);
		return false;
	}
	return false;
}

/* A word of profiles, or keys of recordings. */
static bool sorts_profile(const char *arg)
{
	int sort = ranking_sort_named(arg);

	if (sort < 0)
		return false;
	shown.choice.sort = sort;
	shown.choice.sorted = true;
	shown_by = "--sort";
	return true;
}

static int report_options(int argc, char **argv, struct record_options *o)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "sort", required_argument, NULL, REPORT_SORT },
		{ "children", no_argument, NULL, REPORT_CHILDREN },
		{ "no-children", no_argument, NULL, REPORT_NO_CHILDREN },
		{ "call-graph", no_argument, NULL, REPORT_GRAPH },
		{ "no-kernel", no_argument, NULL, REPORT_NO_KERNEL },
		{ "inline", no_argument, NULL, REPORT_INLINE },
		{ "percent-limit", required_argument, NULL, REPORT_PERCENT_LIMIT },
		{ "top-waits", optional_argument, NULL, REPORT_TOP_WAITS },
		{ "hints", no_argument, NULL, REPORT_HINTS },
		{ "no-hints", no_argument, NULL, REPORT_NO_HINTS },
		{ "no-idle", no_argument, NULL, REPORT_NO_IDLE },
		{ "limit", required_argument, NULL, PROFILE_LIMIT },
		{ "filter", required_argument, NULL, PROFILE_FILTER },
		{ "color", required_argument, NULL, PROFILE_COLOR },
		RECORD_FILTER_OPTIONS,
		{ 0 },
	};
	int c, index;

	shown = (struct report_options){ .choice = { .limit = SIZE_MAX } };
	shown_by = NULL;
	optind = 0;
	while ((c = getopt_long(argc, argv, "jhgs:", options, &index)) != -1) {
		switch (c) {
		case 'j':
			o->json = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		case '?':
			return EXIT_USAGE;
		case PROFILE_LIMIT:
		case PROFILE_FILTER:
		case PROFILE_COLOR:
			if (!profile_option(c, optarg))
				return EXIT_USAGE;
			break;
		case 'g':
		case 's':
			for (index = 0;
			     options[index].val != (c == 'g' ? REPORT_GRAPH : REPORT_SORT);)
				index++;
			/* fall through */
		default:
			if ((c == 's' || c == REPORT_SORT) && sorts_profile(optarg))
				break;
			if (!o->only && !of_profiles(options[index].val, optarg))
				o->only = options[index].val == OPTION_PER ? "per thread"
									   : options[index].name;
			if (record_option(o, options[index].val, optarg))
				return EXIT_USAGE;
		}
	}
	return -1;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* By what it is called, or by what is in it. */
static bool is_ours(const char *path)
{
	size_t n = strlen(path);

	return (n > 5 && !strcmp(path + n - 5, ".scoz")) || scoz_file(path);
}

/* -1: the first of the two is the FILE; 1: the second; 0: that cannot be told. */
static int file_of(const char *first, const char *second)
{
	int ours = is_ours(second) - is_ours(first);

	return ours ? ours : is_there(second) - is_there(first);
}

/* TARGET may stand before FILE, and be called like a file. NULL: says what is wrong. */
static const char *which_file(int argc, char **argv, const struct record_options *o)
{
	const char *first = optind < argc ? input_file(argv[optind]) : NULL;
	const char *second = optind + 1 < argc ? input_file(argv[optind + 1]) : NULL;
	int file = second ? file_of(first, second) : 0;

	if (!first)
		return default_file(o);
	if (!second && (is_ours(first) || !is_there(DEFAULT_PROFILE)))
		return first;
	if (second && (argc - optind > 2 || !file)) {
		log_warn("one FILE and one TARGET at most, but there is also %s",
			 argv[argc - optind > 2 ? optind + 2 : optind + 1]);
		return NULL;
	}
	shown.choice.target = file < 0 ? second : first;
	shown_by = shown.choice.target;
	return !second ? DEFAULT_PROFILE : file < 0 ? first : second;
}

int cmd_report(int argc, char **argv)
{
	struct record_options o;
	const char *path;
	int ret;

	record_options_init(&o);
	ret = report_options(argc, argv, &o);
	if (ret < 0) {
		path = which_file(argc, argv, &o);
		ret = path ? report_file(path, &o) : EXIT_USAGE;
	}
	record_filter_deinit(&o.filter);
	return ret;
}
