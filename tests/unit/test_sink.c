// SPDX-License-Identifier: GPL-2.0-or-later
/* For whom nobody waits (lib/account/sink.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/sink.h"
#include "base/base.h"

#define MS 1000000LL

/* Sleeps for @sleep ms @n times, runs for @run us each time. */
static void sleep_often(struct scoz_sink *s, uint64_t *ran, int n, int sleep, int run)
{
	for (int i = 0; i < n; i++) {
		scoz_sink_waited(s, sleep * MS, *ran);
		*ran += run * MS / 1000;
	}
}

static void test_heartbeat(void **state)
{
	struct scoz_sink s = {};
	uint64_t ran = 0;

	(void)state;
	for (uint32_t i = 0; i < 2 * SCOZ_SINK_WAITS; i++) {
		assert_int_equal(scoz_sink_is(&s), i > SCOZ_SINK_WAITS);
		sleep_often(&s, &ran, 1, 20, 500);
	}
	assert_true(scoz_sink_is(&s));
	scoz_sink_counts(&s); /* it visits a progress point */
	assert_false(scoz_sink_is(&s));
	sleep_often(&s, &ran, SCOZ_SINK_WAITS, 20, 500);
	assert_false(scoz_sink_is(&s));
}

/* It has work to do. */
static void test_worker(void **state)
{
	struct scoz_sink s = {};
	uint64_t ran = 0;

	(void)state;
	sleep_often(&s, &ran, 100, 20, 3000);
	assert_false(scoz_sink_is(&s));
	sleep_often(&s, &ran, 100, 20, 1000);
	assert_true(scoz_sink_is(&s));
}

/* A background writer: it sleeps long, then waits for the disk a few times and hands locks on. */
static void test_writer(void **state)
{
	struct scoz_sink s = {};
	uint64_t ran = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		scoz_sink_waited(&s, 200 * MS, ran);
		for (int i = 0; i < 4; i++) {
			ran += MS / 10;
			scoz_sink_waited(&s, MS / 5, ran);
			scoz_sink_wakes(&s, MS / 2);
		}
	}
	assert_true(scoz_sink_is(&s));
}

/* What it wakes has waited for as long as it has slept. */
static void test_feeder(void **state)
{
	struct scoz_sink s = {};
	uint64_t ran = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		scoz_sink_waited(&s, 6 * MS, ran);
		ran += MS / 100;
		scoz_sink_wakes(&s, 5 * MS);
	}
	assert_false(scoz_sink_is(&s));
	/* It wakes somebody only every tenth time, who has waited all the while. */
	for (int i = 0; i < 100; i++) {
		scoz_sink_waited(&s, 6 * MS, ran);
		if (i % 10 == 9)
			scoz_sink_wakes(&s, 60 * MS);
		assert_false(scoz_sink_is(&s));
	}
}

/* What was inserted while it was about to run it does not owe; what it has paid beforehand stays.
 */
static void test_sink_that_runs(void **state)
{
	struct scoz_task t = { .absorbed = 3 * MS };

	(void)state;
	scoz_sink_runs(&t, 5 * MS);
	assert_int_equal(t.absorbed, 5 * MS);
	scoz_sink_runs(&t, 4 * MS);
	assert_int_equal(t.absorbed, 5 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heartbeat),      cmocka_unit_test(test_worker),
		cmocka_unit_test(test_writer),	       cmocka_unit_test(test_feeder),
		cmocka_unit_test(test_sink_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
