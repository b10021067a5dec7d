// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A unit is a treated window and the nearest usable 0 % windows before and after it: of the same
 * run and target, at most three windows away. Its baseline is their mean (or the one there is), so
 * that every treated window weighs the same in the baseline and a machine that changes speed from
 * one minute to the next cancels out.
 *
 * Two things follow from units being neighbours:
 *
 * Sharing. In 0 s 0 s 0 the middle zero belongs to two units, each with half its weight, so the
 * units are not independent. With equal noise in every window, the variance of the sum of all
 * units is (units + sum over zeros of (total share)^2), of which resampling sees only
 * (units + sum over zeros and units of share^2): the quotient is the inflation.
 *
 * Nothing is left out for what it says. Windows whose baselines disagree, or that lie far from the
 * others, are the weather that the interval has to tell of (tests/sim: leaving them out took 5 to
 * 10 points of coverage where each core changes its speed by itself, and gave next to nothing in
 * width once CPU times are taken into account, control_variate.c).
 *
 * The placebo. The interval of the 0 % point comes from treating each 0 % window as if it were a
 * treated one: what the method reports when nothing is changed.
 */
#include "stats/units.h"

#include "stats/holds.h"
#include "stats/weigh.h"
#include "stats/stats.h"
#include "stats/strangers.h"

#include <math.h>

#define LEAST_RELATED  0.02 /* of CPU time; with less it is not known who they are */
#define LEAST_QUEUEING 0.05 /* of CPU time, waiting for a core: somebody is in the way */
#define MAX_DISTANCE   3
#define WRITTEN	       1e-9 /* of a window: times are rounded as they are written */

struct pairing {
	size_t treated; /* index in the work arrays */
	size_t zero[2];
	int n_zero;
};

struct builder {
	struct holds holds;
	const struct profile_window **w; /* theirs */
	size_t n;
	double *time, *work; /* of each; work 0: unusable */
	double *measured;    /* time before the quota's part was taken off */
	double *scale;	     /* share of its unstopped time that lies between the visits */
	double *start;	     /* s, runs one after the other */
	bool per_run;	     /* a window is a whole run */
	bool latency;	     /* time is times the number in flight */
	bool related;	     /* it is known who has to do with points */
	struct pairing *pairs;
	size_t n_pairs;
};

static bool is_zero(const struct profile_window *w)
{
	return w->speedup < 1e-9;
}

static bool same_kind(const struct profile_window *w, const struct unit_set *set)
{
	return fabs(w->speedup - set->speedup) < 1e-6 && (w->real && !is_zero(w)) == set->real;
}

