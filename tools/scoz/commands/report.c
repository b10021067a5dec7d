// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scoz report: options, and the causal profile as a table; for recordings see record_report.c. Each
 * line speedup is a column as long as the lines fit; else the curve of each target goes on lines of
 * its own below the target's row.
 */
#include <getopt.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/file_kind.h"
#include "tools/scoz/causal/model.h"
#include "tools/scoz/recording/record_model.h"
#include "tools/scoz/text.h"

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz report [OPTION...] [FILE]\n\n"
		"Prints what is in FILE: a causal profile (by scozd; default " DEFAULT_PROFILE
		") or a\n"
		"recording (by scoz record; default " DEFAULT_RECORDING
		"); without FILE the newer of the\n"
		"two defaults.\n\n"
		"  -j, --json  print JSON (schema scoz-report/1 or scoz-record-report/1)\n"
		"  --help\n\n"
		"A profile: for each target how much less run time one unit of progress would "
		"take\n"
		"if the target took less, with 95 %% intervals and a verdict.\n"
		"  optimize    making the target faster makes the program faster\n"
		"  contention  making the target faster makes the program slower\n"
		"  no effect   whatever happens to the target, the program takes as long\n"
		"  undecided   not measured well enough: run longer\n\n"
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

static char *clean(const char *s)
{
	_cleanup_free_ char *text = text_clean(s, "?");

	return locale_text(text);
}

/* ---- head ---- */

static void print_discards(const struct model *m)
{
	const char *before = " (";
	size_t n = 0;

	for (size_t i = 0; i < m->n_discards; i++)
		n += m->discards[i].n;
	printf(", %zu discarded", n);
	for (size_t i = 0; i < m->n_discards; i++) {
		_cleanup_free_ char *why = clean(m->discards[i].why);

		if (!m->discards[i].n)
			continue;
		printf("%s%zu %s", before, m->discards[i].n, why);
		before = ", ";
	}
	printf("%s\n", n ? ")" : "");
}

static void print_head(const struct model *m)
{
	const struct profile *p = m->profile;
	const struct profile_header *h = &p->runs[p->n_runs - 1].header;
	_cleanup_free_ char *path = clean(p->path), *command = clean(h->command);
	_cleanup_free_ char *host = clean(h->host), *kernel = clean(h->kernel);
	_cleanup_free_ char *engine = clean(h->engine), *model = clean(h->model);
	double share = m->kept_wall_s > 0 ? 100 * m->inserted_s / m->kept_wall_s : 0;

	printf("%s: %s\n", path, *command ? command : "the whole system");
	printf("  machine   %s, Linux %s, %d core%s\n", host, kernel, h->cpus,
	       h->cpus == 1 ? "" : "s");
	printf("  method    engine %s, model %s, %.0f Hz, seed %llu%s\n", engine, model,
	       h->frequency_hz, (unsigned long long)h->seed,
	       strcmp(h->mode, "end-to-end") ? "" : ", end to end");
	printf("  time      %.1f s in %zu run%s\n", m->duration_s, p->n_runs,
	       p->n_runs == 1 ? "" : "s");
	printf("  windows   %zu kept", m->kept);
	print_discards(m);
	printf("  samples   %llu, %llu lost", (unsigned long long)m->samples_total,
	       (unsigned long long)m->samples_lost);
	if (m->samples_unnamed && m->samples_total)
		printf(", %.1f %% without a name", 100.0 * m->samples_unnamed / m->samples_total);
	putchar('\n');
	if (m->chosen)
		printf("  chosen    %llu samples of %llu process%s; predictions are about the "
		       "whole "
		       "program\n",
		       (unsigned long long)m->view.all.samples,
		       (unsigned long long)m->view.all.members,
		       m->view.all.members == 1 ? "" : "es");
	printf("  delay     %.2f s inserted (%.1f %% of the kept windows), %.2f s unpaid at the "
	       "end\n",
	       m->inserted_s, share, m->owed_s);
	for (size_t i = 0; i < p->n_progress; i++) {
		_cleanup_free_ char *name = clean(p->progress[i].name);
		_cleanup_free_ char *latency = model_latency_text(m, i);

		printf("  progress  %s%s: %.0f visits, %.4g/s\n", name,
		       p->progress[i].kind == PROGRESS_LATENCY ? " (latency)" : "",
		       m->progress[i].visits, m->progress[i].rate_per_s);
		if (latency) {
			_cleanup_free_ char *shown = clean(latency);

			printf("            %s\n", shown);
		}
	}
}

/* ---- table ---- */

enum { COL_TARGET, COL_LOCATION, COL_SAMPLES, COL_PROGRESS, COL_BEST, COL_POINTS };

static char *point_text(const struct model_row *row, double speedup)
{
	const struct estimate_point *p = model_point(row, speedup);

	return p ? estimate_point_text(p) : xstrdup("-");
}

