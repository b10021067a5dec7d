// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates that are not sure: how far ends of intervals are, and what nothing is concluded from.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_stats_windows.h"

#include "stats/describe.h"
#include "stats/mixture.h"

static void test_bounds(void **state)
{
	struct estimate_point p = {
		.log_ratio = log(0.8), .se = 0.01, .df = 10, .noise_se = 0.01, .noise_df = 10
	};
	double lo, hi;

	(void)state;
	estimate_point_bounds(&p, 0.025, &lo, &hi);
	assert_float_equal(lo, 100 * (1 - 0.8 * exp(0.0222814)), 1e-4);
	assert_float_equal(hi, 100 * (1 - 0.8 * exp(-0.0222814)), 1e-4);
	estimate_point_bounds(&p, 1e-6, &lo, &hi);
	assert_true(lo < 13 && hi > 26);
	/* Of errors that time does not make smaller the tails are short; those of a few windows
	 * stay. */
	p.se = 0.02;
	p.noise_df = 2;
	p.df = 32;
	estimate_point_bounds(&p, 0.0005, &lo, &hi);
	assert_true(lo < -9 && hi > 40);
	p.df = 0;
	estimate_point_bounds(&p, 0.025, &lo, &hi);
	assert_true(isinf(lo) && lo < 0 && isinf(hi) && hi > 0);
}

static void test_blurred(void **state)
{
	(void)state;
	for (double x = -3; x <= 3; x += 0.5)
		assert_float_equal(blurred_above(x, 3, 1e6, 4), erfc(x / 5 / M_SQRT2) / 2, 1e-4);
	assert_float_equal(blurred_above(2, 1, 10, 0), student_two_sided(2, 10) / 2, 1e-12);
	assert_float_equal(blurred_above(-2, 1, 10, 0), 1 - student_two_sided(2, 10) / 2, 1e-12);
	/* Far out only the tail of the t is left. */
	assert_float_equal(blurred_above(100, 1, 2, 1) / (student_two_sided(100, 2) / 2), 1, 0.02);
	for (double alpha = 1e-6; alpha < 0.4; alpha *= 3)
		assert_float_equal(blurred_above(blurred_bound(alpha, 1, 3, 2), 1, 3, 2) / alpha, 1,
				   0.02);
}

/* Of a point that windows are too short for nothing is concluded. */
static void test_seldom(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.7 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 20, 0.01);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++) {
		w.p[i][0].virtual_s *= 2.5 / w.p[i][0].visits;
		w.p[i][0].visits = 2.5;
	}
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_int_equal(e.e[0].doubt, DOUBT_SELDOM);
	assert_true(estimate_is_withheld(&e.e[0]));
	assert_non_null(strstr(e.e[0].warning, "reached 2.5 times in a window"));
	estimates_free(&e);
}

/*
 * A thread that has nothing to do with the point runs faster or slower while others stand still:
 * its CPU time is none of the work.
 */
static void test_unrelated_thread(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 1 };
	double with, without;

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct windows w = { .n = 0 };
		struct estimates e;
		struct rng r = { 7 };

		add_curve(&w, s, p, 1, 40, 0);
		for (size_t i = 0; i < w.n; i++) {
			double u = (rng_next(&r) >> 40) / 16777216.0 - 0.5;
			double cost = exp(1.5 * u), of_point = 100 * cost;
			double other = w.w[i].speedup > 0 ? 1.25 : 1;

			w.p[i][0].virtual_s = 100 * cost;
			w.w[i].wall_s = 100 * cost * other;
			w.w[i].inserted_s = w.w[i].wall_s - 100 * cost;
			w.w[i].syncs = 1000;
			w.w[i].ran_s = of_point + 100 * cost * other;
			w.w[i].related_s = known ? of_point : 0;
		}
		e = run(&w);
		*(known ? &with : &without) = e.e[0].points[1].program_speedup_pct;
		assert_true(!known || (e.e[0].points[1].ci_lo < 0 && e.e[0].points[1].ci_hi > 0));
		estimates_free(&e);
	}
	assert_true(without > 5);
	assert_float_equal(with, 0, 1);
}