/* Nearest usable 0 % window of the same run in direction @step, at most MAX_DISTANCE away. */
static bool find_zero(const struct builder *b, size_t from, int step, size_t *ret)
{
	for (size_t i = from + step; i < b->n; i += step) {
		const struct profile_window *x = b->w[from], *y = b->w[i];
		uint32_t distance =
			step > 0 ? y->seq - b->holds.h[from].last : x->seq - b->holds.h[i].last;

		if (x->run != y->run || distance > MAX_DISTANCE)
			return false;
		if (is_zero(y) && b->work[i] > 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static struct pairing pair_up(const struct builder *b, size_t i)
{
	struct pairing p = { .treated = i };

	if (find_zero(b, i, -1, &p.zero[p.n_zero]))
		p.n_zero++;
	if (find_zero(b, i, 1, &p.zero[p.n_zero]))
		p.n_zero++;
	return p;
}

/* Each run's time begins at 0; here it goes on where the run before ended. */
static double *start_times(const struct profile_window *const *w, size_t n)
{
	double *start = xcalloc(n, sizeof(*start)), offset = 0, end = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && w[i]->run != w[i - 1]->run)
			offset = end;
		start[i] = offset + w[i]->start_s;
		end = fmax(end, start[i] + w[i]->wall_s);
	}
	return start;
}

/* CPU time that goes into units of work, as far as that is known. */
static double work_time(const struct builder *b, const struct profile_window *w)
{
	return b->related ? w->related_s : w->ran_s;
}

/*
 * What a time is linear in, as struct unit has it: windows are of one length, and hold as much work
 * as is left of the cores; runs are of one amount of work.
 */
static double left_in(const struct builder *b, size_t i)
{
	double left = strangers_left(b->w[i]);

	return b->per_run ? b->work[i] / left : b->time[i] * left;
}

/* What inserted delay leaves of a window's time. */
static double rest_of(const struct profile_window *w)
{
	double virtual_s = w->wall_s - w->inserted_s;

	return virtual_s > 0 && w->inserted_s > 0 ? virtual_s / w->wall_s : 1;
}

static void make_unit(const struct builder *b, const struct pairing *p, struct unit *u)
{
	const struct profile_window *w = b->w[p->treated];

	u->start_s = b->start[p->treated];
	u->time = b->time[p->treated];
	u->work = b->work[p->treated];
	u->external = b->scale[p->treated] * w->external_s;
	u->waits = b->scale[p->treated] * w->external_waits;
	u->inserted = b->scale[p->treated] * w->inserted_s;
	u->ran = b->scale[p->treated] * work_time(b, w);
	u->left = left_in(b, p->treated);
	for (int k = 0; k < p->n_zero; k++) {
		size_t z = p->zero[k];
		double part = 1.0 / p->n_zero;

		u->time0 += part * b->time[z];
		u->work0 += part * b->work[z];
		u->external0 += part * b->scale[z] * b->w[z]->external_s;
		u->waits0 += part * b->scale[z] * b->w[z]->external_waits;
		u->ran0 += part * b->scale[z] * work_time(b, b->w[z]);
		u->left0 += part * left_in(b, z);
		u->zero[u->n_zero++] = z;
	}
}

/* Time between visits; for latencies what the number in flight was a mean over. */
static double flow_time(const struct builder *b, size_t i)
{
	return b->latency && b->holds.h[i].p.inflight > 0 ? b->time[i] / b->holds.h[i].p.inflight
							  : b->time[i];
}

static struct unit_flow flow_of(const struct builder *b, const struct pairing *p)
{
	struct unit_flow f = { .visits = b->work[p->treated], .left_s = flow_time(b, p->treated) };

	f.wall_s = f.left_s / rest_of(b->w[p->treated]);
	for (int k = 0; k < p->n_zero; k++) {
		f.visits0 += b->work[p->zero[k]] / p->n_zero;
		f.wall0_s += flow_time(b, p->zero[k]) / p->n_zero;
	}
	return f;
}

/* How much the units of the set have in common with each other, and with those of other sets. */
static void find_geometry(const struct builder *b, struct unit_set *set)
{
	double seen = 0, real = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct unit *u = &set->u[i];

		for (uint32_t k = 0; k < u->n_zero; k++) {
			set->share[u->zero[k]] += 1.0 / u->n_zero;
			seen += 1.0 / u->n_zero / u->n_zero;
		}
	}
	for (size_t i = 0; i < b->n; i++)
		real += set->share[i] * set->share[i];
	set->inflation = set->n ? (set->n + real) / (set->n + seen) : 1;
	for (size_t i = 0; set->n && i < b->n; i++)
		set->share[i] /= set->n;
	set->geometry = set->n ? (set->n + real) / set->n / set->n : 1;
}

/*
 * Only pairings of windows with @speedup go into the set. What 0 % windows tell of the program they
 * tell without a neighbour, too, and as long as speedups are held most of them have none.
 */
