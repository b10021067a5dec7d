// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts that estimates are made of, one by one, beside what formulas say of small cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/answer.h"
#include "stats/control_variate.h"
#include "stats/curve.h"
#include "stats/mixture.h"
#include "stats/paced.h"
#include "stats/spells.h"
#include "stats/strangers.h"
#include "stats/weigh.h"
#include "tests/unit/test_stats_windows.h"

#include <math.h>

#define T_975_2 4.302652729911275 /* Student's t, 2 and more degrees of freedom */
#define T_975_4 2.776445105197794
#define T_975_7 2.364624251592785

static double normal(struct rng *r)
{
	double u = ((rng_next(r) >> 11) + 0.5) * 0x1p-53, v = (rng_next(r) >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* ---- a ratio of ratios ---- */

static void test_ratio(void **state)
{
	static const double time[] = { 0.8, 0.9, 1, 1.1, 1.2 };
	struct unit u[5];
	struct log_ratio r;
	double se = sqrt(0.1 / 5 / 4);

	(void)state;
	for (size_t i = 0; i < 5; i++)
		u[i] = (struct unit){ .time = time[i], .work = 2, .time0 = 2, .work0 = 2 };
	assert_float_equal(log_ratio_units(u, 5), 5, 1e-9);
	r = log_ratio_estimate(u, 5, 1);
	assert_float_equal(r.value, log(0.5), 1e-9);
	assert_float_equal(r.df, 4, 1e-9);
	assert_float_equal(r.se, se, 1e-9);
	assert_float_equal(r.hi - r.value, T_975_4 * se, 1e-6);
	assert_float_equal(r.value - r.lo, T_975_4 * se, 1e-6);
	/* Their baselines are common: as if there were fewer. */
	r = log_ratio_estimate(u, 5, 2);
	assert_float_equal(r.df, 2, 1e-9);
	assert_float_equal(r.hi - r.value, T_975_2 * se * M_SQRT2, 1e-6);
	/* Of two nothing is known, nor of one that is longer than all others. */
	assert_true(isinf(log_ratio_estimate(u, 2, 1).hi));
	u[0].time *= 1000, u[0].work *= 1000, u[0].time0 *= 1000, u[0].work0 *= 1000;
	r = log_ratio_estimate(u, 5, 1);
	assert_true(isinf(r.lo) && isinf(r.hi) && isfinite(r.value));
}

/* Two of three units' length in one: it pulls the mean to itself, and its deviation tells less. */
static void test_ratio_of_unlike_units(void **state)
{
	static const double length[] = { 2, 1, 1 }, off[] = { 0.1, -0.1, -0.1 };
	double share, e, ss = 0;
	struct unit u[3];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		u[i] = (struct unit){ .time = length[i] * (1 + off[i]),
				      .work = length[i],
				      .time0 = length[i],
				      .work0 = length[i] };
	assert_float_equal(log_ratio_units(u, 3), 1 / (0.25 + 2.0 / 16), 1e-9);
	for (size_t i = 0; i < 3; i++) {
		share = length[i] / 4;
		e = 3 * length[i] * off[i] / 4 * sqrt((1 - 1.0 / 3) / (1 - share));
		ss += e * e;
	}
	assert_float_equal(log_ratio_estimate(u, 3, 1).se, sqrt(ss / 3 / 2), 1e-9);
}

/* ---- units ---- */

/* In 0 a 0 a 0 b 0 two zeros belong to two units. */
static void test_shared_baselines(void **state)
{
	static const double speedup[] = { 0, 0.5, 0, 0.5, 0, 0.8, 0 };
	const struct profile_window *w[ARRAY_SIZE(speedup)];
	struct windows s = { .n = 0 };
	struct unit_sets sets;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(speedup); i++) {
		add(&s, speedup[i], 1);
		w[i] = &s.w[i];
	}
	unit_sets_build(w, s.n, 0, &sets);
	assert_int_equal(sets.n, 3);
	assert_int_equal(sets.s[1].n, 2);
	/* Shares 1/2, 1, 1/2 of zeros in two units. */
	assert_float_equal(sets.s[1].inflation, (2 + 1.5) / (2 + 1), 1e-9);
	assert_float_equal(sets.s[1].geometry, (2 + 1.5) / 4, 1e-9);
	assert_float_equal(sets.s[2].inflation, 1, 1e-9);
	assert_float_equal(unit_sets_correlation(&sets, 1, 1), 1, 1e-9);
	assert_float_equal(unit_sets_correlation(&sets, 1, 2), 0.25 * 0.5 / sqrt(3.5 / 4 * 1.5),
			   1e-9);
	assert_float_equal(unit_sets_correlation(&sets, 2, 1), unit_sets_correlation(&sets, 1, 2),
			   1e-9);
	unit_sets_free(&sets);
}

/* One visit a window: of whole runs only if the window is as long as the visit. */
static void test_whole_runs(void **state)
{
	const struct profile_window *w[7];
	struct windows s = { .n = 0 };
	struct unit_sets sets;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		add(&s, i % 2 ? 0.5 : 0, 0.01)->visits = 1;
		s.w[i].n_progress = 1;
		s.w[i].inserted_s = i % 2 ? 0.2 : 0;
		s.w[i].wall_s = 1 + s.w[i].inserted_s;
		w[i] = &s.w[i];
	}
	unit_sets_build(w, s.n, 0, &sets);
	assert_true(sets.per_run && isinf(sets.visits));
	unit_sets_free(&sets);
	s.w[3].wall_s += 0.1;
	unit_sets_build(w, s.n, 0, &sets);
	assert_false(sets.per_run);
	assert_float_equal(sets.visits, 1, 1e-9);
	unit_sets_free(&sets);
}

