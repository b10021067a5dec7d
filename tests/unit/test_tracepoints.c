// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/tracepoints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_root.h"

static char root[] = "/tmp/test_tracepoints.XXXXXX";

static void write_events(const char *text)
{
	root_put(root, "sys/kernel/tracing/available_events", text);
}

static void test_groups(void **state)
{
	struct error err = {};

	(void)state;
	/* Nothing tells. */
	assert_int_equal(tracepoint_check("sched", "sched_switch", &err), 0);
	write_events("sched:sched_switch\nscheduler:other\nblock:twice\nnet:twice\n");
	assert_int_equal(tracepoint_check("sched", "sched_switch", &err), 0);
	assert_int_equal(tracepoint_check("nonsense", "sched_switch", &err), -ENOENT);
	assert_non_null(strstr(err.text, "did you mean sched:sched_switch?"));
	assert_int_equal(tracepoint_check("net", "twice", &err), 0);
	assert_int_equal(tracepoint_check("ne", "twice", &err), -ENOENT);
	assert_non_null(strstr(err.text, "did you mean block:twice, net:twice?"));
	/* Those without an event of their own. */
	assert_int_equal(tracepoint_check("sched", "sched_exit_tp", &err), 0);
}

static void test_missing(void **state)
{
	_cleanup_free_ char *near = NULL, *far = NULL;

	(void)state;
	write_events("sched:sched_switch\nscheduler:other\nblock:twice\n");
	near = tracepoint_why("sched_swtch", ENOENT);
	assert_string_equal(near, "no such tracepoint; the nearest name is sched_switch");
	far = tracepoint_why("nothing_like_it", ENOENT);
	assert_string_equal(far, "no such tracepoint");
}

static void test_syscalls(void **state)
{
	(void)state;
	assert_string_equal(tracepoint_syscall("sys_enter_fsync"), "fsync");
	assert_string_equal(tracepoint_syscall("sys_exit_read"), "read");
	assert_null(tracepoint_syscall("sys_exit"));
	assert_null(tracepoint_syscall("sys_enter_nothing"));
	assert_null(tracepoint_syscall("sched_switch"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_syscalls),
	};
	_cleanup_free_ char *rm = NULL;
	int rc;

	if (!mkdtemp(root))
		return 1;
	sysroot = root;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rm = xasprintf("rm -rf %s", root);
	return system(rm) ? 1 : rc;
}
