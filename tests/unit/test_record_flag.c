// SPDX-License-Identifier: GPL-2.0-or-later
/* Flags of perf_event_attr by number: which they are, and what this kernel makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/backend.h"

static void numbers(void **state)
{
	struct perf_event_attr by_name = { .inherit = 1 }, by_number = { 0 };

	(void)state;
	record_set_flag(&by_number, 1);
	assert_memory_equal(&by_name, &by_number, sizeof(by_name));
	by_name.sigtrap = 1;
	record_set_flag(&by_number, 37);
	assert_memory_equal(&by_name, &by_number, sizeof(by_name));
}

static void meanings(void **state)
{
	(void)state;
	if (!record_flag_is_for_any_event(1)) /* inherit */
		skip();
	assert_false(record_flag_is_for_any_event(37)); /* sigtrap, which is not allowed alone */
	assert_false(record_flag_is_for_any_event(63)); /* given out last, if ever */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(meanings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
