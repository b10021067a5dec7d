// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors that do not shrink however long one measures: they are in the intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/answer.h"
#include "stats/describe.h"
#include "tests/unit/test_stats_windows.h"

/* What a longer run does not mend is in the intervals: METHOD_PP, and part of what was corrected.
 */
static void test_method_error(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 8, 0);
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_lo, 20 - METHOD_PP, 1e-6);
	assert_float_equal(e.e[0].points[1].ci_hi, 20 + METHOD_PP, 1e-6);
	assert_null(e.e[0].warning);
	estimates_free(&e);

	/*
	 * A period that is expected to cost 3 points, whatever delays make of that; a tenth of the
	 * time stolen.
	 */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].expected_pp = window_is_treated(&w.w[i]) ? 12 : 3;
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_hi, 20 + hypot(METHOD_PP, 4), 1e-6);
	assert_non_null(strstr(e.e[0].points[1].fixed_cause, "samples too coarse"));
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].flaws_pp = 2;
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_hi, 20 + hypot(METHOD_PP, 4), 1e-6);
	assert_non_null(strstr(e.e[0].points[1].fixed_cause, "hit too often"));
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].expected_pp = 0;
		w.w[i].ran_s = w.p[i][0].virtual_s;
		w.w[i].stolen_s = 0.1 * w.w[i].ran_s;
	}
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_lo, 20 - hypot(METHOD_PP, 1.5) + 0.5, 1e-6);
	assert_float_equal(e.e[0].points[1].ci_hi, 20 + hypot(METHOD_PP, 1.5) + 0.5, 1e-6);
	assert_float_equal(e.e[0].points[1].test_se * Z_975 * -20 / log(0.8), hypot(METHOD_PP, 2),
			   1e-6);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].stolen_s = w.w[i].ran_s = 0;

	for (size_t i = 0; i < w.n; i++) {
		double lost = 0.1 * w.p[i][0].virtual_s;

		if (w.w[i].speedup > 0)
			w.w[i].crowded_s = lost;
	}
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 24, 1e-6);
	assert_true(e.e[0].points[1].ci_lo < 20.5 && e.e[0].points[1].ci_hi > 27.5);
	assert_non_null(strstr(e.e[0].warning, "up to 10.0 % of the time of others"));
	estimates_free(&e);
}

/* Worth it, far from nothing, and without a word of doubt. */
static void expect_no_doubt(const struct windows *w)
{
	struct estimates e;

	assert_int_equal(stats_estimate(w->w, w->n, 2, NULL, &e), 0);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_true(e.e[0].points[2].ci_lo > 15);
	assert_null(e.e[0].warning);
	estimates_free(&e);
}

/* 10 at 50 %, 20 at 100 %; one task runs all the time, and two fifths of it in the target. */
static void add_running(struct windows *w)
{
	static const double s[] = { 0.5, 1 }, p[] = { 0.9, 0.8 };

	add_curve(w, s, p, 2, 20, 0.005);
	for (size_t i = 0; i < w->n; i++) {
		w->w[i].wall_s = w->p[i][0].virtual_s;
		w->w[i].ran_s = w->w[i].wall_s;
		w->w[i].target_ran_s = 0.4 * w->w[i].ran_s;
	}
}

