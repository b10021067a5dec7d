// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads a profile and draws the conclusions. Never an empty answer without a reason and a remedy:
 * where there is nothing to show, find_reasons() says why from what the profile does hold.
 */
#include "tools/scoz/causal/model.h"

#include <math.h>

#include "progress/labels.h"
#include "host/process.h"
#include "profile/builds.h"
#include "stats/discard.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/latency.h"
#include "tools/scoz/causal/next.h"
#include "tools/scoz/text.h"

#define LOST_SHARE 0.01 /* of the samples, before it is worth a warning */

void text_list_add(struct text_list *l, char *text)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->text[i], text)) {
			free(text);
			return;
		}
	}
	array_reserve(l->text, l->cap, l->n + 1);
	l->text[l->n++] = text;
}

void text_list_free(struct text_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->text[i]);
	free(l->text);
}

static bool is_zero(const struct profile_window *w)
{
	return w->speedup < 1e-9;
}

/* ---- sums ---- */

static void count_discard(struct model *m, size_t *cap, enum discard why, const char *name,
			  size_t n)
{
	for (size_t i = 0; i < m->n_discards; i++) {
		struct model_discard *d = &m->discards[i];

		if (d->why == why && !strcmp(d->name, name)) {
			d->n += n;
			return;
		}
	}
	array_reserve(m->discards, *cap, m->n_discards + 1);
	m->discards[m->n_discards++] = (struct model_discard){ why, name, n };
}

size_t model_discarded(const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_discards; i++)
		n += m->discards[i].n;
	return n;
}

static void sum_windows(struct model *m)
{
	static const enum discard always[] = { DISCARD_STEAL, DISCARD_LOST, DISCARD_FEW_VISITS };
	const struct profile *p = m->profile;
	_cleanup_free_ double *zero_visits = xcalloc(p->n_progress, sizeof(double));
	_cleanup_free_ double *zero_time = xcalloc(p->n_progress, sizeof(double));
	_cleanup_free_ double *time = xcalloc(p->n_progress, sizeof(double));
	size_t cap = 0;

	m->progress = xcalloc(p->n_progress, sizeof(*m->progress));
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		count_discard(m, &cap, always[i], discard_name(always[i]), 0);
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct profile_window *w = &p->windows[i];

		if (w->discard == DISCARD_CONTROL)
			continue; /* it was for something else */
		if (w->discard) {
			count_discard(m, &cap, w->discard, window_why(w), 1);
			continue;
		}
		m->kept++;
		if (w->real && !is_zero(w))
			continue; /* another program, so to say */
		m->kept_wall_s += w->wall_s;
		m->inserted_s += w->inserted_s;
		for (uint32_t k = 0; k < w->n_progress; k++) {
			const struct window_progress *wp = &w->progress[k];

			m->progress[k].visits += wp->visits;
			time[k] += wp->virtual_s;
			if (is_zero(w)) {
				zero_visits[k] += wp->visits;
				zero_time[k] += wp->virtual_s;
			}
		}
	}
	for (size_t k = 0; k < p->n_progress; k++) {
		m->progress[k].stretch = stretch_estimate(p->windows, p->n_windows, k);
		if (zero_time[k] > 0)
			m->progress[k].rate_per_s = zero_visits[k] / zero_time[k];
		else if (time[k] > 0)
			m->progress[k].rate_per_s = m->progress[k].visits / time[k];
	}
}

char *model_stretch_text(const struct model *m, size_t progress)
{
	const struct stretch *s = &m->progress[progress].stretch;
	_cleanup_free_ char *shorter = NULL;

	if (!s->windows || !isfinite(s->lo))
		return NULL;
	shorter = stretch_shorter_text(s);
	return xasprintf("when everything was stopped for a while (%zu time%s), it took longer by "
			 "%.0f %% [%.0f, %.0f] of that%s%s: %s",
			 s->windows, s->windows == 1 ? "" : "s", 100 * s->part, 100 * s->lo,
			 100 * s->hi, shorter ? ", and its " : "", shorter ? shorter : "",
			 stretch_by_clock(s)	  ? "a clock has a say in it"
			 : stretch_is_unjudged(s) ? "too few to tell whether a clock has a say"
			 : stretch_is_open(s, STRETCH_MOSTLY)
				 ? "its CPU time tells that it goes by its work"
			 : stretch_costs_more(s) ? "stops cost it more than they last"
			 : s->hi < 1		 ? "nearly all of it goes by its work"
						 : "it goes by its work");
}

