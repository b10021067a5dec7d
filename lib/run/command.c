// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/command.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int become_user(const char *user)
{
	struct passwd *pw = getpwnam(user);

	if (!pw) {
		errno = ENOENT;
		return -1;
	}
	if (initgroups(user, pw->pw_gid) || setgid(pw->pw_gid) || setuid(pw->pw_uid))
		return -1;
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", user, 1);
	setenv("LOGNAME", user, 1);
	return 0;
}

static void __attribute__((noreturn))
child_main(char **argv, const char *user, const int gate[2], const int report[2])
{
	char go;
	int e;

	close(gate[1]); /* or a dead parent would leave us waiting for ourselves */
	close(report[0]);
	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	if (read(gate[0], &go, 1) != 1)
		_exit(0);
	if (!user || !become_user(user))
		execvp(argv[0], argv);
	e = errno;
	if (write(report[1], &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

int command_spawn(struct command *c, char **argv, const char *user, struct error *err)
{
	int gate[2], report[2];

	*c = (struct command){ .gate = -1, .report = -1, .status = -1 };
	if (user && !getpwnam(user))
		return error_set(err, ENOENT, "--user %s: no such user", user);
	if (pipe2(gate, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	/* Orphans of the command become ours, so that we know when all of it has ended. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(NULL);
	c->pid = fork();
	if (!c->pid)
		child_main(argv, user, gate, report);
	close(gate[0]);
	close(report[1]);
	if (c->pid < 0) {
		int saved = errno;

		close(gate[1]);
		close(report[0]);
		c->pid = 0;
		return error_set(err, saved, "fork: %s", strerror(saved));
	}
	setpgid(c->pid, c->pid);
	if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp()) {
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, c->pid);
		c->foreground = true;
	}
	c->gate = gate[1];
	c->report = report[0];
	return 0;
}

static void take_terminal_back(struct command *c)
{
	if (c->foreground)
		tcsetpgrp(STDIN_FILENO, getpgrp());
	c->foreground = false;
}

int command_release(struct command *c, char **argv, struct error *err)
{
	int e = 0;
	bool failed;

	if (write(c->gate, "x", 1) != 1)
		return error_set(err, EPIPE, "%s: the command died before it began", argv[0]);
	close(c->gate);
	c->gate = -1;
	failed = read(c->report, &e, sizeof(e)) == sizeof(e);
	close(c->report);
	c->report = -1;
	if (!failed)
		return 0;
	take_terminal_back(c);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	return error_set(err, e, "cannot run %s: %s", argv[0],
			 e == ENOENT ? "no such command (give its path, or check PATH)"
				     : strerror(e));
}

/* Ctrl-Z stopped the command: so does the profiler, and both go on together. */
static void stop_together(struct command *c)
{
	int group = c->pid;

	if (!c->foreground)
		return;
	tcsetpgrp(STDIN_FILENO, getpgrp());
	kill(0, SIGSTOP);
	tcsetpgrp(STDIN_FILENO, group);
	kill(-group, SIGCONT);
}

static void leader_ended(struct command *c, int status)
{
	c->status = status;
	if (c->foreground && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT))
		c->interrupted = true;
	take_terminal_back(c);
}

bool command_running(struct command *c)
{
	int status, pid;

	if (!c->pid)
		return false;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != c->pid)
			continue;
		if (WIFSTOPPED(status))
			stop_together(c);
		else
			leader_ended(c, status);
	}
	if (!pid)
		return true;
	c->pid = 0;
	return false;
}

void command_terminate(struct command *c, double grace_s)
{
	uint64_t end = clock_now_ns() + grace_s * NSEC_PER_SEC;
	int group = c->pid;

	if (!c->pid)
		return;
	if (c->gate >= 0) {
		close(c->gate);
		c->gate = -1;
	}
	kill(-group, SIGTERM);
	kill(-group, SIGCONT);
	while (command_running(c) && clock_now_ns() < end)
		usleep(5000);
	if (c->pid) {
		kill(-group, SIGKILL);
		while (c->status == -1 && command_running(c))
			usleep(1000);
		take_terminal_back(c);
		c->pid = 0;
	}
}
