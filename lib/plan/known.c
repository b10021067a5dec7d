// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is known of a target, and when that is enough.
 *
 * Looks. Whether a target has been measured enough is asked only when its units have grown by a
 * quarter since the last time, and not before there are MIN_UNITS of each speedup: asking after
 * every window would stop at those moments at which chance makes the interval narrow, and such
 * intervals contain the truth too rarely.
 *
 * Precise. A speedup whose interval is as narrow as asked for gets no more windows as long as
 * others need them; a target of which that is true of all speedups neither.
 *
 * No effect. Of several targets one may be dropped early: when at its k-th look (of those at
 * which it is known well enough to ask) every point is surely below 1 % (nothing to be gained) and
 * above -1 % (no contention). A useful target has a point for which that is false, and to drop it
 * this one point's bound must fail; so each bound needs no correction for the number of speedups.
 * For the number of looks the error is spent as 6 alpha / (pi k)^2, which sums up to alpha, and for
 * the number of targets it is divided by those not yet dropped (Holm): the chance that any useful
 * target is dropped is at most alpha.
 *
 * Hopeless. A speedup may lose its windows where others keep theirs (cores cannot pay what is
 * inserted, say); it must not keep the rest from being decided. That the weather spoils windows of
 * all kinds is no reason to give one up.
 */
#include "plan/plan_internal.h"

#include <math.h>

#include "stats/stats.h"

#define GROWTH	  1.25 /* of the units, from look to look */
#define ALPHA	  0.04 /* for 5 %: quantiles far out in the tails are not exact */
#define USEFUL	  1.0  /* percent */
#define ASK_WIDTH 0.6  /* of that: half width of the bounds */
#define REACHABLE 0.99 /* as trust.c has it: noise of a tenth of the goal would take forever */
#define HOPELESS  8    /* windows that others would have kept, of which less than a quarter was */

bool level_is_hopeless(const struct target *t, const struct level *l)
{
	double expected = t->zeros_tried ? (double)l->tried * t->zeros_kept / t->zeros_tried : 0;

	return expected >= HOPELESS && l->kept * 4 < expected;
}

static struct level *level_of(const struct plan *p, struct target *t,
			      const struct estimate_point *point)
{
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		if (fabs(100 * p->speedups[i] - point->speedup_pct) < 1e-4)
			return &t->level[i];
	}
	return NULL;
}

static double half_width(const struct estimate_point *point)
{
	return (point->ci_hi - point->ci_lo) / 2;
}

static void note_point(const struct plan *p, struct target *t, const struct estimate_point *point)
{
	struct level *l = level_of(p, t, point);

	if (!l)
		return;
	l->units = l->units < point->units ? l->units : point->units;
	l->width = fmax(l->width, half_width(point));
	if (!p->opt.exact)
		l->fixed = fmax(l->fixed, point->fixed_pp);
}

static void estimate(const struct plan *p, struct target *t, struct estimates *ret)
{
	struct stats_options opt = { .seed = p->opt.seed, .exact = true, .bare = true };

	stats_estimate(t->w, t->n, p->opt.n_progress, &opt, ret);
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		t->level[i].units = ret->n ? UINT32_MAX : 0;
		t->level[i].width = t->level[i].fixed = 0;
	}
	for (size_t i = 0; i < ret->n; i++) {
		for (size_t k = 1; k < ret->e[i].n_points; k++)
			note_point(p, t, &ret->e[i].points[k]);
	}
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		struct level *l = &t->level[i];

		if (l->units == UINT32_MAX)
			l->units = 0;
		if (!l->units)
			l->width = INFINITY;
	}
}

/* Of the speedups that can be measured at all, tried or not. */
static uint32_t fewest_units(const struct plan *p, const struct target *t)
{
	uint32_t fewest = UINT32_MAX;

	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		if (!level_is_hopeless(t, &t->level[i]) && t->level[i].units < fewest)
			fewest = t->level[i].units;
	}
	return fewest == UINT32_MAX ? 0 : fewest;
}

static uint32_t sum_units(const struct plan *p, const struct target *t)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < p->opt.n_speedups; i++)
		sum += t->level[i].units;
	return sum;
}

/* ---- looks ---- */

