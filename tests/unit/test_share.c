// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of lib/account/share.h, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/share.h"
#include "base/base.h"

#define MS	1000000LL
#define SPEEDUP (SCOZ_SPEEDUP_ONE / 2)

static void ticks(struct scoz_core_use *u, struct scoz_task_use *t, int hits, int misses)
{
	for (int i = 0; i < hits; i++)
		scoz_use_tick(u, t, MS, 1, SPEEDUP);
	for (int i = 0; i < misses; i++)
		scoz_use_tick(u, t, MS, 0, SPEEDUP);
}

static void test_a_wait_counts_as_what_the_task_does(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	assert_int_equal(scoz_use_weight(&u, MS), 0); /* nobody waits */
	u.wanted = -SCOZ_SHARE_TASK; /* somebody who was not seen to queue has been taken off */
	assert_int_equal(scoz_use_weight(&u, MS), 0);
	u.wanted = 1;
	assert_int_equal(scoz_use_weight(&u, MS), 0);
	u.wanted = 0;
	ticks(&u, &t, 3, 9);
	u.wanted += scoz_use_queue(&u, &t, 0);
	assert_in_range(scoz_use_weight(&u, MS), MS / 4 - MS / 500, MS / 4 + MS / 500);
	u.wanted -= scoz_use_run(&t, 1);
	assert_int_equal(u.wanted, 0);
	assert_int_equal(t.cpu, 1);
	assert_int_equal(scoz_use_run(&t, 1), 0); /* it is taken off once */
}

static void test_several_waiters_count_with_their_mean(void **state)
{
	struct scoz_core_use u = {}, elsewhere = {};
	struct scoz_task_use hot = {}, cold = {};

	(void)state;
	ticks(&elsewhere, &hot, 12, 0);
	ticks(&elsewhere, &cold, 0, 12);
	u.wanted += scoz_use_queue(&u, &hot, 0);
	u.wanted += scoz_use_queue(&u, &cold, 0);
	assert_in_range(scoz_use_weight(&u, MS), MS / 2 - MS / 500, MS / 2 + MS / 500);
	u.wanted -= scoz_use_run(&cold, 0);
	assert_in_range(scoz_use_weight(&u, MS), MS - MS / 500, MS);
}

static void test_a_new_task_borrows_from_its_core(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use old = {}, young = {};

	(void)state;
	ticks(&u, &old, 20, 20);
	u.wanted += scoz_use_queue(&u, &young, 0);
	assert_in_range(scoz_use_weight(&u, MS), MS / 2 - MS / 100, MS / 2 + MS / 100);
}

/* Of two that queue, the one that a stranger has taken the core from says what it makes longer. */
static void test_a_core_that_was_taken_goes_by_whom_from(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use first = {}, second = {};

	(void)state;
	ticks(&u, &first, 6, 6);
	ticks(&u, &second, 0, 6);
	u.wanted += scoz_use_queue(&u, &second, 0);
	u.wanted += scoz_use_queue(&u, &first, 0);
	scoz_use_taken(&u, &first, 7);
	scoz_use_in(&u, 1, 1, MS);
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), 0); /* it was outside */
	scoz_use_out(&u, 1, 2 * MS);
	scoz_use_in(&u, 1, 1, 2 * MS); /* another stranger: no difference */
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), 0);
	ticks(&u, &first, 1, 0);
	scoz_use_taken(&u, &first, 7);
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), MS / 2);
	assert_int_equal(scoz_use_inserts(&u, MS, 0), 0);

	scoz_use_given_back(&u, 8);
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), MS / 2);
	u.wanted -= scoz_use_run(&first, 1); /* elsewhere; the other one still queues */
	scoz_use_given_back(&u, 7);
	assert_in_range(scoz_use_inserts(&u, MS, SPEEDUP), 1, MS / 8);
}

static void test_who_spins_loses_what_it_absorbed(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	ticks(&u, &t, 0, 1);
	scoz_use_spun(&t, 4 * MS, 3 * MS);
	u.wanted += scoz_use_queue(&u, &t, 0);
	scoz_use_taken(&u, &t, 7);
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), MS * 3 / 4);
	ticks(&u, &t, 0, 1);
	scoz_use_spun(&t, 4 * MS, 0);
	scoz_use_taken(&u, &t, 7);
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), 0);
}