static char *measured_text(const struct model_row *row, double speedup)
{
	const struct estimate_point *p = model_point(row, speedup);

	if (!p || !p->measured_windows)
		return xstrdup("-");
	return percent_interval_text(p->measured_pct, p->measured_lo, p->measured_hi, speedup);
}

/* @wide: with a column (or two) for each speedup; VERDICT stands last either way. */
static void fill_table(const struct model *m, bool wide, struct table *t)
{
	size_t each = m->measured ? 2 : 1, points = wide ? each * m->n_speedups : 0;
	char **cell;

	table_init(t, COL_POINTS + points + 1);
	t->right[COL_SAMPLES] = t->right[COL_BEST] = true;
	cell = table_row(t);
	cell[COL_TARGET] = xstrdup("TARGET");
	cell[COL_LOCATION] = xstrdup("LOCATION");
	cell[COL_SAMPLES] = xstrdup("SAMPLES");
	cell[COL_PROGRESS] = xstrdup("PROGRESS");
	cell[COL_BEST] = xstrdup("BEST");
	for (size_t i = 0; i < points; i++) {
		cell[COL_POINTS + i] = i % each ? xstrdup("MEASURED")
						: xasprintf("AT %g %%", m->speedups[i / each]);
		t->right[COL_POINTS + i] = true;
	}
	cell[COL_POINTS + points] = xstrdup("VERDICT");
	for (size_t r = 0; r < m->n_rows; r++) {
		const struct model_row *row = &m->rows[r];

		cell = table_row(t);
		cell[COL_TARGET] = clean(row->target->name);
		cell[COL_LOCATION] = clean(row->target->location);
		cell[COL_SAMPLES] = xasprintf("%llu", (unsigned long long)row->samples);
		cell[COL_PROGRESS] = clean(row->progress->name);
		cell[COL_BEST] = estimate_best_text(row->e);
		for (size_t i = 0; i < points; i++)
			cell[COL_POINTS + i] =
				(i % each ? measured_text : point_text)(row, m->speedups[i / each]);
		cell[COL_POINTS + points] = xstrdup(verdict_name(row->e->verdict));
	}
}

/* "    10 %: 3.9 [3.0, 4.8]   25 %: ..." over as many lines as it takes. */
static void print_curve(const struct model_row *row, size_t width)
{
	size_t used = 0;

	for (size_t i = 1; i < row->e->n_points; i++) {
		const struct estimate_point *p = &row->e->points[i];
		_cleanup_free_ char *value = estimate_point_text(p);
		_cleanup_free_ char *measured = measured_text(row, p->speedup_pct);
		_cleanup_free_ char *text = xasprintf("at %g %%: %s%s%s", p->speedup_pct, value,
						      p->measured_windows ? ", measured " : "",
						      p->measured_windows ? measured : "");
		size_t w = text_width(text);

		if (used && used + 3 + w > width) {
			putchar('\n');
			used = 0;
		}
		used += printf("%s%s", used ? "   " : "    ", text);
	}
	putchar('\n');
}

static void shorten_names(struct table *t, size_t max)
{
	table_shorten(t, COL_TARGET, max);
	table_shorten(t, COL_LOCATION, max);
}

/* Names give way before columns do, and columns before lines break. */
static void print_table(const struct model *m)
{
	size_t width = output_width(), max = width / 4 > 24 ? width / 4 : 24;
	struct table t;
	bool wide;

	fill_table(m, true, &t);
	if (table_width(&t) > width)
		shorten_names(&t, max);
	wide = table_width(&t) <= width;
	if (!wide) {
		table_deinit(&t);
		fill_table(m, false, &t);
		if (table_width(&t) > width)
			shorten_names(&t, max);
	}
	table_print_row(&t, 0, stdout);
	for (size_t r = 1; r < t.rows; r++) {
		table_print_row(&t, r, stdout);
		if (!wide)
			print_curve(&m->rows[r - 1], width);
	}
	table_deinit(&t);
}

/* The targets' samples in each process or rank. */
static void print_group(const struct model *m, const struct process_group *g)
{
	_cleanup_free_ char *name = process_group_name(g, m->per), *shown = clean(name);
	const struct profile *p = m->profile;
	struct table t;
	char **cell;

	printf("\n# %s: %llu samples\n", shown, (unsigned long long)g->samples);
	table_init(&t, 5);
	cell = table_row(&t);
	cell[0] = xstrdup("SHARE");
	cell[1] = xstrdup("SAMPLES");
	cell[2] = xstrdup("SELF");
	cell[3] = xstrdup("TARGET");
	cell[4] = xstrdup("LOCATION");
	t.right[0] = t.right[1] = t.right[2] = true;
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct profile_target *target = m->rows[i].target;
		struct profile_place sum = model_samples_in(p, g, target->name);

		if (!model_row_is_first(m, i))
			continue;
		cell = table_row(&t);
		cell[0] = xasprintf("%.1f %%", g->samples ? 100.0 * sum.total / g->samples : 0.0);
		cell[1] = xasprintf("%llu", (unsigned long long)sum.total);
		cell[2] = xasprintf("%llu", (unsigned long long)sum.self);
		cell[3] = clean(target->name);
		cell[4] = clean(target->location);
	}
	for (size_t r = 0; r < t.rows; r++)
		table_print_row(&t, r, stdout);
	table_deinit(&t);
}

