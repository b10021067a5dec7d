// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scoz export: causal profiles here, recordings in record_export.h. The COZ format pools durations
 * and visits of all experiments of one location and speedup, so each kept window becomes an
 * experiment whose duration is the virtual time between the first and the last visit. That time
 * differs between progress points, hence one experiment for each of them. The viewer reads integers
 * only and computes latencies as difference * duration / arrivals, of which it shows ratios: so
 * differences (numbers in flight) are written in thousandths.
 */
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <unistd.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/file_kind.h"
#include "tools/scoz/model.h"
#include "tools/scoz/record_export.h"
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
		"  --per WHAT             folded stacks begin with the process, rank or thread\n"
		"  --comm NAME[,NAME...]  only threads of these names\n"
		"  --process LIST         only processes of these names or numbers\n"
		"  --pid PID[,PID...]     only these processes\n"
		"  --rank RANK[,RANK...]  only these ranks of a parallel job\n"
		"  --tid TID[,TID...]     only these threads\n"
		"  --cpu LIST             only samples on these CPUs\n"
		"  --class CLASS[,...]    only on, io, lock, sched, other or off (all but on), or\n"
		"                         letters\n\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be concluded, or no sample\n"
		"fits.\n");
}

/* ---- coz ---- */

static bool is_line(const char *s)
{
	const char *colon = strrchr(s, ':');

	if (!colon || colon == s || !isdigit((unsigned char)colon[1]))
		return false;
	return colon[1 + strspn(colon + 1, "0123456789")] == '\0';
}

/* Values end at a tab or a newline. */
static char *coz_value(const char *location, const char *name)
{
	return text_clean(is_line(location) ? location : name, " ");
}

static long long nanoseconds(double s)
{
	return llround(s * 1e9);
}

static void coz_point(FILE *out, const struct profile *p, const struct profile_window *w,
		      uint32_t k, bool *first)
{
	const struct window_progress *wp = &w->progress[k];
	const struct profile_target *t = &p->targets[w->target];
	_cleanup_free_ char *selected = NULL, *name = NULL;
	long long visits = llround(wp->visits);

	if (visits <= 0 || !(wp->virtual_s > 0))
		return;
	selected = coz_value(t->location, t->name);
	name = text_clean(p->progress[k].name, " ");
	fprintf(out,
		"experiment\tselected=%s\tspeedup=%.2f\tduration=%lld\tselected-samples=%llu\n",
		selected, w->speedup, nanoseconds(wp->virtual_s),
		*first ? (unsigned long long)w->hits : 0);
	*first = false;
	if (p->progress[k].kind == PROGRESS_LATENCY)
		fprintf(out,
			"latency-point\tname=%s\tarrivals=%lld\tdepartures=%lld\tdifference=%lld\n",
			name, visits, visits, llround(wp->inflight * 1000));
	else
		fprintf(out, "throughput-point\tname=%s\tdelta=%lld\n", name, visits);
}

static void coz_run(FILE *out, const struct profile *p, size_t run)
{
	double end = p->runs[run].footer.duration_s;

	fprintf(out, "startup\ttime=0\n");
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct profile_window *w = &p->windows[i];
		bool first = true;

		if (w->run != run || w->discard || (w->real && w->speedup > 0))
			continue;
		end = fmax(end, w->start_s + w->wall_s);
		for (uint32_t k = 0; k < w->n_progress; k++)
			coz_point(out, p, w, k, &first);
	}
	fprintf(out, "runtime\ttime=%lld\n", nanoseconds(end));
}

static int write_coz(const struct model *m, FILE *out)
{
	const struct profile *p = m->profile;

	for (size_t i = 0; i < p->n_runs; i++)
		coz_run(out, p, i);
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct profile_sample *s = &p->samples[i];
		_cleanup_free_ char *location = coz_value(s->location, s->target);

		fprintf(out, "samples\tlocation=%s\tcount=%llu\n", location,
			(unsigned long long)s->total);
	}
	return m->n_rows ? EXIT_DONE : EXIT_NOTHING;
}

/* ---- csv ---- */

