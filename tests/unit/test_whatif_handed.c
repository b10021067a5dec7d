// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of locks that programs make of semaphores, one for each thread, as databases do. */
#include "tests/unit/test_whatif_rules.h"

#include "whatif/handed.h"

#define THREADS 4
#define ROUNDS	200

struct meeting {
	struct handed *h;
	uint64_t now;
};

static void tell(struct meeting *m, enum trace_type type, uint32_t thread, uint32_t other)
{
	const struct trace_event e = { .time = m->now++,
				       .type = type,
				       .thread = thread,
				       .other = other,
				       .why = TRACE_BLOCKED,
				       .wait = TRACE_WAIT_FUTEX,
				       .by = TRACE_BY_THREAD };

	handed_event(m->h, &e);
}

/* @thread waits in a futex until @by wakes it. */
static void meet(struct meeting *m, uint32_t thread, uint32_t by)
{
	tell(m, TRACE_LEAVE, thread, 0);
	tell(m, TRACE_WAKE, thread, by);
}

static void visits(struct meeting *m, uint32_t threads)
{
	for (uint32_t i = 0; i < threads; i++)
		tell(m, TRACE_PROGRESS, i, 0);
}

/* Of all that come to the point: as many as @found are said to have such a lock, or none. */
static void expect(struct meeting *m, uint32_t threads, bool found)
{
	for (uint32_t i = 0; i < threads; i++)
		assert_int_equal(handed_of(m->h, i), found);
	handed_free(m->h);
}

static struct meeting begin_meeting(void)
{
	return (struct meeting){ handed_create(THREADS), 0 };
}

/* Whoever has it gives it to one who waits, in no order; now and then one has it that works for
 * itself. */
static void test_lock(void **state)
{
	struct meeting m = begin_meeting();
	uint32_t has = 0, seed = 1;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t next = (has + 1 + (seed = seed * 1103515245 + 12345) / 65536 % 2) % 3;

		meet(&m, next, i % 40 ? has : 3);
		visits(&m, 3);
		has = next;
	}
	assert_false(handed_of(m.h, 3));
	expect(&m, 3, true);
}

/* Who comes last, whoever that is, wakes all others. */
static void test_barrier(void **state)
{
	struct meeting m = begin_meeting();

	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t last = i * 7 % 5 % THREADS;

		for (uint32_t k = 0; k < THREADS; k++) {
			if (k != last)
				tell(&m, TRACE_LEAVE, k, 0);
		}
		for (uint32_t k = 0; k < THREADS; k++) {
			if (k != last)
				tell(&m, TRACE_WAKE, k, last);
		}
		visits(&m, THREADS);
	}
	expect(&m, THREADS, false);
}

/* Each wakes its neighbour; and two take turns. */
static void test_ring(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= THREADS; n++) {
		struct meeting m = begin_meeting();

		for (uint32_t i = 0; i < ROUNDS; i++) {
			meet(&m, (i + 1) % n, i % n);
			visits(&m, n);
		}
		expect(&m, n, false);
	}
}

/* Two with a queue between them: one may be woken again before the other one sleeps. */
static void test_queue(void **state)
{
	struct meeting m = begin_meeting();

	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		meet(&m, 1, 0);
		meet(&m, 1, 0);
		meet(&m, 0, 1);
		visits(&m, 2);
	}
	expect(&m, 2, false);
}

/* Three ask one that does not come to the point, and wait for its answer. */
static void test_helper(void **state)
{
	struct meeting m = begin_meeting();

	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		meet(&m, 3, i % 3);
		meet(&m, i % 3, 3);
		visits(&m, 3);
	}
	expect(&m, 3, false);
}

/*
 * 0 could have been there 500 earlier, 1 no earlier than it was: a lock 0 would have found free,
 * what is in a queue it would not. And who frees it is not held up by who wants it.
 */
static void test_rules(void **state)
{
	(void)state;
	for (int k = 0; k < REPLAY_RULES; k++) {
		for (int handed = 0; handed < 2; handed++) {
			struct replay *r = begin(k);
			bool lock = handed && k != REPLAY_BOUND && k != REPLAY_ORDERED;

			for (uint32_t i = 0; i < 2 && handed; i++)
				replay_handed(r, i);
			ran(r, 0, 1000);
			ran(r, 1, 0);
			blocks(r, 1000, 0, TRACE_WAIT_FUTEX);
			wakes(r, 1100, 0, TRACE_BY_THREAD, 1);
			assert_true(earlier(r, 0) == (lock ? 500 : 0));
			replay_free(r);

			r = begin(k);
			for (uint32_t i = 0; i < 2 && handed; i++)
				replay_handed(r, i);
			ran(r, 0, 0);
			ran(r, 1, 1000);
			blocks(r, 1000, 0, TRACE_WAIT_FUTEX);
			wakes(r, 1100, 0, TRACE_BY_THREAD, 1);
			assert_true(
				earlier(r, 1) ==
				(k == REPLAY_FREE || (handed && k != REPLAY_BOUND) ? 500 : 100));
			replay_free(r);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock),  cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_ring),  cmocka_unit_test(test_helper),
		cmocka_unit_test(test_queue), cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
