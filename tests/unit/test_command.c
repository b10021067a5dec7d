// SPDX-License-Identifier: GPL-2.0-or-later
/* The end of a command: all of it, wherever it went, and nobody else. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/command.h"

#define WAIT_S 20 /* as long as it may take on a machine that is busy */

static char dir[] = "/tmp/test_command-XXXXXX";

/* Runs @script with sh; it is told where to write by $dir. */
static void start(struct command *c, const char *script)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct error err = {};

	setenv("dir", dir, 1);
	assert_int_equal(command_spawn(c, argv, NULL, &err), 0);
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

static void bad_users_are_refused(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(command_check_user(NULL, &err), 0);
	assert_int_equal(command_check_user("root", &err), 0);
	assert_int_equal(command_check_user("no such user", &err), -ENOENT);
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

/* What the profiler raises for itself is not for the command. */
static void limits_are_as_before(void **state)
{
	struct rlimit before, raised;
	struct command c;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &before);
	raised = before;
	raised.rlim_cur = before.rlim_cur - 7;
	setrlimit(RLIMIT_NOFILE, &raised);
	command_remember_limits();
	setrlimit(RLIMIT_NOFILE, &before);
	start(&c, "ulimit -n >$dir/limit");
	assert_int_equal(wait_for_pid("limit"), (int)raised.rlim_cur);
	command_terminate(&c, 5, NULL);
	command_remember_limits();
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
	if (command_spawn(&c, argv, user, NULL) || command_release(&c, argv, NULL))
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
		cmocka_unit_test_teardown(deaf_ones_are_killed, clean),
		cmocka_unit_test_teardown(at_once_is_at_once, clean),
		cmocka_unit_test_teardown(cleaning_up_is_let_be, clean),
		cmocka_unit_test_teardown(others_are_spared, clean),
		cmocka_unit_test_teardown(bad_users_are_refused, clean),
		cmocka_unit_test_teardown(signals_arrive, clean),
		cmocka_unit_test_teardown(limits_are_as_before, clean),
		cmocka_unit_test_teardown(users_get_no_terminal, clean),
	};
	int ret;

	if (!mkdtemp(dir))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return ret;
}