static void test_whoever_runs_again_was_taken_from_before(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	ticks(&u, &t, 6, 0);
	u.wanted += scoz_use_queue(&u, &t, 0);
	scoz_use_taken(&u, &t, 7);
	assert_int_not_equal(u.taken, 0);
	scoz_use_in(&u, 1, 1, MS);
	u.wanted -= scoz_use_run(&t, 0);
	scoz_use_in(&u, 0, 0, 2 * MS);
	assert_int_equal(u.taken, 0);
	/* No tick has met it since, or it does not queue, being of nobody's interest. */
	u.wanted += scoz_use_queue(&u, &t, 0);
	scoz_use_taken(&u, &t, 7);
	assert_int_equal(u.taken, 0);
	u.wanted -= scoz_use_run(&t, 0);
	ticks(&u, &t, 1, 0);
	scoz_use_taken(&u, &t, 7);
	assert_int_equal(u.taken, 0);
	u.wanted += scoz_use_queue(&u, &t, 0);
	scoz_use_taken(&u, &t, 7);
	scoz_use_idle(&u);
	assert_int_equal(u.taken, 0);
}

/* Who sleeps from 10 to 14 ms and runs at 20 ms. */
static void test_urgent_strangers_who_came_during_a_wait(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	scoz_use_in(&u, 1, 1, 12 * MS);
	assert_int_equal(scoz_use_behind(&u, &t, 14 * MS, 20 * MS), 0); /* it has not slept */
	scoz_use_idle(&u);
	scoz_use_sleeps(&t, 0, 10 * MS);
	assert_int_equal(scoz_use_behind(&u, &t, 14 * MS, 20 * MS), 0);
	scoz_use_in(&u, 1, 1, 9 * MS); /* it was there already */
	scoz_use_out(&u, 1, 11 * MS);
	scoz_use_in(&u, 1, 1, 11 * MS);
	assert_int_equal(scoz_use_behind(&u, &t, 14 * MS, 20 * MS), 0);
	scoz_use_idle(&u);
	scoz_use_in(&u, 1, 1, 12 * MS);
	assert_in_range(scoz_use_behind(&u, &t, 14 * MS, 20 * MS), 5999000, 6 * MS);
	ticks(&u, &t, 10, 10); /* half of it is counted anyway */
	scoz_use_queue(&u, &t, 0);
	assert_in_range(scoz_use_behind(&u, &t, 14 * MS, 20 * MS), 29 * MS / 10, 31 * MS / 10);
	scoz_use_run(&t, 0);
	scoz_use_idle(&u);
	scoz_use_in(&u, 1, 1, 15 * MS); /* after the wait */
	assert_int_equal(scoz_use_behind(&u, &t, 14 * MS, 20 * MS), 0);
	scoz_use_in(&u, 1, 0, 16 * MS); /* an ordinary one competes */
	assert_int_equal(u.began, 0);
}

/* Of 4 ms asleep 1 ms was inserted: of 8 ms behind a stranger a quarter would not have been. */
static void test_what_a_shorter_wait_is_spared(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_core c = {};
	struct scoz_task_use t = {};

	(void)state;
	scoz_use_sleeps(&t, 100 * MS, 10 * MS);
	assert_in_range(scoz_use_spared(&t, 101 * MS, 14 * MS, 8 * MS), 2 * MS - 8000, 2 * MS);
	assert_int_equal(scoz_use_spared(&t, 101 * MS, 14 * MS, 0), 0);
	assert_int_equal(scoz_use_spared(&t, 100 * MS, 14 * MS, 8 * MS), 0);
	assert_int_equal(scoz_use_spared(&t, 99 * MS, 14 * MS, 8 * MS), 0);
	assert_int_equal(scoz_use_spared(&t, 105 * MS, 14 * MS, 8 * MS), 8 * MS);
	scoz_use_insert(&u, &c, 2 * MS);
	assert_int_equal(u.inserted, 2 * MS);
	assert_int_equal(c.absorbed, 2 * MS);
	assert_int_equal(c.absorbed, c.own + c.stopped + c.excused + c.overhead);
}

static void test_what_was_long_ago_is_forgotten(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	ticks(&u, &t, 1000, 0);
	ticks(&u, &t, 0, 1000);
	u.wanted += scoz_use_queue(&u, &t, 0);
	assert_true(scoz_use_weight(&u, MS) < MS / 100);
	assert_true(t.share.ran <= SCOZ_SHARE_MEMORY);
}