/* Whose tasks nobody waits for may do more of it instead: then nothing is won, or some is lost. */
static void test_alone_may_do_more(void **state)
{
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_running(&w);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].queued_s = 0.5 * w.w[i].wall_s;
	expect_no_doubt(&w);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].target_alone_s = w.w[i].target_ran_s;
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_int_equal(e.e[0].doubt, DOUBT_ALONE);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 10, 0.5);
	assert_float_equal(e.e[0].points[1].ci_lo, 10 * (1 - ALONE_DOUBT), 0.5);
	assert_float_equal(e.e[0].points[2].ci_lo, 20 * (1 - ALONE_DOUBT), 0.5);
	assert_true(e.e[0].points[2].ci_hi < 27);
	assert_non_null(
		strstr(e.e[0].warning, "100 % of it is run by tasks that nobody waits for"));
	estimates_free(&e);

	/* A tenth of it takes the lower end further down, but not to nothing. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].target_alone_s = 0.09 * w.w[i].target_ran_s;
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_true(e.e[0].points[2].below_pp > 0);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);

	/* Not where nobody waits for a core. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].queued_s = 0.01 * w.w[i].wall_s;
	expect_no_doubt(&w);
}

/* Samples and what was sped up must go together. */
static void test_missed(void **state)
{
	struct stats_sampled sampled = { .n = 4200, .all = 10000 };
	struct stats_options opt = { .sampled = &sampled, .n_sampled = 1 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_running(&w);
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].target_ran_s = 0.04 * w.w[i].ran_s;
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_int_equal(e.e[0].doubt, DOUBT_MISSED);
	assert_non_null(strstr(e.e[0].warning, "42.0 % of the samples lie in it, but only 4.0 %"));
	estimates_free(&e);

	/* What waits for other ranks is no hit, and was not missed. */
	sampled.polled = 3600;
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_null(strstr(e.e[0].warning, "but only"));
	assert_non_null(strstr(e.e[0].warning,
			       "of the 42.0 % of the samples that lie in it 86 % wait for other "
			       "ranks by polling in MPI"));
	estimates_free(&e);
	sampled.polled = 0;
	/* None of it in any window, though there is much. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].target_ran_s = w.w[i].hits = 0;
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].doubt, DOUBT_MISSED);
	assert_non_null(strstr(e.e[0].warning, "42.0 % of the samples lie in it, but only 0.0 %"));
	assert_null(strstr(e.e[0].warning, "not seen running"));
	estimates_free(&e);
	sampled.n = 200;
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].doubt, DOUBT_UNSEEN);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].hits = 3;
	/* Too few tell nothing, nor do none. */
	sampled = (struct stats_sampled){ .n = STATS_ENOUGH_SAMPLED - 1, .all = 300 };
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
	sampled = (struct stats_sampled){};
	stats_estimate(w.w, w.n, 2, &opt, &e);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	estimates_free(&e);
}

/* By line speedup, up to half of it. */
static void test_spinning_by_speedup(void **state)
{
	static const double s[] = { 0.25, 0.5, 1 }, p[] = { 0.9, 0.8, 0.6 };
	struct windows w = { .n = 0 };
	double part[4];
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 3, 8, 0);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].ran_s = w.w[i].wall_s = w.p[i][0].virtual_s;
		w.w[i].spun_s = w.w[i].spun_first_s = 0.3 * w.w[i].wall_s;
	}
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	for (int i = 1; i <= 3; i++)
		part[i] = e.e[0].points[i].fixed_part[FIXED_SPINS];
	assert_float_equal(part[1], SPIN_DOUBT * (1 + SPIN_LEAST) * 25, 1e-6);
	assert_float_equal(part[2], 2 * part[1], 1e-6);
	assert_float_equal(part[3], part[2], 1e-6);
	estimates_free(&e);
}

