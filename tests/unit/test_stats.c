// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_stats_windows.h"
#include "stats/describe.h"

static void test_student(void **state)
{
	(void)state;
	assert_float_equal(student_quantile(0.975, 1), 12.7062, 1e-3);
	assert_float_equal(student_quantile(0.975, 5), 2.57058, 1e-4);
	assert_float_equal(student_quantile(0.975, 30), 2.04227, 1e-4);
	assert_float_equal(student_quantile(0.975, 1e6), 1.95997, 1e-4);
	assert_float_equal(student_quantile(0.025, 10), -2.22814, 1e-4);
	assert_float_equal(student_two_sided(2.22814, 10), 0.05, 1e-5);
	assert_float_equal(student_two_sided(0, 3), 1, 1e-9);
	assert_true(student_two_sided(INFINITY, 3) == 0);
	for (double df = 1e5; df < 1e18; df *= 10) /* is normal */
		assert_float_equal(student_two_sided(3.2905, df), 0.001, 1e-5);
}

static void test_exact(void **state)
{
	static const double s[] = { 0.25, 0.5 }, p[] = { 0.9, 0.8 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 2, 8, 0);
	e = run(&w);
	assert_int_equal(e.n, 1); /* the second progress point has no visits */
	assert_int_equal(e.e[0].n_points, 3);
	assert_true(e.e[0].points[0].speedup_pct == 0);
	assert_true(e.e[0].points[0].program_speedup_pct == 0);
	assert_int_equal(e.e[0].points[0].windows, 17);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 10, 1e-6);
	assert_float_equal(e.e[0].points[2].program_speedup_pct, 20, 1e-4);
	assert_float_equal(e.e[0].points[2].ci_lo, 20, 1e-4);
	assert_float_equal(e.e[0].points[2].ci_hi, 20, 1e-4);
	assert_int_equal(e.e[0].points[2].windows, 8);
	assert_float_equal(e.e[0].best_pct, 20, 1e-4);
	assert_float_equal(e.e[0].best_at_pct, 50, 1e-9);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_int_equal(e.e[0].samples, 33 * 3);
	assert_null(e.e[0].warning);
	assert_true(estimate_half_width(&e.e[0]) < 1e-4);
	estimates_free(&e);
}

/*
 * Three times slower in the second half: all pairs of windows but one do not notice. That one
 * counts like all the others and makes the interval wide, unless CPU times tell what it was.
 */
static void test_drift_cancels(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 };
	struct estimates e;
	const struct estimate_point *x;

	(void)state;
	add_curve(&w, s, p, 1, 10, 0.01);
	for (size_t i = w.n / 2; i < w.n; i++)
		w.p[i][0].virtual_s *= 3;
	e = run(&w);
	x = &e.e[0].points[1];
	assert_int_equal(x->windows, 10);
	assert_true(x->ci_lo < 20 && x->ci_hi > 20 && x->ci_hi - x->ci_lo > 5);
	assert_null(e.e[0].warning);
	estimates_free(&e);

	for (size_t i = 0; i < w.n; i++) {
		w.w[i].wall_s = w.p[i][0].virtual_s;
		w.w[i].ran_s = w.p[i][0].visits * (i >= w.n / 2 ? 3 : 1) / 1e4;
	}
	e = run(&w);
	x = &e.e[0].points[1];
	assert_int_equal(x->windows, 10);
	assert_float_equal(x->program_speedup_pct, 20, 1);
	assert_true(x->ci_lo < 20 && x->ci_hi > 20 && x->ci_hi - x->ci_lo < 5);
	estimates_free(&e);
}

/* Of windows that are left out because much was inserted, few say nothing, many that the rest is a
 * choice. */
