// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/command.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_S	2		      /* so long it may take until what was killed has gone */
#define LOOK_NS (100 * NSEC_PER_MSEC) /* at all processes of the machine, at most so often */

/* As they were; whoever looks through them while another thread sees the end holds them, too. */
struct command_others {
	struct descendants d;
	int holders;
};

/*
 * Of what command_kill() needs while the command begins and ends: held for moments, and while no
 * memory is asked for, as it is called where there is none.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: no command is running. */
static struct command_others *hold_others(const struct command *c)
{
	struct command_others *o;

	pthread_mutex_lock(&lock);
	o = c->pid ? c->others : NULL;
	if (o)
		o->holders++;
	pthread_mutex_unlock(&lock);
	return o;
}

static void let_go(struct command_others *o)
{
	bool last;

	pthread_mutex_lock(&lock);
	last = !--o->holders;
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	descendants_free(&o->d);
	free(o);
}

static void over(struct command *c)
{
	struct command_others *o = c->others;

	pthread_mutex_lock(&lock);
	c->pid = 0;
	c->others = NULL;
	pthread_mutex_unlock(&lock);
	let_go(o);
}

static int no_pipe(int errnum, struct error *err)
{
	return error_set(err, errnum, "the command cannot be started: no pipe to it: %s",
			 strerror(errnum));
}

int command_spawn(struct command *c, struct launcher *launcher, struct error *err)
{
	int gate[2], report[2], pid;

	*c = (struct command){ .gate = -1, .report = -1, .status = -1 };
	if (pipe2(gate, O_CLOEXEC))
		return no_pipe(errno, err);
	if (pipe2(report, O_CLOEXEC)) {
		int saved = errno;

		close(gate[0]);
		close(gate[1]);
		return no_pipe(saved, err);
	}
	/* Orphans of the command become ours, so that we know when all of it has ended. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	c->others = xcalloc(1, sizeof(*c->others));
	c->others->holders = 1;
	descendants_find(NULL, &c->others->d);
	pid = launcher_fork(launcher, gate[0], report[1], err);
	close(gate[0]);
	close(report[1]);
	if (pid < 0) {
		close(gate[1]);
		close(report[0]);
		over(c);
		return pid;
	}
	pthread_mutex_lock(&lock);
	c->pid = pid;
	pthread_mutex_unlock(&lock);
	if (!launcher->user) /* else it makes itself a session, which no leader of a group can */
		setpgid(c->pid, c->pid);
	if (!launcher->user && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp()) {
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, c->pid);
		c->foreground = c->terminal = true;
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
	struct stat st;
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
	over(c);
	return error_set(err, e, "cannot run %s: %s", argv[0],
			 e == ENOENT ? "no such command (give its path, or check PATH)"
			 : e == EACCES && !stat(argv[0], &st) && S_ISDIR(st.st_mode)
				 ? "it is a directory (name a program in it)"
			 : e == EACCES ? "it is not executable by who runs it (chmod +x, or "
					 "--user)"
				       : strerror(e));
}

/* A shell gives its terminal to our group (fg), which the command is not in; nothing tells us. */
static void hand_terminal_on(struct command *c)
{
	if (!c->terminal || c->status != -1)
		return;
	if (tcgetpgrp(STDIN_FILENO) == getpgrp()) {
		tcsetpgrp(STDIN_FILENO, c->pid);
		c->foreground = true;
	}
}

/*
 * Ctrl-Z stopped the command, or it wants to read from a terminal that it has no more: so does the
 * profiler, and both go on together, with the terminal (fg) or without it (bg).
 */
static void stop_together(struct command *c)
{
	if (!c->terminal)
		return;
	/* Ours, though not the command's: fg after bg, so there is nothing to stop for. */
	if (c->foreground || tcgetpgrp(STDIN_FILENO) != getpgrp()) {
		take_terminal_back(c);
		kill(0, SIGSTOP);
	}
	hand_terminal_on(c);
	kill(-c->pid, SIGCONT);
}

static void leader_ended(struct command *c)
{
	if (c->foreground && WIFSIGNALED(c->status) &&
	    (WTERMSIG(c->status) == SIGINT || WTERMSIG(c->status) == SIGQUIT))
		c->interrupted = true;
	take_terminal_back(c);
}

/*
 * Children that we had before the command do not count. What it has left behind is our child, or
 * descends from one.
 */