/* Half of the work in the target, of a task that a quota lets run for half of the time. */
static void test_quota_is_corrected(void **state)
{
	static const double s[] = { 1 }, p[] = { 0.75 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 1, 8, 0);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].wall_s = 100;
		w.w[i].inserted_s = 100 - w.p[i][0].virtual_s;
		w.w[i].ran_s = 50;
		w.w[i].target_ran_s = 25;
		w.w[i].throttled_s = 50;
		w.w[i].quota_cpus = 0.5;
	}
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	/* Not the 25 % that delays show; as far as it was moved by the quota, it is doubted. */
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 50, 1e-6);
	assert_float_equal(e.e[0].points[1].fixed_part[FIXED_QUOTA], QUOTA_DOUBT * 0.5 * 50, 1e-6);
	estimates_free(&e);
	/* Others are in the group: all of it is doubted. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].quota_cpus = 0.7;
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 25, 1e-6);
	assert_float_equal(e.e[0].points[1].fixed_part[FIXED_QUOTA], 50, 1e-6);
	estimates_free(&e);
}

/* Who spins waits for somebody that is not known: the shorter it lasts, the less is. */
static void test_spinning_widens(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	static const struct stats_options as_reported = { .seed = 1 };
	struct windows w = { .n = 0 };
	double half[3];

	(void)state;
	add_curve(&w, s, p, 1, 30, 0.001);
	for (int k = 0; k < 3; k++) {
		struct estimates e;

		for (size_t i = 0; i < w.n; i++) {
			w.w[i].ran_s = w.w[i].wall_s = w.p[i][0].virtual_s;
			w.w[i].spun_s = k ? 0.3 * w.w[i].wall_s : 0;
			w.w[i].spun_first_s = w.w[i].spun_s / (k == 1 ? 10 : 1);
		}
		assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &e), 0);
		half[k] = (e.e[0].points[1].ci_hi - e.e[0].points[1].ci_lo) / 2;
		assert_true(!k == !e.e[0].warning);
		if (k) {
			assert_non_null(strstr(e.e[0].warning, "tasks spin for 30 %"));
			assert_true(!e.e[0].control.slope);
		}
		estimates_free(&e);
	}
	assert_true(half[0] < 1);
	assert_true(half[1] > 7 && half[1] < 9);
	assert_true(half[2] > 30 && half[2] < 33);
}

/*
 * What does not shrink is an error in points: 59 +- 22 is as far from nothing as 37 +- 14 is, and
 * -50 +- 31 no further than 50 +- 31 is.
 */
static void test_fixed_errors_are_points(void **state)
{
	static const struct {
		double period, fixed;
		enum verdict verdict;
	} cases[] = {
		{ 0.41, 22, VERDICT_OPTIMIZE },	 { 0.63, 14, VERDICT_OPTIMIZE },
		{ 0.5, 31, VERDICT_UNDECIDED },	 { 1.5, 31, VERDICT_UNDECIDED },
		{ 1.5, 22, VERDICT_CONTENTION },
	};
	static const double s[] = { 0.5 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct windows w = { .n = 0 };
		struct estimates e;

		add_curve(&w, s, &cases[k].period, 1, 30, 0.001);
		for (size_t i = 0; i < w.n; i++)
			w.w[i].expected_pp =
				cases[k].fixed * PERIOD_AT_SPEEDUP / PERIOD_DOUBT / 0.5;
		assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
		assert_float_equal(e.e[0].points[1].program_speedup_pct - e.e[0].points[1].ci_lo,
				   cases[k].fixed, 0.5);
		assert_int_equal(e.e[0].verdict, cases[k].verdict);
		if (cases[k].verdict == VERDICT_UNDECIDED) {
			struct answer_row row = { &e.e[0], "it" };
			char *text = answer_text(&row, 1, "the time", NULL);

			assert_non_null(strstr(text, "hardly tell (samples too coarse"));
			free(text);
		}
		estimates_free(&e);
	}
}

/* Windows from which nothing can be concluded, by their own account: not by however many. */
static void test_flawed(void **state)
{
	static const double s[] = { 0.5 }, period[] = { 0.6 };
	struct windows w = { .n = 0 };
	struct estimates e;
	struct answer_row row = { .label = "it" };
	char *text;

	(void)state;
	add_curve(&w, s, period, 1, 30, 0.001);
	for (int flawed = 0; flawed < 2; flawed++) {
		/* One window in three is a bad one, then two. */
		for (size_t i = 0; i < w.n; i++)
			w.w[i].expected_pp = i % 3 > (flawed ? 0u : 1u) ? 200 : 0;
		assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
		assert_int_equal(e.e[0].doubt == DOUBT_FLAWED, flawed);
		row.e = &e.e[0];
		text = answer_text(&row, 1, "the time", NULL);
		assert_true(!strstr(text, "probes are hit too often") == !flawed);
		free(text);
		if (flawed) {
			assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
			assert_true(estimate_is_withheld(&e.e[0]));
		}
		estimates_free(&e);
	}
}