static void test_left_out(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };

	(void)state;
	for (size_t limit = 4; limit <= 6; limit += 2) {
		struct windows w = { .n = 0 };
		size_t capped = 0;
		struct estimates e;

		add_curve(&w, s, p, 1, 18, 0);
		for (size_t i = 0; i < w.n && capped < limit; i++) {
			if (w.w[i].speedup > 0) {
				w.w[i].discard = DISCARD_CAPPED;
				capped++;
			}
		}
		e = run(&w);
		assert_int_equal(e.e[0].points[1].windows, 18 - limit);
		assert_int_equal(e.e[0].verdict, limit < 5 ? VERDICT_OPTIMIZE : VERDICT_UNDECIDED);
		assert_int_equal(e.e[0].doubt, limit < 5 ? DOUBT_NONE : DOUBT_LEFT_OUT);
		assert_int_equal(estimate_is_withheld(&e.e[0]), limit > 5);
		if (limit > 5)
			assert_non_null(
				strstr(e.e[0].warning, "6 of 18 windows with a speedup were left"));
		estimates_free(&e);
	}
}

/* Nothing was ever sped up, so however the windows differ, nothing is known of it. */
static void test_never_seen(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8, 1 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(p); k++) {
		struct windows w = { .n = 0 };
		struct estimates e;

		add_curve(&w, s, &p[k], 1, 18, 0);
		for (size_t i = 0; i < w.n; i++)
			w.w[i].hits = 0;
		e = run(&w);
		assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
		assert_int_equal(e.e[0].doubt, DOUBT_UNSEEN);
		assert_int_equal(e.e[0].best, KNOWN_NOTHING);
		assert_true(estimate_is_withheld(&e.e[0]));
		assert_non_null(strstr(e.e[0].warning, "not seen running"));
		estimates_free(&e);
	}
}

static void test_latency(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 1 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 8, 0);
	for (size_t i = 0; i < w.n; i++)
		w.p[i][0].inflight = w.w[i].speedup > 0 ? 3 : 4;
	e = run(&w);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 25, 1e-6);
	estimates_free(&e);
}

/* As a profile gives it back. */
static double written(double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.12g", v);
	return strtod(text, NULL);
}

static void test_end_to_end(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.7 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 5, 0.01);
	for (size_t i = 0; i < w.n; i++) {
		w.p[i][0].virtual_s /= w.p[i][0].visits;
		w.p[i][0].visits = 1;
		w.w[i].n_progress = 1;
		if (w.w[i].speedup > 0)
			w.w[i].inserted_s = w.p[i][0].virtual_s / 3;
		w.w[i].wall_s = written(w.p[i][0].virtual_s + w.w[i].inserted_s);
		w.w[i].inserted_s = written(w.w[i].inserted_s);
		w.p[i][0].virtual_s = written(w.p[i][0].virtual_s);
	}
	e = run(&w);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 30, 0.5);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_non_null(strstr(e.e[0].warning, "few windows, so wide intervals for 1 of 1 speedups "
					       "(least: 5)"));
	estimates_free(&e);
}

/* Baselines: the same run, the same target, kept, at most three windows away. */
static void test_pairing(void **state)
{
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add(&w, 0, 1);
	add(&w, 0.5, 0.9);
	w.w[1].seq = 4; /* too far */
	e = run(&w);
	assert_int_equal(e.n, 0);
	estimates_free(&e);

	w.w[1].seq = 3;
	e = run(&w);
	assert_int_equal(e.n, 1);
	estimates_free(&e);

	w.w[0].run = 1;
	e = run(&w);
	assert_int_equal(e.n, 0);
	estimates_free(&e);

	w.w[0].run = 0;
	w.w[0].target = 1;
	e = run(&w);
	assert_int_equal(e.n, 0);
	estimates_free(&e);

	w.w[0].target = 0;
	w.w[0].discard = DISCARD_STEAL;
	e = run(&w);
	assert_int_equal(e.n, 0);
	estimates_free(&e);

	/* Two usable ones at different distances: the nearest counts, on each side. */
	w.n = 0;
	add(&w, 0, 7);
	add(&w, 0, 1);
	add(&w, 0.5, 0.9);
	add(&w, 0, 1);
	add(&w, 0, 7);
	for (size_t i = 1; i < w.n; i++)
		w.w[i].seq += i < 4 ? 1 : 2; /* of another target were in between */
	e = run(&w);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 10, 1e-9);
	estimates_free(&e);

	/* Measured in one go they are one: all of them count. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].seq = i;
	e = run(&w);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 100 - 90 / 4.0, 1e-9);
	assert_int_equal(e.e[0].points[0].windows, 4);
	estimates_free(&e);
}

/*
 * Windows that scatter by factors tell nothing, and nothing is what is said: no interval of a
 * hundred thousand percent, no best point.
 */
