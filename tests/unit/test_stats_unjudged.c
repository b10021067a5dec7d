// SPDX-License-Identifier: GPL-2.0-or-later
/* No verdict while a test that could forbid it has not had its data (lib/stats/unjudged.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_stats_windows.h"

#include "stats/describe.h"
#include "stats/discard.h"
#include "stats/stretch.h"

#define STOPPED 0.2 /* of a control window */
#define SHARE	0.5 /* of the time that is the target's */
#define SLACK	0.2 /* of the time that who may do no more waits */
#define SEEDS	100

/* One thread, which runs the target: of windows with a speedup nothing tells which it is. */
enum kind {
	WORKS,
	LIMITED, /* sleeps until it may do the next unit: nothing is saved */
	UNTIL	 /* works until it is time */
};
struct program {
	enum kind kind;
	double noise;	  /* of the time of a unit, from window to window */
	double cpu_noise; /* of its CPU time */
	double short_by;  /* part of the delay that costs WORKS nothing */
	bool sleeps;	  /* for something else, too */
};

static double gauss(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (rng_next(r) >> 40) / 16777216.0;
	return sum;
}

static void add_window(struct windows *s, const struct program *p, struct rng *r, double speedup,
		       bool control)
{
	double inserted = control ? STOPPED : speedup * SHARE, cpu;
	double unit = p->kind == UNTIL ? 1 : exp(p->noise * gauss(r));
	struct profile_window *w = &s->w[s->n];

	add(s, speedup, 1);
	if (control && p->kind == WORKS)
		unit /= 1 - (1 - p->short_by) * STOPPED;
	s->p[w->seq][0] = (struct window_progress){ 100 / unit, 1 - inserted, 0 };
	w->wall_s = 1;
	w->inserted_s = inserted;
	cpu = 0.9 * exp(p->cpu_noise * gauss(r));
	w->ran_s =
		p->kind == UNTIL ? (control ? 1 - STOPPED : 1) : cpu * s->p[w->seq][0].visits / 100;
	w->queued_s = fmax(1 - (control ? STOPPED : 0) - w->ran_s, 0);
	w->target_ran_s = SHARE * w->ran_s;
	if (p->kind == LIMITED || p->sleeps) {
		w->external_s = SLACK;
		w->queued_s = 0;
	}
	if (control)
		w->discard = DISCARD_CONTROL;
}

/* In the order that scozd has them: all is stopped beside every second hold of 0 %. */
static void add_holds(struct windows *s, const struct program *p, struct rng *r, int holds,
		      int controls)
{
	for (int i = 0; i < holds; i++) {
		for (int k = 0; k < 4; k++)
			add_window(s, p, r, i % 2 ? 0.5 : 0, false);
		if (i % 2 == 0 && controls-- > 0)
			add_window(s, p, r, 0, true);
	}
}

static enum verdict verdict(const struct windows *s, enum doubt *doubt)
{
	struct stats_options opt = { .seed = 1, .bare = true };
	struct estimates e;
	enum verdict v;

	assert_int_equal(stats_estimate(s->w, s->n, 1, &opt, &e), 0);
	v = e.e[0].verdict;
	*doubt = e.e[0].doubt;
	estimates_free(&e);
	return v;
}

/* How many of SEEDS have verdict "optimize"; @open: that a clock may have a say; @paced: it has. */
static int optimize(const struct program *p, int holds, int controls, int *open, int *paced)
{
	int n = 0;

	*open = *paced = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		static struct windows s;
		struct rng r = { seed * 7919 };
		enum doubt doubt;

		s.n = 0;
		add_holds(&s, p, &r, holds, controls);
		n += verdict(&s, &doubt) == VERDICT_OPTIMIZE;
		*open += doubt == DOUBT_CLOCK;
		*paced += doubt == DOUBT_PACED;
	}
	return n;
}

/* Nothing is saved. With as few control windows a third of these were worth it. */
static void test_limit(void **state)
{
	static const struct program limited = { LIMITED, .noise = 0.2 };
	static const struct program calm = { LIMITED, .noise = 0.02 };
	int open, paced;

	(void)state;
	assert_in_range(optimize(&limited, 17, 6, &open, &paced), 0, 1);
	assert_true(open >= 20 && paced >= 20);
	assert_int_equal(optimize(&calm, 17, 6, &open, &paced), 0);
	assert_int_equal(paced, SEEDS);
}

