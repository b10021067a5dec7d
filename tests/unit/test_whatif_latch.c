// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of joins where only the last one wakes: latches, wait groups, loops on a pool's threads.
 */
#include "tests/unit/test_whatif_rules.h"

#define US 1000

static struct replay *pool(enum replay_rules rules)
{
	struct replay *r = begin(rules);

	for (uint32_t i = 0; i < 4; i++)
		ran(r, i, 0);
	for (uint32_t i = 1; i < 4; i++)
		blocks(r, 0, i, TRACE_WAIT_FUTEX);
	return r;
}

/*
 * 0 wakes 1 and 2, the second one so much @later, and waits. 2 is done after 300 us and wakes
 * nobody, or only @tells another one; 1 is done after 400, of which it could have saved 200, and
 * wakes 0. So much earlier 0 is then.
 */
static double opens(struct replay *r, uint64_t at, uint64_t later, bool tells)
{
	double before;

	before = earlier(r, 0);
	wakes(r, at + 10 * US, 1, TRACE_BY_THREAD, 0);
	wakes(r, at + 10 * US + later, 2, TRACE_BY_THREAD, 0);
	blocks(r, at + 20 * US + later, 0, TRACE_WAIT_FUTEX);
	if (tells)
		wakes(r, at + 200 * US, 3, TRACE_BY_THREAD, 2);
	blocks(r, at + 310 * US, 2, TRACE_WAIT_FUTEX);
	ran(r, 1, 400 * US);
	wakes(r, at + 410 * US, 0, TRACE_BY_THREAD, 1);
	blocks(r, at + 420 * US, 1, TRACE_WAIT_FUTEX);
	return earlier(r, 0) - before;
}

/* It goes on when all are done. */
static void test_latch(void **state)
{
	(void)state;
	for (int k = 0; k < REPLAY_RULES; k++) {
		struct replay *r = pool(k);

		for (int i = 0; i < 3; i++)
			assert_true(opens(r, 1000 * US * i, US, false) ==
				    (k == REPLAY_FREE ? 200 : 100) * US);
		replay_free(r);
	}
}

/* If it may as well be a lock of the program's own, the lower bound does not rely on that. */
static void test_handed(void **state)
{
	struct replay *r = pool(REPLAY_BOUND);

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		replay_handed(r, i);
	for (int i = 0; i < 3; i++)
		assert_true(opens(r, 1000 * US * i, US, false) == 100 * US);
	replay_free(r);
}

/* Who was woken at another time, or has told somebody, is not known to be waited for. */
static void test_others(void **state)
{
	struct replay *r = pool(REPLAY_USUAL);

	(void)state;
	assert_true(opens(r, 0, 100 * US, false) == 200 * US);
	assert_true(opens(r, 1000 * US, US, true) == 200 * US);
	replay_free(r);
}

/* 0 has gone on before while 2 was at work: it does not wait for it. */
static void test_goes_on(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		struct replay *r = pool(REPLAY_USUAL);

		wakes(r, 10 * US, 1, TRACE_BY_THREAD, 0);
		wakes(r, 11 * US, 2, TRACE_BY_THREAD, 0);
		blocks(r, 20 * US, 0, TRACE_WAIT_FUTEX);
		wakes(r, 100 * US, 0, TRACE_BY_THREAD, 1);
		blocks(r, 105 * US, 1, TRACE_WAIT_FUTEX);
		/* It may have been done then, and on its way to sleep. */
		blocks(r, (late ? 400 : 110) * US, 2, TRACE_WAIT_FUTEX);
		assert_true(opens(r, 1000 * US, US, false) == (late ? 200 : 100) * US);
		replay_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latch),
		cmocka_unit_test(test_handed),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
