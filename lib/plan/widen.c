// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many cells, targets times speedups, the time suffices for. A hundred windows spread over 32
 * cells tell nothing about any of them; of four they tell what there is to know.
 *
 * The ladder. Cells are added in a fixed order: the hottest target at the first speedup
 * (plan_first_speedup()), then at a second one; then the next targets at the first; then second
 * speedups, third ones and so on, each as far from those before it as can be. A cell once added
 * stays.
 *
 * When. The next cell is added when those before it are known to within KNOWN_PP, or as well as
 * they can be (what does not shrink is most of it), or have been tried so often that it is others'
 * turn. Where the end of the run is known, only as many are added
 * as can get there in the time that is left, by the rate at which windows have been kept so far and
 * by the noise that they had: all at once then, so that they share the weather.
 */
#include "plan/plan_internal.h"

#include <math.h>

#define KNOWN_PP    5.0 /* half width that is of use, in percentage points */
#define KNOWN_UNITS 5	/* fewer tell their own noise badly */
#define ENOUGH	    64	/* tries, after which others have their turn */

size_t plan_first_speedup(const double *speedups, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++) {
		double further = fabs(speedups[i] - 0.5) - fabs(speedups[best] - 0.5);

		if (further < -1e-9 || (further < 1e-9 && speedups[i] > speedups[best]))
			best = i;
	}
	return best;
}

size_t *ladder_create(const double *speedups, size_t n)
{
	size_t *ladder = xcalloc(n, sizeof(*ladder));

	if (n)
		ladder[0] = plan_first_speedup(speedups, n);
	for (size_t k = 1; k < n; k++) {
		double furthest = -1;

		for (size_t i = 0; i < n; i++) {
			double distance = speedups[i];
			bool taken = false;

			for (size_t j = 0; j < k; j++) {
				distance = fmin(distance, fabs(speedups[i] - speedups[ladder[j]]));
				taken |= ladder[j] == i;
			}
			if (!taken &&
			    (distance > furthest + 1e-9 ||
			     (distance > furthest - 1e-9 && speedups[i] > speedups[ladder[k]]))) {
				furthest = distance;
				ladder[k] = i;
			}
		}
	}
	return ladder;
}

static double known_pp(const struct plan *p)
{
	return fmax(KNOWN_PP, p->opt.precision);
}

static bool is_known(const struct plan *p, const struct level *l)
{
	return l->units >= KNOWN_UNITS && l->width <= known_pp(p);
}

/* More windows would hardly make it better known: the rest does not shrink. */
static bool is_as_known_as_can_be(const struct level *l)
{
	return l->units >= MIN_UNITS && l->width <= LITTLE_NOISE * l->fixed;
}

bool level_is_settled(const struct plan *p, const struct target *t, const struct level *l)
{
	return is_known(p, l) || is_as_known_as_can_be(l) || l->precise || l->tried >= ENOUGH ||
	       level_is_hopeless(t, l);
}

bool target_is_settled(const struct plan *p, const struct target *t)
{
	for (size_t i = 0; i < t->open; i++) {
		if (!level_is_settled(p, t, &t->level[p->ladder[i]]))
			return false;
	}
	return true;
}

/* Which of two targets comes first where time does not suffice for both. */
static bool target_is_hotter(const struct target *a, const struct target *b)
{
	return a->weight != b->weight ? a->weight > b->weight : strcmp(a->name, b->name) < 0;
}

/* Whose turn it is to get one more speedup; NULL: all have all. */
static struct target *next_cell(const struct plan *p)
{
	size_t first = p->opt.n_speedups < 2 ? p->opt.n_speedups : 2;
	struct target *hottest = NULL, *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct target *t = &p->t[i];

		if (!target_is_live(t))
			continue;
		if (!hottest || target_is_hotter(t, hottest))
			hottest = t;
		if (t->open < p->opt.n_speedups &&
		    (!best || t->open < best->open ||
		     (t->open == best->open && target_is_hotter(t, best))))
			best = t;
	}
	return hottest && hottest->open < first ? hottest : best;
}

double plan_units_needed(const struct plan *p)
{
	double least = INFINITY;

	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; !p->t[i].joint && k < p->opt.n_speedups; k++) {
			const struct level *l = &p->t[i].level[k];

			if (l->units >= KNOWN_UNITS && isfinite(l->width))
				least = fmin(least, l->units * pow(l->width / known_pp(p), 2));
		}
	}
	return fmax(least, KNOWN_UNITS);
}

double plan_units_left(const struct plan *p)
{
	double spent = p->now_s - p->started_s, left = INFINITY;

	if (p->opt.seconds > 0 && p->started_s >= 0 && spent > 0)
		left = fmax(p->opt.seconds - p->now_s, 0) * p->treated / spent;
	if (p->opt.windows && p->windows)
		left = fmin(left,
			    fmax((double)p->opt.windows - p->windows, 0) * p->treated / p->windows);
	return left;
}

/* Of those, how many the cells need that have been added already. */
static double units_owed(const struct plan *p, double needed)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct target *t = &p->t[i];

		for (size_t k = 0; target_is_live(t) && k < t->open; k++) {
			const struct level *l = &t->level[p->ladder[k]];

			if (!level_is_settled(p, t, l))
				sum += fmax(needed - l->units, 1);
		}
	}
	return sum;
}

void plan_widen(struct plan *p)
{
	double left = plan_units_left(p), needed = plan_units_needed(p);
	struct target *t;
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		if (!target_is_live(&p->t[i]))
			continue;
		any |= p->t[i].open > 0 && !p->t[i].precise;
		if (!target_is_settled(p, &p->t[i]))
			return;
	}
	while ((t = next_cell(p))) {
		if (any && units_owed(p, needed) + needed > left)
			return;
		t->open++;
		if (isinf(left) || !any)
			return;
	}
}
