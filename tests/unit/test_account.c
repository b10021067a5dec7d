// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of lib/account/account.h, one by one, and the ledger under random histories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/busy_wait.h"
#include "base/base.h"

#define MS 1000000LL

static void check_ledger(const struct scoz_core *c)
{
	assert_int_equal(c->absorbed, c->own + c->stopped + c->excused + c->overhead);
}

static void test_hit_credits_the_core(void **state)
{
	struct scoz_core c = {};
	int64_t delay = 0;

	(void)state;
	delay += scoz_hit(&c, 1 * MS, SCOZ_SPEEDUP_ONE / 4);
	assert_int_equal(delay, MS / 4);
	assert_int_equal(scoz_debt(delay, &c), 0);
	delay += scoz_hit(&c, 3 * MS, SCOZ_SPEEDUP_ONE);
	assert_int_equal(delay, MS / 4 + 3 * MS);
	assert_int_equal(scoz_debt(delay, &c), 0);
	assert_int_equal(c.hits, 2);
	check_ledger(&c);
}

static void test_sampling_clock_excludes_stops(void **state)
{
	struct scoz_core c = {};

	(void)state;
	assert_int_equal(scoz_tick(&c, 10 * MS, 100 * MS), 0); /* nothing before the first tick */
	assert_int_equal(scoz_tick(&c, 11 * MS, 100 * MS), MS);
	scoz_stopped(&c, MS / 2, 1000 * MS, 0);
	assert_int_equal(scoz_tick(&c, 12 * MS, 100 * MS), MS / 2);
	assert_int_equal(scoz_tick(&c, 13 * MS, 100 * MS), MS);
	assert_int_equal(scoz_tick(&c, 33 * MS, 8 * MS), 8 * MS);
	assert_int_equal(c.clipped, 1);
	assert_int_equal(c.ticks, 5);
	scoz_idle_enter(&c, 0, 33 * MS + MS / 4); /* idle for 10 ms: a quarter before, half after */
	scoz_switch_in(&c, NULL, 0, 43 * MS + MS / 4, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_tick(&c, 43 * MS + 3 * MS / 4, 8 * MS), 3 * MS / 4);
	scoz_stopped(&c, 2 * MS, 1000 * MS, 0); /* longer than the clock says: never negative */
	assert_int_equal(scoz_tick(&c, 44 * MS, 8 * MS), 0);
	check_ledger(&c);
}

/* CPU time of the profiled tasks: no stops, no strangers, no idling. */
static void test_time_that_the_work_ran(void **state)
{
	struct scoz_task t = {};
	struct scoz_core c = {};

	(void)state;
	scoz_run_count(&c, &t, 10 * MS, 1); /* since when, nobody knows */
	assert_int_equal(c.ran, 0);
	scoz_run_count(&c, &t, 11 * MS, 1); /* a tick */
	assert_int_equal(c.ran, MS);
	scoz_stopped(&c, 2 * MS, 1000 * MS, 0);
	scoz_run_count(&c, &t, 14 * MS, 1); /* switched out */
	assert_int_equal(c.ran, 2 * MS);
	scoz_run_count(&c, &t, 19 * MS, 0); /* a stranger */
	assert_int_equal(c.ran, 2 * MS);
	scoz_run_begin(&c, 30 * MS);		/* idle until here */
	scoz_stopped(&c, 2 * MS, 1000 * MS, 0); /* longer than the clock says: never backwards */
	scoz_run_count(&c, &t, 31 * MS, 1);
	assert_int_equal(c.ran, 2 * MS);
	scoz_run_count(&c, &t, 31 * MS + MS / 2, 1);
	assert_int_equal(c.ran, 2 * MS + MS / 2);
	assert_int_equal(t.ran, 7 * MS + MS / 2); /* its own, whoever it is */
	check_ledger(&c);
}

/* T blocks, G grows by 5 ms in 20 ms. Woken by a task that has paid: T owes nothing. */
static void test_wake_by_task_absorbs(void **state)
{
	struct scoz_core waker = { .absorbed = 5 * MS, .stopped = 5 * MS }, c = {};
	struct scoz_task t = {};

	(void)state;
	scoz_switch_out(&c, &t, 0);
	scoz_idle_enter(&c, 0, 0);
	scoz_wake(&t, waker.absorbed, 20 * MS);
	assert_int_equal(t.absorbed, 5 * MS);
	scoz_switch_in(&c, &t, 5 * MS, 20 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(5 * MS, &c), 0);
	check_ledger(&c);
}

