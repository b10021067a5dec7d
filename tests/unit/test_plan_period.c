// SPDX-License-Identifier: GPL-2.0-or-later
/* How often to sample: what lumps and ticks cost decides, and it is said where neither is small. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/period.h"

static void test_synchronisation(void **state)
{
	struct period_input in = { .busy_cores = 2 };
	struct period_choice last, c;

	(void)state;
	last = period_choose(&in);
	assert_true(isinf(last.sync_interval_s));
	assert_false(last.coarse);
	for (in.syncs_per_s = 1; in.syncs_per_s < 1e6; in.syncs_per_s *= 1.5) {
		c = period_choose(&in);
		assert_float_equal(c.sync_interval_s, 1 / in.syncs_per_s, 1e-9);
		assert_true(c.period_ns <= last.period_ns && c.period_ns > 0);
		assert_true(c.coarse >= last.coarse); /* once too coarse, always */
		assert_true(c.error_pp >= last.error_pp - 0.2);
		last = c;
	}
	assert_true(last.coarse);
	in.syncs_per_s = 1000;
	in.busy_cores = 8; /* four pairs */
	assert_float_equal(period_choose(&in).sync_interval_s, 4e-3, 1e-9);
	in.spins_per_s = 1e6;
	in.spin_ns = 500; /* a contended cache line is no synchronisation */
	assert_float_equal(period_choose(&in).sync_interval_s, 4e-3, 1e-9);
	in.spins_per_s = 1000;
	in.spin_ns = 3e6;
	assert_float_equal(period_choose(&in).sync_interval_s, 2e-3, 1e-9);
	in.least_ns = 800000;
	assert_int_equal(period_choose(&in).period_ns, 800000);
	in.frequency_hz = 2000;
	assert_int_equal(period_choose(&in).period_ns, 800000);
	in.least_ns = 0;
	assert_int_equal(period_choose(&in).period_ns, 500000);
}

/* However often the program synchronises, and whatever a tick costs. */
static void test_share_of_the_machine(void **state)
{
	struct period_input in = { .busy_cores = 2, .visits_per_s = 10 };

	(void)state;
	for (in.tick_cost_ns = 500; in.tick_cost_ns < 2e5; in.tick_cost_ns *= 1.3) {
		for (in.syncs_per_s = 1; in.syncs_per_s < 1e6; in.syncs_per_s *= 2) {
			struct period_choice c = period_choose(&in);

			assert_true(in.tick_cost_ns / c.period_ns <= 0.05);
			assert_true(c.tick_share <= 0.05);
			assert_true(c.finest_ns > 0 && c.finest_ns <= c.period_ns);
			/* Lumps that are at their worst already are not better for more ticks. */
			assert_true(c.finest_error_pp <= c.error_pp + 0.2 || c.error_pp >= 8);
		}
	}
	in.frequency_hz = 10000; /* asked for more */
	in.tick_cost_ns = 30000;
	assert_int_equal(period_choose(&in).period_ns, 100000);
	assert_float_equal(period_choose(&in).tick_share, 0.3, 1e-6);
}

/* What is dear is used less, and cheap ticks are not squandered either. */
static void test_cost_decides(void **state)
{
	struct period_input in = { .busy_cores = 2, .syncs_per_s = 200 };
	uint64_t last = 0;

	(void)state;
	for (in.tick_cost_ns = 100; in.tick_cost_ns < 1e5; in.tick_cost_ns *= 1.5) {
		struct period_choice c = period_choose(&in);

		assert_true(c.period_ns >= last);
		last = c.period_ns;
	}
	in.tick_cost_ns = 2000;
	in.syncs_per_s = 20;
	assert_true(period_choose(&in).tick_share < 0.01);
}

static void test_says_so(void **state)
{
	struct period_input in = { .busy_cores = 2, .syncs_per_s = 100, .tick_cost_ns = 10000 };
	struct period_choice c = period_choose(&in);
	char *text;

	(void)state;
	assert_null(period_describe(&in, &c));
	in.syncs_per_s = 1250;
	in.tick_cost_ns = 30000;
	c = period_choose(&in);
	text = period_describe(&in, &c);
	print_message("%s\n", text);
	assert_non_null(strstr(text, "every 0.80 ms"));
	assert_non_null(strstr(text, "0.60 ms"));
	assert_non_null(strstr(text, "30 us"));
	assert_non_null(strstr(text, "5.0 %"));
	assert_non_null(strstr(text, "--frequency"));
	free(text);
	in.syncs_per_s = 50000;
	c = period_choose(&in);
	text = period_describe(&in, &c);
	print_message("%s\n", text);
	assert_non_null(strstr(text, "no other period"));
	free(text);
	in.syncs_per_s = 100;
	in.frequency_hz = 100;
	c = period_choose(&in);
	text = period_describe(&in, &c);
	print_message("%s\n", text);
	assert_non_null(strstr(text, "without --frequency"));
	free(text);
}