static void check_weights(const struct unit *u, double treated, double pair)
{
	assert_float_equal(u->time, treated, 1e-9);
	assert_float_equal(u->work, treated, 1e-9);
	assert_float_equal(u->ran, treated, 1e-9);
	assert_float_equal(u->left, treated, 1e-9);
	assert_float_equal(u->time0, pair, 1e-9);
	assert_float_equal(u->work0, pair, 1e-9);
	assert_float_equal(u->ran0, pair, 1e-9);
	assert_float_equal(u->left0, pair, 1e-9);
}

static void ones(struct unit *u, size_t n)
{
	for (size_t i = 0; i < n; i++)
		u[i] = (struct unit){ 1, 1, 1, 1, .ran = 1, .ran0 = 1, .left = 1, .left0 = 1 };
}

/* By how fast the units around get on, never by the unit itself. */
static void test_weights(void **state)
{
	/* 100 visits for 90 at 0 %, and 50 for 40; nothing is inserted. */
	struct unit_flow f[] = {
		{ .left_s = 1, .wall_s = 1, .visits = 100, .wall0_s = 1, .visits0 = 90 },
		{ .left_s = 1, .wall_s = 1, .visits = 50, .wall0_s = 1, .visits0 = 40 }
	};
	struct unit u[2];

	(void)state;
	ones(u, 2);
	units_weigh(u, f, 2);
	check_weights(&u[0], (1 + 1.25) / 1.25, 1 + 1.25);
	check_weights(&u[1], (1 + 10 / 9.0) / (10 / 9.0), 1 + 10 / 9.0);
	ones(u, 1);
	units_weigh(u, f, 1); /* nobody else is there */
	check_weights(&u[0], 1, 1);
	/* Half of it delay, which the work loses: it gets on half as fast. */
	for (int i = 0; i < 2; i++)
		f[i] = (struct unit_flow){
			.left_s = 0.5, .wall_s = 1, .visits = 50, .wall0_s = 1, .visits0 = 100
		};
	ones(u, 2);
	units_weigh(u, f, 2);
	check_weights(&u[0], 1.5 / 0.5, 1.5);
}

/* Each speedup takes its own windows, what lies between them, and its part of those at 0 %. */
static void test_time_spent(void **state)
{
	static const double s[] = { 0.5, 0.8 }, p[] = { 0.8, 0.7 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 2, 4, 0);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].wall_s = window_is_treated(&w.w[i]) ? 3 : 2;
		w.w[i].start_s = 10 * i;
	}
	w.w[0].wall_s = 9; /* the first has nothing before it */
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	/* From the end of one window to that of the next; each at 0 % has taken 9 s. */
	assert_float_equal(e.e[0].points[1].spent_s, 4 + 3 * 11 + 4 * 9, 1e-6);
	assert_float_equal(e.e[0].points[2].spent_s, 4 * 11 + 4 * 9, 1e-6);
	estimates_free(&e);
}

/* ---- the curve ---- */

