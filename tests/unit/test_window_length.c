// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When windows are found too short: seldom by chance, soon where it is so. How long they are where
 * a progress point is reached in bursts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/pauses.h"
#include "plan/window_length.h"
#include "stats/resample.h"

#define VISITS_PER_S 300

static double normal(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rng_next(r) / 0x1p64;
	return sum;
}

/* After how many holds windows became longer, at two speedups by turns; @holds + 1: not at all. */
static uint32_t alarm(struct rng *r, uint32_t holds, double mean, double sd)
{
	struct window_tuner *t = window_tuner_create();
	uint32_t i;

	for (i = 1; i <= holds; i++) {
		assert_true(window_tuner_next(t, VISITS_PER_S, 0).hold >= 1);
		if (window_tuner_held(t, i % 2, mean + sd * normal(r)))
			break;
	}
	window_tuner_free(t);
	return i;
}

static void test_a_false_alarm_is_rare(void **state)
{
	struct rng r = { 1 };
	int alarms = 0;

	(void)state;
	for (int run = 0; run < 1000; run++)
		alarms += alarm(&r, 60, 0, 0.05) <= 60;
	print_message("%d of 1000 runs of 60 holds had a false alarm\n", alarms);
	assert_true(alarms <= 20);
}

static void test_a_drift_that_matters_is_found(void **state)
{
	struct rng r = { 1 };
	uint32_t late = 0;

	(void)state;
	for (int run = 0; run < 1000; run++)
		late += alarm(&r, 60, 0.2, 0.05) > 12;
	print_message("%u of 1000 runs found a drift of 20 +- 5 %% after 12 holds\n", late);
	assert_true(late <= 150);
}

static void test_a_drift_that_changes_nothing_costs_nothing(void **state)
{
	struct rng r = { 1 };

	(void)state;
	assert_int_equal(alarm(&r, 60, 0.006, 0.0001), 61);
	assert_int_equal(alarm(&r, 60, 0.02, 0), 5); /* no doubt: as soon as there are three */
}

static void test_windows_become_longer(void **state)
{
	struct window_tuner *t = window_tuner_create();
	struct window_length before = window_tuner_next(t, VISITS_PER_S, 0), after;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_false(window_tuner_held(t, 0.5, 0.1));
	assert_true(window_tuner_held(t, 0.5, 0.1));
	after = window_tuner_next(t, VISITS_PER_S, 0);
	assert_in_range(1000 * after.length_s / before.length_s, 2000 / 1.3, 2000 * 1.3);
	assert_true(after.settle_s == 2 * before.settle_s);
	window_tuner_free(t);
}

/* A program that does something else each so many visits must not keep step with them. */
static void test_windows_keep_no_step(void **state)
{
	struct window_tuner *t = window_tuner_create();
	double least = INFINITY, most = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		double length_s = window_tuner_next(t, VISITS_PER_S, 0).length_s;

		least = fmin(least, length_s);
		most = fmax(most, length_s);
	}
	assert_float_equal(least, 0.1, 0.002);
	assert_float_equal(most, 0.13, 0.002);
	window_tuner_free(t);
}

/* ---- bursts ---- */

#define LOOK_S 0.02

/* Looks at a point that is reached @visits times at once, as often as @next() says: the pause. */
static double pause_of(struct pauses *p, double seconds, int visits,
		       double (*next)(struct rng *r, int i))
{
	struct rng r = { 1 };
	double at = 0;
	uint64_t n = 0;
	int i = 0;

	for (double now = 0; now < seconds; now += LOOK_S) {
		for (; at < now; at += next(&r, i++))
			n += visits;
		pauses_see(p, now, n);
	}
	return pauses_length_s(p);
}

static double each_second(struct rng *r, int i)
{
	(void)r, (void)i;
	return 1;
}

static double each_tenth(struct rng *r, int i)
{
	(void)r, (void)i;
	return 0.1;
}

static double at_random(struct rng *r, int i)
{
	(void)i;
	return -0.5 * log((rng_next(r) >> 11) * 0x1p-53 + 1e-300);
}

/* Two seconds without, once, among even visits. */
static double one_pause(struct rng *r, int i)
{
	(void)r;
	return i == 50 ? 2 : 0.05;
}

