/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several explanations say together; inside lib/stats. */
#ifndef SCOZ_MIXTURE_H
#define SCOZ_MIXTURE_H

#include "stats/resample.h"

#include <math.h>

/* Student's t about @centre, with probability @weight (the sum of which is 1). */
struct component {
	double weight, centre, se, df;
};

/*
 * The Student's t about the mean of all that has the mixture's 95 % interval and about its tails
 * beyond: where a few unlikely explanations are wide, it has few degrees of freedom.
 */
struct log_ratio mixture_summary(const struct component *c, size_t n);

/*
 * Student's t with @df degrees of freedom, times @se, plus an independent normal error of standard
 * deviation @sd: its tail is that of the former, however large the latter. The probability of
 * being above @x; and what it is above with probability @alpha.
 */
/* The @sd of that which makes @all of @se. */
static inline double blur_between(double se, double all)
{
	return sqrt(fmax(all * all - se * se, 0));
}
double blurred_above(double x, double se, double df, double sd);
double blurred_bound(double alpha, double se, double df, double sd);

#endif
