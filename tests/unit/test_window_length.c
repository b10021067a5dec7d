// SPDX-License-Identifier: GPL-2.0-or-later
/* When windows are found too short: seldom by chance, soon where it is so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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
		assert_true(window_tuner_next(t, VISITS_PER_S).hold >= 1);
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
	struct window_length before = window_tuner_next(t, VISITS_PER_S), after;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_false(window_tuner_held(t, 0.5, 0.1));
	assert_true(window_tuner_held(t, 0.5, 0.1));
	after = window_tuner_next(t, VISITS_PER_S);
	assert_true(after.length_s == 2 * before.length_s);
	assert_true(after.settle_s == 2 * before.settle_s);
	window_tuner_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_false_alarm_is_rare),
		cmocka_unit_test(test_a_drift_that_matters_is_found),
		cmocka_unit_test(test_a_drift_that_changes_nothing_costs_nothing),
		cmocka_unit_test(test_windows_become_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
