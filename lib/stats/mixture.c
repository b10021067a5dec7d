// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/mixture.h"

#include <math.h>

#define FAR_TAIL  1e-4 /* two-sided: about where verdicts are decided */
#define DF_MIN	  2.0
#define DF_MAX	  1e6
#define PRECISE	  3e-4
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
		if (c[i].weight < NEGLECTED)
			continue;
		if (c[i].se > 0)
			p += c[i].weight * (above((x + mean - c[i].centre) / c[i].se, c[i].df) +
					    above((x - mean + c[i].centre) / c[i].se, c[i].df));
		else
			p += c[i].weight * (fabs(c[i].centre - mean) > x);
	}
	return p;
}

static double distance(const struct component *c, size_t n, double mean, double p)
{
	double lo = 0, hi = 0;

	for (size_t i = 0; i < n; i++)
		hi = fmax(hi, fabs(c[i].centre - mean) + c[i].se);
	while (hi > 0 && outside(c, n, mean, hi) > p)
		hi *= 2;
	for (int i = 0; i < 50 && hi - lo > PRECISE * hi; i++) {
		double x = (lo + hi) / 2;

		if (outside(c, n, mean, x) > p)
			lo = x;
		else
			hi = x;
	}
	return hi;
}

/* For which the quantiles have this ratio. */
static double degrees_for(double ratio)
{
	double lo = log(DF_MIN), hi = log(DF_MAX), far_z = 3.8905918864131203;

	for (int i = 0; i < 40; i++) {
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