static bool any_left(struct command *c, bool patient)
{
	uint64_t now = clock_now_ns();
	struct descendants d;
	bool any;

	if (descendants_any_child(&c->others->d) > 0)
		return true;
	if (patient && now - c->looked_ns < LOOK_NS)
		return true;
	c->looked_ns = now;
	descendants_find(&c->others->d, &d);
	any = d.n > 0;
	descendants_free(&d);
	return any;
}

/* From then on the number of the command, and of its group, may be another's. */
static int wait_for_any(struct command *c, int *status)
{
	int pid;

	pthread_mutex_lock(&lock);
	pid = waitpid(-1, status, WNOHANG | WUNTRACED);
	if (pid == c->pid && !WIFSTOPPED(*status))
		c->status = *status;
	pthread_mutex_unlock(&lock);
	return pid;
}

/* False when we have no children at all. */
static bool reap(struct command *c)
{
	int status, pid;

	hand_terminal_on(c);
	while ((pid = wait_for_any(c, &status)) > 0) {
		if (pid != c->pid)
			continue;
		if (WIFSTOPPED(status))
			stop_together(c);
		else
			leader_ended(c);
	}
	return !pid;
}

/* False when all of it has ended; @patient: that may be noticed a little later. */
static bool collect(struct command *c, bool patient)
{
	if (!reap(c))
		return false;
	if (c->status == -1 || !c->others->d.n || any_left(c, patient))
		return true;
	reap(c); /* what has ended meanwhile is ours to bury, not init's */
	return false;
}

static bool runs(struct command *c, bool patient)
{
	if (c->pid && !collect(c, patient))
		over(c);
	return c->pid;
}

bool command_running(struct command *c)
{
	return runs(c, true);
}

/* Its number; 0: it may be another's by now. */
static int signal_group(const struct command *c, int sig)
{
	int group;

	pthread_mutex_lock(&lock);
	group = c->status == -1 ? c->pid : 0;
	if (group)
		kill(-group, sig);
	pthread_mutex_unlock(&lock);
	return group;
}

/*
 * To everything that descends from the command (@others do not), wherever it went. Returns how many
 * there were.
 */
static size_t signal_all(const struct command *c, const struct command_others *others, int sig)
{
	int group = signal_group(c, sig);
	struct descendants d;
	size_t n;

	descendants_find(&others->d, &d);
	for (size_t i = 0; i < d.n; i++) {
		if (!group || d.list[i].group != group)
			descendant_signal(&d.list[i], sig);
		if (sig != SIGKILL && d.list[i].state == 'T')
			descendant_signal(&d.list[i], SIGCONT);
	}
	n = d.n;
	descendants_free(&d);
	return n;
}

static void warn_of_survivors(const struct command *c)
{
	struct descendants d;

	descendants_find(&c->others->d, &d);
	for (size_t i = 0; i < d.n; i++) {
		_cleanup_free_ char *name = task_comm(d.list[i].pid);

		log_warn("process %d (%s), which the command started, cannot be ended: it is %s",
			 d.list[i].pid, name ? name : "?",
			 d.list[i].state == 'D' ? "stuck in the kernel"
						: "another user's, or still ending");
	}
	descendants_free(&d);
}

void command_terminate(struct command *c, double grace_s, const atomic_bool *at_once)
{
	uint64_t end = clock_now_ns() + grace_s * NSEC_PER_SEC;

	if (!c->pid)
		return;
	if (c->gate >= 0) {
		close(c->gate);
		c->gate = -1;
	}
	signal_all(c, c->others, SIGTERM);
	while (runs(c, false) && clock_now_ns() < end && !(at_once && *at_once))
		usleep(5000);
	if (!c->pid)
		return;
	/* Again and again: what forks while it is being looked for is found the next time. */
	end = clock_now_ns() + KILL_S * NSEC_PER_SEC;
	while (signal_all(c, c->others, SIGKILL), runs(c, false) && clock_now_ns() < end)
		usleep(2000);
	if (!c->pid)
		return;
	warn_of_survivors(c);
	take_terminal_back(c);
	over(c);
}

void command_kill(const struct command *c, double grace_s)
{
	uint64_t end = clock_now_ns() + grace_s * NSEC_PER_SEC;
	struct command_others *others = hold_others(c);

	if (!others)
		return;
	for (int sig = grace_s > 0 ? SIGTERM : SIGKILL;
	     signal_all(c, others, sig) && sig != SIGKILL;) {
		usleep(5000);
		sig = clock_now_ns() < end ? 0 : SIGKILL;
	}
	let_go(others);
}
