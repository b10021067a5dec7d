// SPDX-License-Identifier: GPL-2.0-or-later
/* Control groups of both versions, replayed from files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/cgroup.h"

#include <unistd.h>

static char root[] = "/tmp/test_cgroup.XXXXXX";

static void put(const char *path, const char *text)
{
	_cleanup_free_ char *make = xasprintf("mkdir -p $(dirname %s/%s)", root, path);
	_cleanup_free_ char *file = xasprintf("%s/%s", root, path);
	FILE *f;

	assert_int_equal(system(make), 0);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int add_pid(int pid, void *arg, struct error *err)
{
	(void)err;
	*(int *)arg += pid;
	return 0;
}

static void test_processes(void **state)
{
	struct error err = {};
	int sum = 0;
	uint64_t id;

	(void)state;
	put("sys/fs/cgroup/pod/cgroup.procs", "");
	put("sys/fs/cgroup/pod/a/cgroup.procs", "10\n20\n");
	put("sys/fs/cgroup/pod/a/b/cgroup.procs", "3\n");
	put("sys/fs/cgroup/empty/cgroup.procs", "");
	assert_int_equal(cgroup_each_process("pod", add_pid, &sum, &err), 0);
	assert_int_equal(sum, 33);
	sum = 0;
	assert_int_equal(cgroup_each_process("/sys/fs/cgroup/pod/a/b", add_pid, &sum, &err), 0);
	assert_int_equal(sum, 3);
	assert_int_equal(cgroup_each_process("empty", add_pid, &sum, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no process"));
	assert_int_equal(cgroup_each_process("nosuch", add_pid, &sum, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nosuch"));
	assert_int_equal(cgroup_id("nosuch", &id, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/proc/PID/cgroup"));
	/* It is no file system of cgroups, let alone of version 2. */
	assert_int_equal(cgroup_id("pod", &id, &err), -ENOTSUP);
	assert_int_equal(cgroup_id("/sys/fs/cgroup/pod", &id, &err), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes),
	};
	_cleanup_free_ char *clean = NULL;
	int ret;

	if (!mkdtemp(root))
		return 1;
	sysroot = root;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	clean = xasprintf("rm -r %s", root);
	return system(clean) ? 1 : ret;
}