/* The waker still owes 2 of 5 ms: the wakee inherits them. */
static void test_wakee_inherits_debt(void **state)
{
	struct scoz_core waker = { .absorbed = 3 * MS }, c = {};
	struct scoz_task t = {};

	(void)state;
	scoz_switch_out(&c, &t, 0);
	scoz_idle_enter(&c, 0, 0);
	scoz_wake(&t, waker.absorbed, 20 * MS);
	scoz_switch_in(&c, &t, 5 * MS, 20 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(5 * MS, &c), 2 * MS);
	check_ledger(&c);
}

/* A wait shorter than what was inserted absorbs only its own length. */
static void test_wait_absorbs_at_most_its_length(void **state)
{
	struct scoz_task t = {};

	(void)state;
	t.since = 10 * MS;
	scoz_wake(&t, 5 * MS, 11 * MS);
	assert_int_equal(t.absorbed, MS);
}

static void test_external_wake_owes_everything(void **state)
{
	struct scoz_task t = {};
	struct scoz_core c = {};

	(void)state;
	scoz_switch_out(&c, &t, 0);
	scoz_idle_enter(&c, 0, 0);
	scoz_wake_external(&t, 20 * MS);
	scoz_switch_in(&c, &t, 5 * MS, 20 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(5 * MS, &c), 5 * MS);
	check_ledger(&c);
}

/* Submitted when 2 ms had been absorbed, waited for later: what counts is the submission. */
static void test_operation_counts_from_its_submission(void **state)
{
	struct scoz_task t = { .absorbed = 3 * MS, .since = 15 * MS };

	(void)state;
	scoz_wake(&t, 2 * MS, 20 * MS);
	assert_int_equal(t.absorbed, 2 * MS);
}

static void test_queueing_absorbs(void **state)
{
	struct scoz_core c = { .absorbed = 4 * MS, .stopped = 4 * MS };
	struct scoz_task t = { .absorbed = 1 * MS, .since = 10 * MS };

	(void)state;
	scoz_switch_in(&c, &t, 4 * MS, 12 * MS, SCOZ_MODEL_WAIT); /* queued 2 ms behind others */
	assert_int_equal(scoz_debt(4 * MS, &c), MS);
	check_ledger(&c);
}

/* An idle core takes its time to wake up, whatever others have inserted meanwhile. */
static void test_waking_up_does_not_absorb(void **state)
{
	struct scoz_core c = { .absorbed = 4 * MS, .stopped = 4 * MS };
	struct scoz_task t = { .absorbed = 1 * MS, .since = 10 * MS };

	(void)state;
	scoz_idle_enter(&c, 4 * MS, 9 * MS);
	scoz_switch_in(&c, &t, 4 * MS, 12 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(4 * MS, &c), 3 * MS);
	check_ledger(&c);
	/* it has queued elsewhere before the core was idle */
	scoz_switch_out(&c, &t, 12 * MS);
	scoz_idle_enter(&c, 4 * MS, 13 * MS);
	scoz_switch_in(&c, &t, 4 * MS, 14 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(4 * MS, &c), MS);
	check_ledger(&c);
	/* it fell asleep as the core became idle, and nobody has seen it wake up */
	scoz_idle_enter(&c, 4 * MS, 15 * MS);
	t = (struct scoz_task){ .absorbed = 1 * MS, .since = 15 * MS };
	scoz_switch_in(&c, &t, 4 * MS, 17 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(4 * MS, &c), MS);
	check_ledger(&c);
}

/* Idling absorbs too, but a task that comes with debt keeps it. */
static void test_idle_core_has_no_debt_of_its_own(void **state)
{
	struct scoz_core c = {};
	struct scoz_task t = { .absorbed = 9 * MS, .since = 100 * MS };

	(void)state;
	scoz_idle_enter(&c, 0, 0);
	scoz_switch_in(&c, &t, 9 * MS, 100 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(9 * MS, &c), 0);
	assert_int_equal(c.in_idle, 100 * MS);
	assert_false(c.idle);
	check_ledger(&c);
}

/*
 * The core spins for 20 ms; the one that held the lock has absorbed up to 9 ms, of which this one
 * owed 3 before. Of what G has beyond that it is not excused.
 */