static void name_points(struct model *m)
{
	size_t n = m->profile->n_progress;
	_cleanup_free_ const char **names = xcalloc(n, sizeof(*names));
	_cleanup_free_ char **labels = NULL;

	for (size_t i = 0; i < n; i++)
		names[i] = m->profile->progress[i].name;
	labels = labels_of_points(names, n);
	for (size_t i = 0; i < n; i++)
		m->progress[i].label = labels[i];
}

/* A run that was cut off has no footer: its last window tells how long it lasted at least. */
static double run_duration(const struct profile *p, size_t run)
{
	double end = 0;

	if (p->runs[run].complete)
		return p->runs[run].footer.duration_s;
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct profile_window *w = &p->windows[i];

		if (w->run == run)
			end = fmax(end, w->start_s + w->wall_s);
	}
	return end;
}

static void sum_runs(struct model *m)
{
	for (size_t i = 0; i < m->profile->n_runs; i++) {
		const struct profile_footer *f = &m->profile->runs[i].footer;

		m->duration_s += run_duration(m->profile, i);
		m->samples_total += f->samples_total;
		m->samples_lost += f->samples_lost;
		m->samples_unnamed += f->samples_unnamed;
		m->owed_s += f->owed_s;
	}
}

/* ---- rows ---- */

static struct stats_sampled seen_of(const struct profile *p, const struct profile_target *t)
{
	struct stats_sampled s = {};

	for (size_t i = 0; i < p->n_samples; i++) {
		if (place_is_of(p->samples[i].target, t->name)) {
			s.n += p->samples[i].total;
			s.polled += p->samples[i].polled;
		}
	}
	return s;
}

/* Where places have other names than the target (a function among lines), it was counted itself. */
static struct stats_sampled find_samples(const struct model *m, uint32_t target)
{
	const struct profile *p = m->profile;
	struct stats_sampled s = seen_of(p, &p->targets[target]);

	if (s.n) {
		s.all = m->samples_total;
		return s;
	}
	for (size_t i = 0; i < p->n_seen; i++) {
		if (p->seen[i].target != target)
			continue;
		s.n += p->seen[i].samples;
		s.polled += p->seen[i].polled;
		s.all += p->seen[i].all;
	}
	return s;
}

/* By target. */
static struct stats_sampled *all_samples(const struct model *m)
{
	size_t n = m->profile->n_targets;
	struct stats_sampled *s = xcalloc(n + 1, sizeof(*s));

	for (size_t i = 0; i < n; i++)
		s[i] = find_samples(m, i);
	return s;
}