/*
 * What does not shrink is in the way of a verdict only if there is none without noise: of three
 * windows nothing is concluded, however much they say.
 */
static void test_time_tells(void **state)
{
	static const struct {
		double period, fixed;
		size_t units;
		bool tells;
	} cases[] = {
		{ 0.41, 22, 3, true },	/* few windows */
		{ 0.5, 31, 3, false },	/* likewise, but more say no more */
		{ 1.5, 22, 3, true },	/* surely harmful, then */
		{ 1.01, 2, 3, true },	/* surely nothing, then */
		{ 1.01, 12, 3, false }, /* but it may be anything up to 12 */
		{ 0.41, 22, 2, true },	/* nobody knows */
	};
	static const double s[] = { 0.5 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct windows w = { .n = 0 };
		struct estimates e;
		struct answer_row row = { .label = "it" };
		char *text;

		add_curve(&w, s, &cases[k].period, 1, cases[k].units, 0.001);
		for (size_t i = 0; i < w.n; i++)
			w.w[i].expected_pp =
				cases[k].fixed * PERIOD_AT_SPEEDUP / PERIOD_DOUBT / 0.5;
		assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
		assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
		assert_int_equal(e.e[0].time_tells, cases[k].tells);
		row.e = &e.e[0];
		text = answer_text(&row, 1, "the time", NULL);
		assert_true(!strstr(text, "hardly tell") == cases[k].tells);
		free(text);
		estimates_free(&e);
	}
}

/*
 * Tasks that are able to run for as long as they run, and find a stranger there: what that is worth
 * is in doubt. Not if they wait behind each other, or strangers have cores of their own.
 */
static void test_queueing_behind_strangers_widens(void **state)
{
	static const struct {
		double queued, busy, urgent; /* in CPU times of the profiled tasks */
		double half;
	} cases[] = {
		{ 0, 1, 0, 0 },
		{ 2, 2, 0, 0.5 * 0.5 * 80 },
		{ 1, 1, 0, 0 },
		{ 0, 8, 0, 0 },
		/* All or half of them are real-time tasks, who do not compete. */
		{ 2, 2, 1, URGENT_DOUBT * 0.5 * 50 },
		{ 2, 2, 0.5, 0.5 * 21.36 },
	};
	static const double s[] = { 0.25, 0.5 }, p[] = { 0.9, 0.8 };
	struct windows w = { .n = 0 };

	(void)state;
	add_curve(&w, s, p, 2, 8, 0);
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct estimates e;

		for (size_t i = 0; i < w.n; i++) {
			w.w[i].ran_s = w.w[i].wall_s = w.p[i][0].virtual_s;
			w.w[i].queued_s = cases[k].queued * w.w[i].ran_s;
			w.w[i].urgent_s = cases[k].urgent * w.w[i].ran_s;
			w.w[i].stopped_s = 0.1;
			/* As if the host took some, which is in all times but this one. */
			w.w[i].stolen_s = 1e-3 * k * w.w[i].ran_s;
			w.w[i].busy_s = cases[k].busy * w.w[i].ran_s + 0.1 - w.w[i].stolen_s;
		}
		assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
		assert_float_equal(e.e[0].points[2].ci_hi - 20, hypot(cases[k].half, METHOD_PP),
				   0.3);
		if (k == 1) /* half of it at half of the speedup */
			assert_float_equal(e.e[0].points[1].ci_hi - 10, 0.5 * 0.5 * 90 / 2, 0.3);
		estimates_free(&e);
	}
}

/* Tasks that run for half of the time, queue for @queued of it, and wait in the target for a fifth.
 */
