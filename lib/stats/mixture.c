// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/mixture.h"

#include <math.h>

#define FAR_TAIL  1e-4 /* two-sided: about where verdicts are decided */
#define DF_MIN	  2.0
#define DF_MAX	  1e6
#define PRECISE	  1e-3
#define NEGLECTED 1e-5

/* Wallace: the normal deviate that is as unlikely as this t; good to 0.2 % from 2 on. */
static double normal_of_t(double t, double df)
{
	return (8 * df + 1) / (8 * df + 3) * sqrt(df * log1p(t * t / df));
}

static double t_of_normal(double z, double df)
{
	double x = z * (8 * df + 3) / (8 * df + 1);

	return sqrt(df * expm1(x * x / df));
}

/* P(T > t), either sign. */
static double above(double t, double df)
{
	double p = erfc(normal_of_t(fabs(t), df) / M_SQRT2) / 2;

	return t > 0 ? p : 1 - p;
}

/* Probability of being farther than @x from @mean. */
static double outside(const struct component *c, size_t n, double mean, double x)
{
	double p = 0;

	for (size_t i = 0; i < n; i++) {
		double off = mean - c[i].centre;

		if (c[i].weight < NEGLECTED)
			continue;
		if (!(c[i].se > 0))
			p += c[i].weight * (fabs(off) > x);
		else if (off == 0)
			p += 2 * c[i].weight * above(x / c[i].se, c[i].df);
		else
			p += c[i].weight * (above((x + off) / c[i].se, c[i].df) +
					    above((x - off) / c[i].se, c[i].df));
	}
	return p;
}

/* Where outside() is @p: regula falsi in its logarithm, which is about a parabola. */
static double distance(const struct component *c, size_t n, double mean, double p)
{
	double lo = 0, hi = 0, f_lo = -log(p), f_hi, var = 0;

	for (size_t i = 0; i < n; i++) {
		double off = c[i].centre - mean;

		var += c[i].weight * (c[i].se * c[i].se + off * off);
	}
	hi = 2 * sqrt(var);
	if (!(hi > 0))
		return 0;
	while ((f_hi = log(fmax(outside(c, n, mean, hi), 1e-300) / p)) > 0) {
		lo = hi;
		f_lo = f_hi;
		hi *= 1.7;
	}
	for (int i = 0; i < 30 && hi - lo > PRECISE * hi; i++) {
		double x = (lo * f_hi - hi * f_lo) / (f_hi - f_lo), f;

		x = fmin(fmax(x, lo + 0.02 * (hi - lo)), hi - 0.02 * (hi - lo));
		f = log(fmax(outside(c, n, mean, x), 1e-300) / p);
		if (fabs(f) < PRECISE)
			return x;
		if (f > 0) {
			lo = x;
			f_lo = f;
			f_hi /= 2; /* Illinois: the other end moves, too */
		} else {
			hi = x;
			f_hi = f;
			f_lo /= 2;
		}
	}
	return hi;
}

/* For which the quantiles have this ratio. */
static double degrees_for(double ratio)
{
	double lo = log(DF_MIN), hi = log(DF_MAX), far_z = 3.8905918864131203;

	for (int i = 0; i < 24; i++) {
		double df = exp((lo + hi) / 2);

		if (t_of_normal(far_z, df) / t_of_normal(Z_975, df) > ratio)
			lo = log(df);
		else
			hi = log(df);
	}
	return exp((lo + hi) / 2);
}

struct log_ratio mixture_summary(const struct component *c, size_t n)
{
	double mean = 0, near, far, df;
	struct log_ratio ret;

	for (size_t i = 0; i < n; i++)
		mean += c[i].weight * c[i].centre;
	near = distance(c, n, mean, 0.05);
	far = distance(c, n, mean, FAR_TAIL);
	df = near > 0 ? degrees_for(far / near) : DF_MAX;
	log_ratio_set(&ret, mean, near / student_quantile(0.975, df), df);
	return ret;
}

#define BLUR_REACH    4.5 /* standard deviations, in steps of BLUR_STEP */
#define BLUR_STEP     0.5
#define BOUND_PRECISE 0.005 /* of the bound, on the safe side */

/* Exact: far out, with few degrees of freedom, Wallace's is not. */
static double tail(double t, double df)
{
	double p = student_two_sided(t, df) / 2;

	return t < 0 ? 1 - p : p;
}

double blurred_above(double x, double se, double df, double sd)
{
	double p = 0, sum = 0;

	if (!(sd > 0))
		return tail(x / se, df);
	if (!(se > 0))
		return erfc(x / sd / M_SQRT2) / 2;
	for (double u = -BLUR_REACH; u <= BLUR_REACH; u += BLUR_STEP) {
		double weight = exp(-u * u / 2);

		sum += weight;
		p += weight * tail((x - u * sd) / se, df);
	}
	return p / sum;
}

double blurred_bound(double alpha, double se, double df, double sd)
{
	double lo = 0, hi = hypot(se, sd);

	if (!(hi > 0))
		return 0;
	if (!(sd > 0))
		return se * student_quantile(1 - alpha, df);
	while (blurred_above(hi, se, df, sd) > alpha) {
		lo = hi;
		hi *= 2;
	}
	while (hi - lo > BOUND_PRECISE * hi) {
		double x = (lo + hi) / 2;

		if (blurred_above(x, se, df, sd) > alpha)
			lo = x;
		else
			hi = x;
	}
	return hi;
}