static void fill_set(const struct builder *b, struct unit_set *set)
{
	_cleanup_free_ struct unit_flow *flow = xcalloc(b->n_pairs, sizeof(*flow));

	set->u = xcalloc(b->n_pairs, sizeof(*set->u));
	set->share = xcalloc(b->n, sizeof(*set->share));
	for (size_t i = 0; i < b->n_pairs; i++) {
		const struct pairing *p = &b->pairs[i];
		const struct profile_window *w = b->w[p->treated];

		if (!same_kind(w, set))
			continue;
		if (p->n_zero || is_zero(w)) {
			set->measured += b->measured[p->treated];
			set->corrected += b->time[p->treated];
		}
		if (!p->n_zero) {
			set->unpaired += b->holds.h[p->treated].windows;
			continue;
		}
		if (!is_zero(w))
			hold_add(&set->sum, w, w->progress);
		set->windows += b->holds.h[p->treated].windows;
		make_unit(b, p, &set->u[set->n]);
		flow[set->n++] = flow_of(b, p);
	}
	units_weigh(set->u, flow, set->n);
	find_geometry(b, set);
}

double unit_sets_queued_pct(const struct unit_sets *s)
{
	const struct profile_window *w = &s->s[0].sum.w;

	return w->wall_s > 0 ? 100 * w->queued_s / w->wall_s : 0;
}

double unit_sets_correlation(const struct unit_sets *s, size_t i, size_t k)
{
	const struct unit_set *a = &s->s[i], *b = &s->s[k];
	double common = 0;

	if (i == k)
		return 1;
	for (size_t z = 0; z < s->n_windows; z++)
		common += a->share[z] * b->share[z];
	return common / sqrt(a->geometry * b->geometry);
}

static struct unit_set *find_set(struct unit_sets *s, const struct profile_window *w)
{
	for (size_t i = 0; i < s->n; i++) {
		if (same_kind(w, &s->s[i]))
			return &s->s[i];
	}
	return NULL;
}

static int compare_set(const void *pa, const void *pb)
{
	const struct unit_set *a = pa, *b = pb;

	if (a->real != b->real)
		return a->real ? 1 : -1;
	return (a->speedup > b->speedup) - (a->speedup < b->speedup);
}

int compare_order(const void *pa, const void *pb)
{
	const struct profile_window *a = *(const struct profile_window *const *)pa;
	const struct profile_window *b = *(const struct profile_window *const *)pb;

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return (a->seq > b->seq) - (a->seq < b->seq);
}

static bool is_capped(const struct profile_window *w)
{
	return window_is_treated(w) && w->discard == DISCARD_CAPPED;
}

/* Of end-to-end runs, from the beginning to the end; a profile has twelve digits of each time. */
static bool each_is_a_run(const struct profile_window *const *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double rest;

		if (w[i]->n_progress != 1 || w[i]->progress[0].visits != 1)
			return false;
		rest = w[i]->progress[0].virtual_s - (w[i]->wall_s - w[i]->inserted_s);
		if (fabs(rest) > WRITTEN * w[i]->wall_s)
			return false;
	}
	return true;
}

/* By the sums of all windows at 0 %. */
static void describe_zero(struct unit_sets *s)
{
	const struct hold *sum = &s->s[0].sum;
	const struct profile_window *w = &sum->w;
	bool ran = w->ran_s > 0, in_target = w->target_ran_s > 0;

	s->waits = sum->p.visits > 0 ? w->syncs / sum->p.visits : 0;
	s->running = w->wall_s > 0 ? w->ran_s / w->wall_s : 0;
	s->spinning = ran ? w->spun_s / w->ran_s : 0;
	s->spins_anew = ran ? w->spun_first_s / w->ran_s : 0;
	s->target_runs = w->wall_s > 0 ? w->target_ran_s / w->wall_s : 0;
	s->target_waits = w->wall_s > 0 ? w->target_waited_s / w->wall_s : 0;
	s->target_share = ran && in_target ? w->target_ran_s / w->ran_s : NAN;
	if (in_target && w->queued_s > LEAST_QUEUEING * w->ran_s)
		s->target_alone = w->target_alone_s / w->target_ran_s;
}