static void test_deadline(void **state)
{
	static const struct program until = { UNTIL, .noise = 0 };
	int open, paced;

	(void)state;
	assert_int_equal(optimize(&until, 17, 1, &open, &paced), 0);
	assert_int_equal(open, SEEDS); /* by one window nobody is accused, nor acquitted */
	assert_int_equal(optimize(&until, 17, 2, &open, &paced), 0);
	assert_int_equal(paced, SEEDS);
}

/*
 * Who never waits for anything outside, and takes as much CPU time for a unit as ever, has no
 * clock, however much his times differ. Who waits needs more windows to show it.
 */
static void test_work(void **state)
{
	static const struct program calm = { WORKS, .noise = 0.02, .sleeps = true };
	static const struct program busy = { WORKS, .noise = 0.12, .cpu_noise = 0.03 };
	static const struct program naps = { WORKS, .noise = 0.12, .cpu_noise = 0.03,
					     .sleeps = true };
	int open, paced;

	(void)state;
	assert_int_equal(optimize(&calm, 17, 6, &open, &paced), SEEDS);
	assert_true(optimize(&busy, 17, 6, &open, &paced) > 85);
	assert_true(optimize(&naps, 17, 6, &open, &paced) < 70);
	assert_true(open > 25 && paced < 6);
	assert_true(optimize(&naps, 80, 40, &open, &paced) > 95);
}

/* A tenth of the delay costs nothing, for whatever reason: so much less may be saved. */
static void test_falls_short(void **state)
{
	static const struct program whole = { WORKS, .noise = 0.01 };
	static const struct program most = { WORKS, .noise = 0.01, .short_by = 0.1 };
	const struct stats_options opt = { .seed = 1 };
	static struct windows s;
	double lo[2], value[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rng r = { 7919 };
		struct estimates e;

		s.n = 0;
		add_holds(&s, i ? &most : &whole, &r, 60, 30);
		assert_int_equal(stats_estimate(s.w, s.n, 1, &opt, &e), 0);
		assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
		lo[i] = e.e[0].points[1].ci_lo;
		value[i] = e.e[0].points[1].program_speedup_pct;
		estimates_free(&e);
	}
	assert_float_equal(value[1], value[0], 1e-9);
	assert_float_equal(lo[0] - lo[1], 0.1 * 50 * SHARE, 0.8);
}

/* By an engine that cannot stop all nothing will ever be told. */
static void test_never_tried(void **state)
{
	static const struct program naps = { WORKS, .noise = 0.02, .sleeps = true };
	int open, paced;

	(void)state;
	assert_int_equal(optimize(&naps, 17, 0, &open, &paced), SEEDS);
	assert_int_equal(open, 0);
}

/* Of what acquits without many windows each part is needed. */
static void test_acquitted(void **state)
{
	static const struct stretch open = { .tried = true,
					     .windows = 4,
					     .part = 0.9,
					     .lo = 0.1,
					     .hi = 1.7,
					     .cpu_lo = 0.6,
					     .slack = 0 };
	struct stretch s = open;

	(void)state;
	assert_false(stretch_is_unjudged(&s));
	s.cpu_lo = 0.4;
	assert_true(stretch_is_unjudged(&s));
	s = open;
	s.part = 0.4; /* a clock is the better guess */
	assert_true(stretch_is_unjudged(&s));
	s = open;
	s.slack = 0.1;
	assert_true(stretch_is_unjudged(&s));
	s.lo = 0.6;
	assert_false(stretch_is_unjudged(&s));
}

/* Who waits for peers on this machine has nothing to do meanwhile. */
static void test_symptoms(void **state)
{
	static const struct program busy = { WORKS, .noise = 0.05, .cpu_noise = 0.05 };
	int held = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		static struct windows s;
		struct rng r = { seed * 7919 };
		struct stretch x;

		s.n = 0;
		add_holds(&s, &busy, &r, 17, 6);
		x = stretch_estimate(s.w, s.n, 0);
		assert_true(x.slack < 0.03 && x.cpu_lo > 0.3);
		held += x.cpu_lo < 1;
		for (size_t i = 0; i < s.n; i++)
			s.w[i].queued_s = 0;
		x = stretch_estimate(s.w, s.n, 0);
		assert_float_equal(x.slack, 0.1, 0.05);
		for (size_t i = 0; i < s.n; i++)
			s.w[i].ran_s = 0; /* not known */
		x = stretch_estimate(s.w, s.n, 0);
		assert_true(x.slack > 0.99 && isinf(x.cpu_lo));
	}
	assert_in_range(held, 92, SEEDS);
}