/* As the prior has it, beside which points are known up to @noise: by 2 by 2 matrices. */
static void by_hand(const struct curve_point *p, const double *noise, struct curve_point *ret)
{
	static const double sd[] = { 0, 0.1, 0.4, 1.2 }, share[] = { 0.4, 0.3, 0.2, 0.1 };
	double sum = 0, mean[2] = { 0 }, square[2] = { 0 }, part[2][2] = { { 0 } };

	for (int j = 0; j < 4; j++) {
		double k[2][2], a[2][2], inverse[2][2], det, fit = 0, weight;

		for (int i = 0; i < 2; i++) {
			for (int m = 0; m < 2; m++) {
				double s = fmin(p[i].speedup, p[m].speedup);
				double t = fmax(p[i].speedup, p[m].speedup);

				k[i][m] = s * t + s * s * (3 * t - s) / 6 + sd[j] * sd[j] * s;
				a[i][m] = k[i][m] + noise[2 * i + m];
			}
		}
		det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
		inverse[0][0] = a[1][1] / det, inverse[1][1] = a[0][0] / det;
		inverse[0][1] = inverse[1][0] = -a[0][1] / det;
		for (int i = 0; i < 2; i++) {
			for (int m = 0; m < 2; m++)
				fit += p[i].value * inverse[i][m] * p[m].value;
		}
		weight = share[j] * exp(-fit / 2) / sqrt(det);
		sum += weight;
		for (int i = 0; i < 2; i++) {
			double centre = 0, variance = k[i][i];

			for (int m = 0; m < 2; m++) {
				double g = k[i][0] * inverse[0][m] + k[i][1] * inverse[1][m];

				centre += g * p[m].value;
				variance -= g * k[i][m];
				part[i][m] += weight * g;
			}
			mean[i] += weight * centre;
			square[i] += weight * (variance + centre * centre);
		}
	}
	for (int i = 0; i < 2; i++) {
		double v = 0, squares = 0;

		ret[i] = p[i];
		ret[i].value = mean[i] / sum;
		ret[i].se = sqrt(square[i] / sum - ret[i].value * ret[i].value);
		for (int m = 0; m < 2; m++) {
			double x = pow(part[i][m] / sum * p[m].se, 2);

			v += x;
			squares += x * x / p[m].df;
		}
		ret[i].df = v * v / squares;
	}
}

static void test_curve(void **state)
{
	const struct curve_point p[] = { { 0.3, -0.2, 0.1, 7 }, { 0.9, -0.3, 0.15, 12 } };
	const double correlation[] = { 1, 0.4, 0.4, 1 };
	double noise[4];
	struct curve_point got[2], expected[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 2; k++)
			noise[2 * i + k] = correlation[2 * i + k] * p[i].se * p[k].se;
	}
	memcpy(got, p, sizeof(p));
	by_hand(p, noise, expected);
	curve_fit(got, 2, correlation);
	for (int i = 0; i < 2; i++) {
		assert_float_equal(got[i].value, expected[i].value, 1e-9);
		assert_float_equal(got[i].se, expected[i].se, 1e-9);
		assert_float_equal(got[i].df, expected[i].df, 1e-6);
	}
	/* What is exact stays. */
	got[0] = (struct curve_point){ 0.5, -0.25, 0, 9 };
	curve_fit(got, 1, (double[]){ 1 });
	assert_float_equal(got[0].value, -0.25, 1e-6);
	assert_float_equal(got[0].se, 0, 1e-6);
	assert_float_equal(got[0].df, 9, 1e-9);
}

/* ---- mixtures ---- */

static void test_mixture(void **state)
{
	struct component c[] = { { 1, -0.2, 0.05, 6 }, { 0.1, -0.2, 0.15, 1e6 } };
	struct log_ratio r = mixture_summary(c, 1);
	double half;

	(void)state;
	assert_float_equal(r.value, -0.2, 1e-9);
	assert_float_equal(r.hi - r.value, 0.05 * student_quantile(0.975, 6), 0.05 * 0.01);
	assert_float_equal(r.df, 6, 0.2);
	/* A tenth is three times as wide: 95 % of all of it, and tails that reach far out. */
	c[0].weight = 0.9;
	c[0].df = 1e6;
	r = mixture_summary(c, 2);
	half = r.hi - r.value;
	assert_float_equal(0.9 * erfc(half / 0.05 / M_SQRT2) + 0.1 * erfc(half / 0.15 / M_SQRT2),
			   0.05, 5e-4);
	assert_true(r.df < 12);
	/* Apart from each other: between them, and as wide as both. */
	c[1] = (struct component){ 0.5, 0.2, 0.05, 1e6 };
	c[0].weight = 0.5;
	r = mixture_summary(c, 2);
	assert_float_equal(r.value, 0, 1e-9);
	assert_float_equal(erfc((r.hi - 0.2) / 0.05 / M_SQRT2) / 2, 0.05, 5e-3);
}