static void test_spinning_absorbs(void **state)
{
	struct scoz_core c = { .absorbed = 1 * MS, .own = 1 * MS };

	(void)state;
	scoz_spin_enter(&c, 10 * MS);
	scoz_spin_leave(&c, 9 * MS, 0, 1000 * MS, 30 * MS);
	assert_int_equal(scoz_debt(11 * MS, &c), 2 * MS);
	assert_int_equal(c.excused, 8 * MS);
	assert_int_equal(c.spun, 20 * MS);
	check_ledger(&c);
	/* A wait absorbs at most its length. */
	scoz_spin_enter(&c, 40 * MS);
	scoz_spin_leave(&c, 19 * MS, 0, 1000 * MS, 43 * MS);
	assert_int_equal(scoz_debt(19 * MS, &c), 7 * MS);
	assert_int_equal(c.spins, 2);
	/* It never takes back. */
	scoz_spin_enter(&c, 50 * MS);
	scoz_spin_leave(&c, 5 * MS, 0, 1000 * MS, 60 * MS);
	assert_int_equal(c.absorbed, 12 * MS);
	check_ledger(&c);
}

/* What a tick found to be spinning absorbs, but no more than those at work have, nor than it took.
 */
static void test_spin_seen(void **state)
{
	struct scoz_core c = { .absorbed = 1 * MS, .own = 1 * MS, .alone = 2 * MS };

	(void)state;
	scoz_spin_seen(&c, 4 * MS, 3 * MS, 9 * MS);
	assert_int_equal(c.absorbed, 3 * MS);
	assert_int_equal(c.alone, 2 * MS); /* the core still owes as much of the rest */
	scoz_spin_seen(&c, 4 * MS, 9 * MS, 9 * MS);
	assert_int_equal(c.absorbed, 7 * MS);
	assert_int_equal(c.alone, 2 * MS);
	scoz_spin_seen(&c, 4 * MS, 9 * MS, 9 * MS);
	assert_int_equal(c.absorbed, 9 * MS);
	assert_int_equal(c.alone, 0);
	scoz_spin_seen(&c, 4 * MS, 5 * MS, 9 * MS);
	assert_int_equal(c.absorbed, 9 * MS);
	scoz_spin_seen(&c, 4 * MS, SCOZ_SPIN_NOBODY, 9 * MS); /* nobody is at work */
	assert_int_equal(c.absorbed, 9 * MS);
	scoz_spin_seen(&c, 4 * MS, 11 * MS, 9 * MS); /* they have paid beforehand */
	assert_int_equal(c.absorbed, 11 * MS);
	assert_int_equal(c.alone, 0);
	check_ledger(&c);
}

/* Waits of 10 ms, hits of 4 ms: two in one wait, three in the next. */
static void test_spin_room(void **state)
{
	struct scoz_core c = {};

	(void)state;
	scoz_spin_enter(&c, 0);
	scoz_spin_leave(&c, 8 * MS, 4 * MS, 1000 * MS, 10 * MS);
	assert_int_equal(c.absorbed, 8 * MS);
	scoz_spin_enter(&c, 20 * MS);
	scoz_spin_leave(&c, 20 * MS, 4 * MS, 1000 * MS, 30 * MS);
	assert_int_equal(c.absorbed, 20 * MS);
	scoz_spin_enter(&c, 40 * MS);
	scoz_spin_leave(&c, 32 * MS, 4 * MS, 1000 * MS, 50 * MS);
	assert_int_equal(c.absorbed, 30 * MS);
	/* Not more than a lump is left, and nothing where the holder was not known. */
	for (int lump = 4; lump >= 0; lump -= 4) {
		scoz_spin_enter(&c, 100 * MS);
		scoz_spin_leave(&c, 0, 4 * MS, 1000 * MS, 200 * MS);
		scoz_spin_enter(&c, 200 * MS);
		scoz_spin_leave(&c, 1000 * MS, lump * MS, 1000 * MS, 201 * MS);
		assert_int_equal(c.absorbed, (lump ? 35 : 36) * MS);
	}
	check_ledger(&c);
}

