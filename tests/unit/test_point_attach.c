// SPDX-License-Identifier: GPL-2.0-or-later
/* What is attached for points in the kernel; code has test_probe_file.c. */
#include "progress/point_attach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "tests/unit/test_root.h"

static char root[] = "/tmp/test_point_attach.XXXXXX";
static size_t n_put;
static struct point_place last;

static int put_place(const struct point_place *place, void *arg, struct error *err)
{
	(void)arg;
	(void)err;
	n_put++;
	last = *place;
	return 0;
}

static int attach(const char *spec, struct error *err)
{
	const struct point_put put = { .put = put_place };
	struct point point;
	int ret = point_parse(spec, &point, err);

	assert_int_equal(ret, 0);
	n_put = 0;
	ret = point_attach(&point, &put, err);
	point_free(&point);
	return ret;
}

static void test_tracepoints(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(attach("tracepoint:sched:sched_switch", &err), 0);
	assert_int_equal(n_put, 1);
	assert_int_equal(last.kind, PLACE_TRACEPOINT);
	assert_int_equal(attach("tracepoint:block:sched_switch", &err), -ENOENT);
	assert_int_equal(n_put, 0);
	assert_non_null(strstr(err.text, "did you mean sched:sched_switch?"));
}

static void test_syscalls(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(attach("syscall:getppid", &err), 0);
	assert_int_equal(n_put, 1);
	assert_int_equal(last.kind, PLACE_SYSCALL);
	assert_int_equal(last.syscall, SYS_getppid);
	assert_int_equal(attach("syscall:no_such_call", &err), -ENOENT);
	assert_int_equal(n_put, 0);
	/* They never end. */
	assert_int_equal(attach("syscall:exit_group", &err), -EINVAL);
	assert_int_equal(attach("syscall:exit", &err), -EINVAL);
	assert_int_equal(n_put, 0);
	assert_non_null(strstr(err.text, "tracepoint:sched:sched_process_exit"));
}

/* Files with marks are found as they appear. */
static void test_marks(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(attach("mark:name", &err), 0);
	assert_int_equal(n_put, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_marks),
	};
	_cleanup_free_ char *rm = NULL;
	int rc;

	if (!mkdtemp(root))
		return 1;
	sysroot = root;
	root_put(root, "sys/kernel/tracing/available_events",
		 "sched:sched_switch\nblock:block_rq_issue\n");
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rm = xasprintf("rm -rf %s", root);
	return system(rm) ? 1 : rc;
}
