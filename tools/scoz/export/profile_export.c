// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The COZ format pools durations and visits of all experiments of one location and speedup, so each
 * kept window becomes an experiment whose duration is the virtual time between the first and the
 * last visit. That time differs between progress points, hence one experiment for each of them. The
 * viewer reads integers only and computes latencies as difference * duration / arrivals, of which
 * it shows ratios: so differences (numbers in flight) are written in thousandths.
 */
#include "tools/scoz/export/profile_export.h"

#include <ctype.h>
#include <math.h>

#include "base/hash_index.h"
#include "stats/describe.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/text.h"

/* ---- coz ---- */

static bool is_line(const char *s)
{
	const char *colon = strrchr(s, ':');

	if (!colon || colon == s || !isdigit((unsigned char)colon[1]))
		return false;
	return colon[1 + strspn(colon + 1, "0123456789")] == '\0';
}

/*
 * Lines, and whether targets of several names are there: a function and its first line, copies of a
 * template, one line in two binaries. The viewer would make one of them.
 */
struct coz_lines {
	struct coz_line {
		const char *location, *name;
		bool shared;
	} * list;
	size_t n, cap;
	struct hash_index index;
};

static bool same_location(const void *lines, uint32_t i, const void *key)
{
	return !strcmp(((const struct coz_line *)lines)[i].location, key);
}

static uint32_t coz_line_find(const struct coz_lines *l, const char *location)
{
	return hash_index_find(&l->index, hash_chosen(HASH_START, location), same_location, l->list,
			       location);
}

static void coz_line_add(struct coz_lines *l, const char *location, const char *name)
{
	uint32_t i;

	if (!is_line(location))
		return;
	i = coz_line_find(l, location);
	if (i != HASH_NONE) {
		l->list[i].shared |= strcmp(l->list[i].name, name) != 0;
		return;
	}
	array_reserve(l->list, l->cap, l->n + 1);
	l->list[l->n] = (struct coz_line){ location, name, false };
	hash_index_add(&l->index, hash_chosen(HASH_START, location), l->n++);
}

/* Values end at a tab or a newline. */
static char *coz_value(const struct coz_lines *l, const char *location, const char *name)
{
	bool line = is_line(location) && !l->list[coz_line_find(l, location)].shared;

	return text_clean(line ? location : name, " ");
}

static long long nanoseconds(double s)
{
	return llround(s * 1e9);
}

static void coz_point(FILE *out, const struct profile *p, const struct coz_lines *l,
		      const struct profile_window *w, uint32_t k, bool *first)
{
	const struct window_progress *wp = &w->progress[k];
	const struct profile_target *t = &p->targets[w->target];
	_cleanup_free_ char *selected = NULL, *name = NULL;
	long long visits = llround(wp->visits);

	if (visits <= 0 || !(wp->virtual_s > 0))
		return;
	selected = coz_value(l, t->location, t->name);
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

static void coz_run(FILE *out, const struct profile *p, const struct coz_lines *l, size_t run)
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
			coz_point(out, p, l, w, k, &first);
	}
	fprintf(out, "runtime\ttime=%lld\n", nanoseconds(end));
}

int export_coz(const struct model *m, FILE *out)
{
	const struct profile *p = m->profile;
	struct coz_lines lines = { 0 };

	for (size_t i = 0; i < p->n_targets; i++)
		coz_line_add(&lines, p->targets[i].location, p->targets[i].name);
	for (size_t i = 0; i < p->n_samples; i++)
		coz_line_add(&lines, p->samples[i].location, p->samples[i].target);
	for (size_t i = 0; i < p->n_runs; i++)
		coz_run(out, p, &lines, i);
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct profile_sample *s = &p->samples[i];
		_cleanup_free_ char *location = coz_value(&lines, s->location, s->target);

		fprintf(out, "samples\tlocation=%s\tcount=%llu\n", location,
			(unsigned long long)s->total);
	}
	free(lines.list);
	hash_index_deinit(&lines.index);
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

/* What is not known is an empty field. */
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
	fprintf(out, "%u,", p->measured_windows);
}

int export_csv(const struct model *m, FILE *out)
{
	fprintf(out,
		"target,kind,location,samples,progress,speedup_pct,program_speedup_pct,"
		"ci95_low,ci95_high,windows,verdict%s,doubt\n",
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
			/* As reports: no value where the interval leaves everything open. */
			csv_number(out, !k || estimate_point_knowledge(p) == KNOWN_VALUE
						? p->program_speedup_pct
						: INFINITY);
			csv_number(out, p->ci_lo);
			csv_number(out, p->ci_hi);
			fprintf(out, "%u,", p->windows);
			csv_text(out, verdict_name(row->e->verdict), ',');
			if (m->measured)
				csv_measured(out, p);
			csv_text(out, doubt_text(row->e->doubt), '\n');
		}
	}
	return m->n_rows ? EXIT_DONE : EXIT_NOTHING;
}