static void test_nothing_learned(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 1 };
	struct windows w = { .n = 0 };
	struct estimates e;
	char *text;

	(void)state;
	add_curve(&w, s, p, 1, 3, 0);
	w.p[1][0].virtual_s *= 1000;
	w.p[3][0].virtual_s *= 30;
	w.p[5][0].virtual_s /= 5;
	e = run(&w);
	assert_true(e.e[0].points[1].ci_hi - e.e[0].points[1].ci_lo > LEARNED_PP);
	assert_int_equal(e.e[0].best, KNOWN_NOTHING);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	text = estimate_best_text(&e.e[0]);
	assert_string_equal(text, "nothing learned");
	free(text);
	text = estimate_point_text(&e.e[0].points[1]);
	assert_string_equal(text, "nothing learned");
	free(text);
	estimates_free(&e);
}

static void check_text(double v, double lo, double hi, double speedup, const char *expected)
{
	char *text = percent_interval_text(v, lo, hi, speedup);

	assert_string_equal(text, expected);
	free(text);
}

static void test_words(void **state)
{
	(void)state;
	check_text(18.7, 17.6, 19.9, 50, "18.7 [17.6, 19.9]");
	check_text(-0.01, -1, 1, 50, "0.0 [-1.0, 1.0]");
	check_text(-181.6, -100760, 99.7, 50, "nothing learned");
	check_text(-181.6, -1e5, 12.04, 50, "at most 12.0");
	check_text(7, -INFINITY, INFINITY, 50, "[?]");
}

/* The number to act on is that of the verdict: under contention the loss, not what is lost least.
 */
static void test_best(void **state)
{
	static const double s[] = { 0.25, 0.5, 1 };
	static const double down[] = { 1.05, 1.1, 1.19 }, up[] = { 0.95, 0.8, 0.9 };
	struct windows w = { .n = 0 };
	struct estimates e;
	char *text;

	(void)state;
	add_curve(&w, s, down, 3, 12, 0.005);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_CONTENTION);
	assert_float_equal(e.e[0].best_pct, -19, 0.3);
	assert_true(e.e[0].best_at_pct == 100);
	assert_true(e.e[0].best_lo == e.e[0].points[3].ci_lo);
	assert_true(e.e[0].best_hi == e.e[0].points[3].ci_hi);
	text = estimate_best_text(&e.e[0]);
	assert_true(!strncmp(text, "-19.", 4) || !strncmp(text, "-18.", 4));
	assert_non_null(strstr(text, "] at 100 %"));
	free(text);
	estimates_free(&e);

	/* Nor is it the worst point, where others are as bad. */
	w.n = 0;
	add_curve(&w, (double[]){ 0.25, 0.75, 1 }, (double[]){ 1.05, 1.205, 1.2 }, 3, 12, 0.03);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_CONTENTION);
	assert_true(e.e[0].points[2].program_speedup_pct < e.e[0].points[3].program_speedup_pct);
	assert_true(e.e[0].best_at_pct == 100);
	estimates_free(&e);

	w.n = 0;
	add_curve(&w, s, up, 3, 12, 0.005);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_float_equal(e.e[0].best_pct, 20, 0.3);
	assert_true(e.e[0].best_at_pct == 50);
	estimates_free(&e);

	/* A lower speedup that looks a little better, within the intervals, is not the best one. */
	w.n = 0;
	add_curve(&w, (double[]){ 0.25, 0.75, 1 }, (double[]){ 0.95, 0.795, 0.8 }, 3, 12, 0.03);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_true(e.e[0].points[2].program_speedup_pct > e.e[0].points[3].program_speedup_pct);
	assert_true(e.e[0].best_at_pct == 100);
	estimates_free(&e);

	/* A lucky point of three windows is not the best of a curve that is known elsewhere. */
	w.n = 0;
	add_curve(&w, s, (double[]){ 0.9, 0.8, 0.7 }, 2, 12, 0.02);
	for (size_t i = 0; i < 3; i++) {
		add(&w, 1, i == 1 ? 0.9 : 0.3);
		add(&w, 0, 1);
	}
	e = run(&w);
	assert_float_equal(e.e[0].best_pct, 20, 1);
	assert_true(e.e[0].best_at_pct == 50);
	estimates_free(&e);
}