static void test_spins_nest(void **state)
{
	struct scoz_core c = {};

	(void)state;
	scoz_spin_enter(&c, 10 * MS);
	scoz_spin_enter(&c, 12 * MS); /* in an interrupt on top */
	scoz_spin_leave(&c, 5 * MS, 0, 1000 * MS, 13 * MS);
	assert_int_equal(c.spinning, 1);
	assert_int_equal(c.absorbed, 0);
	scoz_spin_leave(&c, 5 * MS, 0, 1000 * MS, 14 * MS);
	assert_int_equal(c.absorbed, 4 * MS);
	/* An end without beginning (hooks put in meanwhile), a stop that overshot, a clock step. */
	scoz_spin_leave(&c, 5 * MS, 0, 1000 * MS, 15 * MS);
	assert_int_equal(c.absorbed, 4 * MS);
	scoz_spin_enter(&c, 20 * MS);
	scoz_spin_leave(&c, 3 * MS, 0, 1000 * MS, 21 * MS);
	assert_int_equal(c.absorbed, 4 * MS);
	scoz_spin_enter(&c, 30 * MS);
	scoz_spin_leave(&c, 9 * MS, 0, 1000 * MS, 29 * MS);
	assert_int_equal(c.absorbed, 4 * MS);
	check_ledger(&c);
}

/* Half of the time stopped: twice the ticks for each unit of work, and the credit for one of two.
 */
static void test_cost_of_looking(void **state)
{
	struct scoz_core c = {};

	(void)state;
	for (int i = 1; i <= 100; i++) {
		uint64_t w = scoz_tick(&c, i * MS, 100 * MS);

		scoz_tick_cost(&c, w, 20000, MS);
		scoz_stopped(&c, MS / 2, 1000 * MS, 0);
	}
	assert_in_range(c.overhead, 99 * 10000, 99 * 10000 + 20000);
	check_ledger(&c);
	c.overhead = 0;
	scoz_tick_cost(&c, 2 * MS, 20000, MS); /* one tick for two periods: one too few */
	assert_int_equal(c.overhead, -20000);
	c.overhead = 0;
	scoz_stopped(&c, 10 * MS, 1000 * MS, 65536 / 50);
	assert_in_range(c.overhead, 199000, 200000);
	c.overhead = 0;
	scoz_tick_cost(&c, MS / 2, 20000, 0); /* nobody samples */
	scoz_tick_cost(&c, MS / 2, 0, MS);
	assert_int_equal(c.overhead, 0);
}

static void test_core_model(void **state)
{
	struct scoz_core c = {}, waker = { .absorbed = 8 * MS };

	(void)state;
	/* owes 1 ms when it falls idle; woken by a core that owes 2: 3 afterwards */
	scoz_idle_enter(&c, 1 * MS, 0);
	scoz_core_woken(&c, &waker, 10 * MS);
	assert_int_equal(waker.shared, 2 * MS);
	scoz_switch_in(&c, NULL, 10 * MS, 50 * MS, SCOZ_MODEL_CORE);
	assert_int_equal(scoz_debt(10 * MS, &c), 3 * MS);
	check_ledger(&c);
	/* woken by a device: pays all that accrued, but the waker has paid its 2 ms by now */
	scoz_idle_enter(&c, 10 * MS, 60 * MS);
	scoz_switch_in(&c, NULL, 15 * MS, 70 * MS, SCOZ_MODEL_CORE);
	assert_int_equal(scoz_debt(15 * MS, &c), 6 * MS);
	check_ledger(&c);
	/* a flag from an earlier sleep does not count */
	scoz_core_woken(&c, NULL, 15 * MS);
	scoz_idle_enter(&c, 15 * MS, 80 * MS);
	scoz_switch_in(&c, NULL, 16 * MS, 90 * MS, SCOZ_MODEL_CORE);
	assert_int_equal(scoz_debt(16 * MS, &c), 7 * MS);
	/* the profiler owes nothing */
	scoz_idle_enter(&c, 16 * MS, 100 * MS);
	scoz_core_woken(&c, NULL, 20 * MS);
	scoz_switch_in(&c, NULL, 20 * MS, 110 * MS, SCOZ_MODEL_CORE);
	assert_int_equal(scoz_debt(20 * MS, &c), 7 * MS);
	check_ledger(&c);
}

