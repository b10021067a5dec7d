// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of programs of which the recording has a part only: who asks, or who answers, is not in
 * it. */
#include "tests/unit/test_whatif_rules.h"

static double after_wait(enum replay_rules rules, enum trace_wait wait, enum trace_by by)
{
	struct replay *r = begin(rules);
	double ret;

	ran(r, 0, 80);
	blocks(r, 100, 0, wait);
	wakes(r, 200, 0, by, by == TRACE_BY_NOBODY ? TRACE_NONE : 0);
	ret = earlier(r, 0);
	replay_free(r);
	return ret;
}

/* What comes by the network may come by the clock, as what a client brings that is not recorded. */
static void test_network(void **state)
{
	const enum trace_by by[] = { TRACE_BY_OTHER, TRACE_BY_NOBODY };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		assert_true(after_wait(REPLAY_USUAL, TRACE_WAIT_POLL, by[i]) == 40);
		assert_true(after_wait(REPLAY_FREE, TRACE_WAIT_POLL, by[i]) == 40);
		assert_true(after_wait(REPLAY_BOUND, TRACE_WAIT_POLL, by[i]) == 0);
		assert_true(after_wait(REPLAY_BOUND, TRACE_WAIT_READ, by[i]) == 0);
		/* A page that the kernel fetches. */
		assert_true(after_wait(REPLAY_BOUND, TRACE_WAIT_OTHER, by[i]) == 40);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
