// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/similar.h"
#include "host/syscall_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void counts_letters(void **state)
{
	(void)state;
	assert_int_equal(edit_distance("", "", 3), 0);
	assert_int_equal(edit_distance("abc", "abc", 3), 0);
	assert_int_equal(edit_distance("abc", "abd", 3), 1);
	assert_int_equal(edit_distance("abc", "ab", 3), 1);
	assert_int_equal(edit_distance("abc", "xabc", 3), 1);
	assert_int_equal(edit_distance("abcd", "abdc", 3), 1);
	assert_int_equal(edit_distance("kitten", "sitting", 3), 3);
	assert_int_equal(edit_distance("kitten", "sitting", 2), 3);
	assert_int_equal(edit_distance("", "abcdef", 2), 3);
}

static void suggests_is(const char *wanted, const char *const *names, const char *want)
{
	_cleanup_free_ char *got = NULL;
	struct similar s;

	similar_init(&s, wanted);
	for (; *names; names++)
		similar_add(&s, *names);
	got = similar_text(&s);
	assert_string_equal(got, want);
}

static void suggests(void **state)
{
	static const char *const names[] = { "count_work", "count_unit", "main", "__sys_sendmsg",
					     "count_work", "child",	 NULL };

	(void)state;
	suggests_is("count_wrok", names, "; the nearest name is count_work");
	suggests_is("count_unix", names, "; the nearest name is count_unit");
	suggests_is("sendmsg", names, "; the nearest name is __sys_sendmsg");
	suggests_is("count", names, "; the nearest names are count_work and count_unit");
	suggests_is("nothing_like_it", names, "");
}

static void knows_system_calls(void **state)
{
	struct error err = {};

	(void)state;
	assert_true(syscall_number("openat") >= 0);
	assert_int_equal(syscall_number("nosuch"), -1);
	assert_true(syscall_find("opennat", &err) < 0);
	assert_non_null(strstr(err.text, "no system call \"opennat\"; the nearest names are open"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_letters),
		cmocka_unit_test(suggests),
		cmocka_unit_test(knows_system_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
