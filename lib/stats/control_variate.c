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
 * wrong); nor where samples have seen it. Elsewhere the difference of CPU times is noise plus
 * perhaps a shift by the treatment, whose size is one of three: none to speak of, some, a lot. How
 * likely each is, the differences of all speedups tell. Only what is then likely to be noise is
 * taken off, and what is not known about that widens the interval: where the differences are far
 * beyond their errors, all of this changes nothing.
 *
 * Strangers take cores away, too, and how much of them is noise as well (strangers.h). Both slopes
 * are those of a regression on both: who is slow since strangers have his core does not run. Where
 * tasks may spin, and where the target really is cheaper, what strangers left alone counts.
 */
#include "stats/control_variate.h"

#include <math.h>

#include "stats/mixture.h"
#include "stats/spells.h"
#include "stats/strangers.h"

#define LEAST_UNITS    10
#define MOST_SLOPE     2.0
#define WAITS_ENOUGH   0.5  /* wake-ups for a unit of work */
#define ALONE	       1.1  /* running tasks */
#define LEAST_SPINNING 0.01 /* of their time, where that is seen */
#define LEAST_CONTROL  0.1  /* of the variance: less is not worth the trouble */

/* Standard deviations of the shift, as log ratios, and how likely they are beforehand. */
#define N_SHIFTS 3
static const double shifts[N_SHIFTS] = { 0.004, 0.05, 0.5 };
static const double prior[N_SHIFTS] = { 0.95, 0.04, 0.01 };

static bool ran_known(const struct unit_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t k = 0; k < sets->s[i].n; k++) {
			if (!(sets->s[i].u[k].ran > 0) || !(sets->s[i].u[k].ran0 > 0))
				return false;
		}
	}
	return true;
}

/* Several tasks run at a time and hardly ever wake each other, or they were seen to spin. */
static bool may_spin(const struct unit_sets *sets)
{
	return (sets->waits < WAITS_ENOUGH && sets->running > ALONE) ||
	       sets->spinning > LEAST_SPINNING;
}

/* To be freed. */
static struct unit *all_as_ran(const struct unit_set *set)
{
	struct unit *ran = xcalloc(set->n + 1, sizeof(*ran));

	for (size_t i = 0; i < set->n; i++) {
		const struct unit *u = &set->u[i];

		ran[i] = (struct unit){
			.time = u->ran, .work = u->work, .time0 = u->ran0, .work0 = u->work0
		};
	}
	return ran;
}

/* Sums over units of products of deviations from their means. */
struct sums {
	double time, ran, left; /* squares */
	double time_ran, time_left, ran_left;
	size_t units, sets;
};

/* Also in all windows at 0 % together, by which strangers are judged. */
static bool left_known(const struct unit_sets *sets)
{
	if (isnan(strangers_left(&sets->s[0].sum.w)))
		return false;
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t k = 0; k < sets->s[i].n; k++) {
			if (isnan(sets->s[i].u[k].left) || isnan(sets->s[i].u[k].left0))
				return false;
		}
	}
	return true;
}

static void add_sums(const struct unit_sets *sets, const struct unit_set *set, bool with_left,
		     bool with_ran, struct sums *s)
{
	_cleanup_free_ struct unit *ran = all_as_ran(set), *left = strangers_units(sets, set);
	_cleanup_free_ double *deviation = xcalloc(3 * set->n, sizeof(*deviation));
	double *a = deviation, *b = a + set->n, *c = b + set->n;

	if (set->n < 3)
		return;
	log_ratio_deviations(set->u, set->n, a);
	if (with_left)
		log_ratio_deviations(left, set->n, b);
	if (with_ran)
		log_ratio_deviations(ran, set->n, c);
	for (size_t i = 0; i < set->n; i++) {
		s->time += a[i] * a[i];
		s->left += b[i] * b[i];
		s->ran += c[i] * c[i];
		s->time_left += a[i] * b[i];
		s->time_ran += a[i] * c[i];
		s->ran_left += b[i] * c[i];
	}
	s->units += set->n;
	s->sets++;
}

static double standard_error(double explained, double y, double x, const struct sums *s, int slopes)
{
	return sqrt(fmax(1 - explained, 0) * y / x / (s->units - slopes));
}

/* On what strangers left alone. */
static struct by_strangers fit_strangers(const struct sums *s)
{
	double slope = s->left > 0 ? s->time_left / s->left : 0;
	double explained = s->time > 0 ? slope * s->time_left / s->time : 0;

	if (s->units < LEAST_UNITS + s->sets || !(slope > 0) || explained < LEAST_CONTROL)
		return (struct by_strangers){ 0 };
	return (struct by_strangers){ slope, standard_error(explained, s->time, s->left, s, 2),
				      explained };
}

/* On CPU times as well: what strangers left is taken off both first (Frisch, Waugh 1933). */
static void fit_ran(const struct sums *s, struct control *ret)
{
	bool left = ret->strangers.slope > 0;
	double time = s->time, ran = s->ran, product = s->time_ran;

	if (left) {
		time -= s->time_left * s->time_left / s->left;
		ran -= s->ran_left * s->ran_left / s->left;
		product -= s->time_left * s->ran_left / s->left;
	}
	if (s->units < LEAST_UNITS || !(ran > 0) || !(time > 0))
		return;
	ret->slope = fmin(fmax(product / ran, 0), MOST_SLOPE);
	ret->explained = (2 * ret->slope * product - ret->slope * ret->slope * ran) / time;
	ret->slope_se = standard_error(ret->explained, time, ran, s, 2 + left);
	if (ret->explained < LEAST_CONTROL)
		ret->slope = 0;
	if (!left || !(ret->slope > 0))
		return;
	ret->strangers.slope = (s->time_left - ret->slope * s->ran_left) / s->left;
	ret->strangers.slope_se =
		standard_error(ret->explained, time, s->left * ran / s->ran, s, 3);
}

