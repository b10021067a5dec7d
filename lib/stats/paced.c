// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delay that is inserted while a task waits for a device, or sleeps for some time, comes on top:
 * its wait is as long as before, and it owes the delay afterwards. Where something outside that is
 * not delayed says when to go on (an absolute timer, another machine), the wait gets shorter by
 * what was inserted: the program seems to have been delayed by nothing, and so to be faster than
 * it can be. So the part of the inserted delay that such waits took up,
 *
 *     slope = (waits * mean length of a wait at 0 % - external) / inserted
 *
 * is about 0 in programs that are to be trusted, and 1 or more (for several paced tasks) in
 * others. Lengths of waits are compared, not their sums: sleepers that have no part in the work go
 * on sleeping when the work gets faster or slower. Its interval is by linearisation over units,
 * with Student's t.
 */
#include "stats/paced.h"

#include <math.h>

#define PACED_SLOPE 0.5

struct pace pace_estimate(const struct unit_sets *sets)
{
	struct pace p = { .lo = -INFINITY, .hi = INFINITY };
	struct unit s = { 0 };
	double ss = 0, mean, half;
	size_t n = 0;

	for (size_t i = 1; i < sets->n; i++) {
		const struct unit_set *set = &sets->s[i];

		for (size_t k = 0; !set->real && k < set->n; k++) {
			s.external += set->u[k].external;
			s.external0 += set->u[k].external0;
			s.waits += set->u[k].waits;
			s.waits0 += set->u[k].waits0;
			s.inserted += set->u[k].inserted;
			n++;
		}
	}
	if (!(s.inserted > 0) || !(s.waits0 > 0))
		return p;
	mean = s.external0 / s.waits0;
	p.slope = (s.waits * mean - s.external) / s.inserted;
	p.few = n < PACE_LEAST;
	if (p.few)
		return p;
	for (size_t i = 1; i < sets->n; i++) {
		const struct unit_set *set = &sets->s[i];

		for (size_t k = 0; !set->real && k < set->n; k++) {
			const struct unit *u = &set->u[k];
			double e = u->waits * mean - u->external - p.slope * u->inserted +
				   (u->external0 - mean * u->waits0) * s.waits / s.waits0;

			ss += e * e;
		}
	}
	half = student_quantile(0.975, n - 1) * sqrt(ss * n / (n - 1)) / s.inserted;
	p.lo = p.slope - half;
	p.hi = p.slope + half;
	return p;
}

bool pace_from_outside(const struct pace *p)
{
	return p->lo > PACED_SLOPE;
}
