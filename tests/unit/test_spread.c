// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of lib/account/spread.h, one by one, and that nothing is lost in the long run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/spread.h"
#include "base/base.h"

#define US     1000ULL
#define PERIOD (1000 * US)

/* From @at on @run ns, then @ends the stretch, asleep for as long: what is inserted of it. */
static uint64_t turn(struct scoz_spread *s, struct scoz_core *c, uint64_t *now, uint64_t run,
		     bool ends)
{
	uint64_t r;

	scoz_spread_in(s, c, *now);
	*now += run;
	r = scoz_spread_release(s, c, ends, PERIOD, *now);
	*now += run;
	return r;
}

static void test_hits_are_spread(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD, first, second, sum;

	(void)state;
	for (int i = 0; i < 100; i++) /* what such stretches usually run for becomes known */
		assert_int_equal(turn(&s, &c, &now, 100 * US, true), 0);
	scoz_spread_hit(&s, PERIOD, 0);
	first = turn(&s, &c, &now, 100 * US, true);
	second = turn(&s, &c, &now, 100 * US, true);
	/* 100 us of 8 periods less 4 times 100 us */
	assert_in_range(first, 13 * US, 13200);
	assert_true(second < first);
	sum = first + second;
	for (int i = 0; i < 1000; i++)
		sum += turn(&s, &c, &now, 100 * US, true);
	assert_in_range(sum, PERIOD - 100, PERIOD);
}

static void test_long_stretches_insert_at_once(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	for (int i = 0; i < 100; i++)
		turn(&s, &c, &now, 3 * PERIOD, true);
	scoz_spread_hit(&s, PERIOD, 0);
	assert_int_equal(turn(&s, &c, &now, 10 * US, false), PERIOD);
	assert_int_equal(turn(&s, &c, &now, 10 * US, true), 0);
}

/* One that becomes long: at once from then on, though others of its kind were short. */
static void test_a_stretch_that_goes_on(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_hit(&s, PERIOD, 0);
	assert_true(turn(&s, &c, &now, PERIOD, false) < PERIOD / 7);
	turn(&s, &c, &now, 20 * PERIOD, false);
	scoz_spread_hit(&s, PERIOD, 0);
	assert_int_equal(turn(&s, &c, &now, 10 * US, false), PERIOD);
}

static void test_stops_are_no_running(void **state)
{
	struct scoz_spread s = {}, t = {};
	struct scoz_core c = {}, d = {};

	(void)state;
	scoz_spread_hit(&s, PERIOD, 0);
	scoz_spread_hit(&t, PERIOD, 0);
	scoz_spread_in(&s, &c, PERIOD);
	scoz_spread_in(&t, &d, PERIOD);
	d.stopped = 5 * PERIOD;
	assert_int_equal(scoz_spread_release(&s, &c, 0, PERIOD, 2 * PERIOD),
			 scoz_spread_release(&t, &d, 0, PERIOD, 7 * PERIOD));
	/* A clock that steps back inserts nothing. */
	assert_int_equal(scoz_spread_release(&s, &c, 0, PERIOD, PERIOD), 0);
}

static void test_kinds_are_apart(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_woken(&s, 0);
	scoz_spread_hit(&s, PERIOD, 0); /* before it wakes anybody */
	scoz_spread_wakes(&s);
	assert_int_equal(turn(&s, &c, &now, PERIOD, true), 0);
	scoz_spread_woken(&s, 1);
	assert_int_equal(turn(&s, &c, &now, PERIOD, true), 0);
	scoz_spread_woken(&s, 0);
	assert_true(turn(&s, &c, &now, PERIOD, true) > 0);
	/* There are as many as there is room for. */
	scoz_spread_woken(&s, 1);
	for (int i = 0; i < 10; i++)
		scoz_spread_wakes(&s);
	assert_int_equal(scoz_spread_kind(&s), SCOZ_SPREAD_KINDS - 1);
	scoz_spread_woken(&s, 0);
	for (int i = 0; i < 10; i++)
		scoz_spread_wakes(&s);
	assert_int_equal(scoz_spread_kind(&s), SCOZ_SPREAD_WAKES);
}