/* ---- what lasts ---- */

#define UNITS 60

/* Half the interval of UNITS units @step_s apart that deviate so; *@slow: of what lasts. */
static double half_by_spells(const double *deviation, double step_s, double *slow)
{
	struct unit u[UNITS];
	const struct unit_set set = { .u = u, .n = UNITS };
	const struct scatter s = { &set, deviation };
	struct log_ratio r = { .se = 1, .df = UNITS - 1 };

	for (size_t i = 0; i < UNITS; i++)
		u[i] = (struct unit){
			.time = 1, .work = 1, .time0 = 1, .work0 = 1, .start_s = step_s * i
		};
	spells_apply(&s, 1, 1, &r, slow);
	return r.hi - r.value;
}

/* Takes the mean off. Half the interval of as many independent units. */
static double half_if_independent(double *deviation)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < UNITS; i++)
		mean += deviation[i] / UNITS;
	for (size_t i = 0; i < UNITS; i++)
		squares += pow(deviation[i] -= mean, 2);
	return student_quantile(0.975, UNITS - 1) * sqrt(squares / UNITS / (UNITS - 1));
}

static void test_spells(void **state)
{
	double deviation[UNITS], backwards[UNITS], independent, half, slow;
	struct rng rng = { 5 };

	(void)state;
	for (size_t i = 0; i < UNITS; i++)
		deviation[i] = normal(&rng);
	independent = half_if_independent(deviation);
	/* Nothing lasts. */
	assert_float_equal(half_by_spells(deviation, 3, &slow) / independent, 1, 0.05);
	assert_true(slow < 0.1);
	/* The same ones, good and bad spells of ten units: for sqrt(10) times as much. */
	for (size_t i = 0; i < UNITS; i++)
		deviation[i] = fabs(deviation[i]) * (i / 10 * 7 % 3 ? 1 : -1);
	independent = half_if_independent(deviation);
	half = half_by_spells(deviation, 3, &slow);
	assert_true(half > 1.5 * independent && half < 4 * independent);
	assert_true(slow > 0.5 && slow <= 1);
	/* Whatever the clock, and whichever way time goes. */
	assert_float_equal(half_by_spells(deviation, 0.01, &slow) / half, 1, 1e-6);
	for (size_t i = 0; i < UNITS; i++)
		backwards[i] = deviation[UNITS - 1 - i];
	assert_float_equal(half_by_spells(backwards, 3, &slow) / half, 1, 1e-6);
}

/* ---- paced from outside ---- */

static void test_pace(void **state)
{
	struct unit u[8], really[3];
	struct unit_set s[3] = { [1] = { .speedup = 0.5, .u = u, .n = 8 } };
	const struct unit_sets sets = { .s = s, .n = 3 };
	double half = T_975_7 * sqrt(8 * 0.05 * 0.05 * 8 / 7) / (8 * 0.5);
	struct pace p;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(u); i++) {
		u[i] = (struct unit){ .waits0 = 10, .external0 = 1, .waits = 10, .inserted = 0.5 };
		u[i].external = 1 - 0.6 * 0.5 + (i % 2 ? 0.05 : -0.05);
	}
	/* What was really changed tells nothing of it. */
	for (size_t i = 0; i < ARRAY_SIZE(really); i++)
		really[i] = (struct unit){ .waits0 = 1, .external0 = 9, .waits = 3, .inserted = 7 };
	s[2] = (struct unit_set){ .speedup = 0.5, .real = true, .u = really, .n = 3 };
	p = pace_estimate(&sets);
	assert_float_equal(p.slope, 0.6, 1e-9);
	assert_float_equal(p.lo, 0.6 - half, 1e-6);
	assert_float_equal(p.hi, 0.6 + half, 1e-6);
	assert_false(p.few);
	assert_true(pace_from_outside(&p));
	for (size_t i = 0; i < ARRAY_SIZE(u); i++)
		u[i].external += i % 2 ? 0.2 : -0.2;
	p = pace_estimate(&sets);
	assert_float_equal(p.slope, 0.6, 1e-9);
	assert_false(pace_from_outside(&p)); /* it may be by chance */
	s[1].n = PACE_LEAST - 1;
	p = pace_estimate(&sets);
	assert_true(p.few && isinf(p.lo) && isinf(p.hi));
}

