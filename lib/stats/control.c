// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On a shared machine the speed of a core jumps by a factor of two and the host takes a third of it
 * away, and the time for a unit of work jumps with it. The CPU time that the profiled tasks need
 * for a unit jumps in the same way, for it is measured by the same clock, stolen time included; but
 * virtual speedup leaves it as it is, stops taken off: nothing is done less or more. So what the
 * CPU times of treated windows and their baselines differ by is noise, and the part of it that
 * shows in the times can be taken off:
 *
 *     theta = theta(time) - slope * theta(CPU time)
 *
 * with the slope by regression over all units of the target, the placebo's included. (It is above
 * 1 where only one of several busy cores is on the critical path.)
 *
 * Where tasks spin while they wait, CPU time shrinks with the waits, that is with the very effect
 * that is to be measured. So where several tasks run at a time and wake each other less than once
 * for two units of work, nothing of this is done (sim coverage: spin barriers would be 18 points
 * wrong). Elsewhere the difference of CPU times is noise plus perhaps a shift by the treatment,
 * whose size is one of three: none to speak of, some, a lot. How likely each is, the differences of
 * all speedups tell. Only what is then likely to be noise is taken off, and what is not known about
 * that widens the interval: where the differences are far beyond their errors, all of this changes
 * nothing.
 */
#include "stats/control.h"

#include <math.h>

#define LEAST_UNITS   10
#define MOST_SLOPE    2.0
#define WAITS_ENOUGH  0.5 /* wake-ups for a unit of work */
#define ALONE	      1.1 /* running tasks */
#define LEAST_CONTROL 0.1 /* of the variance: less is not worth the trouble */

/* Standard deviations of the shift, as log ratios, and how likely they are beforehand. */
#define N_SHIFTS 3
static const double shifts[N_SHIFTS] = { 0.004, 0.05, 0.5 };
static const double prior[N_SHIFTS] = { 0.80, 0.15, 0.05 };

struct deviation {
	double time, ran;
};

/* One speedup. */
struct pair {
	struct log_ratio ran;
	double time_ss, ran_ss, product; /* sums over units of deviations from their mean */
};

static struct unit as_ran(const struct unit *u)
{
	return (struct unit){
		.time = u->ran, .work = u->work, .time0 = u->ran0, .work0 = u->work0
	};
}

static bool all_known(const struct unit_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t k = 0; k < sets->s[i].n; k++) {
			if (!(sets->s[i].u[k].ran > 0) || !(sets->s[i].u[k].ran0 > 0))
				return false;
		}
	}
	return true;
}

/* Several tasks run at a time and hardly ever wake each other. */
static bool may_spin(const struct unit_sets *sets)
{
	return sets->waits < WAITS_ENOUGH && sets->running > ALONE;
}

/* False: too few units. */
static bool make_pair(const struct unit_set *set, struct pair *p)
{
	_cleanup_free_ struct unit *ran = xmalloc(set->n * sizeof(*ran));
	_cleanup_free_ double *a = xmalloc(set->n * sizeof(*a));
	_cleanup_free_ double *b = xmalloc(set->n * sizeof(*b));

	memset(p, 0, sizeof(*p));
	if (set->n < 3)
		return false;
	for (size_t i = 0; i < set->n; i++)
		ran[i] = as_ran(&set->u[i]);
	p->ran = log_ratio_estimate(ran, set->n, set->inflation);
	log_ratio_deviations(set->u, set->n, a);
	log_ratio_deviations(ran, set->n, b);
	for (size_t i = 0; i < set->n; i++) {
		p->time_ss += a[i] * a[i];
		p->ran_ss += b[i] * b[i];
		p->product += a[i] * b[i];
	}
	return true;
}

/* After a shift of standard deviation @sd: the likely noise in the difference, and its variance. */
static void noise_part(const struct log_ratio *ran, double sd, double *mean, double *variance)
{
	double noise = ran->se * ran->se, shift = sd * sd;

	*mean = ran->value * noise / (noise + shift);
	*variance = noise * shift / (noise + shift);
}

static void find_weights(const struct pair *p, const struct unit_sets *sets, double *weight)
{
	double most = -INFINITY, sum = 0;

	for (int k = 0; k < N_SHIFTS; k++) {
		weight[k] = log(prior[k]);
		for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
			const struct log_ratio *x = &p[i].ran;
			double v = x->se * x->se + shifts[k] * shifts[k];

			if (x->df > 0)
				weight[k] -= (log(v) + x->value * x->value / v) / 2;
		}
		most = fmax(most, weight[k]);
	}
	for (int k = 0; k < N_SHIFTS; k++)
		sum += weight[k] = exp(weight[k] - most);
	for (int k = 0; k < N_SHIFTS; k++)
		weight[k] /= sum;
}

/* @rest: of the variance of @r, what the control leaves. */
static void adjust(struct log_ratio *r, const struct log_ratio *ran, double slope, double slope_se,
		   double rest, const double *weight)
{
	double mean = 0, square = 0, variance;

	for (int k = 0; k < N_SHIFTS; k++) {
		double noise, unsure, value;

		noise_part(ran, shifts[k], &noise, &unsure);
		value = r->value - slope * noise;
		mean += weight[k] * value;
		square += weight[k] * (value * value + slope * slope * unsure +
				       slope_se * slope_se * noise * noise);
	}
	variance = fmax(square - mean * mean, 0) + rest;
	log_ratio_set(r, mean, sqrt(variance), r->df);
}

void control_apply(const struct unit_sets *sets, struct log_ratio *r, struct control *ret)
{
	_cleanup_free_ struct pair *p = xcalloc(sets->n, sizeof(*p));
	double time_ss = 0, ran_ss = 0, product = 0, slope, slope_se, weight[N_SHIFTS];
	size_t units = 0;

	memset(ret, 0, sizeof(*ret));
	if (!all_known(sets) || may_spin(sets))
		return;
	for (size_t i = 0; i < sets->n && !sets->s[i].real; i++) {
		if (!make_pair(&sets->s[i], &p[i]))
			continue;
		time_ss += p[i].time_ss;
		ran_ss += p[i].ran_ss;
		product += p[i].product;
		units += sets->s[i].n;
	}
	if (units < LEAST_UNITS || !(ran_ss > 0) || !(time_ss > 0))
		return;
	slope = fmin(fmax(product / ran_ss, 0), MOST_SLOPE);
	ret->explained = (2 * slope * product - slope * slope * ran_ss) / time_ss;
	if (ret->explained < LEAST_CONTROL)
		return;
	slope_se = sqrt((1 - ret->explained) * time_ss / ran_ss / (units - 2));
	ret->slope = slope;
	find_weights(p, sets, weight);
	ret->valid = weight[0];
	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		double left;

		if (!(p[i].ran.df > 0) || !(p[i].time_ss > 0))
			continue;
		left = 1 - (2 * slope * p[i].product - slope * slope * p[i].ran_ss) / p[i].time_ss;
		left *= (units - 1.0) / (units - 2.0);
		adjust(&r[i], &p[i].ran, slope, slope_se, left * r[i].se * r[i].se, weight);
	}
}
