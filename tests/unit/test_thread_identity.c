// SPDX-License-Identifier: GPL-2.0-or-later
/* Who had a tid when, told by two queues of which one lags. */
#include "record/recording.h"
#include "record/thread_identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* As the recorder asks. */
static uint32_t asks(struct tid_history *h, uint32_t next, uint64_t born, uint64_t time)
{
	if (tid_history_is_new(h, born, time)) {
		tid_history_begin(h, next, born, time);
		return next;
	}
	return tid_history_who(h, born, time);
}

/* The queue that has told of the end is ahead: the other one tells of the same thread's life. */
static void one_thread(void **state)
{
	struct tid_history h = tid_history_none;

	(void)state;
	assert_int_equal(asks(&h, 1, 100, 110), 1);
	assert_true(tid_history_ended(&h, 1, 200));
	assert_int_equal(asks(&h, 2, 100, 101), 1);
	assert_int_equal(asks(&h, 2, 0, 150), 1);
	assert_int_equal(asks(&h, 2, 100, 200), 1);
	/* Both queues tell of the end. */
	assert_true(tid_history_ended(&h, 1, 200));
}

/* A waker is known before it is known when it was born. */
static void born_later(void **state)
{
	struct tid_history h = tid_history_none;

	(void)state;
	assert_int_equal(asks(&h, 1, 0, 110), 1);
	assert_int_equal(asks(&h, 2, 100, 120), 1);
	tid_history_born(&h, 100);
	assert_int_equal(h.now.born, 100);
	tid_history_born(&h, 0); /* a record that does not tell */
	assert_int_equal(h.now.born, 100);
	assert_int_equal(asks(&h, 2, 100, 90), 1); /* the queue that lags */
	assert_int_equal(asks(&h, 2, 300, 310), 2);
	assert_int_equal(asks(&h, 3, 100, 320), 1);
	/* What is told of it first may have begun with it, a moment before its birth was noted. */
	h = tid_history_none;
	assert_int_equal(asks(&h, 1, 100, 99), 1);
	assert_int_equal(asks(&h, 2, 100, 150), 1);
	/* Nor is it known when one that was only heard of ended: the next was born later. */
	h = tid_history_none;
	assert_int_equal(asks(&h, 1, 0, 110), 1);
	assert_int_equal(asks(&h, 2, 300, 310), 2);
}

/* Another thread has the tid. */
static void tid_again(void **state)
{
	struct tid_history h = tid_history_none;

	(void)state;
	assert_int_equal(asks(&h, 1, 100, 110), 1);
	assert_int_equal(asks(&h, 2, 300, 310), 2); /* nobody has told of the end */
	assert_int_equal(asks(&h, 3, 100, 190), 1); /* the queue that lags */
	assert_int_equal(asks(&h, 3, 0, 190), 1);
	assert_int_equal(asks(&h, 3, 0, 320), 2);
	assert_int_equal(asks(&h, 3, 300, 320), 2);
	/* Whose end it is: not the one's who has the tid now. */
	assert_true(tid_history_ended(&h, 1, 200));
	assert_int_equal(asks(&h, 3, 300, 330), 2);
}

/* A thread executes a program, and takes over its leader's tid and birth. */
static void executes(void **state)
{
	struct tid_history h = tid_history_none;

	(void)state;
	assert_int_equal(asks(&h, 1, 100, 110), 1);
	assert_true(tid_history_ended(&h, 1, 200));
	assert_int_equal(asks(&h, 2, 0, 210), 2); /* before the program: without a birth */
	assert_int_equal(asks(&h, 3, 100, 220), 2);
	tid_history_born(&h, 100);
	assert_int_equal(asks(&h, 3, 100, 230), 2);
	assert_int_equal(asks(&h, 3, 100, 190), 1); /* the queue that lags */
	assert_int_equal(asks(&h, 3, 0, 190), 1);
	/* It had its tid when its leader had ended already, and gives that away. */
	h = tid_history_none;
	assert_int_equal(asks(&h, 1, 100, 110), 1);
	assert_true(tid_history_ended(&h, 1, 200));
	assert_false(tid_history_ended(&h, 1, 210));
	/* A sample of the program is there before that is told. */
	assert_int_equal(asks(&h, 2, 100, 220), 2);
	assert_false(tid_history_ended(&h, 2, 210));
	assert_true(tid_history_ended(&h, 2, 300));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread),
		cmocka_unit_test(born_later),
		cmocka_unit_test(tid_again),
		cmocka_unit_test(executes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