static void test_spinning_inserts_at_once(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_spins(&s, now);
	scoz_spread_hit(&s, PERIOD, 0);
	assert_int_equal(turn(&s, &c, &now, 10 * US, true), PERIOD);
	now += 2 * SCOZ_SPREAD_SPUN_FOR;
	scoz_spread_hit(&s, PERIOD, 0);
	assert_true(turn(&s, &c, &now, 10 * US, true) < PERIOD / 100);
}

static void test_another_target_begins_anew(void **state)
{
	struct scoz_spread s = {};

	(void)state;
	scoz_spread_hit(&s, PERIOD, 1);
	scoz_spread_hit(&s, PERIOD, 1);
	assert_int_equal(s.held[0], 2 * PERIOD);
	scoz_spread_woken(&s, 1);
	scoz_spread_hit(&s, PERIOD, 2);
	assert_int_equal(s.held[0], 0);
	assert_int_equal(s.held[SCOZ_SPREAD_EXTERNAL], PERIOD);
}

static void test_exits_and_overflows(void **state)
{
	struct scoz_spread s = {};

	(void)state;
	scoz_spread_hit(&s, PERIOD, 0);
	scoz_spread_wakes(&s);
	scoz_spread_hit(&s, PERIOD, 0);
	assert_int_equal(scoz_spread_flush(&s), 2 * PERIOD);
	assert_int_equal(scoz_spread_flush(&s), 0);
	for (int i = 0; i < 100; i++)
		scoz_spread_hit(&s, SCOZ_MAX_WEIGHT, 0);
	assert_int_equal(scoz_spread_flush(&s), ~0U);
}

static void test_insert_credits_the_core(void **state)
{
	struct scoz_core c = {};

	(void)state;
	assert_int_equal(scoz_spread_insert(&c, 4 * US, SCOZ_SPEEDUP_ONE / 4), US);
	assert_int_equal(c.absorbed, US);
	assert_int_equal(c.own, US);
	assert_int_equal(c.hits, 0);
}

/* Who looks sees what a release would insert, however often, and leaves it there. */
static void test_looking_changes_nothing(void **state)
{
	(void)state;
	for (uint64_t run = 0; run < 20 * PERIOD; run += 77 * US) {
		struct scoz_spread s = { .usual = { 300 * US } }, before;
		struct scoz_core c = { .stopped = 50 * US };

		scoz_spread_in(&s, &c, PERIOD);
		scoz_spread_hit(&s, 3 * PERIOD, 0);
		c.stopped += 20 * US;
		before = s;
		for (int i = 0; i < 3; i++)
			scoz_spread_due(&s, &c, PERIOD, PERIOD + run / 2);
		assert_memory_equal(&s, &before, sizeof(s));
		assert_int_equal(scoz_spread_due(&before, &c, PERIOD, PERIOD + run),
				 scoz_spread_release(&s, &c, 0, PERIOD, PERIOD + run));
		assert_true(run < 100 * US || s.held[0] < 3 * PERIOD);
	}
}

/* Turns of random length, some of them in the target, ticks each period: as much as was hit. */
static void test_nothing_is_lost(void **state)
{
	uint64_t rng = 7;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct scoz_spread s = {};
		struct scoz_core c = {};
		uint64_t now = 1000 * PERIOD, tick = now, hit = 0, inserted = 0;

		for (int i = 0; i < 5000; i++) {
			uint64_t left = 1 + (rng = rng * 6364136223846793005ULL + 1) % (3 * PERIOD);

			scoz_spread_woken(&s, rng >> 40 & 1);
			scoz_spread_in(&s, &c, now);
			while (now + left > tick) {
				left -= tick - now;
				now = tick;
				tick += PERIOD;
				if (rng >> 41 & 1) {
					scoz_spread_hit(&s, PERIOD, 0);
					hit += PERIOD;
				}
				inserted += scoz_spread_release(&s, &c, 0, PERIOD, now);
			}
			now += left;
			inserted += scoz_spread_release(&s, &c, 1, PERIOD, now);
		}
		assert_true(inserted <= hit);
		assert_int_equal(inserted + scoz_spread_flush(&s), hit);
	}
}

