// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/launcher.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/fd_pass.h"
#include "host/process.h"

#define PATIENCE_S 10 /* so long a fork may take */

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

/* Whoever shares a controlling terminal can type into it. */
static void leave_terminal(void)
{
	int null;

	setsid();
	if (!isatty(STDIN_FILENO))
		return;
	null = open("/dev/null", O_RDONLY);
	dup2(null, STDIN_FILENO);
	close(null);
}

/* What the profiler and the launcher block or ignore is not the command's business. */
static void reset_signals(void)
{
	const int usual[] = { SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGTTOU };
	sigset_t none;

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		signal(usual[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn))
command_main(char **argv, const char *user, int gate, int report)
{
	char go;
	int e;

	if (user)
		leave_terminal();
	else
		setpgid(0, 0);
	reset_signals();
	if (read(gate, &go, 1) != 1)
		_exit(0);
	if (!user || !become_user(user))
		execvp(argv[0], argv);
	e = errno;
	if (write(report, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

static void __attribute__((noreturn)) launcher_main(int socket, char **argv, const char *user)
{
	sigset_t all;
	char order;
	int fds[FD_PASS_MAX];

	prctl(PR_SET_NAME, LAUNCHER_NAME);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigfillset(&all); /* the terminal's signals are for the profiler and the command */
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (fd_pass_receive(socket, &order, sizeof(order), fds) > 0) {
		int answer = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

		if (!answer) {
			close(socket);
			command_main(argv, user, fds[0], fds[1]);
		}
		if (answer < 0)
			answer = -errno;
		for (int i = 0; i < FD_PASS_MAX; i++)
			close(fds[i]);
		if (write(socket, &answer, sizeof(answer)) < 0)
			break;
	}
	_exit(0);
}

int launcher_start(struct launcher *l, char **argv, const char *user, struct error *err)
{
	const struct passwd *pw = user ? getpwnam(user) : NULL;
	int pair[2], pid, saved;

	*l = LAUNCHER_INIT;
	if (user && !pw)
		return error_set(err, ENOENT, "--user %s: no such user", user);
	l->user = user;
	l->uid = pw ? pw->pw_uid : geteuid();
	l->gid = pw ? pw->pw_gid : getegid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		if (errno == EAFNOSUPPORT) {
			l->argv = argv;
			return 0;
		}
		return error_set(err, errno,
				 "making a socket to the process that starts the command: %s",
				 strerror(errno));
	}
	fflush(NULL);
	pid = fork();
	saved = errno;
	if (!pid) {
		close(pair[0]); /* or it would wait for itself */
		launcher_main(pair[1], argv, user);
	}
	close(pair[1]);
	l->socket = pair[0];
	if (pid > 0) {
		l->process = pidfd_open(pid, 0);
		saved = errno;
	}
	if (l->process >= 0)
		return 0;
	launcher_stop(l); /* it ends with the socket, too */
	return error_set(err, saved, "starting the process that starts the command: %s",
			 strerror(saved));
}

/* Where there is no launcher. The other ends of the pipes must not stay open in the child. */
static int fork_here(struct launcher *l, int gate, int report, struct error *err)
{
	int pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
			if (fd != gate && fd != report)
				close(fd);
		}
		command_main(l->argv, l->user, gate, report);
	}
	return pid < 0 ? error_set(err, errno, "no process for the command: %s", strerror(errno))
		       : pid;
}

static bool answers(int socket)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	uint64_t end = clock_now_ns() + PATIENCE_S * NSEC_PER_SEC;
	int r;

	do
		r = poll(&p, 1, 100);
	while ((!r || (r < 0 && errno == EINTR)) && clock_now_ns() < end);
	return r > 0;
}

int launcher_fork(struct launcher *l, int gate, int report, struct error *err)
{
	int fds[FD_PASS_MAX] = { gate, report }, answer;
	ssize_t n = -1;

	if (l->socket < 0)
		return fork_here(l, gate, report, err);
	/* Ctrl-Z and SIGSTOP of the profiler's process group stop it, too. */
	pidfd_send_signal(l->process, SIGCONT, NULL, 0);
	if (fd_pass_send(l->socket, "f", 1, fds, ARRAY_SIZE(fds)) && answers(l->socket))
		n = read(l->socket, &answer, sizeof(answer));
	if (n != sizeof(answer))
		return error_set(
			err, EPIPE,
			"the process that starts the command has died, or does not answer");
	if (answer < 0)
		return error_set(err, -answer, "fork: %s", strerror(-answer));
	return answer;
}

void launcher_stop(struct launcher *l)
{
	if (l->socket < 0)
		return;
	close(l->socket);
	if (l->process >= 0) {
		/* Other children forked since may have the socket open, too. */
		process_end(l->process, true);
	}
	*l = LAUNCHER_INIT;
}
