// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A curve is one object: it starts at 0, bends, and seldom jumps. So its points say something about
 * each other, and the more the worse each of them is known. As a prior over curves, in log ratios:
 *
 *     f(s) = slope * s + bends + jumps
 *
 * a Gaussian process whose slope is anywhere between losing and gaining everything, whose bends are
 * a Brownian motion of the slope, and whose jumps are a Brownian motion of the value, of a size
 * that is not known: four sizes from none to a factor of three, weighted by how well each explains
 * the points (convoys do jump). The prior is wide on purpose: with the noise of a usable profile it
 * moves no point by more than a small part of its standard error, and what it takes away is zigzag.
 *
 * That also does most of what a correction for choosing the best point has to do: a point that
 * stands out by luck is pulled to its neighbours. (tests/unit/test_stats_coverage.c counts how
 * often the interval of the chosen point holds the truth.)
 *
 * Errors of points that share 0 % windows are correlated, which goes into the likelihood.
 */
#include "stats/curve.h"

#include <math.h>

#define SLOPE_SD 1.0   /* log ratio over the whole range */
#define BEND_SD	 1.0   /* of the slope, over the whole range */
#define RIDGE	 1e-15 /* for points that are exact */

/* Standard deviation of a jump over the whole range, and its share of the prior. */
static const struct {
	double sd, share;
} jumps[] = { { 0, 0.4 }, { 0.1, 0.3 }, { 0.4, 0.2 }, { 1.2, 0.1 } };

static double prior_covariance(double a, double b, double jump_sd)
{
	double s = fmin(a, b), t = fmax(a, b);

	return SLOPE_SD * SLOPE_SD * s * t + BEND_SD * BEND_SD * s * s * (3 * t - s) / 6 +
	       jump_sd * jump_sd * s;
}

/* In place: the lower triangle of the Cholesky factor. Returns the logarithm of the determinant. */
static double cholesky(double *a, size_t n)
{
	double log_det = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double sum = a[i * n + j];

			for (size_t k = 0; k < j; k++)
				sum -= a[i * n + k] * a[j * n + k];
			if (i == j) {
				a[i * n + i] = sqrt(fmax(sum, RIDGE / 100));
				log_det += 2 * log(a[i * n + i]);
			} else {
				a[i * n + j] = sum / a[j * n + j];
			}
		}
	}
	return log_det;
}

/* x = A^-1 b, by A's Cholesky factor. */
static void solve(const double *l, size_t n, const double *b, double *x)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = b[i];
		for (size_t k = 0; k < i; k++)
			x[i] -= l[i * n + k] * x[k];
		x[i] /= l[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			x[i] -= l[k * n + i] * x[k];
		x[i] /= l[i * n + i];
	}
}

/* One size of jumps. */
struct fit {
	double log_weight;
	double *mean, *variance; /* by point */
	double *part;		 /* n by n: of point k in the mean of point i */
};

static void fit_one(const struct curve_point *p, size_t n, const double *noise, size_t size,
		    struct fit *f)
{
	_cleanup_free_ double *a = xmalloc(n * n * sizeof(*a));
	_cleanup_free_ double *prior = xmalloc(n * n * sizeof(*prior));
	_cleanup_free_ double *value = xmalloc(n * sizeof(*value));
	_cleanup_free_ double *x = xmalloc(n * sizeof(*x));
	double fits = 0;

	for (size_t i = 0; i < n; i++) {
		value[i] = p[i].value;
		for (size_t k = 0; k < n; k++) {
			prior[i * n + k] =
				prior_covariance(p[i].speedup, p[k].speedup, jumps[size].sd);
			a[i * n + k] = prior[i * n + k] + noise[i * n + k];
		}
	}
	f->log_weight = log(jumps[size].share) - cholesky(a, n) / 2;
	solve(a, n, value, x);
	for (size_t i = 0; i < n; i++)
		fits += value[i] * x[i];
	f->log_weight -= fits / 2;
	for (size_t i = 0; i < n; i++) {
		double *part = &f->part[i * n];

		/* Row i of prior * A^-1: both are symmetric. */
		solve(a, n, &prior[i * n], part);
		f->mean[i] = 0;
		f->variance[i] = prior[i * n + i];
		for (size_t k = 0; k < n; k++) {
			f->mean[i] += part[k] * value[k];
			f->variance[i] -= part[k] * prior[i * n + k];
		}
		f->variance[i] = fmax(f->variance[i], 0);
	}
}

/* Welch and Satterthwaite: of a sum of points, each with its part. */
static double degrees(const struct curve_point *p, size_t n, const double *part, double own)
{
	double sum = 0, squares = 0;

	for (size_t k = 0; k < n; k++) {
		double v = part[k] * part[k] * p[k].se * p[k].se;

		sum += v;
		squares += v * v / p[k].df;
	}
	return squares > 0 ? sum * sum / squares : own;
}

void curve_fit(struct curve_point *p, size_t n, const double *correlation)
{
	_cleanup_free_ double *noise = xmalloc(n * n * sizeof(*noise));
	_cleanup_free_ double *room = xcalloc(ARRAY_SIZE(jumps), n * (n + 2) * sizeof(*room));
	_cleanup_free_ double *part = xmalloc(n * sizeof(*part));
	_cleanup_free_ struct curve_point *out = xmalloc(n * sizeof(*out));
	struct fit f[ARRAY_SIZE(jumps)];
	double best = -INFINITY, sum = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++)
			noise[i * n + k] =
				correlation[i * n + k] * p[i].se * p[k].se + (i == k ? RIDGE : 0);
	}
	for (size_t j = 0; j < ARRAY_SIZE(jumps); j++) {
		double *r = &room[j * n * (n + 2)];

		f[j] = (struct fit){ .mean = r, .variance = r + n, .part = r + 2 * n };
		fit_one(p, n, noise, j, &f[j]);
		best = fmax(best, f[j].log_weight);
	}
	for (size_t j = 0; j < ARRAY_SIZE(jumps); j++)
		sum += exp(f[j].log_weight - best);
	for (size_t i = 0; i < n; i++) {
		double mean = 0, square = 0;

		memset(part, 0, n * sizeof(*part));
		for (size_t j = 0; j < ARRAY_SIZE(jumps); j++) {
			double weight = exp(f[j].log_weight - best) / sum;

			mean += weight * f[j].mean[i];
			square += weight * (f[j].variance[i] + f[j].mean[i] * f[j].mean[i]);
			for (size_t k = 0; k < n; k++)
				part[k] += weight * f[j].part[i * n + k];
		}
		out[i] = (struct curve_point){ .speedup = p[i].speedup,
					       .value = mean,
					       .se = sqrt(fmax(square - mean * mean, 0)),
					       .df = degrees(p, n, part, p[i].df) };
	}
	memcpy(p, out, n * sizeof(*p));
}