static bool has_value(const struct model_row *row)
{
	return row->e->best == KNOWN_VALUE;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct model_row *a = pa, *b = pb;
	bool first = a->e->verdict == VERDICT_OPTIMIZE;
	int c;

	if (a->joint != b->joint)
		return a->joint ? 1 : -1;
	if (first != (b->e->verdict == VERDICT_OPTIMIZE))
		return first ? -1 : 1;
	if (has_value(a) != has_value(b))
		return has_value(a) ? -1 : 1;
	/* What is worth it by what is sure of it. */
	if (first && a->e->best_lo != b->e->best_lo)
		return a->e->best_lo > b->e->best_lo ? -1 : 1;
	if (has_value(a) && a->e->best_pct != b->e->best_pct)
		return a->e->best_pct > b->e->best_pct ? -1 : 1;
	c = strcmp(a->target->name, b->target->name);
	return c ? c : (int)a->e->progress - (int)b->e->progress;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool same_speedup(double a, double b)
{
	return fabs(a - b) < 1e-4;
}

static void collect_speedups(struct model *m)
{
	size_t cap = 0, out = 0;

	for (size_t i = 0; i < m->n_rows; i++) {
		const struct estimate *e = m->rows[i].e;

		for (size_t k = 1; k < e->n_points; k++) {
			array_reserve(m->speedups, cap, m->n_speedups + 1);
			m->speedups[m->n_speedups++] = e->points[k].speedup_pct;
			m->measured |= e->points[k].measured_windows > 0;
		}
	}
	if (!m->n_speedups)
		return;
	qsort(m->speedups, m->n_speedups, sizeof(*m->speedups), compare_double);
	for (size_t i = 1; i < m->n_speedups; i++) {
		if (!same_speedup(m->speedups[i], m->speedups[out]))
			m->speedups[++out] = m->speedups[i];
	}
	m->n_speedups = out + 1;
}

static void make_labels(struct model *m)
{
	_cleanup_free_ const char **names = xcalloc(m->n_rows, sizeof(*names));

	for (size_t i = 0; i < m->n_rows; i++)
		names[i] = m->rows[i].target->name;
	m->labels = labels_make(names, m->n_rows);
}

/* By row as well. */
static void put_beside(struct model *m)
{
	const struct profile *p = m->profile;

	m->beside = (struct beside){
		.rows = xcalloc(m->n_rows + 1, sizeof(*m->beside.rows)),
		.n_rows = m->n_rows,
		.expected = p->expected,
		.n_expected = p->n_expected,
		.next = p->expected_next,
		.n_next = p->n_expected_next,
		.replay = expected_replay(p),
	};
	for (size_t i = 0; i < m->n_rows; i++)
		m->beside.rows[i] = (struct beside_row){
			.e = m->rows[i].e,
			.target = m->rows[i].target->name,
			.kind = m->rows[i].target->kind,
			.label = m->labels[i],
			.joint = m->rows[i].joint,
		};
}

static void make_rows(struct model *m)
{
	const struct profile *p = m->profile;
	_cleanup_free_ struct stats_sampled *samples = all_samples(m);
	struct stats_options opt = { .seed = p->runs[0].header.seed,
				     .sampled = samples,
				     .n_sampled = p->n_targets };
	_cleanup_free_ bool *estimated = xcalloc(p->n_targets + 1, sizeof(*estimated));

	stats_estimate(p->windows, p->n_windows, p->n_progress, &opt, &m->estimates);
	for (size_t i = 0; i < m->estimates.n; i++)
		estimated[m->estimates.e[i].target] = true;
	m->rows = xcalloc(m->estimates.n, sizeof(*m->rows));
	for (size_t i = 0; i < m->estimates.n; i++) {
		const struct estimate *e = &m->estimates.e[i];
		struct model_row *row = &m->rows[m->n_rows++];

		*row = (struct model_row){
			.e = e,
			.target = &p->targets[e->target],
			.progress = &p->progress[e->progress],
			.joint = next_is_joint(p, estimated, e->target),
		};
		row->samples = samples[e->target].n ?: e->samples;
		row->of = samples[e->target].n ? samples[e->target].all : 0;
	}
	qsort(m->rows, m->n_rows, sizeof(*m->rows), compare_rows);
	make_labels(m);
	put_beside(m);
	collect_speedups(m);
}

const struct estimate_point *model_point(const struct model_row *row, double speedup_pct)
{
	for (size_t i = 0; i < row->e->n_points; i++) {
		if (same_speedup(row->e->points[i].speedup_pct, speedup_pct))
			return &row->e->points[i];
	}
	return NULL;
}

/* ---- what there is to say ---- */

static void reason_discards(struct model *m)
{
	for (size_t i = 0; i < m->n_discards; i++) {
		const struct model_discard *d = &m->discards[i];
		const char *remedy = discard_remedy(d->why);

		if (d->n)
			text_list_add(&m->reasons,
				      xasprintf("%zu of %zu windows were discarded as \"%s\"%s%s",
						d->n, m->profile->n_windows, d->name,
						remedy ? ": " : "", remedy ? remedy : ""));
	}
}

static void reason_progress(struct model *m)
{
	const struct profile *p = m->profile;

	for (size_t i = 0; i < p->n_progress; i++) {
		if (m->progress[i].visits <= 0)
			text_list_add(&m->reasons,
				      xasprintf("no progress point was reached: \"%s\" (%s) has no "
						"visits: check that the program runs through it",
						p->progress[i].name, p->progress[i].spec));
	}
	if (!p->n_progress)
		text_list_add(&m->reasons, xstrdup("there is no progress point: give one with -p"));
}

static void find_reasons(struct model *m)
{
	const struct profile *p = m->profile;
	size_t zeros = 0, treated = 0;

	if (m->n_rows)
		return;
	for (size_t i = 0; i < p->n_runs; i++) {
		const struct profile_footer *f = &p->runs[i].footer;

		for (size_t k = 0; k < f->n_reasons; k++)
			text_list_add(&m->reasons, xstrdup(f->reasons[k]));
	}
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct profile_window *w = &p->windows[i];

		zeros += !w->discard && is_zero(w);
		treated += !w->discard && window_is_treated(w);
	}
	if (!p->runs[p->n_runs - 1].complete)
		text_list_add(&m->reasons,
			      xstrdup("the profile is cut off: scozd did not get to its "
				      "end; run again"));
	if (!p->n_windows && !m->reasons.n)
		text_list_add(&m->reasons,
			      xstrdup("no window was recorded: the run was too short, or "
				      "no target was seen; run longer"));
	else if (p->n_windows && !m->kept)
		reason_discards(m);
	else if (m->kept)
		reason_progress(m);
	if (m->kept && !m->reasons.n && !treated)
		text_list_add(&m->reasons,
			      xstrdup("no window with a speedup was kept: run longer"));
	if (m->kept && !m->reasons.n && !zeros)
		text_list_add(&m->reasons, xstrdup("no 0 % window was kept, so there is nothing to "
						   "compare with: run longer"));
	if (!m->reasons.n)
		text_list_add(&m->reasons,
			      xstrdup("no window with a speedup has a 0 % window beside it "
				      "in which progress was made: run longer"));
}