/* Points of a curve support each other: noise that differs from point to point is taken out. */
static void test_joint(void **state)
{
	static const double s[] = { 0.2, 0.4, 0.6, 0.8, 1 };
	double truth[5], alone = 0, joint = 0;
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	for (int i = 0; i < 5; i++)
		truth[i] = 1 - 0.3 * s[i];
	add_curve(&w, s, truth, 5, 6, 0.4);
	e = run(&w);
	for (int i = 1; i <= 5; i++) {
		const struct estimate_point *p = &e.e[0].points[i];

		alone += pow(p->alone_pct - 30 * s[i - 1], 2);
		joint += pow(p->program_speedup_pct - 30 * s[i - 1], 2);
		assert_true(p->ci_lo < 30 * s[i - 1] && p->ci_hi > 30 * s[i - 1]);
		assert_true(p->ci_hi - p->ci_lo < p->alone_hi - p->alone_lo);
	}
	assert_true(joint < 0.7 * alone);
	estimates_free(&e);
}

/* A machine whose speed jumps by a third either way, within and between windows. */
static void add_weather(struct windows *w, double spread)
{
	struct rng r = { 11 };

	for (size_t i = 0; i < w->n; i++) {
		double pace = exp(spread * ((rng_next(&r) >> 40) / 16777216.0 - 0.5));

		w->w[i].wall_s = w->p[i][0].virtual_s *= pace;
		w->w[i].ran_s = 70 * pace; /* for 100 units of work, whatever the speedup */
		w->w[i].syncs = 100;
	}
}

/* What CPU times show to be noise is taken off, ... */
static void test_control(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 };
	struct estimates with, without;

	(void)state;
	add_curve(&w, s, p, 1, 20, 0.02);
	add_weather(&w, 0.8);
	with = run(&w);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].ran_s = 0; /* an old profile */
	without = run(&w);
	assert_true(without.e[0].control.slope == 0);
	assert_float_equal(with.e[0].control.slope, 1, 0.1);
	assert_true(with.e[0].control.explained > 0.9);
	assert_true(estimate_half_width(&with.e[0]) < 0.7 * estimate_half_width(&without.e[0]));
	assert_float_equal(with.e[0].points[1].program_speedup_pct, 20, 1);
	assert_true(with.e[0].points[1].ci_lo < 20 && with.e[0].points[1].ci_hi > 20);
	estimates_free(&with);
	estimates_free(&without);
}

/* ... but not where it is the effect itself: tasks that spin need less CPU time as they wait less.
 */
static void test_control_spinning(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 20, 0.02);
	add_weather(&w, 0.8);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].ran_s = 2 * w.p[i][0].virtual_s;
		w.w[i].syncs = 0;
	}
	e = run(&w);
	assert_true(e.e[0].control.slope == 0);
	assert_true(e.e[0].points[1].ci_lo < 20 && e.e[0].points[1].ci_hi > 20);
	estimates_free(&e);

	/* Where that could not be known, the shift itself tells. */
	w.n = 0;
	add_curve(&w, s, p, 1, 20, 0.02);
	add_weather(&w, 0.1);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].ran_s = 2 * w.p[i][0].virtual_s;
	e = run(&w);
	assert_true(e.e[0].control.valid < 0.01);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 20, 2);
	assert_true(e.e[0].points[1].ci_lo < 20 && e.e[0].points[1].ci_hi > 20);
	estimates_free(&e);
}

