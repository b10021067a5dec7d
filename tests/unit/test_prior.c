// SPDX-License-Identifier: GPL-2.0-or-later
/* What the process that replays says is looked at before it is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/prior_message.h"

#include <math.h>

#define POINTS 2

static struct prior_message expected(void)
{
	struct prior_message m = { .type = PRIOR_EXPECTED };

	m.expected.kind = TARGET_FUNCTION;
	m.expected.progress = POINTS - 1;
	m.expected.n_at = 2;
	m.expected.at[0] = (struct profile_expectation){ 0.25, 1, 0, 2 };
	m.expected.at[1] = (struct profile_expectation){ 0.5, 2, 2, 2 };
	strcpy(m.expected.target, "func:work@program");
	return m;
}

static struct prior_message awaited(void)
{
	struct prior_message m = { .type = PRIOR_AWAITED };

	m.awaited.n = EXPECTED_WAITERS;
	return m;
}

static struct prior_message done(void)
{
	struct prior_message m = { .type = PRIOR_DONE };

	m.done.replay.seconds = 3;
	return m;
}

static bool sound(const struct prior_message *m)
{
	return prior_message_is_sound(m, sizeof(*m), POINTS);
}

static void test_sizes(void **state)
{
	struct prior_message m = expected();

	(void)state;
	assert_true(sound(&m));
	assert_false(prior_message_is_sound(&m, sizeof(m) - 1, POINTS));
	assert_false(prior_message_is_sound(&m, sizeof(m.type), POINTS));
	assert_false(prior_message_is_sound(&m, sizeof(m.type) - 1, POINTS));
	m.type = PRIOR_READY;
	assert_true(prior_message_is_sound(&m, sizeof(m.type), POINTS));
	assert_false(sound(&m));
	for (int type = PRIOR_DONE + 1; type < PRIOR_DONE + 3; type++) {
		m.type = type;
		assert_false(sound(&m));
	}
	m.type = PRIOR_BEGIN;
	assert_false(sound(&m));
}

/* Each text ends within its field. */
static void test_texts(void **state)
{
	struct prior_message m;

	(void)state;
#define NO_END(make, field) \
	m = make(); \
	assert_true(sound(&m)); \
	memset(m.field, 'x', sizeof(m.field)); \
	assert_false(sound(&m))
	NO_END(expected, expected.target);
	NO_END(expected, expected.location);
	NO_END(expected, expected.function);
	NO_END(expected, expected.after);
	NO_END(awaited, awaited.target);
	NO_END(awaited, awaited.by[EXPECTED_WAITERS - 1].name);
	NO_END(awaited, awaited.by[EXPECTED_WAITERS - 1].wait);
	NO_END(done, done.why);
	NO_END(done, done.through);
}

static void test_numbers(void **state)
{
	struct prior_message m;

	(void)state;
#define NOT(make, field, value) \
	m = make(); \
	m.field = value; \
	assert_false(sound(&m))
	NOT(expected, expected.kind, TARGET_CLASS + 1);
	NOT(expected, expected.kind, -1);
	NOT(expected, expected.progress, POINTS);
	NOT(expected, expected.n_at, EXPECTED_SPEEDUPS + 1);
	NOT(expected, expected.share, NAN);
	NOT(expected, expected.at[0].speedup, 0);
	NOT(expected, expected.at[1].speedup, 0.25); /* they grow */
	NOT(expected, expected.at[1].speedup, 1.5);
	NOT(expected, expected.at[0].pct, NAN);
	NOT(expected, expected.at[0].low, -INFINITY);
	NOT(expected, expected.at[0].high, INFINITY);
	NOT(expected, expected.at[0].high, -1); /* below the low one */
	NOT(awaited, awaited.n, EXPECTED_WAITERS + 1);
	NOT(awaited, awaited.by[0].share, NAN);
	NOT(awaited, awaited.by[0].share, -1);
	NOT(done, done.replay.seconds, NAN);
	NOT(done, done.replay.seconds, INFINITY);
	NOT(done, done.replay.crowded, NAN);
	NOT(done, done.replay.spun, -1);
	NOT(done, done.replay.disk_waits, NAN);
	NOT(done, done.replay.through_share, INFINITY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
