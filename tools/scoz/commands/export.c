// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <unistd.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/causal/ranking.h"
#include "tools/scoz/export/profile_export.h"
#include "tools/scoz/export/record_export.h"
#include "tools/scoz/text.h"

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz export --format FORMAT [option...] [-o OUT] [FILE]\n\n"
		"Converts FILE: a causal profile (default " DEFAULT_PROFILE ") or a recording\n"
		"(default " DEFAULT_RECORDING ").\n\n"
		"  -f, --format FORMAT  of causal profiles:\n"
		"                       coz: a profile.coz for the COZ viewer\n"
		"                       csv: one line for each target, progress point and speedup\n"
		"                       json: as scoz report --json\n"
		"                       of recordings:\n"
		"                       folded: stacks for flame graphs, counted in sampling "
		"points\n"
		"                       speedscope: for speedscope\n"
		"                       firefox: for the Firefox Profiler\n"
		"                       pprof: for go tool pprof and its like, compressed\n"
		"  -o, --output OUT     default: standard output\n"
		"  --help\n\n"
		"Of recordings:\n"
		"  --per WHAT             folded stacks begin with the process, rank or "
		"thread\n" RECORD_FILTER_HELP "\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be concluded, or no sample\n"
		"fits.\n");
}

/* ------------------------------------------------------------------------------------------ */

static int export_json(const struct model *m, FILE *out)
{
	const struct ranking_choice all = { .limit = SIZE_MAX };

	return model_write_json(m, &all, out);
}

static const struct export_format {
	const char *name;
	int (*write)(const struct model *m, FILE *out); /* causal profiles: an exit code */
	export_fn *record;				/* recordings */
} export_formats[] = {
	{ "coz", export_coz, NULL },
	{ "csv", export_csv, NULL },
	{ "json", export_json, NULL },
	{ "folded", NULL, export_folded },
	{ "speedscope", NULL, export_speedscope },
	{ "firefox", NULL, export_firefox },
	{ "pprof", NULL, export_pprof },
};

static int export_profile(const char *path, const struct export_format *f, const char *output)
{
	struct error err = { 0 };
	struct model *m;
	FILE *out;
	int ret;

	if (model_load(path, &m, &err))
		return cannot_read(path, FILE_PROFILE, &err);
	out = output_open(output);
	if (!out) {
		model_free(m);
		return EXIT_FAILED;
	}
	ret = f->write(m, out);
	if (output_close(out, output))
		ret = EXIT_FAILED;
	if (ret == EXIT_NOTHING)
		model_print_reasons(m);
	model_free(m);
	return ret;
}

static int export_view(const struct recording *r, const struct export_format *f,
		       const struct export_options *o, const char *output)
{
	struct record_view v;
	int ret = EXIT_FAILED;
	FILE *out = output_open(output);

	if (!out)
		return EXIT_FAILED;
	record_view_init(&v, r, o);
	f->record(&v, out);
	if (!output_close(out, output))
		ret = v.points ? EXIT_DONE : EXIT_NOTHING;
	if (ret == EXIT_NOTHING && r->n_samples)
		log_warn("%s: none of its %zu samples fits the options: give fewer of them",
			 r->path, r->n_samples);
	else if (ret == EXIT_NOTHING)
		log_warn("%s: no samples were recorded: record for longer, or what is busy",
			 r->path);
	record_view_deinit(&v);
	return ret;
}

static int export_recording(const char *path, const struct export_format *f,
			    const struct export_options *o, const char *output)
{
	struct error err = { 0 };
	struct recording *r;
	int ret;

	if (recording_read(path, &r, &err))
		return cannot_read(path, FILE_RECORDING, &err);
	if (!r->complete)
		log_warn("%s: the recording ends early: what it holds is exported", path);
	ret = export_view(r, f, o, output);
	recording_free(r);
	return ret;
}

/* ---- the command line ---- */

static const struct export_format *find_format(const char *name)
{
	if (!name) {
		log_warn("which format? give --format coz, csv or json of a causal "
			 "profile, folded, speedscope, firefox or pprof of a recording");
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(export_formats); i++) {
		if (!strcmp(name, export_formats[i].name))
			return &export_formats[i];
	}
	log_warn("--format %s is not known: give coz, csv, json, folded, speedscope, "
		 "firefox or pprof",
		 name);
	return NULL;
}

struct export_arguments {
	const char *format, *output;
	const char *of_recordings; /* an option that only they have, NULL: none was given */
	struct export_options o;
};

static bool check_usage(const struct export_arguments *a, const struct export_format *f)
{
	if (f->write && a->of_recordings) {
		log_warn("--%s is for recordings, --format %s is for causal profiles",
			 a->of_recordings, f->name);
		return false;
	}
	if (a->o.per != PER_NOTHING && f->record != export_folded) {
		log_warn("--per is for --format folded: %s tells threads apart by itself", f->name);
		return false;
	}
	if (f->record == export_pprof && (!a->output || !strcmp(a->output, "-")) && isatty(1)) {
		log_warn("pprof is binary, not for terminals: choose a file with -o");
		return false;
	}
	return true;
}

/* -1: go on, else an exit code. */
static int parse_arguments(int argc, char **argv, struct export_arguments *a)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		RECORD_FILTER_OPTIONS,
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c, index = 0;

	optind = 0;
	while ((c = getopt_long(argc, argv, "f:o:h", options, &index)) != -1) {
		switch (c) {
		case 'f':
			a->format = optarg;
			break;
		case 'o':
			a->output = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		case '?':
			return EXIT_USAGE;
		default:
			a->of_recordings = options[index].name;
			if (c == OPTION_PER ? record_per_option(&a->o.per, optarg)
					    : record_filter_option(&a->o.filter, c, optarg))
				return EXIT_USAGE;
		}
	}
	return -1;
}

static int export_file(int argc, char **argv, const struct export_arguments *a)
{
	const struct export_format *f = find_format(a->format);
	const char *file = optind < argc ? input_file(argv[optind]) : NULL;

	if (!f || !check_usage(a, f))
		return EXIT_USAGE;
	if (more_than_one("FILE", argc, argv))
		return EXIT_USAGE;
	if (f->write)
		return export_profile(file ? file : DEFAULT_PROFILE, f, a->output);
	return export_recording(file ? file : DEFAULT_RECORDING, f, &a->o, a->output);
}

int cmd_export(int argc, char **argv)
{
	struct export_arguments a = { 0 };
	int ret = parse_arguments(argc, argv, &a);

	if (ret < 0)
		ret = export_file(argc, argv, &a);
	record_filter_deinit(&a.o.filter);
	return ret;
}