/* What a waker shares passes as it idles, and is not paid again. */
static void test_core_model_shared_debt_passes(void **state)
{
	struct scoz_core c = {}, waker = { .absorbed = 8 * MS, .own = 8 * MS };

	(void)state;
	scoz_idle_enter(&c, 10 * MS, 0);
	scoz_core_woken(&c, &waker, 10 * MS);
	scoz_idle_enter(&waker, 10 * MS, 60 * MS);
	scoz_switch_in(&waker, NULL, 10 * MS, 61 * MS, SCOZ_MODEL_CORE);
	assert_int_equal(scoz_debt(10 * MS, &waker), MS);
	assert_int_equal(waker.shared, MS);
	check_ledger(&waker);
	scoz_idle_enter(&waker, 10 * MS, 62 * MS);
	scoz_switch_in(&waker, NULL, 10 * MS, 70 * MS, SCOZ_MODEL_CORE);
	assert_int_equal(scoz_debt(10 * MS, &waker), 0);
	check_ledger(&waker);
	/* ... and as it is paid */
	waker.shared = 3 * MS;
	scoz_stopped(&waker, 2 * MS, 20 * MS, 0);
	assert_int_equal(waker.shared, MS);
	scoz_stopped(&waker, 2 * MS, 20 * MS, 0);
	assert_int_equal(waker.shared, 0);
}

/* Two cores wake each other again and again, and neither comes to pay. */
static void test_core_model_debts_do_not_add_up(void **state)
{
	struct scoz_core c[2] = {};
	int64_t delay = 10 * MS;
	uint64_t now = MS;

	(void)state;
	scoz_idle_enter(&c[0], delay, now);
	for (int i = 0; i < 400; i++) {
		struct scoz_core *sleeper = &c[i & 1], *waker = &c[!(i & 1)];

		now += 10000;
		scoz_core_woken(sleeper, waker, delay);
		scoz_switch_in(sleeper, NULL, delay, now, SCOZ_MODEL_CORE);
		scoz_idle_enter(waker, delay, now + 5000);
		for (int k = 0; k < 2; k++) {
			check_ledger(&c[k]);
			assert_in_range(scoz_debt(delay, &c[k]), 0, 2 * delay);
		}
	}
}

static void test_unprofiled_core_owes_nothing(void **state)
{
	struct scoz_core c = { .alone = 2 * MS };

	(void)state;
	scoz_core_follow(&c, 7 * MS);
	assert_int_equal(scoz_debt(7 * MS, &c), 0);
	assert_int_equal(scoz_common_debt(7 * MS, &c), 0);
	check_ledger(&c);
}

/* Greedy stopping: no stretch of 100 ms holds more than the share allows. */
static void test_share_is_bounded(void **state)
{
	static int64_t stopped_until[200000];
	const int64_t burst = 9 * MS, step = 10000;
	struct scoz_core c = {};
	int64_t now = MS, total = 0;
	int i = 0;

	(void)state;
	while (now < 1000 * MS) {
		int64_t room = scoz_share_room(&c, now, 89, burst);
		int64_t stop = room > 2 * MS ? 2 * MS : room;

		scoz_share_stopped(&c, stop, now + stop);
		for (int64_t t = 0; t < stop; t += step, i++)
			stopped_until[i] = total += step;
		now += stop;
		for (int64_t t = 0; t < 5 * step; t += step, i++) /* 50 us between the stops */
			stopped_until[i] = total;
		now += 5 * step;
	}
	for (int j = 0; j + 10000 < i; j++)
		assert_true(stopped_until[j + 10000] - stopped_until[j] <= 90 * MS + MS);
	assert_true(total > 800 * MS * 85 / 100);		       /* and it is used */
	assert_int_equal(scoz_share_room(&c, now, 100, burst), burst); /* without a limit */
}

/* Nobody stops for more than so many times what was inserted, but for the beginning. */
static void test_paid_room(void **state)
{
	struct scoz_core c = { .stopped = 50 * MS };

	(void)state;
	assert_int_equal(scoz_paid_room(&c, 0), SCOZ_PAID_AT_ONCE - 50 * MS);
	assert_int_equal(scoz_paid_room(&c, 10 * MS),
			 SCOZ_TIMES_PAID * 10 * MS + SCOZ_PAID_AT_ONCE - 50 * MS);
}