static void warn_command(struct model *m, size_t run)
{
	int status = m->profile->runs[run].footer.command_status;
	_cleanup_free_ char *text = NULL;

	if (status == -1 || !m->profile->runs[run].complete)
		return;
	text = process_status_text(status);
	if (text)
		text_list_add(&m->warnings, xasprintf("the command %s", text));
}

/* In what two runs differ that no prediction can be about both; NULL: in nothing. To be freed. */
static char *difference_of_runs(const struct profile_header *a, const struct profile_header *b)
{
	if (strcmp(a->host, b->host))
		return xasprintf("on \"%s\", not \"%s\"", b->host, a->host);
	if (a->cpus != b->cpus)
		return xasprintf("on %d cores, not %d", b->cpus, a->cpus);
	if (strcmp(a->command, b->command))
		return xasprintf("of \"%s\", not \"%s\"", b->command, a->command);
	return NULL;
}

static void warn_of_other_runs(struct model *m)
{
	const struct profile *p = m->profile;
	char *what = NULL;

	for (size_t i = 1; i < p->n_runs && !what; i++) {
		what = difference_of_runs(&p->runs[0].header, &p->runs[i].header);
		if (what)
			text_list_add(&m->warnings,
				      xasprintf("run %zu of %zu in the file is %s: what is "
						"predicted is an average over all",
						i + 1, p->n_runs, what));
	}
	free(what);
}