/* ---- control variates ---- */

#define CONTROLS 24

struct controls {
	struct unit u[CONTROLS];
	struct unit_set s[2];
	struct unit_sets sets;
	double time[CONTROLS], ran[CONTROLS], left[CONTROLS]; /* log_ratio_deviations() */
};

/* Log times that follow CPU times, and what strangers left, but for @noise. */
static void make_controls(struct controls *c, double by_ran, double by_left, double noise)
{
	struct unit ran[CONTROLS], *left;
	struct rng rng = { 11 };

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < CONTROLS; i++) {
		double x = 0.05 * normal(&rng), y = 0.05 * normal(&rng) + 0.5 * x;
		double z = noise * normal(&rng);

		c->u[i] = (struct unit){ .time = exp(by_ran * x + by_left * y + z),
					 .work = 1,
					 .time0 = 1,
					 .work0 = 1,
					 .ran = exp(x),
					 .ran0 = 1,
					 .left0 = 1 };
		c->u[i].left = by_left ? c->u[i].time * exp(-y) : NAN;
		ran[i] = (struct unit){ .time = exp(x), .work = 1, .time0 = 1, .work0 = 1 };
	}
	c->s[1] = (struct unit_set){ .speedup = 0.5, .u = c->u, .n = CONTROLS, .inflation = 1 };
	if (by_left)
		c->s[0].sum.w = (struct profile_window){ .cores = 2, .busy_s = 1, .wall_s = 1 };
	c->sets = (struct unit_sets){ .s = c->s, .n = 2, .waits = 1 };
	log_ratio_deviations(c->u, CONTROLS, c->time);
	log_ratio_deviations(ran, CONTROLS, c->ran);
	left = strangers_units(&c->sets, &c->s[1]);
	if (by_left)
		log_ratio_deviations(left, CONTROLS, c->left);
	free(left);
}

static double product(const double *a, const double *b)
{
	double sum = 0;

	for (size_t i = 0; i < CONTROLS; i++)
		sum += a[i] * b[i];
	return sum;
}

static void test_control_by_cpu_time(void **state)
{
	struct controls c;
	struct control fit;
	double slope, explained;

	(void)state;
	make_controls(&c, 1.3, 0, 0.04);
	control_fit(&c.sets, &fit);
	slope = product(c.time, c.ran) / product(c.ran, c.ran);
	explained = slope * product(c.time, c.ran) / product(c.time, c.time);
	assert_true(slope > 0.8 && explained > 0.3 && explained < 0.95);
	assert_float_equal(fit.slope, slope, 1e-9);
	assert_float_equal(fit.explained, explained, 1e-9);
	assert_float_equal(fit.slope_se,
			   sqrt((1 - explained) * product(c.time, c.time) / product(c.ran, c.ran) /
				(CONTROLS - 2)),
			   1e-9);
	assert_true(fit.strangers.slope == 0 && fit.really.slope == 0);
	/* What is left scatters by so much less. */
	control_deviations(&fit, &c.sets, &c.s[1], c.time);
	assert_float_equal(product(c.time, c.ran), 0, 1e-9);
	/* Where tasks may spin nothing of this is done. */
	c.sets.waits = 0.1;
	c.sets.running = 2;
	control_fit(&c.sets, &fit);
	assert_true(fit.slope == 0);
}

/* Both at once: each slope is what the other one leaves. */
static void test_control_by_strangers_too(void **state)
{
	struct controls c;
	struct control fit;
	double tt, rr, ll, tr, tl, rl, det;

	(void)state;
	make_controls(&c, 0.7, 0.9, 0.01);
	control_fit(&c.sets, &fit);
	tt = product(c.time, c.time), rr = product(c.ran, c.ran), ll = product(c.left, c.left);
	tr = product(c.time, c.ran), tl = product(c.time, c.left), rl = product(c.ran, c.left);
	det = rr * ll - rl * rl;
	assert_float_equal(fit.slope, (tr * ll - tl * rl) / det, 1e-9);
	assert_float_equal(fit.strangers.slope, (tl * rr - tr * rl) / det, 1e-9);
	assert_float_equal(fit.strangers.explained, tl * tl / ll / tt, 1e-9);
	/* Where the target really is cheaper, strangers alone. */
	assert_float_equal(fit.really.slope, tl / ll, 1e-9);
	assert_float_equal(fit.really.slope_se,
			   sqrt((1 - tl * tl / ll / tt) * tt / ll / (CONTROLS - 2)), 1e-9);
	control_deviations(&fit, &c.sets, &c.s[1], c.time);
	assert_float_equal(product(c.time, c.ran), 0, 1e-9);
	assert_float_equal(product(c.time, c.left), 0, 1e-9);
}