static void let_tasks_wait(struct windows *w, double queued, bool waits_sped)
{
	for (size_t i = 0; i < w->n; i++) {
		double wall = w->p[i][0].virtual_s;

		w->w[i].wall_s = wall;
		w->w[i].ran_s = w->w[i].busy_s = 0.5 * wall;
		w->w[i].queued_s = queued * wall;
		w->w[i].target_waited_s = 0.2 * wall;
		w->w[i].waits_sped = waits_sped;
	}
}

/* Who does not wait does not queue afterwards, which delays cannot show: up to that much more. */
static void test_queueing_after_waits(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 }, little[] = { 0.95 }, nothing[] = { 1 };
	struct windows w = { .n = 0 }, half = { .n = 0 }, none = { .n = 0 };
	struct estimates e;
	double low, high;

	(void)state;
	add_curve(&w, s, p, 1, 8, 0);
	let_tasks_wait(&w, 0.3, false);
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	low = e.e[0].points[1].ci_lo;
	high = e.e[0].points[1].ci_hi;
	estimates_free(&e);
	let_tasks_wait(&w, 0.3, true);
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_lo, low, 1e-6);
	assert_float_equal(e.e[0].points[1].ci_hi, high + 50 * 0.3, 1e-6);
	assert_float_equal(e.e[0].points[1].fixed_pp, METHOD_PP + 50 * 0.3 / 2, 1e-6);
	assert_string_equal(e.e[0].points[1].fixed_cause, "queueing after waits in the target");
	/* The work waits for nothing else: a part of it is expected, half at half the speed. */
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 20 + LESS_QUEUEING * 0.5 * 15,
			   1e-6);
	estimates_free(&e);
	/* Nor do others find its core asleep. */
	for (size_t i = 0; i < w.n; i++)
		w.w[i].woken_s = 0.02 * w.p[i][0].virtual_s;
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_lo, low, 1e-6);
	assert_float_equal(e.e[0].points[1].ci_hi, high + 50 * (0.3 + WAKING_DOUBT * 0.02), 1e-6);
	estimates_free(&e);
	/* The work gains half of what the target does: so of its queueing. */
	add_curve(&half, s, little, 1, 8, 0);
	let_tasks_wait(&half, 0.3, true);
	assert_int_equal(stats_estimate(half.w, half.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 5 + LESS_QUEUEING * 0.5 * 0.5 * 15,
			   1e-6);
	estimates_free(&e);
	/* So what brings nothing is not surely worthless. */
	add_curve(&none, s, nothing, 1, 30, 0.001);
	for (int k = 0; k < 2; k++) {
		let_tasks_wait(&none, k * 0.3, true);
		assert_int_equal(stats_estimate(none.w, none.n, 2, NULL, &e), 0);
		assert_int_equal(e.e[0].verdict, k ? VERDICT_UNDECIDED : VERDICT_NO_EFFECT);
		estimates_free(&e);
	}
	/* Half of the target's time is running: after that nobody queues. */
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].target_ran_s = w.w[i].target_waited_s;
		w.w[i].woken_s = 0;
	}
	assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
	assert_float_equal(e.e[0].points[1].ci_hi, high + 25 * 0.3, 1e-6);
	estimates_free(&e);
}

/* That nothing more is won at the end of a curve must be seen, not be what noise makes of it. */
static void test_queueing_at_the_end(void **state)
{
	static const double s[] = { 0.5, 1 }, p[] = { 0.9, 0.89 };
	double more[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct windows w = { .n = 0 };
		struct estimates e;

		add_curve(&w, s, p, 2, 12, k * 0.4);
		let_tasks_wait(&w, 0.3, false);
		assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
		more[k] = -e.e[0].points[2].program_speedup_pct;
		estimates_free(&e);
		let_tasks_wait(&w, 0.3, true);
		assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
		more[k] += e.e[0].points[2].program_speedup_pct;
		estimates_free(&e);
	}
	assert_float_equal(more[0], LESS_QUEUEING * 30 * (1. / 50) * 5, 0.01);
	assert_in_range(more[1], LESS_QUEUEING * 30 * 0.3, LESS_QUEUEING * 30 * 0.8);
}