static void csv_text(FILE *out, const char *s, char after)
{
	_cleanup_free_ char *clean = text_clean(s, "?");

	if (strpbrk(clean, ",\"")) {
		fputc('"', out);
		for (const char *p = clean; *p; p++)
			fputs(*p == '"' ? "\"\"" : (char[]){ *p, '\0' }, out);
		fputc('"', out);
	} else {
		fputs(clean, out);
	}
	fputc(after, out);
}

/* An unknown end of an interval is an empty field. */
static void csv_number(FILE *out, double v)
{
	if (isfinite(v))
		fprintf(out, "%.6g", v);
	fputc(',', out);
}

static void csv_measured(FILE *out, const struct estimate_point *p)
{
	bool any = p->measured_windows;

	csv_number(out, any ? p->measured_pct : INFINITY);
	csv_number(out, any ? p->measured_lo : INFINITY);
	csv_number(out, any ? p->measured_hi : INFINITY);
	fprintf(out, "%u\n", p->measured_windows);
}

static int write_csv(const struct model *m, FILE *out)
{
	fprintf(out,
		"target,kind,location,samples,progress,speedup_pct,program_speedup_pct,"
		"ci95_low,ci95_high,windows,verdict%s\n",
		m->measured ? ",measured_pct,measured_low,measured_high,measured_windows" : "");
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];

		for (size_t k = 0; k < row->e->n_points; k++) {
			const struct estimate_point *p = &row->e->points[k];

			csv_text(out, row->target->name, ',');
			csv_text(out, row->target->kind, ',');
			csv_text(out, row->target->location, ',');
			fprintf(out, "%llu,", (unsigned long long)row->samples);
			csv_text(out, row->progress->name, ',');
			csv_number(out, p->speedup_pct);
			csv_number(out, p->program_speedup_pct);
			csv_number(out, p->ci_lo);
			csv_number(out, p->ci_hi);
			fprintf(out, "%u,", p->windows);
			csv_text(out, verdict_name(row->e->verdict), m->measured ? ',' : '\n');
			if (m->measured)
				csv_measured(out, p);
		}
	}
	return m->n_rows ? EXIT_DONE : EXIT_NOTHING;
}

/* ------------------------------------------------------------------------------------------ */