/* What a treatment may itself have done to what strangers leave is not taken off. */
static void test_noise_of_strangers(void **state)
{
	struct profile_window zero = { .cores = 2, .busy_s = 1.4, .ran_s = 1, .wall_s = 1 };
	struct profile_window treated = { .wall_s = 1, .inserted_s = 0.3 };
	/* 0.4 of two cores: a quarter of what they leave. Stopped for 0.3, and a tenth faster. */
	double treatment = 0.25 * 0.25 * (0.3 * 0.3 + 0.1 * 0.1) / 3 + 0.002 * 0.002;
	struct strangers_noise noise;

	(void)state;
	noise = strangers_noise_in(0.2, 0.001, &zero, &treated, log(0.9));
	assert_float_equal(noise.mean, 0.2 * 0.001 / (0.001 + treatment), 1e-9);
	assert_float_equal(noise.variance, 0.001 * treatment / (0.001 + treatment), 1e-12);
	zero.urgent_s = 0.4; /* real-time tasks come by the clock */
	noise = strangers_noise_in(0.2, 0.001, &zero, &treated, log(0.9));
	assert_float_equal(noise.mean, 0.2 * 0.001 / (0.001 + 0.002 * 0.002), 1e-9);
	zero.cores = 0;
	assert_true(isnan(strangers_left(&zero)));
	zero = (struct profile_window){ .cores = 2, .wall_s = 1 };
	assert_true(isnan(strangers_left(&zero)));
}

/* ---- which is named ---- */

/* The most that is surely saved, wherever it stands; not what else may be. */
static void test_first_of_several(void **state)
{
	static const double least[] = { 12, 31, 25 };
	struct estimate e[3] = { 0 };
	struct answer_row rows[3] = { 0 };
	char *text;

	(void)state;
	for (int i = 0; i < 3; i++) {
		e[i] = (struct estimate){ .verdict = VERDICT_OPTIMIZE,
					  .best = KNOWN_VALUE,
					  .best_lo = least[i] };
		e[i].best_hi = 50 - least[i];
		rows[i] = (struct answer_row){ .e = &e[i], .label = "it" };
	}
	assert_ptr_equal(answer_first(rows, 3), &rows[1]);
	assert_ptr_equal(answer_named(rows, 3), &rows[1]);
	for (int i = 0; i < 3; i++)
		e[i].verdict = VERDICT_UNDECIDED;
	assert_null(answer_first(rows, 3));
	assert_ptr_equal(answer_named(rows, 3), &rows[0]);
	/* What keeps one from being told is no word about the others. */
	e[2].doubt = DOUBT_PACED;
	text = answer_text(rows, 3, "the time", NULL);
	assert_null(strstr(text, "paced"));
	free(text);
	e[0].doubt = e[1].doubt = DOUBT_PACED;
	text = answer_text(rows, 3, "the time", NULL);
	assert_non_null(strstr(text, "paced from outside"));
	free(text);
}

/* The best of many is so by luck, too: as much as so many more allow for. */
static void test_luck(void **state)
{
	const struct estimate_point p = {
		.log_ratio = log(0.8), .se = 0.02, .noise_se = 0.02, .df = 9, .noise_df = 9
	};

	(void)state;
	assert_true(answer_luck(&p, 1, true) == 0);
	assert_float_equal(answer_luck(&p, 10, false),
			   80 * (expm1(0.02 * student_quantile(1 - 0.0025, 9)) -
				 expm1(0.02 * student_quantile(1 - 0.025, 9))),
			   1e-3);
	assert_true(answer_luck(&p, 10, true) > 0 &&
		    answer_luck(&p, 10, true) < answer_luck(&p, 10, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_ratio_of_unlike_units),
		cmocka_unit_test(test_shared_baselines),
		cmocka_unit_test(test_whole_runs),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_time_spent),
		cmocka_unit_test(test_curve),
		cmocka_unit_test(test_mixture),
		cmocka_unit_test(test_spells),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_control_by_cpu_time),
		cmocka_unit_test(test_control_by_strangers_too),
		cmocka_unit_test(test_noise_of_strangers),
		cmocka_unit_test(test_first_of_several),
		cmocka_unit_test(test_luck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