/*
 * Is the target known well enough for the question to be worth a look's share of the error? The
 * answer goes by standard errors alone, so nothing is selected for its result.
 */
static bool worth_asking(const struct plan *p, const struct estimates *e, double alpha)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->e[i].n_points != p->opt.n_speedups + 1)
			return false;
		for (size_t k = 1; k < e->e[i].n_points; k++) {
			double lo, hi;

			estimate_point_bounds(&e->e[i].points[k], alpha, &lo, &hi);
			if (!(hi - lo <= 2 * ASK_WIDTH * USEFUL))
				return false;
		}
	}
	return e->n > 0;
}

static bool surely_useless(const struct estimates *e, double alpha)
{
	for (size_t i = 0; i < e->n; i++) {
		for (size_t k = 1; k < e->e[i].n_points; k++) {
			double lo, hi;

			estimate_point_bounds(&e->e[i].points[k], alpha, &lo, &hi);
			if (lo < -USEFUL || hi > USEFUL)
				return false;
		}
	}
	return true;
}

static void look_for_effect(struct plan *p, struct target *t, const struct estimates *e)
{
	size_t rivals = 0, others = 0;
	double alpha;

	for (size_t i = 0; i < p->n; i++) {
		others += !p->t[i].broken && !p->t[i].joint;
		rivals += !p->t[i].broken && !p->t[i].joint && !p->t[i].no_effect;
	}
	alpha = 6 * ALPHA / pow(M_PI * (t->looks + 1), 2) / (rivals ? rivals : 1);
	if (others > 1 && worth_asking(p, e, alpha)) {
		t->looks++;
		t->no_effect |= surely_useless(e, alpha);
	}
}

/* Errors that do not shrink are nearly as large as that, and nearly all that is left. */
static bool out_of_reach(const struct plan *p, const struct level *l)
{
	return l->fixed > REACHABLE * p->opt.precision && l->width <= LITTLE_NOISE * l->fixed;
}

/* What moves one end of an interval alone does not shrink, either. */
static void add_one_sided(const struct plan *p, struct target *t)
{
	struct stats_options opt = { .seed = p->opt.seed, .bare = true };
	struct estimates e;

	stats_estimate(t->w, t->n, p->opt.n_progress, &opt, &e);
	for (size_t i = 0; i < e.n; i++) {
		for (size_t k = 1; k < e.e[i].n_points; k++) {
			double reported = half_width(&e.e[i].points[k]);
			struct level *l = level_of(p, t, &e.e[i].points[k]);

			if (l && reported > l->width)
				l->fixed = fmax(l->fixed,
						sqrt(reported * reported - l->width * l->width));
		}
	}
	estimates_free(&e);
}

/* What counts is the interval that will be reported. */
static void look_for_precision(struct plan *p, struct target *t)
{
	bool all = t->open == p->opt.n_speedups, any = false;

	if (!p->opt.exact)
		add_one_sided(p, t);
	for (size_t k = 0; k < t->open; k++) {
		struct level *l = &t->level[p->ladder[k]];

		l->precise = l->units >= MIN_UNITS && hypot(l->width, l->fixed) <= p->opt.precision;
		l->limited = l->units >= MIN_UNITS && !l->precise && out_of_reach(p, l);
		l->precise |= l->limited;
		any |= l->precise;
		all &= l->precise || level_is_hopeless(t, l);
	}
	t->precise |= any && all;
}

void target_reestimate(struct plan *p, struct target *t)
{
	struct estimates e;
	uint32_t units;

	estimate(p, t, &e);
	units = sum_units(p, t);
	if (units >= t->next_look && !t->joint) {
		if (fewest_units(p, t) >= MIN_UNITS)
			look_for_effect(p, t, &e);
		if (p->opt.precision > 0)
			look_for_precision(p, t);
		t->next_look = ceil(units * GROWTH);
	}
	estimates_free(&e);
}

void target_forget(struct plan *p, struct target *t)
{
	for (size_t k = 0; k < t->n; k++)
		free(t->w[k].progress);
	t->n = 0;
	memset(t->level, 0, p->opt.n_speedups * sizeof(*t->level));
	t->zeros_tried = t->zeros_kept = 0;
	t->next_look = MIN_UNITS;
	t->precise = false;
	t->no_effect = false;
	t->looks = 0;
}
