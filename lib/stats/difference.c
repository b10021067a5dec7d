// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/difference.h"

#include <math.h>

#include "stats/describe.h"
#include "stats/resample.h"

static bool usable(const struct estimate_point *p)
{
	return p && estimate_point_knowledge(p) == KNOWN_VALUE && p->df > 0 && isfinite(p->se);
}

/* In percentage points. */
static double error_of(const struct estimate_point *p)
{
	return 100 * exp(p->log_ratio) * p->se;
}

struct difference difference_of(const struct estimate_point *a, const struct estimate_point *b,
				size_t compared, double same_pp)
{
	struct difference d = {
		.value = NAN, .lo = NAN, .hi = NAN, .p = NAN, .answer = DIFFERENCE_UNKNOWN
	};
	double x, y, error, df, half;

	if (!usable(a) || !usable(b))
		return d;
	x = pow(error_of(a), 2);
	y = pow(error_of(b), 2);
	error = sqrt(x + y);
	d.value = b->program_speedup_pct - a->program_speedup_pct;
	if (!(error > 0)) {
		d.lo = d.hi = d.value;
		d.p = d.value == 0;
	} else {
		df = (x + y) * (x + y) / (x * x / a->df + y * y / b->df);
		half = student_quantile(0.975, df) * error;
		d.lo = d.value - half;
		d.hi = d.value + half;
		d.p = student_two_sided(d.value / error, df);
	}
	/* What may be more, or less, than is said, in the same way of both, makes no difference. */
	d.lo -= fmax(a->above_pp - b->above_pp, 0) + fmax(b->below_pp - a->below_pp, 0);
	d.hi += fmax(b->above_pp - a->above_pp, 0) + fmax(a->below_pp - b->below_pp, 0);
	/* What surely changed by less than anybody wants to know is the same. */
	if (d.lo > -same_pp && d.hi < same_pp)
		d.answer = DIFFERENCE_SAME;
	else if (d.p <= DIFFERENCE_ALPHA / compared && (d.lo > 0 || d.hi < 0))
		d.answer = DIFFERENCE_CHANGED;
	return d;
}

double difference_at(const struct estimate *a, const struct estimate *b)
{
	double least = INFINITY, at = NAN;

	if (a->best == KNOWN_VALUE && usable(estimate_point_at(b, a->best_at_pct)))
		return a->best_at_pct;
	if (b->best == KNOWN_VALUE && usable(estimate_point_at(a, b->best_at_pct)))
		return b->best_at_pct;
	for (size_t i = 1; i < a->n_points; i++) {
		const struct estimate_point *p = &a->points[i],
					    *q = estimate_point_at(b, p->speedup_pct);
		double error = usable(p) && usable(q) ? hypot(error_of(p), error_of(q)) : INFINITY;

		if (error < least) {
			least = error;
			at = p->speedup_pct;
		}
	}
	return at;
}
