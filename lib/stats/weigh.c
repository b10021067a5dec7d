// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The estimate is a ratio of sums. In a program that does now this, now that, what the sums hold of
 * each phase should be what a run without a profiler would have of it, on both sides. But windows
 * are of a length of time. Where much is inserted, less of that is virtual time; where nothing is
 * gained by it, the phase takes longer, and more windows fall into it. Of a phase whose units take
 * P, and P r with the target sped up, of windows of length 1 with the part v of virtual time,
 *
 *     treated windows hold v time and v / (P r) work, those beside them 1 and 1 / P, and
 *     1 / (1 / P + v / (P r)) pairs of them fall into each unit of the program's work.
 *
 * So with sums that are weighed by what they hold, a target that saves nothing in either of two
 * phases may seem to save something, or to cost (Simpson's paradox; test_stats_phases). Weights of
 * 1 + v / r for the pair, and of r / v for the treated window besides, make the sums those of
 *
 *     sum of r P work / sum of P work.
 *
 * Here r is what the units before and after say of the same speedup, never the unit itself: its own
 * noise would bend the mean (a window holds few visits). Where nothing changes, r is about the same
 * everywhere, and all this is nothing but a bit of noise in the weights.
 */
#include "stats/weigh.h"

#include "base/base.h"

#define NEIGHBOURS 2   /* on each side */
#define OF_ALL	   0.5 /* units' worth of the mean of all others, as neighbours are few */

struct sums {
	double time, work, time0, work0;
};

static void add(struct sums *s, const struct unit *u, double weight)
{
	s->time += weight * u->time;
	s->work += weight * u->work;
	s->time0 += weight * u->time0;
	s->work0 += weight * u->work0;
}

/* What speeding up does to the period around unit @i; 0: nobody else is there. */
static double ratio_around(const struct unit *u, size_t n, size_t i, const struct sums *all)
{
	struct sums s = { 0 };
	double share = OF_ALL / (n - 1);

	if (n < 2)
		return 0;
	s = (struct sums){ share * all->time, share * all->work, share * all->time0,
			   share * all->work0 };
	add(&s, &u[i], -share);
	for (size_t k = i > NEIGHBOURS ? i - NEIGHBOURS : 0; k < n && k <= i + NEIGHBOURS; k++) {
		if (k != i)
			add(&s, &u[k], 1);
	}
	return s.time / s.work * s.work0 / s.time0;
}

void units_weigh(struct unit *u, size_t n, const double *rest)
{
	_cleanup_free_ double *ratio = xcalloc(n, sizeof(*ratio));
	struct sums all = { 0 };

	for (size_t i = 0; i < n; i++)
		add(&all, &u[i], 1);
	for (size_t i = 0; i < n; i++)
		ratio[i] = ratio_around(u, n, i, &all);
	for (size_t i = 0; i < n; i++) {
		double pair, treated;

		if (!(ratio[i] > 0))
			continue;
		pair = 1 + rest[i] / ratio[i];
		treated = pair * ratio[i] / rest[i];
		u[i].time *= treated;
		u[i].work *= treated;
		u[i].ran *= treated;
		u[i].left *= treated;
		u[i].time0 *= pair;
		u[i].work0 *= pair;
		u[i].ran0 *= pair;
		u[i].left0 *= pair;
	}
}