/* A host that had the core when its stop was over has it pay beforehand, wherever the task goes. */
static void test_a_stop_that_lasted_too_long(void **state)
{
	struct scoz_core c = { .absorbed = 10 * MS, .stopped = 10 * MS };
	struct scoz_core other = { .idle = 1, .absorbed = 12 * MS, .stopped = 12 * MS };
	struct scoz_task t = {};

	(void)state;
	scoz_stopped(&c, 8 * MS, 12 * MS, 0);
	assert_int_equal(scoz_debt(12 * MS, &c), -6 * MS);
	check_ledger(&c);
	scoz_switch_out(&c, &t, 100 * MS);
	scoz_idle_enter(&c, 12 * MS, 100 * MS);
	scoz_switch_in(&c, &t, 16 * MS, 101 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(16 * MS, &c), -2 * MS);
	check_ledger(&c);
	/* ... if that core has rested for as long */
	scoz_switch_out(&c, &t, 101 * MS);
	other.idle_since = 100 * MS;
	scoz_switch_in(&other, &t, 16 * MS, 105 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(16 * MS, &other), -MS);
	check_ledger(&other);
}

/* Whoever was away for a second was not stopped in that second. */
static void test_a_core_that_was_away(void **state)
{
	struct scoz_core c = {};

	(void)state;
	scoz_stopped(&c, 1000 * MS, MS, 0);
	assert_int_equal(scoz_debt(MS, &c), -SCOZ_MOST_AHEAD);
	assert_int_equal(c.stopped, 1000 * MS);
	check_ledger(&c);
}

