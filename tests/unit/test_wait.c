// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of lib/account/wait.h, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/wait.h"
#include "base/base.h"

#define MS 1000000LL

static void check_ledger(const struct scoz_core *c)
{
	assert_int_equal(c->absorbed, c->own + c->stopped + c->excused + c->overhead);
	assert_true(c->alone >= 0);
}

/* The core idled all the while: both have saved d, and nobody owes it. */
static void test_an_idle_core_owes_nothing(void **state)
{
	struct scoz_core c = { .idle = 1, .idle_since = MS };
	struct scoz_task t = { .since = 9 * MS }; /* woken then, asleep since 1 ms */
	struct scoz_arrival a;
	int64_t d = scoz_wait_inserts(8 * MS, SCOZ_SPEEDUP_ONE / 2);

	(void)state;
	assert_int_equal(d, 4 * MS);
	scoz_arrive(&c, &t, 0, 0, 9 * MS, &a);
	assert_int_equal(c.idle, 0);
	scoz_wait_hit(&c, &a, d, 0, d, d);
	assert_int_equal(c.absorbed, d);
	assert_int_equal(c.alone, 0);
	assert_int_equal(c.own, d);
	assert_int_equal(c.hits, 1);
	check_ledger(&c);
}

/* Others ran there: it could not have run sooner. */
static void test_a_busy_core_owes_it(void **state)
{
	struct scoz_core c = {};
	struct scoz_task t = { .since = 9 * MS };
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 0, 0, 9 * MS, &a);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 4 * MS, 4 * MS);
	assert_int_equal(scoz_debt(4 * MS, &c), 4 * MS);
	assert_int_equal(scoz_common_debt(4 * MS, &c), 4 * MS);
	check_ledger(&c);
}

/* Strangers ran there, who would have let it run sooner. */
static void test_a_core_of_strangers_owes_nothing(void **state)
{
	struct scoz_core c = {};
	struct scoz_task t = { .since = 9 * MS };
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 3 * MS, 0, 9 * MS, &a);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 4 * MS, 4 * MS);
	assert_int_equal(scoz_debt(4 * MS, &c), MS);
	check_ledger(&c);
}

/* What is cut off counts from where the accounts stand. */
static void test_accounts_that_have_grown(void **state)
{
	struct scoz_core c = { .absorbed = 100 * MS, .own = 100 * MS, .idle = 1, .idle_since = MS };
	struct scoz_task t = { .absorbed = 97 * MS, .since = 9 * MS };
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 0, 100 * MS, 9 * MS, &a);
	assert_int_equal(a.task, 0);
	assert_int_equal(a.core, 8 * MS);
	assert_int_equal(c.alone, 3 * MS);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 4 * MS, 104 * MS);
	assert_int_equal(scoz_debt(104 * MS, &c), 3 * MS);
	assert_int_equal(scoz_common_debt(104 * MS, &c), 0);
	check_ledger(&c);
	/* Others kept the core busy, which has paid: what the task is credited it has no more. */
	c = (struct scoz_core){ .absorbed = 5 * MS, .own = 5 * MS };
	t = (struct scoz_task){ .absorbed = MS, .since = 9 * MS };
	scoz_arrive(&c, &t, 0, 5 * MS, 9 * MS, &a);
	assert_int_equal(c.alone, 4 * MS);
	scoz_wait_hit(&c, &a, 3 * MS, 0, 3 * MS, 8 * MS);
	assert_int_equal(scoz_debt(8 * MS, &c), 4 * MS);
	assert_int_equal(scoz_common_debt(8 * MS, &c), 3 * MS);
	check_ledger(&c);
}

/* What others inserted while it waited stays its own debt, and not its core's. */
static void test_what_others_inserted_is_still_owed(void **state)
{
	struct scoz_core c = { .idle = 1, .idle_since = 0 };
	struct scoz_task t = { .since = 9 * MS };
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 0, 3 * MS, 9 * MS, &a);
	assert_int_equal(scoz_debt(3 * MS, &c), 3 * MS);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 4 * MS, 7 * MS);
	assert_int_equal(scoz_debt(7 * MS, &c), 3 * MS);
	assert_int_equal(scoz_common_debt(7 * MS, &c), 0);
	check_ledger(&c);
}

