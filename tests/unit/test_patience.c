// SPDX-License-Identifier: GPL-2.0-or-later
/* Who asks for a process waits so long and no longer; what /proc tells without waiting. */
#include "host/patience.h"
#include "host/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_root.h"

#define MANY_S 60 /* a slow day */

static char dir[] = "/tmp/test_patience-XXXXXX";

/* Hangs until something is written to it. */
struct call {
	int fds[2];
	atomic_int returned, dropped;
};

static void hang(void *arg)
{
	struct call *c = arg;
	char byte;

	assert_int_equal(read(c->fds[0], &byte, 1), 1);
	c->returned++;
}

static void drop(void *arg)
{
	struct call *c = arg;

	c->dropped++;
}

static void at_once(void *arg)
{
	struct call *c = arg;

	c->returned++;
}

static void release(struct call *c)
{
	assert_int_equal(write(c->fds[1], "", 1), 1);
}

static void until(atomic_int *n, int value)
{
	uint64_t end = clock_now_ns() + MANY_S * NSEC_PER_SEC;

	while (*n != value) {
		assert_true(clock_now_ns() < end);
		usleep(1000);
	}
}

static void test_hangs(void **state)
{
	struct patience p = { .ns = 50 * NSEC_PER_MSEC, .max_stuck = 2 };
	struct call a = { 0 }, b = { 0 }, c = { 0 };
	uint64_t began;

	(void)state;
	assert_int_equal(pipe(a.fds), 0);
	assert_int_equal(pipe(b.fds), 0);
	assert_int_equal(patiently(&p, 1, at_once, &a, drop), 0);
	assert_int_equal(a.returned, 1);
	began = clock_now_ns();
	assert_int_equal(patiently(&p, 1, hang, &a, drop), -ETIMEDOUT);
	assert_true(clock_now_ns() - began >= p.ns);
	assert_int_equal(a.dropped, 0);
	/* Nobody is asked for it meanwhile, others are. */
	assert_int_equal(patiently(&p, 1, at_once, &c, drop), -EBUSY);
	assert_int_equal(c.returned, 0);
	assert_int_equal(c.dropped, 1);
	assert_int_equal(patiently(&p, 2, at_once, &c, drop), 0);
	assert_int_equal(c.returned, 1);
	/* Two hang, and that is all. */
	assert_int_equal(patiently(&p, 2, hang, &b, drop), -ETIMEDOUT);
	assert_int_equal(patiently(&p, 3, at_once, &c, drop), -EAGAIN);
	assert_int_equal(c.returned, 1);
	assert_int_equal(c.dropped, 2);
	release(&a);
	until(&a.dropped, 1);
	assert_int_equal(a.returned, 2);
	assert_int_equal(patiently(&p, 1, at_once, &a, drop), 0);
	assert_int_equal(patiently(&p, 3, at_once, &c, drop), 0);
	release(&b);
	until(&b.dropped, 1);
	assert_null(p.stuck);
}

/* Many at a time, of which some take long: each has its own answer. */
static struct patience shared = { .ns = MANY_S * NSEC_PER_SEC, .max_stuck = 64 };

static void count(void *arg)
{
	atomic_int *n = arg;

	if (*n % 7 == 0)
		usleep(100);
	(*n)++;
}

static void none(void *arg)
{
	(void)arg;
	fail_msg("given up");
}

static void *asks(void *arg)
{
	atomic_int n = 0;

	for (int i = 0; i < 500; i++) {
		assert_int_equal(patiently(&shared, 1 + i % 3, count, &n, none), 0);
		assert_int_equal(n, i + 1);
	}
	return arg;
}

static void test_many(void **state)
{
	pthread_t threads[6];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, asks, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
}

/* What @then does is seen before the next is asked for, and not done for who was given up. */
struct told {
	struct call call;
	int number;
	bool hangs;
};
static atomic_int n_told, told_last;

static void ask_told(void *arg)
{
	struct told *t = arg;

	assert_int_equal(told_last, t->number - 1);
	if (t->hangs)
		hang(&t->call);
}

static void tell(void *arg)
{
	struct told *t = arg;

	n_told++;
	told_last = t->number;
}

static void drop_told(void *arg)
{
	struct told *t = arg;

	t->call.dropped++;
}

static void test_then(void **state)
{
	struct patience p = { .ns = 50 * NSEC_PER_MSEC, .max_stuck = 2 };
	struct told t[4] = {
		{ .number = 1 }, { .number = 2 }, { .number = 3, .hangs = true }, { .number = 3 }
	};
	void *args[] = { &t[0], &t[1], &t[2], &t[3] };
	int pids[] = { 1, 2, 3, 4 }, ret[4];

	(void)state;
	assert_int_equal(pipe(t[2].call.fds), 0);
	patiently_all(&p, pids, 4, ask_told, tell, args, drop_told, ret);
	assert_int_equal(ret[0] | ret[1] | ret[3], 0);
	assert_int_equal(ret[2], -ETIMEDOUT);
	assert_int_equal(n_told, 3);
	release(&t[2].call);
	until(&t[2].call.dropped, 1);
	assert_int_equal(n_told, 3);
	assert_int_equal(t[0].call.dropped + t[1].call.dropped + t[3].call.dropped, 0);
}

