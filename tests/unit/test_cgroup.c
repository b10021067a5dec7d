// SPDX-License-Identifier: GPL-2.0-or-later
/* Control groups of both versions, and their CPU quotas, replayed from files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/cgroup.h"
#include "host/cpu_quota.h"
#include "tests/unit/test_root.h"

#include <unistd.h>

static char root[] = "/tmp/test_cgroup.XXXXXX";

static void put(const char *path, const char *text)
{
	root_put(root, path, text);
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
	assert_non_null(strstr(err.text, "/sys/fs/cgroup/nosuch:"));
	/* Version 2 beside version 1. */
	put("sys/fs/cgroup/unified/beside/cgroup.procs", "400\n");
	sum = 0;
	assert_int_equal(cgroup_each_process("/beside", add_pid, &sum, &err), 0);
	assert_int_equal(sum, 400);
	assert_int_equal(cgroup_id("nosuch", &id, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/proc/PID/cgroup"));
	/* It is no file system of cgroups, let alone of version 2. */
	assert_int_equal(cgroup_id("pod", &id, &err), -ENOTSUP);
	assert_int_equal(cgroup_id("/sys/fs/cgroup/pod", &id, &err), -ENOTSUP);
}

/* What holds for the processes of @pids, which ends with 0. */
static struct cpu_quota quota_of(const int *pids, char **text)
{
	struct cpu_quotas *q = cpu_quotas_create();
	struct cpu_quota ret;

	for (; *pids; pids++)
		cpu_quotas_add_process(q, *pids);
	ret = cpu_quotas_read(q);
	if (text)
		*text = cpu_quotas_text(q);
	cpu_quotas_destroy(q);
	return ret;
}

#define QUOTA_OF(...) quota_of((const int[]){ __VA_ARGS__, 0 }, NULL)

static void test_which_quota(void **state)
{
	_cleanup_free_ char *text = NULL, *none = NULL;

	(void)state;
	put("proc/1/cgroup", "0::/free/x\n");
	put("sys/fs/cgroup/free/cpu.max", "max 100000\n");
	assert_float_equal(QUOTA_OF(1).cpus, 0, 0);
	put("proc/2/cgroup", "0::/tight/x/y\n"); /* the limit stands two levels above */
	put("sys/fs/cgroup/tight/cpu.max", "50000 100000\n");
	assert_float_equal(quota_of((const int[]){ 2, 0 }, &text).cpus, 0.5, 1e-9);
	assert_non_null(strstr(text, "/tight: 0.5 CPUs"));
	put("proc/3/cgroup", "3:cpuset:/z\n2:cpu,cpuacct:/z\n0::/\n");
	assert_float_equal(QUOTA_OF(3).cpus, 0, 0);
	put("sys/fs/cgroup/cpu/z/cpu.cfs_quota_us", "150000\n");
	put("sys/fs/cgroup/cpu/z/cpu.cfs_period_us", "100000\n");
	assert_float_equal(QUOTA_OF(3).cpus, 1.5, 1e-9);
	/* Of two that are not within each other, neither holds for all. */
	assert_float_equal(QUOTA_OF(2, 3).cpus, 0, 0);
	assert_float_equal(QUOTA_OF(1, 2).cpus, 0.5, 1e-9);
	put("sys/fs/cgroup/tight/x/y/cpu.max", "25000 50000\n");
	put("sys/fs/cgroup/tight/x/cpu.max", "20000 100000\n");
	assert_float_equal(QUOTA_OF(2).cpus, 0.2, 1e-9);
	put("sys/fs/cgroup/cpu/z/cpu.cfs_quota_us", "-1\n");
	assert_float_equal(QUOTA_OF(3).cpus, 0, 0);
	/* In a container, whose group is the root of what it sees. */
	put("proc/4/cgroup", "0::/\n");
	put("sys/fs/cgroup/cpu.max", "300000 100000\n");
	assert_float_equal(QUOTA_OF(4).cpus, 3, 1e-9);
	assert_float_equal(QUOTA_OF(4, 2).cpus, 0.2, 1e-9);
	put("sys/fs/cgroup/cpu.max", "max 100000\n");
	put("proc/5/cgroup", "garbage\n0:\n::\n0::nowhere\n");
	assert_float_equal(quota_of((const int[]){ 5, 6, 0 }, &none).cpus, 0, 0);
	assert_null(none);
}

static void test_throttled(void **state)
{
	struct cpu_quotas *q = cpu_quotas_create();

	(void)state;
	put("proc/7/cgroup", "0::/new\n");
	put("proc/8/cgroup", "1:cpu:/old\n");
	put("sys/fs/cgroup/new/cpu.max", "50000 100000\n");
	put("sys/fs/cgroup/new/cpu.stat", "usage_usec 9\nnr_throttled 7\nthrottled_usec 2000000\n");
	put("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "50000\n");
	put("sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "50000\n");
	put("sys/fs/cgroup/cpu/old/cpu.stat", "nr_throttled 7\nthrottled_time 8000000000\n");
	cpu_quotas_add_process(q, 7);
	/* What was before does not count, nor is a group counted twice. */
	assert_float_equal(cpu_quotas_read(q).throttled_s, 0, 1e-9);
	put("sys/fs/cgroup/new/cpu.stat", "throttled_usec 2500000\n");
	cpu_quotas_add_process(q, 8);
	cpu_quotas_add_process(q, 7);
	assert_float_equal(cpu_quotas_read(q).throttled_s, 0.5, 1e-9);
	put("sys/fs/cgroup/cpu/old/cpu.stat", "throttled_time 8250000000\n");
	assert_float_equal(cpu_quotas_read(q).throttled_s, 0.75, 1e-9);
	cpu_quotas_destroy(q);
}

static void gone(const char *name)
{
	_cleanup_free_ char *command = xasprintf("rm -r '%s/sys/fs/cgroup/%s'", sysroot, name);

	assert_int_equal(system(command), 0);
}

/* Made for a run of the command, and taken away with it. */
static void test_groups_that_go(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct cpu_quotas *q = cpu_quotas_create();
	struct cpu_quota read;

	(void)state;
	put("proc/9/cgroup", "0::/slice/scope.0\n");
	put("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
	put("sys/fs/cgroup/slice/cpu.stat", "throttled_usec 0\n");
	put("sys/fs/cgroup/slice/scope.0/cpu.max", "60000 100000\n");
	put("sys/fs/cgroup/slice/scope.0/cpu.stat", "throttled_usec 1000\n");
	cpu_quotas_add_process(q, 9);
	put("sys/fs/cgroup/slice/scope.0/cpu.stat", "throttled_usec 2001000\n");
	cpu_quotas_read(q);
	gone("slice/scope.0");
	read = cpu_quotas_read(q);
	assert_float_equal(read.throttled_s, 2, 1e-9);
	assert_float_equal(read.cpus, 0.6, 1e-9);
	/* As many runs as one likes; each is the only one of its time. */
	for (int i = 1; i <= 100; i++) {
		_cleanup_free_ char *name = xasprintf("slice/scope.%d", i);
		_cleanup_free_ char *max = xasprintf("sys/fs/cgroup/%s/cpu.max", name);
		_cleanup_free_ char *stat = xasprintf("sys/fs/cgroup/%s/cpu.stat", name);
		_cleanup_free_ char *line = xasprintf("0::/%s\n", name);

		cpu_quotas_begin(q);
		assert_float_equal(cpu_quotas_read(q).cpus, 1.5, 1e-9);
		put("proc/9/cgroup", line);
		put(max, "60000 100000\n");
		put(stat, "throttled_usec 0\n");
		cpu_quotas_add_process(q, 9);
		put(stat, "throttled_usec 500000\n");
		assert_float_equal(cpu_quotas_read(q).throttled_s, 2 + 0.5 * i, 1e-9);
		gone(name);
		read = cpu_quotas_read(q);
		assert_float_equal(read.throttled_s, 2 + 0.5 * i, 1e-9);
		assert_float_equal(read.cpus, 0.6, 1e-9);
	}
	gone("slice");
	cpu_quotas_begin(q);
	assert_float_equal(cpu_quotas_read(q).cpus, 0, 0);
	assert_float_equal(cpu_quotas_read(q).throttled_s, 52, 1e-9);
	text = cpu_quotas_text(q); /* at the end of the run */
	assert_non_null(text);
	assert_non_null(strstr(text, "CPUs"));
	cpu_quotas_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_which_quota),
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_groups_that_go),
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