/* A core that idled for less than is inserted absorbs no more than that, nobody more than G. */
static void test_no_more_than_was_idle(void **state)
{
	struct scoz_core c = { .idle = 1, .idle_since = 8 * MS };
	struct scoz_task t = { .since = 7 * MS }; /* queued for 2 ms */
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 0, 0, 9 * MS, &a);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 4 * MS, 4 * MS);
	assert_int_equal(c.absorbed, 1 * MS);
	check_ledger(&c);
	c = (struct scoz_core){ .idle = 1 };
	scoz_arrive(&c, &t, 0, 0, 9 * MS, &a);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 4 * MS, 4 * MS);
	assert_int_equal(c.absorbed, 4 * MS);
	assert_int_equal(c.alone, 0);
	check_ledger(&c);
}

/* Started ahead of its use: more is inserted than was waited for. */
static void test_no_more_than_was_waited(void **state)
{
	struct scoz_core c = { .idle = 1 };
	struct scoz_task t = { .since = 9 * MS };
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 0, 0, 9 * MS, &a);
	scoz_wait_hit(&c, &a, 4 * MS, 0, 3 * MS, 4 * MS);
	assert_int_equal(scoz_debt(4 * MS, &c), MS);
	check_ledger(&c);
}

/* Two requests at once: the second waits for the first, and is served for as long as that. */
static void test_a_device_serves_one_after_the_other(void **state)
{
	struct scoz_device d = {};

	(void)state;
	scoz_device_ends(&d, 0, MS, 0, 3 * MS);
	assert_int_equal(d.served, 2 * MS);
	assert_int_equal(d.absorbed, 0);
	d.absorbed += MS; /* a hit: half of it */
	d.served = 0;
	assert_int_equal(scoz_device_ends(&d, 0, MS, MS, 5 * MS), MS);
	assert_int_equal(d.served, 2 * MS);
	assert_int_equal(d.absorbed, MS); /* inherits what the first has saved */
	d.absorbed += MS;
	/* Idle for 1 ms, in which 5 ms were inserted elsewhere; the submitter owes nothing. */
	scoz_device_ends(&d, 7 * MS, 6 * MS, 7 * MS, 7 * MS);
	assert_int_equal(d.served, 3 * MS); /* nobody has waited for the one before */
	assert_int_equal(d.absorbed, 3 * MS);
	/* Who submits late brings its own account along, but does not leave it behind. */
	assert_int_equal(scoz_device_ends(&d, 4 * MS, 90 * MS, 7 * MS, 91 * MS), 4 * MS);
	assert_int_equal(d.absorbed, 7 * MS);
	assert_int_equal(scoz_device_ends(&d, 7 * MS, 91 * MS, 7 * MS, 92 * MS), 7 * MS);
	/* Who comes after such a one in virtual time, before the device has idled, waits for it. */
	assert_int_equal(scoz_device_ends(&d, 4 * MS, 92 * MS, 7 * MS, 93 * MS), 4 * MS);
	assert_int_equal(scoz_device_ends(&d, 6 * MS, 95 * MS, 7 * MS, 96 * MS), 6 * MS);
	assert_int_equal(scoz_device_ends(&d, 7 * MS, 96 * MS, 7 * MS, 97 * MS), 6 * MS);
}

/* Who queues behind others' requests absorbs meanwhile, as far as the device has. */
static void test_queueing_for_a_device_absorbs(void **state)
{
	struct scoz_device d = { .absorbed = 10 * MS, .done = 5 * MS };

	(void)state;
	assert_int_equal(scoz_device_ends(&d, 4 * MS, 3 * MS, 20 * MS, 6 * MS), 6 * MS);
	assert_int_equal(d.served, MS);
	assert_int_equal(d.absorbed, 10 * MS);
	assert_int_equal(scoz_device_ends(&d, 9 * MS, 3 * MS, 20 * MS, 7 * MS), 10 * MS);
}

/* Two waits ended by one commit: whoever runs first inserts, the other one shares it. */
static void test_one_commit_for_two(void **state)
{
	struct scoz_device d = {};
	struct scoz_core one = { .idle = 1 }, two = { .idle = 1 };
	struct scoz_task a = {}, b = {};
	struct scoz_arrival first, second;
	__s64 inserted, ender;

	(void)state;
	ender = scoz_device_ends(&d, a.absorbed, MS, 0, 3 * MS);
	inserted = scoz_wait_inserts(d.served, SCOZ_SPEEDUP_ONE);
	assert_int_equal(inserted, 2 * MS);
	d.served = 0;
	scoz_wake(&a, ender, 3 * MS);
	ender = scoz_device_ends(&d, b.absorbed, 2 * MS, 0, 3 * MS);
	assert_int_equal(d.served, 0);
	scoz_wake(&b, ender, 3 * MS);
	scoz_arrive(&one, &a, 0, 0, 3 * MS, &first);
	scoz_device_hit(&d, inserted);
	scoz_wait_hit(&one, &first, inserted, 0, inserted, inserted);
	assert_int_equal(scoz_debt(inserted, &one), 0);
	assert_int_equal(d.absorbed, inserted);
	scoz_arrive(&two, &b, 0, inserted, 3 * MS, &second);
	scoz_wait_hit(&two, &second, 0, d.booked, MS, inserted);
	assert_int_equal(scoz_debt(inserted, &two), MS); /* no more than it has waited */
	check_ledger(&one);
	check_ledger(&two);
}