/* The same figure for what happens later at a period that was chosen before. */
static void test_expected_later(void **state)
{
	struct period_input in = { .busy_cores = 2, .visits_per_s = 500, .tick_cost_ns = 30000 };
	struct period_choice c = period_choose(&in);

	(void)state;
	assert_float_equal(period_expected_pp(&in, c.period_ns), c.error_pp, 1e-9);
	in.visits_per_s = 2500;
	assert_true(period_expected_pp(&in, c.period_ns) > 3 * c.error_pp);
	in.syncs_per_s = 1e6;
	assert_int_equal(c.period_ns, 600000);
	/* the most that lumps do, and ticks */
	assert_float_equal(period_expected_pp(&in, c.period_ns), 8 + 2 * 0.05 + 34 * 0.0025, 1e-9);
	in.frequency_hz = 1; /* what was asked for is not what is in use */
	assert_float_equal(period_expected_pp(&in, c.period_ns), 8 + 2 * 0.05 + 34 * 0.0025, 1e-9);
	in.polls_per_s = 1e6;
	assert_float_equal(period_expected_pp(&in, c.period_ns), 20, 1e-9); /* the most there is */
}

/* A progress point that is reached often says nothing of waits where nobody could wait so. */
static void test_who_runs_alone_waits_for_nobody(void **state)
{
	struct period_input in = { .busy_cores = 2, .visits_per_s = 20000, .tick_cost_ns = 14000 };
	struct period_choice c = period_choose(&in);

	(void)state;
	assert_true(c.coarse && c.error_pp > 8);
	in.runnable = 2; /* two that could spin */
	assert_float_equal(period_choose(&in).error_pp, c.error_pp, 1e-9);
	in.runnable = 3;
	assert_float_equal(period_choose(&in).error_pp, c.error_pp, 1e-9);
	in.runnable = 1.1;
	assert_true(period_choose(&in).error_pp < c.error_pp / 2);
	in.runnable = 0.9; /* the rest of the time it sleeps */
	c = period_choose(&in);
	assert_false(c.coarse);
	assert_true(isinf(c.interval_s));
	in.syncs_per_s = 20000; /* waits that are seen count */
	assert_true(period_choose(&in).coarse);
}

/* Who looks now and then finds what has been inserted: that the target is seen is of no use. */
static void test_polls(void **state)
{
	struct period_input in = {
		.busy_cores = 1, .syncs_per_s = 500, .seen = 1, .tick_cost_ns = 15000
	};
	struct period_choice c = period_choose(&in);

	(void)state;
	assert_true(c.error_pp < 1);
	in.polls_per_s = 2500;
	assert_true(period_expected_pp(&in, c.period_ns) > 10);
	assert_true(period_choose(&in).period_ns < c.period_ns);
	assert_true(period_choose(&in).coarse);
	assert_float_equal(period_choose(&in).interval_s, 1.0 / 3000, 1e-6);
}

/* A wait is a hit of its length, whatever the period: nearly so, where tasks wake each other often.
 */
static void test_waits(void **state)
{
	struct period_input in = {
		.busy_cores = 1, .syncs_per_s = 20000, .seen = 1, .waits = 1, .tick_cost_ns = 35000
	};
	struct period_choice c = period_choose(&in);

	(void)state;
	assert_false(c.coarse);
	in.waits = 0.5;
	assert_in_range(100 * period_expected_pp(&in, c.period_ns), 385, 400);
	in.waits = 0;
	assert_in_range(100 * period_expected_pp(&in, c.period_ns), 710, 730);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_synchronisation),
		cmocka_unit_test(test_share_of_the_machine),
		cmocka_unit_test(test_cost_decides),
		cmocka_unit_test(test_says_so),
		cmocka_unit_test(test_expected_later),
		cmocka_unit_test(test_who_runs_alone_waits_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
