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
		"  --per WHAT           folded stacks begin with the process or thread, too\n"
		"  --comm GLOB          only threads of that name, when they had it\n"
		"  --pid PID            only threads of that process\n"
		"  --tid TID            only that thread\n"
		"  --class LIST         only these of on, io, lock, sched, other; off: all but "
		"on\n\n"
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
	_cleanup_free_ char *selected = coz_value(t->location, t->name);
	_cleanup_free_ char *name = text_clean(p->progress[k].name, " ");
	long long visits = llround(wp->visits);

	if (visits <= 0 || !(wp->virtual_s > 0))
		return;
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

	if (recording_is(path)) {
		log_warn("%s: a recording, which has no format %s: give --format folded, "
			 "speedscope, firefox or pprof",
			 path, f->name);
		return EXIT_FAILED;
	}
	if (model_load(path, &m, &err)) {
		log_warn("%s", err.text);
		return EXIT_FAILED;
	}
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

/* A causal profile is told from a file that is damaged or not there: the reader says what is. */
static bool is_profile(const char *path)
{
	struct error err = { 0 };
	struct profile *p;

	if (recording_is(path) || profile_read(path, &p, &err))
		return false;
	profile_free(p);
	return true;
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
		log_warn("%s: none of its %zu samples fits --comm, --pid, --tid and --class",
			 r->path, r->n_samples);
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

	if (is_profile(path)) {
		log_warn("%s: a causal profile, which has no format %s: give --format coz, csv or "
			 "json",
			 path, f->name);
		return EXIT_FAILED;
	}
	if (recording_read(path, &r, &err)) {
		log_warn("%s", err.text);
		return EXIT_FAILED;
	}
	if (!r->complete)
		log_warn("%s: the recording ends early: what it holds is exported", path);
	ret = export_view(r, f, o, output);
	recording_free(r);
	return ret;
}

/* ---- the command line ---- */

static bool parse_id(const char *option, const char *s, int32_t *ret)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(s, &end, 10);
	if (*end || end == s || errno || n < 0 || n > INT32_MAX) {
		log_warn("export: %s %s: not a number of a process or thread", option, s);
		return false;
	}
	*ret = n;
	return true;
}

static bool parse_class(const char *name, size_t len, unsigned int *ret)
{
	if (len == 3 && !strncmp(name, "off", len)) {
		*ret |= ((1U << RECORD_CLASSES) - 1) & ~(1U << RECORD_ON);
		return true;
	}
	for (unsigned int c = 0; c < RECORD_CLASSES; c++) {
		if (len == strlen(record_class_name(c)) &&
		    !strncmp(name, record_class_name(c), len)) {
			*ret |= 1U << c;
			return true;
		}
	}
	return false;
}

static bool parse_classes(const char *list, unsigned int *ret)
{
	*ret = 0;
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ",");

		if (!parse_class(s, len, ret)) {
			log_warn("export: --class %s: \"%.*s\" is none of on, off, io, lock, sched "
				 "and other",
				 list, (int)len, s);
			return false;
		}
		s += len;
		if (!*s)
			return true;
	}
}

static bool parse_per(const char *s, enum export_per *ret)
{
	if (strcmp(s, "process") && strcmp(s, "thread")) {
		log_warn("export: --per %s is not known: give process or thread", s);
		return false;
	}
	*ret = strcmp(s, "process") ? PER_THREAD : PER_PROCESS;
	return true;
}

static const struct export_format *find_format(const char *name)
{
	if (!name) {
		log_warn("export: which format? give --format coz, csv or json of a causal "
			 "profile, folded, speedscope, firefox or pprof of a recording");
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(export_formats); i++) {
		if (!strcmp(name, export_formats[i].name))
			return &export_formats[i];
	}
	log_warn("export: --format %s is not known: give coz, csv, json, folded, speedscope, "
		 "firefox or pprof",
		 name);
	return NULL;
}

/* @of_recordings: an option that was given and is for recordings only, NULL: none. */
static bool check_usage(const struct export_format *f, const struct export_options *o,
			const char *of_recordings, const char *output)
{
	if (f->write && of_recordings) {
		log_warn("export: --%s is for recordings, --format %s is for causal profiles",
			 of_recordings, f->name);
		return false;
	}
	if (o->per != PER_COMM && f->record != export_folded) {
		log_warn("export: --per is for --format folded: %s tells threads apart by itself",
			 f->name);
		return false;
	}
	if (f->record == export_pprof && (!output || !strcmp(output, "-")) && isatty(1)) {
		log_warn("export: pprof is binary, not for terminals: choose a file with -o");
		return false;
	}
	return true;
}

int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "per", required_argument, NULL, 'P' },
		{ "comm", required_argument, NULL, 'C' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "class", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct export_options o = { .pid = -1, .tid = -1, .classes = (1U << RECORD_CLASSES) - 1 };
	const char *format = NULL, *output = NULL, *of_recordings = NULL;
	const struct export_format *f;
	int c, index = 0;
	bool ok = true;

	optind = 0;
	while (ok && (c = getopt_long(argc, argv, "f:o:h", options, &index)) != -1) {
		if (c != 'f' && c != 'o' && c != 'h' && c != '?')
			of_recordings = options[index].name;
		switch (c) {
		case 'f':
			format = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'P':
			ok = parse_per(optarg, &o.per);
			break;
		case 'C':
			o.comm = optarg;
			break;
		case 'p':
			ok = parse_id("--pid", optarg, &o.pid);
			break;
		case 't':
			ok = parse_id("--tid", optarg, &o.tid);
			break;
		case 'c':
			ok = parse_classes(optarg, &o.classes);
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	f = ok ? find_format(format) : NULL;
	if (!f || !check_usage(f, &o, of_recordings, output))
		return EXIT_USAGE;
	if (argc - optind > 1) {
		log_warn("export: one FILE at most, but there is also %s", argv[optind + 1]);
		return EXIT_USAGE;
	}
	if (f->write)
		return export_profile(optind < argc ? argv[optind] : DEFAULT_PROFILE, f, output);
	return export_recording(optind < argc ? argv[optind] : DEFAULT_RECORDING, f, &o, output);
}
