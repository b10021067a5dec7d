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

/* 0 is asked from outside, and 1 does it: it runs for 80, and is 40 earlier. */
static void test_handed_on(void **state)
{
	(void)state;
	for (int k = 0; k < REPLAY_RULES; k++) {
		struct replay *r = begin(k);

		blocks(r, 0, 0, TRACE_WAIT_POLL);
		blocks(r, 0, 1, TRACE_WAIT_FUTEX);
		ran(r, 0, 0);
		wakes(r, 10, 0, TRACE_BY_OTHER, 0);
		wakes(r, 20, 1, TRACE_BY_THREAD, 0);
		blocks(r, 30, 0, TRACE_WAIT_POLL);
		ran(r, 1, 80);
		blocks(r, 100, 1, TRACE_WAIT_FUTEX);
		wakes(r, 200, 0, TRACE_BY_OTHER, 0);
		assert_earlier(r, 0, k == REPLAY_BOUND ? 0 : 40);
		/* What comes next may come by the clock, as far as is known. */
		blocks(r, 210, 0, TRACE_WAIT_POLL);
		ran(r, 1, 20);
		wakes(r, 300, 0, TRACE_BY_OTHER, 0);
		assert_earlier(r, 0, k == REPLAY_BOUND ? 0 : 40);
		replay_free(r);
	}
}

/* A thread for each connection: the acceptor waits for nobody, but its client did. */
static void test_connections(void **state)
{
	struct replay *r = begin(REPLAY_USUAL);

	(void)state;
	blocks(r, 0, 0, TRACE_WAIT_POLL);
	for (uint32_t i = 1; i <= 3; i++) {
		ran(r, 0, 0);
		wakes(r, 1000 * i, 0, TRACE_BY_OTHER, 0);
		assert_earlier(r, 0, 40 * (i - 1));
		replay_event(r, &(struct trace_event){
					.time = 1000 * i + 10, .type = TRACE_FORK, .thread = i });
		blocks(r, 1000 * i + 20, 0, TRACE_WAIT_POLL);
		event(r, 1000 * i + 20, TRACE_ENTER, i, 1);
		ran(r, i, 80);
		event(r, 1000 * i + 100, TRACE_EXIT, i, 1);
	}
	replay_free(r);
}

/* Who was not asked, or does something by itself, has not answered. */
static void test_aside(void **state)
{
	(void)state;
	for (int timer = 0; timer < 2; timer++) {
		struct replay *r = begin(REPLAY_FREE);

		ran(r, 0, 0);
		blocks(r, 0, 0, TRACE_WAIT_POLL);
		blocks(r, 0, 1, timer ? TRACE_WAIT_FUTEX : TRACE_WAIT_LOCK);
		wakes(r, 10, 0, TRACE_BY_OTHER, 0);
		wakes(r, 20, 1, TRACE_BY_THREAD, 0);
		blocks(r, 30, 0, TRACE_WAIT_POLL);
		if (timer) {
			blocks(r, 40, 1, TRACE_WAIT_SLEEP);
			wakes(r, 50, 1, TRACE_BY_TIMER, 0);
		}
		ran(r, 1, 40);
		blocks(r, 100, 1, TRACE_WAIT_FUTEX);
		wakes(r, 200, 0, TRACE_BY_OTHER, 0);
		assert_earlier(r, 0, 0);
		replay_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_handed_on),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