/* How long it takes is said, by what there is. */
static void test_missing(void **state)
{
	struct stretch s = {
		.tried = true, .windows = 4, .part = 0.9, .lo = 0.1, .hi = 1.7, .slack = 1
	};

	(void)state;
	assert_true(stretch_is_unjudged(&s));
	assert_float_equal(stretch_missing(&s), 3, 1e-9); /* half as wide: four times as many */
	s.part = 0.1;
	s.lo = -0.9;
	s.hi = 1.1;
	assert_float_equal(stretch_missing(&s), 1 / (0.75 * 0.75) - 1, 1e-9);
	s.windows = 1;
	assert_true(isnan(stretch_missing(&s)));
}

static void test_text(void **state)
{
	static const struct program limited = { LIMITED, .noise = 0.2 };
	struct stats_options opt = { .seed = 1 };
	bool found = false;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS && !found; seed++) {
		static struct windows s;
		struct rng r = { seed };
		struct estimates e;

		s.n = 0;
		add_holds(&s, &limited, &r, 17, 6);
		for (size_t i = 0; i < s.n; i++)
			s.w[i].start_s = i;
		assert_int_equal(stats_estimate(s.w, s.n, 1, &opt, &e), 0);
		found = e.e[0].doubt == DOUBT_CLOCK;
		if (found) {
			assert_true(estimate_is_unjudged(&e.e[0]) &&
				    !estimate_is_withheld(&e.e[0]));
			assert_non_null(strstr(e.e[0].warning, "cannot be told yet"));
			assert_non_null(strstr(e.e[0].warning, "run longer (about "));
			assert_true(e.e[0].more_s > 0 && e.e[0].more_s < 86400);
		}
		estimates_free(&e);
	}
	assert_true(found);
}

/* Without such windows waits tell, once there are enough. */
static void test_few_waits(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.7 };
	enum doubt doubt;

	(void)state;
	for (int units = 5; units <= 6; units++) {
		struct windows w = { .n = 0 };

		add_curve(&w, s, p, 1, units, 0.001);
		for (size_t i = 0; i < w.n; i++) {
			w.w[i].wall_s = 100;
			w.w[i].inserted_s = w.w[i].speedup > 0 ? 30 : 0;
			w.w[i].external_waits = 100;
			w.w[i].external_s = w.w[i].speedup > 0 ? 20 : 50; /* a clock */
		}
		assert_int_equal(verdict(&w, &doubt), VERDICT_UNDECIDED);
		assert_int_equal(doubt, units < 6 ? DOUBT_PACE : DOUBT_PACED);
	}
}

/* Of the CPU time that others queue for nothing is won if nobody waits for the target. */
static void test_seen_too_little(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 0.8 };
	enum doubt doubt;

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct windows w = { .n = 0 };

		add_curve(&w, s, p, 1, 8, 0.001);
		for (size_t i = 0; i < w.n; i++) {
			w.w[i].wall_s = 1;
			w.w[i].ran_s = 1;
			w.w[i].queued_s = k == 2 ? 0.01 : 0.4;
			w.w[i].target_ran_s = k == 1 ? 0.1 : 0.01;
		}
		if (!k) { /* as long again as is missing, of a second each window */
			struct estimates e;

			assert_int_equal(stats_estimate(w.w, w.n, 2, NULL, &e), 0);
			assert_float_equal(e.e[0].more_s, (0.5 / (0.01 * w.n) - 1) * w.n, 1e-6);
			estimates_free(&e);
		}
		assert_int_equal(verdict(&w, &doubt), k ? VERDICT_OPTIMIZE : VERDICT_UNDECIDED);
		assert_int_equal(doubt, k ? DOUBT_NONE : DOUBT_WAITED_FOR);
	}
}

/* Four of nine windows were left out: a choice, but for chance. */
static void test_few_left_out(void **state)
{
	static const double s[] = { 0.5 }, p[] = { 1 };
	enum doubt doubt;

	(void)state;
	for (int capped = 0; capped <= 4; capped++) {
		struct windows w = { .n = 0 };

		add_curve(&w, s, p, 1, 9, 0.001);
		for (int i = 0; i < capped; i++)
			w.w[1 + 2 * i].discard = DISCARD_CAPPED;
		verdict(&w, &doubt);
		assert_int_equal(doubt, capped < 3 ? DOUBT_NONE : DOUBT_CHOICE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_falls_short),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_never_tried),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_few_waits),
		cmocka_unit_test(test_seen_too_little),
		cmocka_unit_test(test_few_left_out),
		cmocka_unit_test(test_acquitted),
		cmocka_unit_test(test_symptoms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