void control_fit(const struct unit_sets *sets, struct control *ret)
{
	bool ran = ran_known(sets) && !may_spin(sets), left = left_known(sets);
	struct sums s = { 0 };
	size_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < sets->n && !sets->s[i].real; i++)
		add_sums(sets, &sets->s[i], left, ran, &s);
	ret->strangers = fit_strangers(&s);
	if (ran)
		fit_ran(&s, ret);
	for (; i < sets->n; i++)
		add_sums(sets, &sets->s[i], left, false, &s);
	ret->really = fit_strangers(&s);
}

/* After a shift of standard deviation @sd: the likely noise in the difference, and its variance. */
static void noise_part(const struct log_ratio *ran, double sd, double *mean, double *variance)
{
	double noise = ran->se * ran->se, shift = sd * sd;

	*mean = ran->value * noise / (noise + shift);
	*variance = noise * shift / (noise + shift);
}

static void find_weights(const struct log_ratio *ran, const struct unit_sets *sets, double *weight)
{
	double most = -INFINITY, sum = 0;

	for (int k = 0; k < N_SHIFTS; k++) {
		weight[k] = log(prior[k]);
		for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
			const struct log_ratio *x = &ran[i];
			double v = x->se * x->se + shifts[k] * shifts[k];

			/* The error is that of few units: Student's. */
			if (x->df > 0)
				weight[k] -= (log(v) + (x->df + 1) * log1p(x->value * x->value /
									   (x->df * v))) /
					     2;
		}
		most = fmax(most, weight[k]);
	}
	for (int k = 0; k < N_SHIFTS; k++)
		sum += weight[k] = exp(weight[k] - most);
	for (int k = 0; k < N_SHIFTS; k++)
		weight[k] /= sum;
}

/* Of the sum of two independent errors, by their variances (Welch 1947, Satterthwaite 1946). */
static double common_df(double a, double df_a, double b, double df_b)
{
	double sum = a + b;

	return sum > 0 ? sum * sum / (a * a / df_a + b * b / df_b) : df_a;
}

static void adjust(struct log_ratio *r, const struct log_ratio *ran, const struct control *c,
		   const double *weight)
{
	struct component part[N_SHIFTS];

	for (int k = 0; k < N_SHIFTS; k++) {
		double noise, unsure, known = r->se * r->se;

		noise_part(ran, shifts[k], &noise, &unsure);
		known += c->slope_se * c->slope_se * noise * noise;
		unsure *= c->slope * c->slope;
		part[k] = (struct component){
			.weight = weight[k],
			.centre = r->value - c->slope * noise,
			.se = sqrt(known + unsure),
			.df = common_df(known, r->df, unsure, ran->df),
		};
	}
	*r = mixture_summary(part, N_SHIFTS);
}

static void take_off(const struct unit *u, size_t n, double slope, double *deviation)
{
	_cleanup_free_ double *d = xcalloc(n + 1, sizeof(*d));

	log_ratio_deviations(u, n, d);
	for (size_t i = 0; i < n; i++)
		deviation[i] -= slope * d[i];
}

void control_deviations(const struct control *c, const struct unit_sets *sets,
			const struct unit_set *set, double *deviation)
{
	const struct by_strangers *by = set->real ? &c->really : &c->strangers;

	if (set->n && by->slope != 0) {
		_cleanup_free_ struct unit *left = strangers_units(sets, set);

		take_off(left, set->n, by->slope, deviation);
	}
	if (set->n && !set->real && c->slope > 0) {
		_cleanup_free_ struct unit *ran = all_as_ran(set);

		take_off(ran, set->n, c->slope, deviation);
	}
}

static void apply_strangers(const struct unit_sets *sets, const struct control *c,
			    struct log_ratio *r)
{
	for (size_t i = 1; i < sets->n; i++) {
		const struct unit_set *set = &sets->s[i];
		const struct by_strangers *by = set->real ? &c->really : &c->strangers;
		struct strangers_noise noise;
		double more;

		if (by->slope == 0 || !(r[i].df > 0))
			continue;
		noise = strangers_noise(sets, set, r[i].value);
		more = pow(by->slope_se * noise.mean, 2) + by->slope * by->slope * noise.variance;
		log_ratio_set(&r[i], r[i].value - by->slope * noise.mean,
			      sqrt(r[i].se * r[i].se + more), r[i].df);
	}
}

static void apply_ran(const struct unit_sets *sets, struct control *c, struct log_ratio *r)
{
	_cleanup_free_ struct log_ratio *ran = xcalloc(sets->n, sizeof(*ran));
	double weight[N_SHIFTS];

	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		_cleanup_free_ struct unit *u = all_as_ran(&sets->s[i]);

		ran[i] = log_ratio_estimate(u, sets->s[i].n, sets->s[i].inflation);
	}
	find_weights(ran, sets, weight);
	c->valid = weight[0];
	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		if (ran[i].df > 0 && r[i].df > 0)
			adjust(&r[i], &ran[i], c, weight);
	}
}

void control_apply(const struct unit_sets *sets, struct control *c, struct log_ratio *r)
{
	apply_strangers(sets, c, r);
	if (c->slope > 0)
		apply_ran(sets, c, r);
}