/* Threads of the kernel ran there, and the core comes to rest as if it had idled. */
static void test_a_core_rests(void **state)
{
	struct scoz_core c = { .absorbed = 2 * MS, .excused = 2 * MS }; /* a task left at 5 ms */
	struct scoz_task t = { .absorbed = 9 * MS, .since = 9 * MS };

	(void)state;
	scoz_core_rests(&c, NULL, scoz_rested(&c, 2 * MS - 5 * MS, 9 * MS), 8 * MS, 9 * MS);
	assert_int_equal(c.absorbed, 6 * MS);
	scoz_core_rests(&c, NULL, scoz_rested(&c, 2 * MS - 5 * MS, 90 * MS), 8 * MS, 90 * MS);
	assert_int_equal(c.absorbed, 8 * MS);
	c = (struct scoz_core){
		.absorbed = 2 * MS, .excused = 2 * MS, .idle = 1, .idle_since = 8 * MS
	};
	scoz_core_rests(&c, NULL, scoz_rested(&c, 2 * MS - 5 * MS, 9 * MS), 8 * MS, 9 * MS);
	assert_int_equal(scoz_rested(&c, -100 * MS, 9 * MS), c.absorbed + MS); /* it idles */
	scoz_switch_in(&c, &t, 8 * MS, 9 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(c.absorbed, 6 * MS);
	check_ledger(&c);
	/* stops that lasted too long had paid beforehand: the core's, the task's */
	c = (struct scoz_core){ .absorbed = 9 * MS, .excused = 9 * MS };
	scoz_core_rests(&c, NULL, scoz_rested(&c, 2 * MS - 5 * MS, 90 * MS), 8 * MS, 90 * MS);
	assert_int_equal(c.absorbed, 9 * MS);
	check_ledger(&c);
	c = (struct scoz_core){ .absorbed = 5 * MS, .excused = 5 * MS };
	t = (struct scoz_task){ .absorbed = 10 * MS, .since = 90 * MS };
	scoz_core_rests(&c, &t, scoz_rested(&c, 2 * MS - 5 * MS, 90 * MS), 8 * MS, 90 * MS);
	scoz_switch_in(&c, &t, 8 * MS, 90 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(c.absorbed, 10 * MS);
	check_ledger(&c);
}

/* Who has paid beforehand has done so after a wait in the target, too, and after one for a device.
 */
static void test_what_was_paid_beforehand_stays(void **state)
{
	struct scoz_core c = { .idle = 1, .idle_since = MS };
	struct scoz_task t = { .absorbed = 5 * MS, .since = 9 * MS };
	struct scoz_device device = {};
	struct scoz_arrival a;

	(void)state;
	scoz_arrive(&c, &t, 0, 0, 20 * MS, &a);
	assert_int_equal(c.absorbed, 5 * MS);
	scoz_wait_hit(&c, &a, 3 * MS, 0, 3 * MS, 3 * MS);
	assert_int_equal(c.absorbed, 8 * MS);
	assert_int_equal(c.alone, 0);
	check_ledger(&c);
	assert_int_equal(scoz_device_ends(&device, 5 * MS, MS, 2 * MS, 3 * MS), 5 * MS);
	assert_int_equal(scoz_device_ends(&device, 6 * MS, 9 * MS, 2 * MS, 10 * MS), 6 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_idle_core_owes_nothing),
		cmocka_unit_test(test_a_busy_core_owes_it),
		cmocka_unit_test(test_a_core_of_strangers_owes_nothing),
		cmocka_unit_test(test_accounts_that_have_grown),
		cmocka_unit_test(test_what_others_inserted_is_still_owed),
		cmocka_unit_test(test_no_more_than_was_idle),
		cmocka_unit_test(test_no_more_than_was_waited),
		cmocka_unit_test(test_a_device_serves_one_after_the_other),
		cmocka_unit_test(test_queueing_for_a_device_absorbs),
		cmocka_unit_test(test_one_commit_for_two),
		cmocka_unit_test(test_a_core_rests),
		cmocka_unit_test(test_what_was_paid_beforehand_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