/* What a sleeper brings along is its own: the core had paid, and owes nothing when it has gone. */
static void test_core_has_its_own_account(void **state)
{
	struct scoz_core c = { .absorbed = 10 * MS, .stopped = 10 * MS };
	struct scoz_task sleeper = { .absorbed = 2 * MS, .since = 100 * MS }, next = {};
	const int64_t delay = 12 * MS;

	(void)state;
	scoz_switch_in(&c, &sleeper, delay, 100 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(delay, &c), 10 * MS);
	assert_int_equal(scoz_common_debt(delay, &c), 2 * MS);
	scoz_stopped(&c, 3 * MS, delay, 0); /* 2 of them for the core as well */
	assert_int_equal(scoz_debt(delay, &c), 7 * MS);
	assert_int_equal(scoz_common_debt(delay, &c), 0);
	scoz_switch_out(&c, &sleeper, 103 * MS);
	assert_int_equal(sleeper.absorbed, 5 * MS);
	assert_int_equal(scoz_debt(delay, &c), 0);
	check_ledger(&c);
	/* who has waited for the core meanwhile */
	next = (struct scoz_task){ .absorbed = 10 * MS, .since = 100 * MS };
	scoz_switch_in(&c, &next, delay, 103 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_debt(delay, &c), 0);
	assert_int_equal(c.alone, 0);
	check_ledger(&c);
	/* its own hit saves time for both */
	sleeper.since = 104 * MS;
	scoz_switch_out(&c, NULL, 104 * MS);
	scoz_switch_in(&c, &sleeper, delay, 104 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(scoz_hit(&c, MS, SCOZ_SPEEDUP_ONE), MS);
	assert_int_equal(scoz_common_debt(delay + MS, &c), 0);
	assert_int_equal(scoz_debt(delay + MS, &c), 7 * MS);
	check_ledger(&c);
}

/* Nobody's account gets ahead of G because some of it was waived. */
static void test_waiver_takes_off_the_cores_account(void **state)
{
	struct scoz_core c = { .absorbed = 10 * MS, .stopped = 10 * MS };
	struct scoz_task sleeper = { .absorbed = 2 * MS, .since = 100 * MS };

	(void)state;
	scoz_switch_in(&c, &sleeper, 12 * MS, 100 * MS, SCOZ_MODEL_WAIT);
	assert_int_equal(c.alone, 8 * MS);
	scoz_look(&c, 12 * MS, 0);
	assert_int_equal(c.alone, 8 * MS);
	scoz_look(&c, 8 * MS, 4 * MS);
	assert_int_equal(c.alone, 6 * MS);
	assert_int_equal(scoz_common_debt(8 * MS, &c), 0);
	check_ledger(&c);
}

/* Nobody waits for who sleeps, looks at something and sleeps again. */
static void test_sinks(void **state)
{
	struct scoz_task t = {};
	uint64_t now = 0;

	(void)state;
	for (int i = 0; i < 2 * SCOZ_SINK_WAITS; i++) {
		t.since = now;
		now += 20 * MS;
		scoz_external_wait(&t, now);
		assert_int_equal(scoz_is_sink(&t), i >= SCOZ_SINK_WAITS);
		t.ran += MS / 2;
	}
	scoz_noticed(&t);
	assert_false(scoz_is_sink(&t));
	for (int i = 0; i < 2 * SCOZ_SINK_WAITS; i++) {
		t.since = now;
		now += 20 * MS;
		scoz_external_wait(&t, now);
		t.ran += 2 * MS; /* it has work to do */
	}
	assert_false(scoz_is_sink(&t));
}

/* Random histories of two cores and five tasks: the ledger stays exact, nobody gets ahead of G. */
static void test_random_histories(void **state)
{
	uint64_t r = 88172645463325252ULL;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct scoz_core c[2] = {};
		struct scoz_task t[5] = {};
		int running[2] = { 0, 1 }, blocked[5] = { 0, 0, 1, 1, 1 };
		uint64_t now = 1;
		int64_t delay = 0;

		for (int step = 0; step < 500; step++) {
			int k, core;

			r ^= r << 13, r ^= r >> 7, r ^= r << 17;
			now += r % (2 * MS);
			core = r >> 20 & 1;
			switch (r >> 24 & 3) {
			case 0: /* tick: hit or pay */
				if (running[core] < 0)
					break;
				if (r >> 28 & 1)
					delay +=
						scoz_hit(&c[core], scoz_tick(&c[core], now, 8 * MS),
							 SCOZ_SPEEDUP_ONE);
				else if (scoz_debt(delay, &c[core]) > 0) {
					now += scoz_debt(delay, &c[core]);
					scoz_stopped(&c[core], scoz_debt(delay, &c[core]), delay,
						     0);
				}
				break;
			case 1: /* block */
				if (running[core] < 0)
					break;
				scoz_switch_out(&c[core], &t[running[core]], now);
				blocked[running[core]] = 1;
				running[core] = -1;
				scoz_idle_enter(&c[core], delay, now);
				break;
			default: /* wake and run */
				k = (r >> 32) % 5;
				if (running[core] >= 0 || !blocked[k])
					break;
				if (r >> 40 & 1)
					scoz_wake_external(&t[k], now);
				else
					scoz_wake(&t[k], c[!core].absorbed, now);
				blocked[k] = 0;
				running[core] = k;
				scoz_switch_in(&c[core], &t[k], delay, now, SCOZ_MODEL_WAIT);
				break;
			}
			check_ledger(&c[0]);
			check_ledger(&c[1]);
			assert_true(c[core].alone >= 0);
			assert_true(c[core].absorbed + c[core].alone <= delay);
		}
		assert_int_equal(c[0].own + c[1].own, delay);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hit_credits_the_core),
		cmocka_unit_test(test_sampling_clock_excludes_stops),
		cmocka_unit_test(test_time_that_the_work_ran),
		cmocka_unit_test(test_wake_by_task_absorbs),
		cmocka_unit_test(test_wakee_inherits_debt),
		cmocka_unit_test(test_wait_absorbs_at_most_its_length),
		cmocka_unit_test(test_external_wake_owes_everything),
		cmocka_unit_test(test_operation_counts_from_its_submission),
		cmocka_unit_test(test_queueing_absorbs),
		cmocka_unit_test(test_idle_core_has_no_debt_of_its_own),
		cmocka_unit_test(test_spinning_absorbs),
		cmocka_unit_test(test_spin_seen),
		cmocka_unit_test(test_spins_nest),
		cmocka_unit_test(test_spin_room),
		cmocka_unit_test(test_cost_of_looking),
		cmocka_unit_test(test_core_model),
		cmocka_unit_test(test_core_model_shared_debt_passes),
		cmocka_unit_test(test_core_model_debts_do_not_add_up),
		cmocka_unit_test(test_core_has_its_own_account),
		cmocka_unit_test(test_waiver_takes_off_the_cores_account),
		cmocka_unit_test(test_a_stop_that_lasted_too_long),
		cmocka_unit_test(test_a_core_that_was_away),
		cmocka_unit_test(test_waking_up_does_not_absorb),
		cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_unprofiled_core_owes_nothing),
		cmocka_unit_test(test_share_is_bounded),
		cmocka_unit_test(test_paid_room),
		cmocka_unit_test(test_random_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