static void test_too_few(void **state)
{
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	e = run(&w);
	assert_int_equal(e.n, 0);
	estimates_free(&e);

	add(&w, 0, 1);
	e = run(&w); /* nothing treated */
	assert_int_equal(e.n, 0);
	estimates_free(&e);

	add(&w, 0.5, 0.9);
	add(&w, 0, 1);
	add(&w, 0.5, 0.9);
	e = run(&w);
	assert_int_equal(e.n, 1);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 10, 1e-9);
	assert_true(isinf(e.e[0].points[1].ci_lo) && e.e[0].points[1].ci_lo < 0);
	assert_true(isinf(e.e[0].points[1].ci_hi) && e.e[0].points[1].ci_hi > 0);
	assert_true(isinf(e.e[0].points[0].ci_hi));
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_true(isinf(estimate_half_width(&e.e[0])));
	assert_non_null(strstr(e.e[0].warning, "too few windows"));
	estimates_free(&e);
}

/*
 * The windows of one speedup of several were left out for the most part: what the rest says, that
 * a gain grows by half there, is a choice, and the others conclude.
 */
static void test_one_speedup_left_out(void **state)
{
	static const double s[] = { 0.5, 1 }, p[] = { 0.9, 0.6 };
	struct windows w = { .n = 0 };
	struct estimates e;
	size_t at = 0;

	(void)state;
	add_curve(&w, s, p, 2, 16, 0.005);
	for (size_t i = 0; i < w.n; i++) {
		if (w.w[i].speedup == 1 && at++ % 2)
			w.w[i].discard = DISCARD_CAPPED;
	}
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_true(e.e[0].best_at_pct == 50);
	assert_float_equal(e.e[0].best_pct, 10, 0.5);
	assert_non_null(strstr(e.e[0].warning, "many windows at 100 % were left out"));
	estimates_free(&e);
}

/* Four units that agree by luck conclude nothing, however little they scatter. */
static void test_few_units(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.7 };

	(void)state;
	for (int units = 4; units <= 5; units++) {
		struct windows w = { .n = 0 };
		struct estimates e;

		add_curve(&w, s, p, 1, units, 0.001);
		e = run(&w);
		assert_int_equal(e.e[0].verdict, units < 5 ? VERDICT_UNDECIDED : VERDICT_OPTIMIZE);
		estimates_free(&e);
	}
}

/* What windows in one go have in common, none of their differences tells. */
static void test_windows_in_one_go(void **state)
{
	static const double together[] = { 1, 0.93, 1.02, 0.94, 0.99, 0.92, 1 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(together); i++) {
		for (int k = 0; k < 4; k++)
			add(&w, i % 2 ? 0.5 : 0, together[i] * (1 + 0.001 * k));
	}
	e = run(&w);
	assert_int_equal(e.e[0].points[1].windows, 12);
	assert_int_equal(e.e[0].points[1].units, 3);
	assert_int_equal(e.e[0].points[0].windows, 16);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_true(e.e[0].points[1].ci_hi - e.e[0].points[1].ci_lo > 3);
	estimates_free(&e);
	/* Each by itself they would be twelve. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].seq = 2 * i;
	e = run(&w);
	assert_int_equal(e.e[0].points[1].windows, 6); /* the others are too far from a baseline */
	assert_int_equal(e.e[0].points[1].units, 6);
	estimates_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),	  cmocka_unit_test(test_blurred),
		cmocka_unit_test(test_seldom),	  cmocka_unit_test(test_unrelated_thread),
		cmocka_unit_test(test_too_few),	  cmocka_unit_test(test_one_speedup_left_out),
		cmocka_unit_test(test_few_units), cmocka_unit_test(test_windows_in_one_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