/* Than the last run. */
static void warn_of_other_builds(struct model *m)
{
	const struct profile *p = m->profile;
	const struct profile_header *h = &p->runs[p->n_runs - 1].header;

	for (size_t i = 0; i < h->n_binaries; i++) {
		_cleanup_free_ char *runs = NULL;
		size_t others = profile_other_builds(p, &h->binaries[i], &runs);

		if (others)
			text_list_add(&m->warnings,
				      xasprintf("%s in the file %s of another build of %s: what is "
						"predicted is an average over all",
						runs, others > 1 ? "were" : "was",
						h->binaries[i].path));
	}
}

/* Targets that were tried and gave nothing. */
static void warn_targets(struct model *m)
{
	const struct profile *p = m->profile;
	_cleanup_free_ bool *tried = xcalloc(p->n_targets, sizeof(bool));
	size_t n = 0, first = 0;

	for (size_t i = 0; i < p->n_windows; i++)
		tried[p->windows[i].target] |= window_is_treated(&p->windows[i]);
	for (size_t i = 0; i < m->n_rows; i++)
		tried[m->rows[i].e->target] = false;
	for (size_t i = 0; i < p->n_targets; i++) {
		if (tried[i] && !n++)
			first = i;
	}
	if (m->n_rows && n == 1)
		text_list_add(&m->warnings,
			      xasprintf("%s was tried, but none of its windows can be used",
					p->targets[first].name));
	else if (m->n_rows && n)
		text_list_add(&m->warnings,
			      xasprintf("%s and %zu other targets were tried, but none of "
					"their windows can be used",
					p->targets[first].name, n - 1));
}

static void warn_phases(struct model *m)
{
	for (size_t i = 0; i < m->estimates.n_phases; i++) {
		_cleanup_free_ char *text =
			phases_describe(&m->estimates.phases[i], m->profile->progress[i].name);

		if (text)
			text_list_add(&m->warnings,
				      xasprintf("the program or the machine changed its speed by "
						"itself: %s: a prediction is an average over these",
						text));
	}
}

static void find_warnings(struct model *m)
{
	const struct profile *p = m->profile;
	size_t cut = 0;

	for (size_t i = 0; i < p->n_runs; i++) {
		const struct profile_footer *f = &p->runs[i].footer;

		for (size_t k = 0; k < f->n_warnings; k++)
			text_list_add(&m->warnings, xstrdup(f->warnings[k]));
		for (size_t k = 0; m->n_rows && k < f->n_reasons; k++)
			text_list_add(&m->warnings, xstrdup(f->reasons[k]));
		warn_command(m, i);
		cut += !p->runs[i].complete;
	}
	if (cut)
		text_list_add(&m->warnings,
			      xasprintf("%zu of %zu runs %s cut off: this is what was "
					"recorded until then",
					cut, p->n_runs, cut == 1 ? "is" : "are"));
	if (p->skipped_lines)
		text_list_add(&m->warnings,
			      xasprintf("%zu line%s of the file %s cut off and skipped",
					p->skipped_lines, p->skipped_lines == 1 ? "" : "s",
					p->skipped_lines == 1 ? "is" : "are"));
	if (p->unknown_lines)
		text_list_add(&m->warnings,
			      xasprintf("%zu lines of kinds this scoz does not know were "
					"ignored: update scoz",
					p->unknown_lines));
	if (m->samples_lost > LOST_SHARE * m->samples_total)
		text_list_add(&m->warnings,
			      xasprintf("%llu of %llu samples were lost: lower --frequency",
					(unsigned long long)m->samples_lost,
					(unsigned long long)m->samples_total));
	warn_of_other_runs(m);
	warn_of_other_builds(m);
	warn_phases(m);
	warn_targets(m);
}

#define WAITS_TOLD   0.1 /* tasks at a time that waited for disks in the beginning, ... */
#define THROUGH_TOLD 0.2 /* ... and the share that somebody else ended */