static const struct export_format {
	const char *name;
	int (*write)(const struct model *m, FILE *out); /* causal profiles: an exit code */
	export_fn *record;				/* recordings */
} export_formats[] = {
	{ "coz", write_coz, NULL },
	{ "csv", write_csv, NULL },
	{ "json", model_write_json, NULL },
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
		log_warn("%s: none of its %zu samples fits the options", r->path, r->n_samples);
	else if (ret == EXIT_NOTHING)
		log_warn("%s: no samples were recorded", r->path);
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

enum {
	OPTION_PER = 256,
	OPTION_COMM,
	OPTION_PROCESS,
	OPTION_PID,
	OPTION_RANK,
	OPTION_TID,
	OPTION_CPU,
	OPTION_CLASS
};

static bool parse_numbers(struct export_numbers *l, const char *option, const char *arg)
{
	size_t cap = l->n;

	for (const char *s = arg;; s++) {
		char *end;
		long v;

		errno = 0;
		v = strtol(s, &end, 10);
		if (!isdigit((unsigned char)*s) || (*end && *end != ',') || errno ||
		    v > INT32_MAX) {
			log_warn("--%s %s: not a number, or numbers with commas", option, arg);
			return false;
		}
		array_reserve(l->v, cap, (size_t)l->n + 1);
		l->v[l->n++] = v;
		s = end;
		if (!*s)
			return true;
	}
}

static bool parse_cpus(struct export_numbers *l, const char *arg)
{
	struct error err = { 0 };

	free(l->v);
	*l = (struct export_numbers){ 0 };
	if (cpulist_parse(arg, &l->v, &l->n, &err) < 0) {
		log_warn("--cpu %s: %s", arg, err.text);
		return false;
	}
	return true;
}

/* Letters of classes; NULL: there is no such class. */
static const char *class_letters(const char *name, size_t len)
{
	static const char *const names[][2] = {
		{ "on", ".k" },	 { "off", "ILSB" }, { "io", "I" },
		{ "lock", "L" }, { "sched", "S" },  { "other", "B" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (len == strlen(names[i][0]) && !strncmp(name, names[i][0], len))
			return names[i][1];
	}
	return len && strspn(name, ".kILSB") >= len ? name : NULL;
}

static bool parse_classes(const char **classes, const char *arg)
{
	static char letters[sizeof(".kILSB")];
	size_t n = 0;

	for (const char *s = arg;; s++) {
		size_t len = strcspn(s, ",");
		const char *these = class_letters(s, len);

		if (!these) {
			log_warn(
				"export: --class %s: no class \"%.*s\": there are on (. and k), "
				"io (I), lock (L), sched (S), other (B), and off for the last four",
				arg, (int)len, s);
			return false;
		}
		for (; *these && *these != ','; these++) {
			if (!memchr(letters, *these, n))
				letters[n++] = *these;
		}
		s += len;
		if (!*s)
			break;
	}
	letters[n] = '\0';
	*classes = letters;
	return true;
}

static bool parse_per(enum export_per *per, const char *arg)
{
	static const char *const names[] = { [EXPORT_PER_PROCESS] = "process",
					     [EXPORT_PER_RANK] = "rank",
					     [EXPORT_PER_THREAD] = "thread" };

	for (size_t i = EXPORT_PER_PROCESS; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(arg, names[i])) {
			*per = i;
			return true;
		}
	}
	log_warn("--per %s is not known: give process, rank or thread", arg);
	return false;
}

static bool recording_option(struct export_options *o, int option, const char *arg)
{
	switch (option) {
	case OPTION_PER:
		return parse_per(&o->per, arg);
	case OPTION_COMM:
		o->comms = arg;
		return true;
	case OPTION_PROCESS:
		o->processes = arg;
		return true;
	case OPTION_RANK:
		return parse_numbers(&o->ranks, "rank", arg);
	case OPTION_PID:
		return parse_numbers(&o->pids, "pid", arg);
	case OPTION_TID:
		return parse_numbers(&o->tids, "tid", arg);
	case OPTION_CPU:
		return parse_cpus(&o->cpus, arg);
	default:
		return parse_classes(&o->classes, arg);
	}
}

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
	if (a->o.per != EXPORT_PER_COMM && f->record != export_folded) {
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
		{ "per", required_argument, NULL, OPTION_PER },
		{ "by", required_argument, NULL, OPTION_PER },
		{ "comm", required_argument, NULL, OPTION_COMM },
		{ "process", required_argument, NULL, OPTION_PROCESS },
		{ "pid", required_argument, NULL, OPTION_PID },
		{ "rank", required_argument, NULL, OPTION_RANK },
		{ "tid", required_argument, NULL, OPTION_TID },
		{ "cpu", required_argument, NULL, OPTION_CPU },
		{ "class", required_argument, NULL, OPTION_CLASS },
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
			if (!recording_option(&a->o, c, optarg))
				return EXIT_USAGE;
		}
	}
	return -1;
}

static int export_file(int argc, char **argv, const struct export_arguments *a)
{
	const struct export_format *f = find_format(a->format);
	const char *file = optind < argc ? argv[optind] : NULL;

	if (!f || !check_usage(a, f))
		return EXIT_USAGE;
	if (argc - optind > 1) {
		log_warn("one FILE at most, but there is also %s", argv[optind + 1]);
		return EXIT_USAGE;
	}
	if (f->write)
		return export_profile(file ? file : DEFAULT_PROFILE, f, a->output);
	return export_recording(file ? file : DEFAULT_RECORDING, f, &a->o, a->output);
}

int cmd_export(int argc, char **argv)
{
	struct export_arguments a = { .o.classes = ".kILSB" };
	int ret = parse_arguments(argc, argv, &a);

	if (ret < 0)
		ret = export_file(argc, argv, &a);
	free(a.o.pids.v);
	free(a.o.ranks.v);
	free(a.o.tids.v);
	free(a.o.cpus.v);
	return ret;
}