/*
 * A busy stretch of 1.2 periods after idling, ticks each period of wall time: each part of it is
 * credited with what it runs for, the first as well as the last.
 */
static void test_ticks_after_idling(void **state)
{
	struct scoz_core c = {};
	struct scoz_clock k = {};
	uint64_t begin = 1000 * PERIOD, tick = begin, early = 0, late = 0;
	const uint64_t busy = 1200 * US, rest = 1337 * US;
	const int n = 20000;

	(void)state;
	for (int i = 0; i < n; i++, begin += busy + rest) {
		scoz_clock_busy(&k, &c, begin);
		c.in_idle += rest;
		for (; tick < begin + busy; tick += PERIOD) {
			uint64_t weight;

			if (tick < begin)
				continue;
			weight = scoz_tick(&c, tick, SCOZ_MAX_WEIGHT);
			weight = scoz_clock_tick(&k, &c, weight, PERIOD, tick);
			*(tick < begin + busy / 2 ? &early : &late) += weight;
		}
	}
	assert_in_range(early / n, busy / 2 * 97 / 100, busy / 2 * 103 / 100);
	assert_in_range(late / n, busy / 2 * 97 / 100, busy / 2 * 103 / 100);
}

static void test_lost_ticks_after_idling(void **state)
{
	struct scoz_core c = { .stopped = 7 * PERIOD };
	struct scoz_clock k = {};

	(void)state;
	scoz_clock_busy(&k, &c, 10 * PERIOD);
	c.stopped += PERIOD;
	assert_int_equal(scoz_clock_tick(&k, &c, 0, PERIOD, 15 * PERIOD), 4 * PERIOD);
	assert_int_equal(scoz_clock_tick(&k, &c, 123, PERIOD, 16 * PERIOD), 123);
	scoz_clock_busy(&k, &c, 20 * PERIOD);
	assert_int_equal(scoz_clock_tick(&k, &c, 0, PERIOD, 9000 * PERIOD), SCOZ_MAX_WEIGHT);
}

/* Begin and end are seen: what has run inside, stops left out, and nothing of what was held. */
static void test_seen_targets(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_target(&s, 1);
	scoz_spread_in(&s, &c, now);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 70 * US), 0);
	s.inside = 1;
	c.stopped += 20 * US;
	assert_int_equal(scoz_spread_seen(&s, &c, now += 50 * US), 30 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now), 0);
	c.stopped += 20 * US; /* that began before: no running is owed for it */
	assert_int_equal(scoz_spread_seen(&s, &c, now += 10 * US), 0);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 2 * SCOZ_MAX_WEIGHT), SCOZ_MAX_WEIGHT);
	scoz_spread_in(&s, &c, now += 1000 * US); /* it slept */
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 5 * US);
	scoz_spread_target(&s, 1);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 5 * US);
	scoz_spread_target(&s, 2); /* where it was is of no interest to another one */
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 0);
}

