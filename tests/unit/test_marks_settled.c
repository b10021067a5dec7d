// SPDX-License-Identifier: GPL-2.0-or-later
/* Which copies of a shard hold sums that belong to their counts. */
#include "progress/marks.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_settled(void **state)
{
	const struct scoz_shard_1 before = { .begin_started = 5,
					     .begin_ns = 500,
					     .begins = 5,
					     .end_started = 4,
					     .end_ns = 400,
					     .ends = 4 };
	struct scoz_shard_1 now = before;

	(void)state;
	assert_true(shard_settled(&before, &now));
	/* Begun when "started" had been read, and not done when the count was. */
	now.begin_ns = 600;
	assert_false(shard_settled(&before, &now));
	now = before;
	now.end_ns = 500;
	assert_false(shard_settled(&before, &now));
	now = before;
	now.begin_started = 6;
	assert_false(shard_settled(&before, &now));
	assert_false(shard_settled(&now, &now));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_settled) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
