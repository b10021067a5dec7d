// SPDX-License-Identifier: GPL-2.0-or-later
/* The end of a command: all of it, wherever it went, and nobody else. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/privileges.h"
#include "run/command.h"
#include "tests/unit/test_root.h"

#define WAIT_S 20 /* as long as it may take on a machine that is busy */

static char dir[] = "/tmp/test_command-XXXXXX";
static struct launcher launcher = { .socket = -1, .process = -1 };

/* Runs @script with sh; it is told where to write by $dir. */
static void start(struct command *c, const char *script)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct error err = {};

	setenv("dir", dir, 1);
	assert_int_equal(launcher_start(&launcher, argv, NULL, &err), 0);
	assert_int_equal(command_spawn(c, &launcher, &err), 0);
	assert_int_equal(command_release(c, argv, &err), 0);
}

/* The number in a file of $dir, as soon as it is there. */
static int wait_for_pid(const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC;

	while (clock_now_ns() < end) {
		_cleanup_free_ char *text = read_file(path, NULL);

		if (text && strchr(text, '\n'))
			return atoi(text);
		usleep(2000);
	}
	fail_msg("%s was not written", path);
	return 0;
}

static bool alive(int pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/stat", pid);
	_cleanup_free_ char *text = read_file(path, NULL);
	const char *end = text ? strrchr(text, ')') : NULL;

	return end && end[2] != 'Z' && end[2] != 'X';
}

static int clean(void **state)
{
	_cleanup_free_ char *rm = xasprintf("rm -f %s/*", dir);

	(void)state;
	launcher_stop(&launcher);
	return system(rm);
}

/* Its own session, its own group, an orphan: what a group's signal does not reach. */
static void leavers_end(void **state)
{
	int session, group, orphan, child;
	struct command c;

	(void)state;
	start(&c, "setsid sh -c 'echo $$ >$dir/session; exec sleep 100' &"
		  "(setsid sh -c 'echo $$ >$dir/orphan; exec sleep 100' &) ;"
		  "bash -c 'set -m; sh -c \"echo \\$\\$ >$dir/group; exec sleep 100\" & wait' &"
		  "sh -c 'echo $$ >$dir/child; exec sleep 100'; wait");
	session = wait_for_pid("session");
	group = wait_for_pid("group");
	orphan = wait_for_pid("orphan");
	child = wait_for_pid("child");
	assert_true(command_running(&c));
	command_terminate(&c, WAIT_S, NULL);
	assert_false(alive(session) || alive(group) || alive(orphan) || alive(child));
	assert_int_equal(c.pid, 0);
	assert_true(WIFSIGNALED(c.status));
	assert_int_equal(WTERMSIG(c.status), SIGTERM);
}

/* Killed, not asked: the leader is gone, and its orphans are still the command. */
static void orphans_end(void **state)
{
	struct command c;
	int orphan;

	(void)state;
	start(&c, "setsid sh -c 'echo $$ >$dir/orphan; exec sleep 100' & kill -9 $$");
	orphan = wait_for_pid("orphan");
	while (c.status == -1)
		assert_true(command_running(&c));
	assert_true(command_running(&c));
	command_terminate(&c, WAIT_S, NULL);
	assert_false(alive(orphan));
}

/* As long as one of them is there its number tells; nobody asks all processes of the machine. */
static void orphans_are_cheap(void **state)
{
	struct command c;

	(void)state;
	start(&c, "setsid sh -c 'echo $$ >$dir/orphan; exec sleep 100' & exit 0");
	wait_for_pid("orphan");
	while (c.status == -1)
		assert_true(command_running(&c));
	for (int i = 0; i < 100; i++)
		assert_true(command_running(&c));
	assert_int_equal(c.looked_ns, 0);
	command_terminate(&c, WAIT_S, NULL);
	assert_int_equal(c.pid, 0);
}

static void deaf_ones_are_killed(void **state)
{
	struct command c;
	int deaf, session;

	(void)state;
	start(&c,
	      "trap '' TERM; echo $$ >$dir/deaf;"
	      "setsid sh -c 'trap \"\" TERM; echo $$ >$dir/session; while :; do sleep 1; done' &"
	      "while :; do sleep 1; done");
	deaf = wait_for_pid("deaf");
	session = wait_for_pid("session");
	command_terminate(&c, 0.1, NULL);
	assert_false(alive(deaf) || alive(session));
	assert_int_equal(WTERMSIG(c.status), SIGKILL);
}