/* What the kernel spins for is no running, whatever looks meanwhile. */
static void test_seen_targets_that_spin(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_in(&s, &c, now);
	s.inside = 1;
	scoz_spin_enter(&c, now += 10 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 30 * US), 10 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 20 * US), 0);
	scoz_spin_leave(&c, 0, 0, 0, now += 5 * US);
	assert_int_equal(scoz_spread_seen_due(&s, &c, now + 7 * US), 7 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 7 * US), 7 * US);
	scoz_spin_enter(&c, now);
	scoz_spin_leave(&c, 0, 0, 0, now += 40 * US);
	c.stopped += 3 * US;
	assert_int_equal(scoz_spread_seen(&s, &c, now += 10 * US), 7 * US);
	scoz_spin_enter(&c, now);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 10 * US), 0);
	c.spinning = 0; /* its end was missed: at the next switch it is over */
	assert_int_equal(scoz_spread_seen(&s, &c, now += 10 * US), 10 * US);
}

/* Probes tell when a function is entered and left; releases come whenever they come. */
static void test_seen_functions(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_in(&s, &c, now);
	scoz_spread_enters(&s, &c, now += 10 * US);
	scoz_spread_leaves(&s, &c, now += 20 * US);
	scoz_spread_enters(&s, &c, now += 5 * US);
	assert_int_equal(scoz_spread_seen_due(&s, &c, now + 3 * US), 23 * US);
	c.stopped += 4 * US; /* in the second call */
	assert_int_equal(scoz_spread_seen(&s, &c, now += 7 * US), 23 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now), 0);
	scoz_spread_enters(&s, &c, now += 6 * US); /* it calls itself */
	scoz_spread_leaves(&s, &c, now += 1 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 1 * US), 8 * US);
	scoz_spread_in(&s, &c, now += 500 * US); /* it slept in there */
	scoz_spread_leaves(&s, &c, now += 2 * US);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 50 * US), 2 * US);
	scoz_spread_leaves(&s, &c, now); /* of a call before the probes were there */
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 0);
	scoz_spread_enters(&s, &c, now);
	scoz_spread_target(&s, 2);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 0);
	scoz_spread_leaves(&s, &c, now);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 0);
	scoz_spread_enters(&s, &c, now);
	scoz_spread_leaves(&s, &c, now += 5 * US);
	scoz_spread_target(&s, 3); /* nor what calls of the last one have run */
	assert_int_equal(scoz_spread_seen(&s, &c, now), 0);
}

/* How long before it falls asleep it has been in the target: what it started then is the target. */
static void test_since_when_it_is_inside(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_target(&s, 1);
	scoz_spread_in(&s, &c, now);
	assert_int_equal(scoz_spread_inside_for(&s, 1, now), 0);
	scoz_spread_enters(&s, &c, now += 10 * US);
	scoz_spread_enters(&s, &c, now += 3 * US);
	scoz_spread_leaves(&s, &c, now += 1 * US);
	assert_int_equal(scoz_spread_inside_for(&s, 1, now += 2 * US), 6 * US);
	assert_int_equal(scoz_spread_inside_for(&s, 2, now), 0);
	scoz_spread_seen(&s, &c, now += 4 * US); /* releases do not matter, nor does sleeping */
	scoz_spread_in(&s, &c, now += 100 * US);
	assert_int_equal(scoz_spread_inside_for(&s, 1, now), 110 * US);
	scoz_spread_leaves(&s, &c, now);
	assert_int_equal(scoz_spread_inside_for(&s, 1, now), 0);
	scoz_spread_is_inside(&s, 1, now);
	scoz_spread_is_inside(&s, 1, now += 5 * US); /* said again */
	assert_int_equal(scoz_spread_inside_for(&s, 1, now), 5 * US);
	assert_int_equal(scoz_spread_inside_for(&s, 1, now - 6 * US), 0);
}