static void print_trust(const struct model *m)
{
	const struct model_row *row = model_trust_row(m);
	_cleanup_free_ char *text = row ? model_trust_text(row) : NULL;
	_cleanup_free_ char *shown = row ? clean(text) : NULL;
	_cleanup_free_ char *machine = model_machine_text(m);
	_cleanup_free_ char *shown_machine = machine ? clean(machine) : NULL;

	if (!row)
		return;
	printf("\nPrecision (percentage points, 95 %%)\n  %s\n", shown);
	if (row->trust.command) {
		_cleanup_free_ char *command = clean(row->trust.command);

		printf("    %s\n", command);
	}
	if (shown_machine)
		printf("  The machine: %s\n", shown_machine);
}

static void print_notes(const struct model *m)
{
	if (m->notes.n && m->per == PER_NOTHING)
		printf("\nNotes\n");
	for (size_t i = 0; i < m->notes.n && m->per == PER_NOTHING; i++) {
		_cleanup_free_ char *text = clean(m->notes.text[i]);

		printf("  %s%s\n", text, i ? "" : "; --per process tells them apart");
	}
}

static void print_warnings(const struct model *m)
{
	bool any = m->warnings.n;

	for (size_t i = 0; i < m->n_rows; i++)
		any |= m->rows[i].e->warning != NULL;
	if (!any)
		return;
	printf("\nWarnings\n");
	for (size_t i = 0; i < m->warnings.n; i++) {
		_cleanup_free_ char *text = clean(m->warnings.text[i]);

		printf("  %s\n", text);
	}
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];
		_cleanup_free_ char *name = clean(row->target->name);
		_cleanup_free_ char *progress = clean(row->progress->name);

		if (row->e->warning)
			printf("  %s (%s): %s\n", name, progress, row->e->warning);
	}
}

static int print_report(const struct model *m)
{
	print_head(m);
	if (m->n_rows) {
		printf("\nProgram speedup (%% less run time per unit of progress) at each line "
		       "speedup, [95 %% interval]\n\n");
		print_table(m);
	}
	for (size_t i = 0; m->per != PER_NOTHING && i < m->view.n; i++)
		print_group(m, &m->view.groups[i]);
	print_trust(m);
	print_notes(m);
	print_warnings(m);
	return m->n_rows ? EXIT_DONE : EXIT_NOTHING;
}

static int report_profile(const char *path, const struct record_options *o)
{
	struct error err = { 0 };
	bool json = o->json;
	struct model *m;
	int ret;

	if (model_load(path, &m, &err))
		return cannot_read(path, FILE_PROFILE, &err);
	if (model_choose(m, o, &err)) {
		log_warn("%s", err.text);
		model_free(m);
		return EXIT_NOTHING;
	}
	ret = json ? model_write_json(m, stdout) : print_report(m);
	if (ret == EXIT_NOTHING) {
		fflush(stdout);
		model_print_reasons(m);
	}
	for (size_t i = 0; json && i < m->warnings.n; i++) {
		_cleanup_free_ char *text = clean(m->warnings.text[i]);

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
	if (recording_is(path) || (o->only && access(path, F_OK) < 0))
		return record_report(path, o);
	if (o->only) {
		log_warn("--%s is for recordings (scoz record), and %s is none", o->only, path);
		return EXIT_FAILED;
	}
	return report_profile(path, o);
}

/* Processes and ranks are told apart in profiles, too. */
static bool of_profiles(int option, const char *arg)
{
	return option == FILTER_PROCESS || option == FILTER_PID || option == FILTER_RANK ||
	       (option == OPTION_PER && strcmp(arg, "thread"));
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
		RECORD_FILTER_OPTIONS,
		{ 0 },
	};
	int c, index;

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
		case 'g':
		case 's':
			for (index = 0;
			     options[index].val != (c == 'g' ? REPORT_GRAPH : REPORT_SORT);)
				index++;
			/* fall through */
		default:
			if (!o->only && !of_profiles(options[index].val, optarg))
				o->only = options[index].val == OPTION_PER ? "per thread"
									   : options[index].name;
			if (record_option(o, options[index].val, optarg))
				return EXIT_USAGE;
		}
	}
	if (more_than_one("FILE", argc, argv))
		return EXIT_USAGE;
	return -1;
}

int cmd_report(int argc, char **argv)
{
	struct record_options o;
	int ret;

	record_options_init(&o);
	ret = report_options(argc, argv, &o);
	if (ret < 0)
		ret = report_file(optind < argc ? argv[optind] : default_file(&o), &o);
	record_filter_deinit(&o.filter);
	return ret;
}
