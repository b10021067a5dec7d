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
 * So all that counts is v / r, how fast the program gets on by the wall clock: visits, not
 * latencies. It is what the units before and after say of the same speedup, never the unit itself:
 * its own noise would bend the mean (a window holds few visits). Where nothing changes, it is about
 * the same everywhere, and all this is nothing but a bit of noise in the weights.
 *
 * Phases may be as short as windows, though. Then those around are of other ones, and of v, which
 * is the unit's own, and r, which is theirs, the quotient would be no phase's: a target that is all
 * of one phase, and none of the other, was said to save 70 % of the time instead of 45. So from
 * their v to the unit's own v / r changes as far as the work loses what delay takes: by all of it
 * where nobody waits for the target, not at all where everybody does. How much it loses all units
 * together tell, as they are weighed, so it is looked for until it is what the weights say.
 */
#include "stats/weigh.h"

#include <math.h>

#include "base/base.h"

#define NEIGHBOURS 2	/* on each side */
#define OF_ALL	   0.5	/* units' worth of the mean of all others, as neighbours are few */
#define NEARLY_ALL 0.98 /* of what delay took */
#define LOOKS	   8

struct sums {
	double left, wall, visits; /* of treated windows: time, also with delay; */
	double wall0, visits0;	   /* of those beside them */
};

static void add(struct sums *s, const struct unit_flow *f, double treated, double pair)
{
	s->left += treated * f->left_s;
	s->wall += treated * f->wall_s;
	s->visits += treated * f->visits;
	s->wall0 += pair * f->wall0_s;
	s->visits0 += pair * f->visits0;
}

/* v / r */
static double speed_of(const struct sums *s)
{
	return s->wall0 / s->visits0 * s->visits / s->wall;
}

/* v */
static double rest_of(const struct sums *s)
{
	return s->left / s->wall;
}

/* v / r, where the work loses the part @lost of what delay takes. */
static double speed_by(double lost, double rest)
{
	return 1 - lost * (1 - rest);
}

/* Of the units around @i. False: nobody else is there. */
static bool sum_around(const struct unit_flow *f, size_t n, size_t i, const struct sums *all,
		       struct sums *s)
{
	double share = OF_ALL / (n - 1);

	if (n < 2)
		return false;
	*s = (struct sums){ share * all->left, share * all->wall, share * all->visits,
			    share * all->wall0, share * all->visits0 };
	add(s, &f[i], -share, -share);
	for (size_t k = i > NEIGHBOURS ? i - NEIGHBOURS : 0; k < n && k <= i + NEIGHBOURS; k++) {
		if (k != i)
			add(s, &f[k], 1, 1);
	}
	return true;
}

struct weight {
	double treated, pair;
};

static void find_weights(const struct unit_flow *f, size_t n, double lost, struct weight *ret)
{
	struct sums all = { 0 };

	for (size_t i = 0; i < n; i++)
		add(&all, &f[i], 1, 1);
	for (size_t i = 0; i < n; i++) {
		double own = speed_by(lost, f[i].left_s / f[i].wall_s), speed = 0;
		struct sums s;

		if (sum_around(f, n, i, &all, &s))
			speed = speed_of(&s) * own / speed_by(lost, rest_of(&s));
		ret[i] = speed > 0 ? (struct weight){ (1 + speed) / speed, 1 + speed }
				   : (struct weight){ 1, 1 };
	}
}

/* The part of what delay took that the work lost, by the sums of what is weighed so. */
static double find_lost(const struct unit_flow *f, size_t n, const struct weight *w)
{
	struct sums s = { 0 };
	double lost;

	for (size_t i = 0; i < n; i++)
		add(&s, &f[i], w[i].treated, w[i].pair);
	lost = (1 - speed_of(&s)) / (1 - rest_of(&s));
	return lost > NEARLY_ALL ? 1 : fmax(lost, 0);
}

void units_weigh(struct unit *u, const struct unit_flow *f, size_t n)
{
	_cleanup_free_ struct weight *w = xcalloc(n + 1, sizeof(*w));
	double lost = 1;

	for (int k = 0; k < LOOKS; k++) {
		find_weights(f, n, lost, w);
		lost = find_lost(f, n, w);
	}
	for (size_t i = 0; i < n; i++) {
		u[i].time *= w[i].treated;
		u[i].work *= w[i].treated;
		u[i].ran *= w[i].treated;
		u[i].left *= w[i].treated;
		u[i].time0 *= w[i].pair;
		u[i].work0 *= w[i].pair;
		u[i].ran0 *= w[i].pair;
		u[i].left0 *= w[i].pair;
	}
}