/* What class:io and system calls that wait are behind, by name. */
static void note_disk_waits(struct model *m)
{
	const struct profile_replay *r = expected_replay(m->profile);
	bool journal;

	if (!r || !(r->disk_waits >= WAITS_TOLD) || !(r->through_share >= THROUGH_TOLD) ||
	    !*r->through)
		return;
	journal = text_after(r->through, "jbd2/");
	text_list_add(
		&m->notes,
		xasprintf("in the first %.1f s %.2g tasks waited for disks at a time: %.0f %% "
			  "of that until %s was done, which is not profiled%s",
			  r->seconds, r->disk_waits, 100 * r->through_share, r->through,
			  journal ? " (the thread of the kernel that commits the journal of a "
				    "file system)"
				  : ""));
}

static void find_notes(struct model *m)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		const char *target = m->rows[i].target->name;
		char *text =
			model_row_is_first(m, i) ? process_difference(m->profile, target) : NULL;

		if (text)
			text_list_add(&m->notes, text);
	}
	m->processes_differ = m->notes.n;
	for (size_t i = 0; i < m->n_rows; i++) {
		char *text = expected_difference(m, i);

		if (text)
			text_list_add(&m->notes, text);
	}
	note_disk_waits(m);
}

bool model_row_is_first(const struct model *m, size_t row)
{
	size_t i = 0;

	while (m->rows[i].target != m->rows[row].target)
		i++;
	return i == row;
}

bool model_samples_in(const struct profile *p, const struct process_group *g, const char *target,
		      struct profile_place *ret)
{
	bool any = false;

	*ret = (struct profile_place){ .sample = UINT32_MAX };
	for (size_t i = 0; i < p->n_samples; i++) {
		if (!place_is_of(p->samples[i].target, target))
			continue;
		any = true;
		ret->self += g->places[i].self;
		ret->total += g->places[i].total;
		ret->credit += g->places[i].credit;
	}
	return any;
}

int model_choose(struct model *m, const struct record_options *o, struct error *err)
{
	const struct profile *p = m->profile;
	int ret;

	m->options = o;
	m->per = o->per;
	m->chosen = process_view_filters(o);
	if (!m->chosen && m->per == PER_NOTHING)
		return 0;
	ret = process_view_create(p, o, &m->view, err);
	for (size_t i = 0; m->chosen && i < m->n_rows; i++) {
		struct model_row *row = &m->rows[i];
		struct profile_place sum = { 0 };

		row->of = !ret && model_samples_in(p, &m->view.all, row->target->name, &sum)
				  ? m->samples_total
				  : 0;
		row->samples = sum.total;
	}
	return ret;
}

int model_load(const char *path, struct model **ret, struct error *err)
{
	struct model *m = xcalloc(1, sizeof(*m));
	int r = profile_read(path, &m->profile, err);

	if (r) {
		free(m);
		return r;
	}
	sum_windows(m);
	name_points(m);
	sum_runs(m);
	m->latency = latency_of(m->profile);
	make_rows(m);
	find_reasons(m);
	find_warnings(m);
	find_notes(m);
	model_find_trust(m);
	model_find_machine(m);
	*ret = m;
	return 0;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	text_list_free(&m->reasons);
	text_list_free(&m->warnings);
	text_list_free(&m->notes);
	process_view_deinit(&m->view);
	free(m->discards);
	for (size_t i = 0; i < m->profile->n_progress; i++)
		free(m->progress[i].label);
	free(m->progress);
	free(m->latency);
	free(m->speedups);
	for (size_t i = 0; i < m->n_rows; i++) {
		free(m->rows[i].trust.command);
		free(m->labels[i]);
	}
	free(m->labels);
	free(m->beside.rows);
	free(m->rows);
	estimates_free(&m->estimates);
	profile_free(m->profile);
	free(m);
}

void model_print_reasons(const struct model *m)
{
	_cleanup_free_ char *path = text_clean(m->profile->path, "?");

	for (size_t i = 0; i < m->reasons.n; i++) {
		_cleanup_free_ char *text = text_clean(m->reasons.text[i], "?");

		log_msg(LOG_QUIET, "%s: nothing can be concluded: %s", path, text);
	}
}
