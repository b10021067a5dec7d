// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz doctor: what this machine can do, what is missing, and the command that mends it. */
#include "host/capabilities.h"
#include "host/privileges.h"
#include "tools/scoz/arguments.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/commands/prove.h"

#include <getopt.h>
#include <jansson.h>

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz doctor [--json] [--prove[=SECONDS]]\n"
		"Tells whether scozd can run on this machine, and how to mend what is missing.\n"
		"  --json             one JSON object\n"
		"  --prove[=SECONDS]  run two programs with a known answer for SECONDS (30) in "
		"all,\n"
		"                     and say how far predictions can be trusted here and now\n"
		"  --help\n"
		"Exit status: 0 when the main job can run, 1 when it cannot; with --prove 0 when "
		"all\n"
		"predictions hold within their intervals, 1 when one is further off than by "
		"chance\n"
		"(or scozd cannot run), 3 when that cannot be told (wide intervals, no answer).\n");
}

static const char *conclusion(const struct capabilities *c)
{
	if (c->can_run)
		return "scozd can run here.";
	for (size_t i = 0; i < c->n; i++) {
		const struct capability *p = &c->list[i];

		if (p->required && p->status == CAPABILITY_MISSING &&
		    strcmp(p->id, "other-scozd") != 0)
			return "scozd cannot run here: see [missing] above.";
	}
	return "scozd can run here, once the one that is running has ended.";
}

static void print_text(const struct capabilities *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct capability *p = &c->list[i];
		_cleanup_free_ char *tag = xasprintf("[%s]", capability_status_name(p->status));

		printf("%-9s %-20s %s%s%s\n", tag, p->id, p->found, p->effect ? ": " : "",
		       p->effect ? p->effect : "");
		if (p->remedy)
			printf("%30s -> %s\n", "", p->remedy);
	}
	printf("\n%s\n", conclusion(c));
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	/* what a file said need not be UTF-8 */
	json_object_set_new(object, key, value ? value : json_string("(not UTF-8)"));
}

static void print_json(const struct capabilities *c)
{
	json_t *root = json_object(), *checks = json_array();

	json_object_set_new(root, "schema", json_string("scoz-doctor/1"));
	json_object_set_new(root, "can_run", json_boolean(c->can_run));
	for (size_t i = 0; i < c->n; i++) {
		const struct capability *p = &c->list[i];
		json_t *check = json_object();

		set_text(check, "id", p->id);
		set_text(check, "status", capability_status_name(p->status));
		json_object_set_new(check, "required", json_boolean(p->required));
		set_text(check, "found", p->found);
		set_text(check, "effect", p->effect);
		set_text(check, "remedy", p->remedy);
		json_array_append_new(checks, check);
	}
	json_object_set_new(root, "checks", checks);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

static bool read_seconds(const char *text, double *ret)
{
	*ret = PROVE_SECONDS;
	if (text && !parse_number(text, PROVE_SECONDS_MIN, PROVE_SECONDS_MAX, ret)) {
		log_warn("--prove=%s: give it %.0f to %.0f seconds", text, PROVE_SECONDS_MIN,
			 PROVE_SECONDS_MAX);
		return false;
	}
	return true;
}

/* @seconds: to prove it in; 0: that is not asked for. */
static int examine(const struct capabilities *c, double seconds, bool json)
{
	if (seconds > 0 && c->can_run)
		return prove(seconds, json);
	if (seconds > 0 && json)
		prove_nothing(c);
	else if (json)
		print_json(c);
	else
		print_text(c);
	return c->can_run ? EXIT_DONE : EXIT_FAILED;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "prove", optional_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct capabilities c;
	double seconds = 0;
	bool json = false;
	int o, status;

	if (argc > 1 && !strcmp(argv[1], PROVE_PROGRAM))
		return prove_program(argc - 2, argv + 2);
	optind = 0;
	while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (o) {
		case 'j':
			json = true;
			break;
		case 'p':
			if (!read_seconds(optarg, &seconds))
				return EXIT_USAGE;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind != argc) {
		log_warn("%s is one argument too many", argv[optind]);
		return EXIT_USAGE;
	}
	privileges_raise();
	capabilities_probe(&capability_probes_real, &c);
	status = examine(&c, seconds, json);
	capabilities_free(&c);
	return status;
}
