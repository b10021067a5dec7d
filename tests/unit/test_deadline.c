// SPDX-License-Identifier: GPL-2.0-or-later
/* Which sleeps until a point in time are the clock's (lib/account/deadline.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/deadline.h"
#include "base/base.h"

#define US 1000LL
#define MS 1000000LL
#define N  200

static uint64_t state = 1;

/* Evenly in [0, @below). */
static int64_t any(int64_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

/* Works for about @work, then sleeps as @asks says; N times. Returns how many look relative. */
static int run(int64_t (*asks)(int64_t now, int i), int64_t work, int64_t jitter)
{
	struct scoz_deadlines d = {};
	int64_t now = 5000 * MS, end;
	int relative = 0;

	for (int i = 0; i < N; i++) {
		now += work + any(jitter);
		end = asks(now, i);
		now += 300 + any(700); /* until the kernel has it */
		relative += scoz_deadline_relative(&d, end, now);
		if (end > now)
			now = end;
		now += 5 * US + any(10 * US); /* until it runs */
	}
	return relative;
}

static int64_t length(int64_t now, int i)
{
	(void)i;
	return now + 5 * MS;
}

static int64_t lengths_by_turns(int64_t now, int i)
{
	return now + (i % 3 + 1) * MS;
}

static int64_t period(int64_t now, int i)
{
	static int64_t next;

	if (!i)
		next = now;
	return next += 10 * MS;
}

/* What it is late for it leaves out. */
static int64_t period_or_later(int64_t now, int i)
{
	static int64_t next;

	if (!i)
		next = now;
	do
		next += 10 * MS;
	while (next < now);
	return next;
}

static int64_t random_times(int64_t now, int i)
{
	static int64_t next;

	if (!i)
		next = now;
	return next += any(20 * MS);
}

static int64_t random_lengths(int64_t now, int i)
{
	(void)i;
	return now + any(20 * MS);
}

static void test_lengths(void **unused)
{
	(void)unused;
	assert_in_range(run(length, 3 * MS, 50 * US), N * 9 / 10, N);
	assert_in_range(run(length, 3 * MS, 3 * MS), N * 9 / 10, N);
	assert_in_range(run(lengths_by_turns, 3 * MS, 1 * MS), N * 9 / 10, N);
}

static void test_clock(void **unused)
{
	(void)unused;
	assert_in_range(run(period, 3 * MS, 3 * MS), 0, N / 20);
	assert_in_range(run(period, 3 * MS, 1 * US), 0, N / 20);
	assert_in_range(run(period, 0, 1 * US), 0, N / 20);
	assert_in_range(run(period_or_later, 8 * MS, 4 * MS), 0, N / 10);
}

/* Not known which they are: the clock's. */
static void test_random(void **unused)
{
	(void)unused;
	assert_in_range(run(random_times, 3 * MS, 3 * MS), 0, N / 10);
	assert_in_range(run(random_lengths, 3 * MS, 3 * MS), 0, N / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