static void test_pauses(void **state)
{
	struct pauses p = {};

	(void)state;
	assert_float_equal(pause_of(&p, 60, 100, each_second), 1, 0.05);
	assert_float_equal(pauses_longest_s(&p), 1, 0.05);
	p = (struct pauses){};
	assert_true(pause_of(&p, 60, 1, each_tenth) <= 0.1); /* even visits: no longer than that */
	p = (struct pauses){};
	assert_float_equal(pause_of(&p, 600, 1, at_random), 1, 0.1); /* each half second */
	/* One pause is none: programs start, wait for somebody, end. */
	p = (struct pauses){};
	assert_true(pause_of(&p, 20, 1, one_pause) < 0.05);
	/* No more than it lasts so far, and the one that lasts is known by the one before. */
	p = (struct pauses){};
	assert_float_equal(pause_of(&p, 0.9, 1, each_second), 0, 0);
	p = (struct pauses){};
	assert_float_equal(pause_of(&p, 1.9, 1, each_second), 0.85, 0.1);
}

/* Nothing is known of what was not looked at. */
static void test_pauses_are_interrupted(void **state)
{
	struct pauses p = {};

	(void)state;
	pauses_see(&p, 0, 0);
	for (int run = 0; run < 3; run++) {
		for (int i = 1; i <= 100; i++)
			pauses_see(&p, 100 * run + 0.02 * i, 100 * run + i);
		pauses_interrupt(&p, 100 * run + 2.01, 100 * run + 100);
	}
	assert_float_equal(pauses_length_s(&p), 0, 0);
	assert_float_equal(pauses_longest_s(&p), 0, 0);
	/* Visits after the last look of a run are none of the next one, which has yet to load. */
	pauses_interrupt(&p, 300, 307);
	for (int i = 0; i <= 250; i++)
		pauses_see(&p, 300 + 0.02 * i, 307);
	for (int i = 1; i <= 100; i++)
		pauses_see(&p, 305 + 0.02 * i, 307 + i);
	assert_float_equal(pauses_length_s(&p), 0, 0);
	assert_float_equal(pauses_longest_s(&p), 0, 0);
}

static void test_windows_hold_several_bursts(void **state)
{
	struct window_tuner *t = window_tuner_create();
	struct window_length l;

	(void)state;
	/* Visits at random are as they ever were. */
	assert_float_equal(window_visits_per_s(20, 0.1), 20, 1e-9);
	for (double pause = 0.5; pause < 20; pause *= 2) {
		l = window_tuner_next(t, 200, pause);
		assert_true(l.length_s >= 2 * pause);
		assert_true(l.settle_s >= pause);
		assert_true(l.paused);
	}
	/* Often and without a pause that matters: nothing is in bursts. */
	l = window_tuner_next(t, 50000, 0.01);
	assert_false(l.paused);
	assert_float_equal(l.length_s, 0.115, 0.0151);
	assert_true(window_tuner_next(t, 50000, 0.5).paused);
	/* ... however seldom: the last visit before a window belongs to it. */
	l = window_tuner_next(t, 0.1, 10);
	assert_true(l.length_s >= 40 && l.settle_s >= 20 && !l.paused);
	/* One that has begun late: two visits in 20 s, but each 50 ms since. */
	l = window_tuner_next(t, 0.1, 0);
	assert_true(l.length_s <= 10 && l.settle_s <= 4);
	l = window_tuner_next(t, 0.1, 0.05);
	assert_true(l.length_s <= 10 && l.settle_s <= 4);
	window_tuner_free(t);
}

static void test_short_windows_are_given_up(void **state)
{
	struct window_tuner *t = window_tuner_create();

	(void)state;
	assert_false(window_tuner_next(t, 200, 0).bursts);
	assert_false(window_tuner_next(t, 200, 0.02).bursts); /* as long as before */
	assert_true(window_tuner_next(t, 200, 1).bursts);
	assert_false(window_tuner_next(t, 200, 1.5).bursts); /* not much longer */
	assert_true(window_tuner_next(t, 200, 6).bursts);
	/* A program that becomes slower is no reason. */
	assert_false(window_tuner_next(t, 0.1, 0).bursts);
	window_tuner_free(t);

	/* Known before there are any. */
	t = window_tuner_create();
	assert_true(window_tuner_next(t, 200, 1).bursts);
	assert_false(window_tuner_next(t, 200, 1).bursts);
	window_tuner_free(t);
	t = window_tuner_create();
	assert_false(window_tuner_next(t, 200, 0.02).bursts);
	window_tuner_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_false_alarm_is_rare),
		cmocka_unit_test(test_a_drift_that_matters_is_found),
		cmocka_unit_test(test_a_drift_that_changes_nothing_costs_nothing),
		cmocka_unit_test(test_windows_become_longer),
		cmocka_unit_test(test_windows_keep_no_step),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_pauses_are_interrupted),
		cmocka_unit_test(test_windows_hold_several_bursts),
		cmocka_unit_test(test_short_windows_are_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