static void at_once_is_at_once(void **state)
{
	atomic_bool at_once = true;
	struct command c;
	uint64_t begun;
	int deaf;

	(void)state;
	start(&c, "trap '' TERM; echo $$ >$dir/deaf; while :; do sleep 1; done");
	deaf = wait_for_pid("deaf");
	begun = clock_now_ns();
	command_terminate(&c, 10 * WAIT_S, &at_once);
	assert_false(alive(deaf));
	assert_true(clock_now_ns() - begun < WAIT_S * NSEC_PER_SEC);
}

/* Cleaning up takes processes of its own: they are left alone for the time of grace. */
static void cleaning_up_is_let_be(void **state)
{
	_cleanup_free_ char *done = xasprintf("%s/done", dir);
	struct command c;

	(void)state;
	start(&c, "trap 'sleep 0.3; sh -c \"echo 1 >$dir/done\"; exit 7' TERM;"
		  "echo $$ >$dir/ready; while :; do sleep 0.05; done");
	wait_for_pid("ready");
	command_terminate(&c, WAIT_S, NULL);
	assert_int_equal(access(done, F_OK), 0);
	assert_int_equal(WEXITSTATUS(c.status), 7);
}

/* `sleep & exec scozd`: that child is not the command's. */
static void others_are_spared(void **state)
{
	int other = fork(), theirs;
	struct command c;

	(void)state;
	if (!other) {
		execlp("sh", "sh", "-c", "sh -c 'echo $$ >$dir/theirs; exec sleep 100'; true",
		       NULL);
		_exit(1);
	}
	theirs = wait_for_pid("theirs");
	start(&c, "setsid sh -c 'echo $$ >$dir/ours; exec sleep 100' & exec sleep 100");
	wait_for_pid("ours");
	command_terminate(&c, WAIT_S, NULL);
	assert_true(alive(other) && alive(theirs));
	/* Nor does a command last until they end. */
	start(&c, "true");
	for (uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC; command_running(&c);) {
		assert_true(clock_now_ns() < end);
		usleep(2000);
	}
	kill(theirs, SIGKILL);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void *kill_at_once(void *arg)
{
	command_kill(arg, 0);
	return NULL;
}

/* Open as soon as somebody is about to read what is written to it. */
static int when_read(const char *fifo)
{
	uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC;
	int fd;

	while ((fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && clock_now_ns() < end)
		usleep(2000);
	assert_true(fd >= 0);
	return fd;
}

/*
 * A thread that kills the command reads the list of processes; by the time that it has it another
 * one has seen the command's end. Whom it finds was there before.
 */
static void others_are_spared_to_the_end(void **state)
{
	int other = fork(), fd;
	_cleanup_free_ char *path = xasprintf("/proc/%d/status", other), *text = NULL;
	_cleanup_free_ char *file = xasprintf("proc/%d/comm", other);
	_cleanup_free_ char *fifo = xasprintf("%s%s", dir, path);
	_cleanup_free_ char *rm = xasprintf("rm -r %s/proc", dir);
	struct command c;
	pthread_t thread;

	(void)state;
	if (!other) {
		pause();
		_exit(0);
	}
	start(&c, "exec sleep 100");
	text = read_file(path, NULL);
	assert_non_null(text);
	root_put(dir, file, "other\n");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	sysroot = dir;
	assert_int_equal(pthread_create(&thread, NULL, kill_at_once, &c), 0);
	fd = when_read(fifo);
	__atomic_store_n(&sysroot, "", __ATOMIC_RELAXED);
	for (uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC; command_running(&c);) {
		assert_true(clock_now_ns() < end);
		usleep(2000);
	}
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	pthread_join(thread, NULL);
	assert_true(alive(other));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	assert_int_equal(system(rm), 0);
}

static void add_process(int pid, int parent)
{
	_cleanup_free_ char *path = xasprintf("proc/%d/status", pid);
	_cleanup_free_ char *text = xasprintf("Name:\tp\nState:\tS (sleeping)\nPPid:\t%d\n"
					      "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n",
					      parent);

	root_put(sysroot, path, text);
}

/* All that were named are found by one look at all processes. */
static void several_roots(void **state)
{
	static const int roots[] = { 30, 10 }, expected[] = { 11, 12, 31 };
	_cleanup_free_ char *rm = xasprintf("rm -r %s/proc", dir);
	struct descendants d;

	(void)state;
	sysroot = dir;
	add_process(1, 0);
	add_process(10, 1);
	add_process(11, 10);
	add_process(12, 11);
	add_process(20, 1);
	add_process(21, 20);
	add_process(30, 1);
	add_process(31, 30);
	descendants_of_all(roots, 2, NULL, &d);
	assert_int_equal(d.n, 3);
	for (size_t i = 0; i < d.n; i++)
		assert_int_equal(d.list[i].pid, expected[i]);
	descendants_free(&d);
	sysroot = "";
	assert_int_equal(system(rm), 0);
}

static void bad_users_are_refused(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(launcher_start(&launcher, NULL, "no such user", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such user"));
}

/* Blocked in the profiler, not in the command. */
static void signals_arrive(void **state)
{
	struct command c;
	sigset_t set, old;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	start(&c, "echo $$ >$dir/ready; exec sleep 100");
	sigprocmask(SIG_SETMASK, &old, NULL);
	wait_for_pid("ready");
	command_terminate(&c, WAIT_S, NULL);
	assert_int_equal(WTERMSIG(c.status), SIGTERM);
}

/* What the profiler raises or gives up for itself is not for the command, however often it runs. */
static void commands_get_what_was_there_before(void **state)
{
	char *argv[] = { "sh", "-c",
			 "ulimit -n >$dir/limit; sed -n 's/^CapEff:.//p' /proc/$$/status "
			 ">$dir/rights; echo >>$dir/runs",
			 NULL };
	_cleanup_free_ char *path = xasprintf("%s/rights", dir);
	uint64_t rights = privileges_own("CapEff");
	struct rlimit before, changed;
	struct error err = {};
	int status, pid;

	(void)state;
	setenv("dir", dir, 1);
	getrlimit(RLIMIT_NOFILE, &before);
	changed = before;
	changed.rlim_cur -= 7;
	pid = fork(); /* what is given up is not had again */
	if (pid) {
		_cleanup_free_ char *seen = NULL;

		waitpid(pid, &status, 0);
		assert_int_equal(status, 0);
		assert_int_equal(wait_for_pid("limit"), (int)before.rlim_cur);
		seen = read_first_line(path);
		assert_non_null(seen);
		assert_true(strtoull(seen, NULL, 16) == rights);
		return;
	}
	if (launcher_start(&launcher, argv, NULL, &err))
		_exit(1);
	setrlimit(RLIMIT_NOFILE, &changed);
	privileges_keep(0);
	for (int i = 0; i < 2; i++) {
		struct command c;

		if (command_spawn(&c, &launcher, &err) || command_release(&c, argv, &err))
			_exit(2);
		while (command_running(&c))
			usleep(2000);
		if (c.status)
			_exit(3);
	}
	launcher_stop(&launcher);
	_exit(waitpid(-1, NULL, 0) != -1 || errno != ECHILD);
}

static int launcher_pid(void)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/fdinfo/%d", launcher.process);
	_cleanup_free_ char *text = read_file(path, NULL);
	const char *line = text ? strstr(text, "Pid:") : NULL;

	assert_non_null(line);
	return atoi(line + strlen("Pid:"));
}

/* Other children of the profiler may have its socket open. */
static void a_launcher_ends_when_it_is_stopped(void **state)
{
	char *argv[] = { "true", NULL };
	int pid, started;

	(void)state;
	assert_int_equal(launcher_start(&launcher, argv, NULL, NULL), 0);
	started = launcher_pid();
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	launcher_stop(&launcher);
	assert_false(alive(started));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* As Ctrl-Z does, and whoever continues only the profiler. */
static void a_stopped_launcher_goes_on(void **state)
{
	char *argv[] = { "true", NULL };
	struct command c;

	(void)state;
	assert_int_equal(launcher_start(&launcher, argv, NULL, NULL), 0);
	kill(launcher_pid(), SIGSTOP);
	assert_int_equal(command_spawn(&c, &launcher, NULL), 0);
	assert_int_equal(command_release(&c, argv, NULL), 0);
	while (command_running(&c))
		usleep(2000);
	assert_int_equal(c.status, 0);
}

/* A profiler that dies leaves no launcher, and a command that was not let go does not begin. */
static void nothing_outlives_the_profiler(void **state)
{
	char *argv[] = { "sh", "-c", "echo 1 >$dir/ran", NULL };
	_cleanup_free_ char *ran = xasprintf("%s/ran", dir);
	int pids[2], pipe_fds[2], pid, status;

	(void)state;
	setenv("dir", dir, 1);
	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	if (!pid) {
		struct command c;

		if (launcher_start(&launcher, argv, NULL, NULL) ||
		    command_spawn(&c, &launcher, NULL))
			_exit(1);
		pids[0] = launcher_pid();
		pids[1] = c.pid;
		if (write(pipe_fds[1], pids, sizeof(pids)) != sizeof(pids))
			_exit(2);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(read(pipe_fds[0], pids, sizeof(pids)), sizeof(pids));
	for (int i = 0; i < 2; i++) {
		uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC;

		while (alive(pids[i]) && clock_now_ns() < end)
			usleep(2000);
		assert_false(alive(pids[i]));
	}
	assert_int_equal(access(ran, F_OK), -1);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* In a session whose terminal is @fd: what a command of @user sees of it. */
static void __attribute__((noreturn)) at_terminal(int fd, char *user)
{
	char *argv[] = { "sh", "-c",
			 "set -- $(cat /proc/$$/stat); echo $7 >$dir/tty; "
			 "readlink /proc/$$/fd/0 >$dir/stdin; echo 1 >$dir/done",
			 NULL };
	struct command c;

	setsid();
	ioctl(fd, TIOCSCTTY, 0);
	dup2(fd, 0);
	setenv("dir", dir, 1);
	if (launcher_start(&launcher, argv, user, NULL) || command_spawn(&c, &launcher, NULL) ||
	    command_release(&c, argv, NULL))
		_exit(1);
	wait_for_pid("done");
	command_terminate(&c, 5, NULL);
	_exit(0);
}

static void users_get_no_terminal(void **state)
{
	char *users[] = { NULL, "nobody" };
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	(void)state;
	if (geteuid() || master < 0 || grantpt(master) || unlockpt(master))
		skip();
	assert_int_equal(chmod(dir, 0777), 0);
	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		_cleanup_free_ char *tty = xasprintf("%s/tty", dir);
		_cleanup_free_ char *in = xasprintf("%s/stdin", dir), *text = NULL;
		int fd = open(ptsname(master), O_RDWR | O_NOCTTY), pid = fork(), status;

		if (!pid)
			at_terminal(fd, users[i]);
		waitpid(pid, &status, 0);
		assert_int_equal(status, 0);
		text = read_first_line(in);
		if (users[i]) {
			assert_int_equal(wait_for_pid("tty"), 0);
			assert_string_equal(text, "/dev/null");
		} else {
			assert_int_not_equal(wait_for_pid("tty"), 0);
			assert_string_not_equal(text, "/dev/null");
		}
		close(fd);
		clean(NULL);
	}
	close(master);
	chmod(dir, 0700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(leavers_end, clean),
		cmocka_unit_test_teardown(orphans_end, clean),
		cmocka_unit_test_teardown(orphans_are_cheap, clean),
		cmocka_unit_test_teardown(deaf_ones_are_killed, clean),
		cmocka_unit_test_teardown(at_once_is_at_once, clean),
		cmocka_unit_test_teardown(cleaning_up_is_let_be, clean),
		cmocka_unit_test_teardown(others_are_spared, clean),
		cmocka_unit_test_teardown(others_are_spared_to_the_end, clean),
		cmocka_unit_test_teardown(several_roots, clean),
		cmocka_unit_test_teardown(bad_users_are_refused, clean),
		cmocka_unit_test_teardown(signals_arrive, clean),
		cmocka_unit_test_teardown(commands_get_what_was_there_before, clean),
		cmocka_unit_test_teardown(a_launcher_ends_when_it_is_stopped, clean),
		cmocka_unit_test_teardown(a_stopped_launcher_goes_on, clean),
		cmocka_unit_test_teardown(nothing_outlives_the_profiler, clean),
		cmocka_unit_test_teardown(users_get_no_terminal, clean),
	};
	int ret;

	if (!mkdtemp(dir))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return ret;
}