/* Time and work of each, and what those at 0 % add up to. */
static void measure_holds(struct builder *b, struct unit_sets *s)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct profile_window *w = b->w[i];
		const struct window_progress *p = &b->holds.h[i].p;

		if (w->discard || !w->n_progress)
			continue;
		s->waits_sped &= w->waits_sped;
		if (!b->holds.h[i].usable)
			continue;
		b->time[i] = p->virtual_s - fmin(CROWDED_SHARE * w->crowded_s, p->virtual_s / 2);
		if (b->latency)
			b->time[i] *= p->inflight;
		b->work[i] = b->time[i] > 0 && isfinite(b->time[i]) ? p->visits : 0;
		if (w->wall_s > w->inserted_s)
			b->scale[i] = p->virtual_s / (w->wall_s - w->inserted_s);
		if (b->work[i] > 0 && is_zero(w)) {
			s->zeros += b->holds.h[i].windows;
			hold_add(&s->s[0].sum, w, p);
		}
	}
}

/* Beside that at 0 % one for each speedup, still without units; and who is paired with whom. */
static void find_sets(struct builder *b, struct unit_sets *s)
{
	size_t cap = s->n;

	for (size_t i = 0; i < b->n; i++) {
		const struct profile_window *w = b->w[i];

		if (!(b->work[i] > 0))
			continue;
		b->pairs[b->n_pairs++] = pair_up(b, i);
		if (!find_set(s, w)) {
			array_reserve(s->s, cap, s->n + 1);
			s->s[s->n++] = (struct unit_set){ .speedup = w->speedup, .real = w->real };
		}
	}
	for (size_t i = 0; i < b->n; i++) {
		struct unit_set *set = is_capped(b->w[i]) ? find_set(s, b->w[i]) : NULL;

		if (set)
			set->capped++; /* none of these is part of a hold */
	}
}

void unit_sets_build(const struct profile_window *const *w, size_t n, uint32_t progress,
		     struct unit_sets *ret)
{
	struct builder b = { 0 };
	const struct hold *zero;

	memset(ret, 0, sizeof(*ret));
	ret->s = xcalloc(1, sizeof(*ret->s)); /* 0 % */
	ret->n = 1;
	ret->waits_sped = n > 0;
	for (size_t i = 0; i < n; i++) {
		ret->capped += is_capped(w[i]);
		ret->target_ran += w[i]->target_ran_s;
		ret->treated +=
			window_is_treated(w[i]) && !w[i]->discard && progress < w[i]->n_progress;
	}
	ret->per_run = b.per_run = each_is_a_run(w, n);
	holds_build(w, n, progress, &b.holds);
	ret->n_windows = n = b.n = b.holds.n;
	b.w = xcalloc(n + 1, sizeof(*b.w));
	for (size_t i = 0; i < n; i++)
		b.w[i] = &b.holds.h[i].w;
	w = b.w;
	b.time = xcalloc(n, sizeof(*b.time));
	b.work = xcalloc(n, sizeof(*b.work));
	b.measured = xcalloc(n, sizeof(*b.measured));
	b.scale = xcalloc(n, sizeof(*b.scale));
	b.start = start_times(w, n);
	b.pairs = xcalloc(n, sizeof(*b.pairs));
	for (size_t i = 0; i < n; i++)
		b.latency |= b.holds.h[i].p.inflight > 0;
	ret->latency = b.latency;
	measure_holds(&b, ret);
	describe_zero(ret);
	zero = &ret->s[0].sum;
	ret->visits = ret->zeros && !b.per_run ? zero->p.visits / ret->zeros : INFINITY;
	b.related = zero->w.related_s > LEAST_RELATED * zero->w.ran_s;
	memcpy(b.measured, b.time, n * sizeof(*b.time));
	quota_correct(w, n, b.work, b.scale, ret->latency, b.time, &ret->quota);
	find_sets(&b, ret);
	for (size_t i = 0; i < ret->n; i++)
		fill_set(&b, &ret->s[i]);
	qsort(ret->s, ret->n, sizeof(*ret->s), compare_set);
	holds_free(&b.holds);
	free(b.w);
	free(b.time);
	free(b.measured);
	free(b.work);
	free(b.scale);
	free(b.start);
	free(b.pairs);
}

void unit_sets_free(struct unit_sets *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->s[i].u);
		free(s->s[i].share);
	}
	free(s->s);
	memset(s, 0, sizeof(*s));
}