/* Calls may end otherwise, or have begun before: samples that say so again and again are right. */
static void test_seen_functions_in_doubt(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_in(&s, &c, now);
	scoz_spread_enters(&s, &c, now);
	assert_true(scoz_spread_agrees(&s, 1));
	for (int i = 1; i < SCOZ_SPREAD_DOUBTS; i++)
		assert_false(scoz_spread_agrees(&s, 0));
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 5 * US);
	scoz_spread_enters(&s, &c, now); /* then a probe: they were wrong */
	scoz_spread_leaves(&s, &c, now);
	for (int i = 0; i < SCOZ_SPREAD_DOUBTS; i++)
		assert_false(scoz_spread_agrees(&s, 0));
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 0);
	assert_true(scoz_spread_agrees(&s, 0));
	for (int i = 0; i < SCOZ_SPREAD_DOUBTS; i++)
		assert_false(scoz_spread_agrees(&s, 1));
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 5 * US);
	scoz_spread_leaves(&s, &c, now);
	assert_int_equal(scoz_spread_seen(&s, &c, now += 5 * US), 0);
}

/* Only samples in a row that say the same count, of one target. */
static void test_doubts_begin_anew(void **state)
{
	struct scoz_spread s = {};
	struct scoz_core c = {};
	uint64_t now = 1000 * PERIOD;

	(void)state;
	scoz_spread_in(&s, &c, now);
	scoz_spread_enters(&s, &c, now);
	for (int round = 0; round < 4; round++) {
		for (int i = 1; i < SCOZ_SPREAD_DOUBTS; i++)
			assert_false(scoz_spread_agrees(&s, 0));
		assert_int_equal(s.inside, 1);
		if (round == 1)
			scoz_spread_leaves(&s, &c, now); /* what it has called */
		else if (round == 2)
			assert_true(scoz_spread_agrees(&s, 1));
		else
			scoz_spread_enters(&s, &c, now);
	}
	for (int i = 1; i < SCOZ_SPREAD_DOUBTS; i++)
		assert_false(scoz_spread_agrees(&s, 0));
	scoz_spread_target(&s, 2);
	assert_false(scoz_spread_agrees(&s, 1));
	assert_int_equal(s.inside, 0);
	for (int i = 1; i < SCOZ_SPREAD_DOUBTS; i++)
		assert_false(scoz_spread_agrees(&s, 1));
	assert_int_equal(s.inside, 1);
	/* They were right: one that says otherwise is the first of its kind. */
	assert_false(scoz_spread_agrees(&s, 0));
	assert_int_equal(s.inside, 1);
}

/* Many small releases that are lost are few samples. */
static void test_clipped(void **state)
{
	__u64 left = 0, n = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		n += scoz_spread_clipped(&left, PERIOD / 10 + 1, PERIOD);
	assert_int_equal(n, 10);
	assert_int_equal(left, 100);
	assert_int_equal(scoz_spread_clipped(&left, 3 * PERIOD, PERIOD), 3);
	assert_int_equal(left, 100);
	assert_int_equal(scoz_spread_clipped(&left, 1, 0), 0);
	/* Fifty samples a second: what is lost is a fifth of a window before it is one of them. */
	left = 0;
	assert_int_equal(scoz_spread_clipped(&left, 19500 * US, 20000 * US), 19);
	assert_int_equal(left, 500 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits_are_spread),
		cmocka_unit_test(test_long_stretches_insert_at_once),
		cmocka_unit_test(test_a_stretch_that_goes_on),
		cmocka_unit_test(test_stops_are_no_running),
		cmocka_unit_test(test_kinds_are_apart),
		cmocka_unit_test(test_spinning_inserts_at_once),
		cmocka_unit_test(test_another_target_begins_anew),
		cmocka_unit_test(test_exits_and_overflows),
		cmocka_unit_test(test_insert_credits_the_core),
		cmocka_unit_test(test_looking_changes_nothing),
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_ticks_after_idling),
		cmocka_unit_test(test_lost_ticks_after_idling),
		cmocka_unit_test(test_seen_targets),
		cmocka_unit_test(test_seen_targets_that_spin),
		cmocka_unit_test(test_seen_functions),
		cmocka_unit_test(test_since_when_it_is_inside),
		cmocka_unit_test(test_seen_functions_in_doubt),
		cmocka_unit_test(test_doubts_begin_anew),
		cmocka_unit_test(test_clipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