/* A debt of 3 ms, 4 ms behind strangers, in which 1 ms was inserted: it is 3 ms still. */
static void test_a_debt_is_kept_behind_strangers(void **state)
{
	struct scoz_core c = { .absorbed = 100 * MS };
	struct scoz_task account = { .absorbed = 97 * MS, .since = 10 * MS };
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};
	int64_t delay = 100 * MS;

	(void)state;
	scoz_use_out(&u, 0, 5 * MS); /* only strangers since */
	u.wanted += scoz_use_queue(&u, &t, delay);
	delay += MS;
	scoz_core_follow(&c, delay);
	account.since += scoz_use_kept(&u, &u, &t, 7, 4 * MS, delay, 14 * MS);
	scoz_switch_in(&c, &account, delay, 14 * MS, SCOZ_MODEL_WAIT);
	assert_in_range(scoz_debt(delay, &c), 3 * MS - 5000, 3 * MS + 5000);
	assert_int_equal(c.absorbed, c.own + c.stopped + c.excused + c.overhead + 100 * MS);
}

/* Taken while it stood still: 4 ms behind a real-time task, all of which is inserted. */
static void test_who_stood_still_absorbs_what_it_waits(void **state)
{
	struct scoz_core c = {};
	struct scoz_core_use u = { .inserted = 20 * MS }, elsewhere = { .idled = 1 };
	struct scoz_task_use t = {};

	(void)state;
	scoz_use_out(&u, 0, 10 * MS);
	scoz_use_stood(&u);
	u.wanted += scoz_use_queue(&u, &t, 50 * MS);
	scoz_use_taken(&u, &t, 7);
	scoz_use_in(&u, 1, 1, 10 * MS);
	assert_int_equal(u.stood, 0);
	assert_int_equal(scoz_use_inserts(&u, MS, SPEEDUP), MS);
	scoz_use_insert(&u, &c, 3 * MS);
	/* What others insert it owes. */
	assert_in_range(scoz_use_kept(&elsewhere, &u, &t, 7, 4 * MS, 53 * MS, 14 * MS), MS - 8000,
			MS + 8000);
	scoz_use_insert(&u, &c, MS);
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, 60 * MS, 14 * MS), 0);
	/* Somebody else ran there meanwhile: as ever. */
	scoz_use_in(&u, 0, 0, 12 * MS);
	assert_int_equal(scoz_use_kept(&elsewhere, &u, &t, 7, 4 * MS, 60 * MS, 14 * MS), 0);
}

static void test_other_waits_absorb_as_ever(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	scoz_use_out(&u, 0, 14 * MS); /* a profiled task had the core until now */
	scoz_use_queue(&u, &t, 0);
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, MS, 14 * MS), 0);
	scoz_use_out(&u, 0, 12 * MS); /* strangers for the latter half */
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, 0, 14 * MS), 2 * MS);
	t.delay = MS; /* of which some was waived meanwhile */
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, 0, 14 * MS), 2 * MS);
	scoz_use_idle(&u);
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, 0, 14 * MS), 0);
	scoz_use_out(&u, 0, 12 * MS); /* and has run somebody since */
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, 0, 14 * MS), 2 * MS);
	scoz_use_run(&t, 0); /* its wake-up was missed: nothing is known of its wait */
	scoz_use_out(&u, 0, 5 * MS);
	assert_int_equal(scoz_use_kept(&u, &u, &t, 7, 4 * MS, 0, 14 * MS), 0);
}

static void test_who_counts_for_a_waiver(void **state)
{
	struct scoz_core_use u = {};
	struct scoz_task_use t = {};

	(void)state;
	assert_true(scoz_use_counts(&u));
	scoz_use_in(&u, 1, 0, MS);
	assert_false(scoz_use_counts(&u));
	u.wanted += scoz_use_queue(&u, &t, 0);
	assert_true(scoz_use_counts(&u));
	u.wanted -= scoz_use_run(&t, 0);
	scoz_use_out(&u, 1, MS);
	assert_true(scoz_use_counts(&u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_wait_counts_as_what_the_task_does),
		cmocka_unit_test(test_several_waiters_count_with_their_mean),
		cmocka_unit_test(test_a_new_task_borrows_from_its_core),
		cmocka_unit_test(test_a_core_that_was_taken_goes_by_whom_from),
		cmocka_unit_test(test_who_spins_loses_what_it_absorbed),
		cmocka_unit_test(test_whoever_runs_again_was_taken_from_before),
		cmocka_unit_test(test_urgent_strangers_who_came_during_a_wait),
		cmocka_unit_test(test_what_a_shorter_wait_is_spared),
		cmocka_unit_test(test_what_was_long_ago_is_forgotten),
		cmocka_unit_test(test_a_debt_is_kept_behind_strangers),
		cmocka_unit_test(test_who_stood_still_absorbs_what_it_waits),
		cmocka_unit_test(test_other_waits_absorb_as_ever),
		cmocka_unit_test(test_who_counts_for_a_waiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
