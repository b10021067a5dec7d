// SPDX-License-Identifier: GPL-2.0-or-later
/* One profiler a machine, and nobody who could not profile keeps it from running. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/privileges.h"
#include "run/machine_lock.h"

#define ALL  "000001ffffffffff"
#define BOTH "000000c000000000" /* CAP_BPF and CAP_PERFMON */
#define NONE "0000000000000000"

static char root[] = "/tmp/test_machine_lock-XXXXXX";
static char file[64], name[64];

/* A file that cannot be opened: as for everybody but root. */
static const char *const no_file = "/proc/no/such/file";

static void put(const char *path, const char *text)
{
	_cleanup_free_ char *full = xasprintf("%s%s", root, path);
	FILE *f;

	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_process(int pid, unsigned int uid, const char *caps, const char *map)
{
	_cleanup_free_ char *status = xasprintf("/proc/%d/status", pid);
	_cleanup_free_ char *uid_map = xasprintf("/proc/%d/uid_map", pid);
	_cleanup_free_ char *text =
		xasprintf("Name:\tscozd\nUid:\t%u\t%u\t%u\t%u\nCapPrm:\t%s\nCapEff:\t%s\n", uid,
			  uid, uid, uid, ALL, caps);

	put(status, text);
	put(uid_map, map);
	put("/proc/self/uid_map", "         0          0 4294967295\n");
}

/* A process that holds the name, until it is killed. */
static int squat(void)
{
	int ready[2], pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct machine_lock l;

		if (!machine_lock_take(&l, no_file, name, NULL) && l.name >= 0 &&
		    write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void files_are_locked(void **state)
{
	struct machine_lock a, b;
	struct error err = {};
	struct stat st;

	(void)state;
	assert_int_equal(machine_lock_take(&a, file, name, &err), 0);
	assert_true(a.file >= 0 && a.name >= 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600); /* others could keep it locked */
	put_process(getpid(), geteuid(), BOTH, "         0          0 4294967295\n");
	assert_int_equal(machine_lock_take(&b, file, name, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another scozd is profiling"));
	assert_non_null(strstr(err.text, ", process "));
	machine_lock_release(&a);
	assert_int_equal(machine_lock_take(&b, file, name, &err), 0);
	machine_lock_release(&b);
}

/*
 * Who took the locks is gone, a child that inherited them is not: as a guardian that has still to
 * write what was before. It is waited for, not taken for a scozd that runs.
 */
static void guardians_are_waited_for(void **state)
{
	struct machine_lock l;
	struct error err = {};
	int ready[2], taker;
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	taker = fork();
	if (!taker) {
		if (machine_lock_take(&l, file, name, NULL) || fork())
			_exit(0);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		usleep(300000);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(waitpid(taker, NULL, 0), taker);
	assert_int_equal(read(ready[0], &c, 1), 1);
	if (machine_lock_take(&l, file, name, &err))
		fail_msg("%s", err.text);
	assert_true(l.file >= 0 && l.name >= 0);
	assert_int_equal(read(ready[0], &c, 1), 0); /* it has gone by now */
	machine_lock_release(&l);
	close(ready[0]);
}

/* Not root: the name alone. */
static void names_are_locked(void **state)
{
	struct machine_lock l;
	struct error err = {};
	int pid = squat();

	(void)state;
	put_process(pid, geteuid(), BOTH, "         0          0 4294967295\n");
	assert_int_equal(machine_lock_take(&l, no_file, name, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another scozd is profiling"));
	/* Root, who has the file, sees who has the capabilities only. */
	assert_int_equal(machine_lock_take(&l, file, name, &err), -EBUSY);
	end(pid);
	assert_int_equal(machine_lock_take(&l, no_file, name, &err), 0);
	assert_true(l.name >= 0);
	machine_lock_release(&l);
}

static void expect_ignored(int pid, unsigned int uid, const char *caps, const char *map)
{
	struct machine_lock l;
	struct error err = {};

	put_process(pid, uid, caps, map);
	if (machine_lock_take(&l, no_file, name, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l.name, -1);
	machine_lock_release(&l);
	assert_int_equal(machine_lock_take(&l, file, name, &err), 0);
	assert_true(l.file >= 0);
	machine_lock_release(&l);
}

static void squatters_do_not_count(void **state)
{
	int pid = squat();

	(void)state;
	expect_ignored(pid, geteuid(), NONE, "         0          0 4294967295\n");
	/* All capabilities, in a user namespace of its own. */
	expect_ignored(pid, geteuid(), ALL, "         0       1000          1\n");
	/* The number is by now that of a process of somebody else: sudo, say. */
	expect_ignored(pid, geteuid() + 1, ALL, "         0          0 4294967295\n");
	end(pid);
}

static void capabilities_that_suffice(void **state)
{
	(void)state;
	assert_true(privileges_suffice(1ULL << CAP_SYS_ADMIN));
	assert_true(privileges_suffice(1ULL << CAP_BPF | 1ULL << CAP_PERFMON));
	assert_false(privileges_suffice(1ULL << CAP_BPF));
	assert_false(privileges_suffice(0));
}

/* One that is outside of the bounding set would keep the file from being executed. */
static void setcap_within_bounds(void **state)
{
	_cleanup_free_ char *all = NULL, *some = NULL;

	(void)state;
	put("/proc/self/status", "Name:\tx\nCapEff:\t" NONE "\nCapBnd:\t" ALL "\n");
	all = privileges_setcap();
	assert_non_null(
		strstr(all, "cap_bpf,cap_perfmon,cap_sys_admin,cap_sys_ptrace,cap_sys_resource"));
	assert_non_null(strstr(all, "=p "));
	put("/proc/self/status", "Name:\tx\nCapEff:\t" NONE "\nCapBnd:\t000001fffeffffff\n");
	some = privileges_setcap();
	assert_non_null(
		strstr(some, "cap_bpf,cap_perfmon,cap_sys_admin,cap_sys_ptrace,cap_ipc_lock"));
	assert_null(strstr(some, "cap_sys_resource"));
	put("/proc/self/status", "Name:\tx\nCapEff:\t" NONE "\nCapBnd:\t00000000a80425fb\n");
	assert_null(privileges_setcap());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_locked),
		cmocka_unit_test(guardians_are_waited_for),
		cmocka_unit_test(names_are_locked),
		cmocka_unit_test(squatters_do_not_count),
		cmocka_unit_test(capabilities_that_suffice),
		cmocka_unit_test(setcap_within_bounds),
	};
	_cleanup_free_ char *rm = NULL;
	int ret;

	if (!mkdtemp(root))
		return 1;
	sysroot = root;
	log_level = LOG_QUIET;
	snprintf(file, sizeof(file), "%s/lock", root);
	snprintf(name, sizeof(name), "test_machine_lock-%d", getpid());
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rm = xasprintf("rm -rf '%s'", root);
	return system(rm) || ret;
}