static int child(void)
{
	int pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_status(void **state)
{
	struct process_status s;
	siginfo_t info;
	int pid = child();

	(void)state;
	assert_true(process_read_status(pid, &s));
	assert_int_equal(s.process, pid);
	assert_int_equal(s.parent, getpid());
	assert_int_equal(s.group, getpgrp());
	assert_int_equal(s.user, geteuid());
	assert_int_equal(s.group_id, getegid());
	assert_int_equal(s.inner_pid, pid);
	assert_true(s.shares_pids);
	assert_false(s.kernel);
	assert_false(process_has_ended(s.state));
	assert_int_equal(process_of_thread(pid), pid);
	kill(pid, SIGKILL);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	assert_true(process_read_status(pid, &s));
	assert_true(process_has_ended(s.state));
	end(pid);
	assert_false(process_read_status(pid, &s));
}

#define IDS "Uid:\t1\t7\t1\t1\nGid:\t2\t8\t2\t2\n"

/* In a container, by a name made to deceive, and on kernels that do not say who is theirs. */
static void test_status_as_told(void **state)
{
	static const struct {
		const char *text;
		int inner;
		bool shares, kernel;
	} told[] = {
		{ "Name:\ta\\nKthread:\t1\nState:\tS (sleeping)\n" IDS "NSpid:\t20\nKthread:\t0\n",
		  20, true, false },
		{ "Name:\tb\nState:\tS\nPPid:\t1\n" IDS "NSpid:\t20\t3\nVmSize:\t1 kB\n", 3, false,
		  false },
		{ "Name:\tc\nState:\tI (idle)\nPPid:\t2\n" IDS "NSpid:\t20\n", 20, true, true },
		{ "Name:\td\nState:\tS\nPPid:\t2\n" IDS "NSpid:\t20\nVmSize:\t1 kB\n", 20, true,
		  false },
		{ "Name:\te\nState:\tS\nPPid:\t2\n" IDS "NSpid:\t20\nKthread:\t1\n", 20, true,
		  true },
	};
	struct process_status s;

	(void)state;
	sysroot = dir;
	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		root_put(dir, "proc/20/status", told[i].text);
		assert_true(process_read_status(20, &s));
		assert_int_equal(s.inner_pid, told[i].inner);
		assert_int_equal(s.shares_pids, told[i].shares);
		assert_int_equal(s.kernel, told[i].kernel);
		assert_int_equal(s.user, 7);
		assert_int_equal(s.group_id, 8);
	}
	root_put(dir, "proc/20/status", "Name:\tf\nState:\tS\n");
	assert_false(process_read_status(20, &s));
	sysroot = "";
}

static void test_identity(void **state)
{
	int a = child(), b = child(), fd = pidfd_open(a, 0);
	uint64_t of_a = process_identity(a);
	struct statfs fs;

	(void)state;
	assert_int_not_equal(of_a, 0);
	assert_int_equal(process_identity(a), of_a);
	assert_int_equal(process_identity_fd(fd, a), of_a);
	assert_int_not_equal(process_identity(b), 0);
	/* Without, it is the time of their beginning, which may be the same. */
	if (!fstatfs(fd, &fs) && (unsigned long)fs.f_type == 0x50494446)
		assert_int_not_equal(process_identity(b), of_a);
	close(fd);
	end(a);
	assert_int_equal(process_identity(a), 0);
	end(b);
}

/* Who executes for long: what may wait is given up, what need not is told. */
static void test_executing(void **state)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/21/stat", dir);
	uint64_t end = clock_now_ns() + MANY_S * NSEC_PER_SEC;
	struct process_stat s;
	int fd;

	(void)state;
	root_put(dir, "proc/21/status", "Name:\tx\nState:\tR (running)\nTgid:\t21\n" IDS);
	root_put(dir, "proc/22/stat", "22 (a) b) R 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n");
	assert_int_equal(mkfifo(path, 0600), 0);
	sysroot = dir;
	assert_int_equal(process_read_stat(22, &s), 0);
	assert_int_equal(s.state, 'R');
	assert_int_equal(s.flags, 4);
	assert_int_equal(s.started, 77);
	assert_int_equal(process_read_stat(23, &s), -ESRCH);
	assert_int_equal(process_read_stat(21, &s), -ETIMEDOUT);
	assert_int_equal(process_read_stat(21, &s), -EBUSY);
	assert_int_equal(process_open(21, "status"), -EBUSY);
	assert_int_equal(process_living_thread(21), 21);
	assert_int_equal(process_of_thread(21), 21);
	fd = open(path, O_WRONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	close(fd);
	while (process_read_stat(21, &s) == -EBUSY) {
		assert_true(clock_now_ns() < end);
		usleep(1000);
	}
	fd = process_open(21, "status");
	assert_true(fd >= 0);
	close(fd);
	sysroot = "";
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *rm = xasprintf("rm -r %s", dir);

	(void)state;
	return system(rm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_then),	       cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_many),	       cmocka_unit_test(test_status),
		cmocka_unit_test(test_status_as_told), cmocka_unit_test(test_identity),
		cmocka_unit_test(test_executing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
