// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From windows to estimates. units.c pairs treated windows with their baselines, resample.c turns
 * the pairs of one speedup into a ratio with an interval, verdict.c judges the points of one
 * target. Targets are independent of each other: each point has its own stream of random numbers,
 * so that a window more of one target changes nothing for another.
 */
#include "stats/stats.h"

#include <math.h>

#include "stats/units.h"
#include "stats/verdict.h"

#define DEFAULT_RESAMPLES 2000

static int compare_windows(const void *pa, const void *pb)
{
	const struct profile_window *a = *(const struct profile_window *const *)pa;
	const struct profile_window *b = *(const struct profile_window *const *)pb;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return (a->seq > b->seq) - (a->seq < b->seq);
}

static double to_percent(double log_ratio)
{
	return -100 * expm1(log_ratio);
}

/* The placebo: 0 by definition, and how far from it a point of as many windows may fall. */
static struct estimate_point zero_point(const struct unit_set *set, size_t zeros,
					const struct log_ratio *r)
{
	struct estimate_point p = { .ci_lo = -INFINITY, .ci_hi = INFINITY, .windows = zeros };

	if (set->n >= 3) {
		p.ci_lo = to_percent(r->hi - r->value);
		p.ci_hi = to_percent(r->lo - r->value);
	}
	return p;
}

static struct estimate_point treated_point(const struct unit_set *set, const struct log_ratio *r)
{
	struct estimate_point p = {
		.speedup_pct = 100 * set->speedup,
		.program_speedup_pct = to_percent(r->value),
		.ci_lo = -INFINITY,
		.ci_hi = INFINITY,
		.windows = set->n,
	};

	if (set->n >= 3) {
		p.ci_lo = to_percent(r->hi);
		p.ci_hi = to_percent(r->lo);
	}
	return p;
}

static uint64_t point_seed(uint64_t seed, uint32_t target, uint32_t progress, double speedup)
{
	seed = rng_mix(seed, target);
	seed = rng_mix(seed, progress);
	return rng_mix(seed, llround(speedup * 1e6));
}

/* Returns false when there is nothing to estimate from. */
static bool estimate_pair(const struct profile_window *const *w, size_t n, uint32_t progress,
			  const struct stats_options *opt, struct estimate *e)
{
	struct point_detail *detail;
	struct unit_sets sets;
	size_t treated = 0;

	unit_sets_build(w, n, progress, &sets);
	for (size_t i = 1; i < sets.n; i++)
		treated += sets.s[i].n;
	if (!treated) {
		unit_sets_free(&sets);
		return false;
	}
	e->target = w[0]->target;
	e->progress = progress;
	e->points = xcalloc(sets.n, sizeof(*e->points));
	detail = xcalloc(sets.n, sizeof(*detail));
	for (size_t i = 0; i < n; i++)
		e->samples += w[i]->hits;
	for (size_t i = 0; i < sets.n; i++) {
		const struct unit_set *set = &sets.s[i];
		struct point_detail *d = &detail[e->n_points];
		struct log_ratio r = { 0 };

		if (i && !set->n)
			continue;
		if (set->n)
			r = log_ratio_estimate(
				set->u, set->n, set->inflation, opt->resamples,
				point_seed(opt->seed, e->target, progress, set->speedup));
		d->p = r.p;
		d->set = set;
		e->points[e->n_points++] =
			i ? treated_point(set, &r) : zero_point(set, sets.zeros, &r);
	}
	judge(e, detail, &sets);
	free(detail);
	unit_sets_free(&sets);
	return true;
}

int stats_estimate(const struct profile_window *windows, size_t n_windows, size_t n_progress,
		   const struct stats_options *opt, struct estimates *ret)
{
	struct stats_options o = opt ? *opt : (struct stats_options){ 0 };
	_cleanup_free_ const struct profile_window **w = xmalloc(n_windows * sizeof(*w));
	size_t cap = 0, end;

	if (!o.resamples)
		o.resamples = DEFAULT_RESAMPLES;
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n_windows; i++)
		w[i] = &windows[i];
	qsort(w, n_windows, sizeof(*w), compare_windows);
	for (size_t start = 0; start < n_windows; start = end) {
		end = start;
		while (end < n_windows && w[end]->target == w[start]->target)
			end++;
		for (size_t p = 0; p < n_progress; p++) {
			struct estimate e = { 0 };

			if (!estimate_pair(w + start, end - start, p, &o, &e))
				continue;
			array_reserve(ret->e, cap, ret->n + 1);
			ret->e[ret->n++] = e;
		}
	}
	return 0;
}

void estimates_free(struct estimates *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->e[i].points);
		free(e->e[i].warning);
	}
	free(e->e);
	memset(e, 0, sizeof(*e));
}

double estimate_half_width(const struct estimate *e)
{
	double widest = e->n_points > 1 ? 0 : INFINITY;

	for (size_t i = 1; i < e->n_points; i++)
		widest = fmax(widest, (e->points[i].ci_hi - e->points[i].ci_lo) / 2);
	return widest;
}