static void check_verdict(const double *period, double noise, enum verdict expected)
{
	static const double s[] = { 0.25, 0.5, 1 };
	struct windows w = { .n = 0 };
	struct estimates e;

	add_curve(&w, s, period, 3, 12, noise);
	e = run(&w);
	assert_string_equal(verdict_name(e.e[0].verdict), verdict_name(expected));
	estimates_free(&e);
}

static void test_verdicts(void **state)
{
	static const double up[] = { 0.95, 0.9, 0.85 }, down[] = { 1.02, 1.04, 1.06 };
	static const double flat[] = { 1, 1.001, 0.999 }, tiny[] = { 0.998, 0.996, 0.994 };
	static const double both[] = { 0.95, 1, 1.05 };

	(void)state;
	check_verdict(up, 0.02, VERDICT_OPTIMIZE);
	check_verdict(down, 0.02, VERDICT_CONTENTION);
	check_verdict(flat, 0.02, VERDICT_NO_EFFECT);
	check_verdict(flat, 0.4, VERDICT_UNDECIDED);
	check_verdict(tiny, 0.001, VERDICT_NO_EFFECT); /* real, but not worth anything */
	check_verdict(both, 0.02, VERDICT_OPTIMIZE);
}

static void test_warnings(void **state)
{
	static const double s[] = { 0.25, 0.5, 1 };
	static const double hump[] = { 0.8, 0.95, 0.97 }, magic[] = { 0.6, 0.6, 0.6 };
	static const double flat[] = { 1, 1, 1 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, hump, 3, 10, 0.01);
	e = run(&w);
	assert_non_null(strstr(e.e[0].warning, "not monotone: 20."));
	estimates_free(&e);

	w.n = 0;
	add_curve(&w, s, magic, 3, 10, 0.01);
	e = run(&w);
	assert_non_null(strstr(e.e[0].warning, "more than is possible"));
	estimates_free(&e);

	w.n = 0;
	add_curve(&w, s, flat, 3, 10, 0.01);
	w.p[1][0].virtual_s *= 5;
	for (size_t i = 0; i < w.n; i++)
		w.w[i].hits = 0;
	e = run(&w);
	assert_non_null(strstr(e.e[0].warning, "not seen running"));
	/* What was disturbed counts, and widens the interval until it holds the truth. */
	assert_true(e.e[0].points[1].alone_pct < -10);
	assert_true(e.e[0].points[1].ci_lo < -5 && e.e[0].points[1].ci_hi > 0);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	estimates_free(&e);
}

/* What no experiment speeds up may be worth more than what one does. */
static void test_target_that_waits(void **state)
{
	static const double s[] = { 0.5 }, nothing[] = { 1 }, p[] = { 0.8 };
	struct windows w = { .n = 0 }, v = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, nothing, 1, 30, 0.001);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_NO_EFFECT);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].wall_s = w.p[i][0].virtual_s;
		w.w[i].target_ran_s = 0.1 * w.w[i].wall_s;
		w.w[i].target_waited_s = 0.08 * w.w[i].wall_s; /* half of it: less than 5 % */
	}
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_NO_EFFECT);
	assert_null(e.e[0].warning);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].target_waited_s = 0.3 * w.w[i].wall_s;
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_float_equal(e.e[0].target_waits, 0.3, 1e-9);
	assert_non_null(strstr(e.e[0].warning, "75 % of the target's time is waiting"));
	assert_non_null(strstr(e.e[0].warning, "not sped up"));
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++) /* where it is sped up, too, there is a verdict */
		w.w[i].waits_sped = true;
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_NO_EFFECT);
	assert_non_null(strstr(e.e[0].warning, "sped up, too"));
	estimates_free(&e);

	add_curve(&v, s, p, 1, 30, 0.001);
	for (size_t i = 0; i < v.n; i++)
		v.w[i].wall_s = v.w[i].target_waited_s = v.p[i][0].virtual_s;
	e = run(&v);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_non_null(strstr(e.e[0].warning, "100 % of the target's time is waiting"));
	estimates_free(&e);
}