/* Where a lock begins to be contended delays do not show exactly. */
static void test_before_contention(void **state)
{
	static const double s[] = { 0.25, 0.5, 1 };
	static const double falls[] = { 0.86, 1, 1.27 }, cliff[] = { 0.99, 0.9, 1.27 };
	static const struct stats_options as_reported = { .seed = 1 };
	struct estimates e;
	double lo, hi;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct windows w = { .n = 0 };
		const struct estimate_point *p;

		add_curve(&w, s, k ? cliff : falls, 3, 30, 0.02);
		assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &e), 0);
		p = e.e[0].points;
		assert_true(p[3].ci_hi < -15);
		assert_float_equal(p[2].ci_lo, p[3].ci_lo, 1e-6);
		assert_true(p[2].ci_hi < (k ? 15 : 5));
		assert_string_equal(p[2].fixed_cause, "contention that begins nearby");
		estimate_point_bounds(&p[2], 0.025, &lo, &hi);
		assert_float_equal(lo, p[2].ci_lo, 0.5);
		/* What is gained well before is; what is gained right before is no advice. */
		assert_int_equal(e.e[0].verdict, k ? VERDICT_CONTENTION : VERDICT_OPTIMIZE);
		estimates_free(&e);
	}
}

/* What the upper end was moved by, if it adds to the rest as what is independent does. */
static double added_above(const struct estimate_point *p)
{
	double all = p->ci_hi - p->program_speedup_pct;

	return sqrt(pow(all, 2) - pow(all - p->above_pp, 2));
}

/* Where a target has stopped to matter, that it is gone changes no more. */
static void test_nothing_left_of_the_target(void **state)
{
	static const double s[] = { 0.25, 0.75, 1 };
	static const double grows[] = { 0.85, 0.55, 0.4 }, ends[] = { 0.7, 0.6, 0.6 };
	static const struct stats_options as_reported = { .seed = 1 };
	struct estimates e;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct windows w = { .n = 0 };
		const struct estimate_point *p;

		add_curve(&w, s, k ? ends : grows, 3, 30, 0.01);
		assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &e), 0);
		p = e.e[0].points;
		assert_float_equal(p[1].fixed_part[FIXED_FAR], 0, 1e-9);
		assert_float_equal(p[3].fixed_part[FIXED_FAR], FAR_DOUBT * (k ? 5 : 30), 0.2);
		assert_float_equal(p[2].fixed_part[FIXED_FAR], FAR_DOUBT * (k ? 5 : 15), 0.2);
		/* And what is gone makes the rest cheaper, if anything. */
		assert_float_equal(p[1].above_pp, 0, 1e-9);
		assert_float_equal(added_above(&p[3]), FAR_ABOVE * 24, 0.4);
		assert_float_equal(added_above(&p[2]), FAR_ABOVE * (k ? 12 : 12.4), 0.4);
		estimates_free(&e);
	}
}

/* Who sleeps and looks again does so in real time: all of such sleeps may be won beyond. */
static void test_looks_may_be_saved(void **state)
{
	static const struct stats_options as_reported = { .seed = 1 };
	struct windows w = { .n = 0 };
	struct estimates e, looks;

	(void)state;
	add_running(&w);
	assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &e), 0);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].polled_s = w.w[i].ran_s / 4; /* a fifth of the time of all */
	assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &looks), 0);
	for (size_t i = 1; i < e.e[0].n_points; i++) {
		const struct estimate_point *p = &e.e[0].points[i], *q = &looks.e[0].points[i];

		assert_float_equal(q->program_speedup_pct, p->program_speedup_pct, 1e-9);
		assert_float_equal(q->ci_lo, p->ci_lo, 1e-9);
		assert_float_equal(q->ci_hi, p->ci_hi + p->speedup_pct / 5, 1e-6);
	}
	assert_string_equal(looks.e[0].points[2].fixed_cause, "tasks that look, and sleep again");
	estimates_free(&looks);
	estimates_free(&e);
}

