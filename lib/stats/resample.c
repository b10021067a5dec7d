// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The estimate is theta = log(sum time / sum work) - log(sum time0 / sum work0), a ratio of sums:
 * sums, because the mean of the single ratios is biased when a window holds few visits; a log,
 * because its distribution is symmetric and the interval transforms exactly.
 *
 * Its standard error is by linearisation: each unit's share in the deviation of theta. That would
 * take units that share a baseline window for independent ones; how much more the estimate varies
 * for it is known (units.c, inflation), and its interval is Student's with
 *
 *     df = (n - 1) / inflation
 *
 * Units weigh by their time. Where some are far longer than others, n is that of as many units of
 * one length as would vary as much, 1 / sum share^2, and the deviations are those without the pull
 * of each unit on the mean, by 1 / sqrt(1 - share) (MacKinnon and White 1985, HC2).
 *
 * tests/unit/test_stats_coverage.c measures what comes out: 93 to 97 % of intervals hold the
 * truth from 5 units on, also when the machine changes its speed by a factor of three. (So did a
 * bootstrap over units, widened by the same factors, at a thousand times the cost.)
 */
#include "stats/resample.h"

#include <math.h>

static uint64_t mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* splitmix64 */
uint64_t rng_next(struct rng *r)
{
	return mix64(r->state += 0x9e3779b97f4a7c15ULL);
}

uint64_t rng_mix(uint64_t seed, uint64_t value)
{
	return mix64(mix64(seed + 0x9e3779b97f4a7c15ULL) ^ (value + 0x9e3779b97f4a7c15ULL));
}

/* ---- Student's t, by the continued fraction of the incomplete beta function ---- */

static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	if (fabs(d) < 1e-300)
		d = 1e-300;
	d = 1 / d;
	h = d;
	for (int m = 1; m <= 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		h *= d * c;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

#define NORMAL_DF 1e6 /* beyond it the difference is smaller than what lgamma() loses */

double student_two_sided(double t, double df)
{
	if (df > NORMAL_DF)
		return erfc(fabs(t) * M_SQRT1_2);
	return isinf(t) ? 0 : incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* From a good guess by Newton's method; 0: it does not get there. */
static double newton_quantile(double tail, double df, double guess)
{
	double scale = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI), t = guess;

	for (int i = 0; i < 12; i++) {
		double density = scale * pow(1 + t * t / df, -(df + 1) / 2);
		double step = (student_two_sided(t, df) - tail) / (2 * density);

		if (!isfinite(step) || fabs(step) > t / 2)
			return 0;
		t += step;
		if (fabs(step) < 1e-13 * t)
			return t;
	}
	return 0;
}

double student_quantile(double p, double df)
{
	double tail = 2 * (p < 0.5 ? p : 1 - p), lo = 0, hi = 1, t = 0;

	if (df >= 3 && df < 1e5 && p == 0.975) {
		double x = Z_975 * (8 * df + 3) / (8 * df + 1); /* Wallace */

		t = newton_quantile(tail, df, sqrt(df * expm1(x * x / df)));
	}
	if (t > 0)
		return t;
	while (student_two_sided(hi, df) > tail && hi < 1e300)
		hi *= 2;
	while (hi - lo > 1e-12 * hi) {
		double mid = (lo + hi) / 2;

		if (student_two_sided(mid, df) > tail)
			lo = mid;
		else
			hi = mid;
	}
	return p < 0.5 ? -hi : hi;
}

/* ---- the estimate ---- */

#define LEAST_LEFT 1e-3 /* of the weight, beside a single unit */

static double log_ratio_of(const struct unit *s)
{
	return log(s->time / s->work) - log(s->time0 / s->work0);
}

static void add_unit(struct unit *sum, const struct unit *u)
{
	sum->time += u->time;
	sum->work += u->work;
	sum->time0 += u->time0;
	sum->work0 += u->work0;
}

static struct unit sum_of(const struct unit *u, size_t n)
{
	struct unit sum = { 0 };

	for (size_t i = 0; i < n; i++)
		add_unit(&sum, &u[i]);
	return sum;
}

static double share_of(const struct unit *u, const struct unit *sum, bool by_work)
{
	return by_work ? (u->work / sum->work + u->work0 / sum->work0) / 2
		       : (u->time / sum->time + u->time0 / sum->time0) / 2;
}

/*
 * Each unit's share in the estimate, and the sum of their squares. By time or by work, whichever is
 * more alike in all of them: windows are of a length of time, or of work (whole runs), and then the
 * other one's differences are noise. To be freed.
 */
static double *shares_of(const struct unit *u, size_t n, double *squares)
{
	double *ret = xcalloc(n, sizeof(*ret)), by[2] = { 0 };
	struct unit sum = sum_of(u, n);
	bool by_work;

	for (size_t i = 0; i < n; i++) {
		for (int work = 0; work < 2; work++)
			by[work] += pow(share_of(&u[i], &sum, work), 2);
	}
	by_work = by[1] <= by[0];
	*squares = by[by_work];
	for (size_t i = 0; i < n; i++)
		ret[i] = share_of(&u[i], &sum, by_work);
	return ret;
}

double log_ratio_units(const struct unit *u, size_t n)
{
	_cleanup_free_ double *share = NULL;
	double squares;

	share = shares_of(u, n, &squares);
	return n ? 1 / squares : 0;
}

/* By linearisation: each unit's share in the deviation of theta. */
void log_ratio_deviations(const struct unit *u, size_t n, double *ret)
{
	struct unit sum = sum_of(u, n);
	double period = sum.time / sum.work, period0 = sum.time0 / sum.work0, squares;
	_cleanup_free_ double *share = shares_of(u, n, &squares);

	for (size_t i = 0; i < n; i++) {
		double left = fmax(1 - share[i], LEAST_LEFT);

		ret[i] = n * ((u[i].time - period * u[i].work) / sum.time -
			      (u[i].time0 - period0 * u[i].work0) / sum.time0);
		ret[i] *= sqrt((1 - 1.0 / n) / left);
	}
}

static double standard_error(const struct unit *u, size_t n)
{
	_cleanup_free_ double *e = xmalloc(n * sizeof(*e));
	double ss = 0;

	log_ratio_deviations(u, n, e);
	for (size_t i = 0; i < n; i++)
		ss += e[i] * e[i];
	return sqrt(ss / n / (n - 1));
}

void log_ratio_set(struct log_ratio *r, double value, double se, double df)
{
	double half = df > 0 ? student_quantile(0.975, df) * se : INFINITY;

	*r = (struct log_ratio){
		.value = value, .lo = value - half, .hi = value + half, .se = se, .df = df
	};
}

struct log_ratio log_ratio_estimate(const struct unit *u, size_t n, double inflation)
{
	struct unit sum = sum_of(u, n);
	double df = log_ratio_units(u, n) - 1;
	struct log_ratio ret;

	if (n < 3 || df < 1) /* of one that is longer than all others nothing is known either */
		log_ratio_set(&ret, n ? log_ratio_of(&sum) : 0, 0, 0);
	else
		log_ratio_set(&ret, log_ratio_of(&sum), standard_error(u, n) * sqrt(inflation),
			      df / inflation);
	return ret;
}

double log_ratio_percent(double log_ratio)
{
	return isinf(log_ratio) ? -log_ratio : -100 * expm1(log_ratio);
}