static void test_absolute_sleeps_are_paced(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 8, 0.01);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].absolute_waits = w.p[i][0].visits / 10;
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE); /* some reporter's timer */
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].absolute_waits = w.p[i][0].visits;
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_non_null(strstr(e.e[0].warning, "sleep 1 times until a point in time"));
	estimates_free(&e);
}

/* Windows in which the target was really made cheaper are points of their own. */
static void test_measured(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 }, plain = { .n = 0 };
	struct estimates e, without;
	size_t n;

	(void)state;
	add_curve(&plain, s, p, 1, 8, 0.01);
	add_curve(&w, s, p, 1, 8, 0.01);
	n = w.n;
	for (int i = 0; i < 8; i++) {
		add(&w, 0.5, 0.7 + 0.002 * (i % 3));
		w.w[w.n - 1].real = true;
		add(&w, 0, 1);
	}
	add(&w, 0.25, 0.1); /* without virtual ones of that speedup */
	w.w[w.n - 1].real = true;
	e = run(&w);
	without = run(&plain);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.e[0].n_points, 2);
	assert_int_equal(e.e[0].points[1].measured_windows, 8);
	assert_float_equal(e.e[0].points[1].measured_pct, 29.8, 0.2);
	assert_true(e.e[0].points[1].measured_lo > 29 && e.e[0].points[1].measured_lo < 29.8);
	assert_true(e.e[0].points[1].measured_hi < 30.2 && e.e[0].points[1].measured_hi > 29.7);
	/* They change nothing else. */
	assert_true(without.e[0].points[1].program_speedup_pct ==
		    e.e[0].points[1].program_speedup_pct);
	assert_true(without.e[0].points[1].ci_lo == e.e[0].points[1].ci_lo);
	assert_int_equal(without.e[0].points[1].measured_windows, 0);
	assert_int_equal(e.e[0].points[1].windows, 8);
	assert_int_equal(e.e[0].samples, without.e[0].samples + 8 * 3);
	assert_int_equal(e.e[0].verdict, without.e[0].verdict);
	assert_null(e.e[0].warning);
	estimates_free(&e);
	estimates_free(&without);

	/* No prediction, no estimate. */
	for (size_t i = 0; i < n; i++)
		w.w[i].real = w.w[i].speedup > 0;
	e = run(&w);
	assert_int_equal(e.n, 0);
	estimates_free(&e);
}

/* A hundred points that are nothing give chance a hundred occasions. */
static void test_many_targets(void **state)
{
	static const double s[] = { 0.5 }, up[] = { 0.975 }, flat[] = { 1 };
	static struct windows w;
	struct estimates e;

	(void)state;
	w.n = 0;
	add_curve(&w, s, up, 1, 10, 0.05);
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
	for (uint32_t t = 1; t <= 20; t++) {
		size_t n = w.n;

		add_curve(&w, s, flat, 1, 10, 0.05);
		for (size_t i = n; i < w.n; i++)
			w.w[i].target = t;
	}
	e = run(&w);
	assert_int_equal(e.n, 21);
	assert_true(e.e[0].points[1].ci_lo > 0);
	assert_int_not_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
	/* Another progress point is another question. */
	for (size_t i = 0; i < w.n; i++) {
		if (w.w[i].target) {
			w.p[i][1] = w.p[i][0];
			w.p[i][0].visits = 0;
		}
	}
	e = run(&w);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
}

static void set_times(struct windows *w, double length, double settle)
{
	for (size_t i = 0; i < w->n; i++) {
		w->w[i].wall_s = length;
		w->w[i].start_s = 5 + i * (length + settle);
	}
}