/* That may be what all of a loss is made of, also where it is surely measured. */
static void test_losses_that_may_be_gains(void **state)
{
	static const double s[] = { 0.5, 1 }, p[] = { 1.2, 1.59 };
	static const struct stats_options as_reported = { .seed = 1 };
	struct windows w = { .n = 0 };
	struct estimates e;

	(void)state;
	add_curve(&w, s, p, 2, 30, 0.005);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].ran_s = w.w[i].wall_s = w.p[i][0].virtual_s;
	assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &e), 0);
	assert_int_equal(e.e[0].verdict, VERDICT_CONTENTION);
	assert_float_equal(e.e[0].best_pct, -59, 1);
	estimates_free(&e);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].polled_s = 2 * w.w[i].ran_s;
	assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &e), 0);
	assert_true(e.e[0].points[2].ci_lo < -55 && e.e[0].points[2].ci_hi > 5);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	estimates_free(&e);
}

/* While speedups are held 0 % windows have no other one near: they tell the same of the program. */
static void test_zeros_far_apart(void **state)
{
	static const struct stats_options as_reported = { .seed = 1 };
	struct windows w = { .n = 0 };
	struct estimates near, far;

	(void)state;
	add_running(&w);
	for (size_t i = 0; i < w.n; i++) {
		w.w[i].expected_pp = 3;
		w.w[i].polled_s = 0.1 * w.w[i].ran_s;
		w.w[i].queued_s = 0.3 * w.w[i].ran_s;
		w.w[i].busy_s = 1.5 * w.w[i].ran_s;
		w.w[i].target_alone_s = 0.2 * w.w[i].target_ran_s;
	}
	assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &near), 0);
	for (size_t i = 0; i < w.n; i++)
		w.w[i].seq *= 3;
	assert_int_equal(stats_estimate(w.w, w.n, 2, &as_reported, &far), 0);
	assert_true(near.e[0].points[0].df > 0 && !(far.e[0].points[0].df > 0));
	for (size_t i = 1; i < near.e[0].n_points; i++) {
		const struct estimate_point *a = &near.e[0].points[i], *b = &far.e[0].points[i];

		assert_int_equal(a->windows, b->windows);
		for (int k = 0; k < N_FIXED_PARTS; k++)
			assert_float_equal(a->fixed_part[k], b->fixed_part[k], 0.02);
		assert_float_equal(a->above_pp, b->above_pp, 1e-6);
		assert_float_equal(a->below_pp, b->below_pp, 0.02);
	}
	assert_true(far.e[0].points[1].fixed_part[FIXED_PERIOD] > 1);
	assert_true(far.e[0].points[1].fixed_part[FIXED_SHARED] > 1);
	assert_true(far.e[0].points[1].above_pp > 1);
	estimates_free(&near);
	estimates_free(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_may_be_saved),
		cmocka_unit_test(test_method_error),
		cmocka_unit_test(test_alone_may_do_more),
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_quota_is_corrected),
		cmocka_unit_test(test_spinning_widens),
		cmocka_unit_test(test_spinning_by_speedup),
		cmocka_unit_test(test_fixed_errors_are_points),
		cmocka_unit_test(test_time_tells),
		cmocka_unit_test(test_flawed),
		cmocka_unit_test(test_queueing_behind_strangers_widens),
		cmocka_unit_test(test_queueing_after_waits),
		cmocka_unit_test(test_queueing_at_the_end),
		cmocka_unit_test(test_before_contention),
		cmocka_unit_test(test_nothing_left_of_the_target),
		cmocka_unit_test(test_losses_that_may_be_gains),
		cmocka_unit_test(test_zeros_far_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
