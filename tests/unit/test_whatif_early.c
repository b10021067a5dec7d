// SPDX-License-Identifier: GPL-2.0-or-later
/* Wakings that come before their thread is seen to leave its CPU: a replay, and its bounds. */
#include "tests/unit/test_whatif_rules.h"

#include "whatif/bounds.h"

/* Who is woken on his way to sleep follows as if that had come just after. */
static void test_woken_early(void **state)
{
	struct replay *r = begin(REPLAY_USUAL);

	(void)state;
	event(r, 0, TRACE_ENTER, 0, 0);
	event(r, 0, TRACE_ENTER, 1, 1);
	ran(r, 0, 80);
	ran(r, 1, 20);
	wakes(r, 95, 0, TRACE_BY_THREAD, 1);
	blocks(r, 100, 0, TRACE_WAIT_READ);
	event(r, 110, TRACE_ENTER, 0, 0);
	assert_earlier(r, 0, 10);
	/* Another time it went on, and sleeps for something else later. */
	ran(r, 0, 80);
	assert_earlier(r, 0, 50);
	wakes(r, 200, 0, TRACE_BY_THREAD, 1);
	blocks(r, 300, 0, TRACE_WAIT_SLEEP);
	wakes(r, 400, 0, TRACE_BY_TIMER, TRACE_NONE);
	event(r, 410, TRACE_ENTER, 0, 0);
	assert_earlier(r, 0, 50);
	replay_free(r);
}

/* Who was woken on his way to sleep wants a CPU from then on. */
static void test_bounds_woken_early(void **state)
{
	const struct trace_event v[] = {
		{ .time = 0, .type = TRACE_ENTER },
		{ .time = 90, .type = TRACE_WAKE, .by = TRACE_BY_THREAD, .other = 1 },
		{ .time = 100, .type = TRACE_LEAVE, .why = TRACE_BLOCKED },
		{ .time = 200, .type = TRACE_ENTER },
		{ .time = 300, .type = TRACE_LEAVE, .why = TRACE_BLOCKED },
		/* Nobody is seen to wake it. */
		{ .time = 900, .type = TRACE_ENTER },
		{ .time = 1000, .type = TRACE_LEAVE, .why = TRACE_BLOCKED },
	};
	const double speedup = 0.5;
	struct bounds *b = bounds_create(2, 1, 1, NULL, &speedup, 1, 0);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		bounds_event(b, &v[i]);
	assert_true(bounds_crowded(b) == 100.0 / (100 + 300));
	bounds_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken_early),
		cmocka_unit_test(test_bounds_woken_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