static void test_precision(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	static struct windows w;
	struct stats_options opt = { .seed = 1 };
	struct estimates e;
	double first;

	(void)state;
	w.n = 0;
	add_curve(&w, s, p, 1, 100, 0.1);
	set_times(&w, 0.5, 0.25);
	stats_estimate(w.w, w.n, 2, &opt, &e);
	first = e.e[0].precision_s;
	assert_true(estimate_half_width(&e.e[0]) < 1);
	assert_true(first > 5 && first < 0.75 * w.n / 2);
	estimates_free(&e);
	/* The same from the prefix alone; just before it, never. */
	stats_estimate(w.w, (first + 0.5) / 0.75, 2, &opt, &e);
	assert_float_equal(e.e[0].precision_s, first, 0.75 * 3);
	estimates_free(&e);
	stats_estimate(w.w, first / 0.75 * 0.7, 2, &opt, &e);
	assert_true(isinf(e.e[0].precision_s));
	estimates_free(&e);
	/* Discarded windows take time, windows of others and long pauses do not. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].start_s += i > 4 ? 1000 : 0;
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_float_equal(e.e[0].precision_s, first + 64 - 0.25, 1e-6);
	estimates_free(&e);
	/* Noise of which one never gets below two points. */
	w.n = 0;
	add_curve(&w, s, p, 1, 10, 0.4);
	set_times(&w, 0.5, 0.25);
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_true(isinf(e.e[0].precision_s));
	estimates_free(&e);
}

/* Runs begin at 0 each: what lies in the second comes after the first all the same. */
static void test_runs_follow_each_other(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 };
	struct estimates one, two;
	size_t first;

	(void)state;
	add_curve(&w, s, p, 1, 20, 0);
	first = w.n;
	add_curve(&w, s, p, 1, 20, 0);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].wall_s = 0.5;
		w.w[i].seq += i >= first; /* the two at 0 % there were not measured in one go */
		w.w[i].start_s = 35 + 0.75 * i;
		w.p[i][0].virtual_s *= 1 + 0.1 * sin(i / 8.0); /* bad weather, in spells */
	}
	one = run(&w);
	for (size_t i = first; i < w.n; i++) {
		w.w[i].start_s -= 35 + 0.75 * (first - 1) + 0.5;
		w.w[i].run = 1;
	}
	two = run(&w);
	assert_true(w.w[w.n - 1].start_s < 35);
	assert_float_equal(two.e[0].points[1].se, one.e[0].points[1].se, 1e-9);
	estimates_free(&one);
	estimates_free(&two);
}

/* Equal for equal input, in whatever order the windows come. */
static void test_deterministic(void **state)
{
	static const double s[] = { 0.25, 0.5, 1 }, p[] = { 0.95, 0.9, 0.85 };
	struct windows w = { .n = 0 };
	struct profile_window reversed[MAX_WINDOWS];
	struct estimates a, b;

	(void)state;
	add_curve(&w, s, p, 3, 10, 0.05);
	for (size_t i = 0; i < w.n; i++)
		reversed[i] = w.w[w.n - 1 - i];
	stats_estimate(w.w, w.n, 2, NULL, &a);
	stats_estimate(reversed, w.n, 2, NULL, &b);
	assert_memory_equal(a.e[0].points, b.e[0].points, a.e[0].n_points * sizeof(*a.e[0].points));
	estimates_free(&a);
	estimates_free(&b);
}

/* What a profile may hold without being damaged must not upset the arithmetic. */
static void test_odd_numbers(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.9 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 20, 0.01);
	w.p[3][0].visits = 0;
	w.p[4][0].virtual_s = 0;
	w.p[9][0].virtual_s = -1;
	w.p[10][0].virtual_s = NAN;
	w.p[15][0].visits = INFINITY;
	w.p[16][0].visits = NAN;
	w.w[20].n_progress = 0;
	e = run(&w);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 10, 1);
	assert_true(isfinite(e.e[0].points[1].ci_lo));
	estimates_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_drift_cancels),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_never_seen),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_end_to_end),
		cmocka_unit_test(test_pairing),
		cmocka_unit_test(test_nothing_learned),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_best),
		cmocka_unit_test(test_joint),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_control_spinning),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_runs_follow_each_other),
		cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_odd_numbers),
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_many_targets),
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_target_that_waits),
		cmocka_unit_test(test_absolute_sleeps_are_paced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
