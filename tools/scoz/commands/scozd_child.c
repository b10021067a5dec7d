// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/commands/scozd_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define SAID_MOST 65536
#define POLL_MS	  50
#define ENDING_S  20.0 /* for scozd to end what it has started, before it is killed */
#define NAME	  "scozd: "

char *own_path(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return xstrdup(path);
}

char *scozd_path(const char *self)
{
	static const char *const places[] = { "scozd", "../sbin/scozd" };
	int dir = strrchr(self, '/') - self;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = xasprintf("%.*s/%s", dir, self, places[i]);

		if (!access(path, X_OK))
			return path;
		free(path);
	}
	return xstrdup("scozd");
}

/* ---- signals ---- */

static volatile sig_atomic_t got_signal, child;
static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/* What comes from the terminal, scozd gets as well: twice would end it at once. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	got_signal = sig;
	if (info->si_code != SI_KERNEL && child > 0)
		kill(child, sig);
}

static void catch_signals(struct sigaction *old)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	got_signal = 0;
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		sigaction(ending[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN) /* nohup keeps its word */
			sigaction(ending[i], &sa, NULL);
	}
}

static void release_signals(const struct sigaction *old)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaction(ending[i], &old[i], NULL);
}

/* ---- what it says ---- */

struct saying {
	char line[4096];
	size_t n;
	char *said;
	size_t said_n;
};

static void keep_line(struct saying *s)
{
	s->line[s->n] = '\0';
	if (text_after(s->line, NAME)) {
		if (s->said_n + s->n + 2 > SAID_MOST) {
			size_t half = s->said_n / 2;

			memmove(s->said, s->said + half, s->said_n - half);
			s->said_n -= half;
		}
		memcpy(s->said + s->said_n, s->line, s->n);
		s->said_n += s->n;
		s->said[s->said_n++] = '\n';
	}
	s->n = 0;
}

/* False: there will be no more. */
static bool listen_to(struct saying *s, int fd)
{
	char buffer[16384];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	for (ssize_t i = 0; i < n; i++) {
		if (buffer[i] == '\n')
			keep_line(s);
		else if (s->n < sizeof(s->line) - 1)
			s->line[s->n++] = buffer[i];
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

char *scozd_last_words(const char *said)
{
	size_t n = strlen(said), from;
	const char *last;

	while (n && said[n - 1] == '\n')
		n--;
	for (from = n; from && said[from - 1] != '\n'; from--)
		;
	if (!n)
		return xstrdup("it said nothing");
	last = text_after(said + from, NAME);
	if (last)
		from = last - said;
	return xasprintf("%.*s", (int)(n - from), said + from);
}

/* ---- running ---- */

static void execute(char **argv, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(126);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	execvp(argv[0], argv);
	fprintf(stderr, NAME "%s cannot be started: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* scozd's status, once it has ended: its descendants may hold the pipe open. */
static int await(pid_t pid, int pipe, double limit_s, struct saying *s)
{
	uint64_t end = clock_now_ns() + limit_s * NSEC_PER_SEC, kill_at = 0;
	bool open = true;
	int status;

	for (;;) {
		struct pollfd fd = { open ? pipe : -1, POLLIN, 0 };
		pid_t done;

		if (poll(&fd, 1, POLL_MS) > 0)
			open = listen_to(s, pipe);
		done = waitpid(pid, &status, WNOHANG);
		if (done == pid || (done < 0 && errno != EINTR)) {
			while (open && poll(&fd, 1, 0) > 0 && (fd.revents & POLLIN))
				open = listen_to(s, pipe);
			return done == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		}
		if (!kill_at && (got_signal || clock_now_ns() > end)) {
			if (!got_signal)
				kill(pid, SIGTERM);
			kill_at = clock_now_ns() + ENDING_S * NSEC_PER_SEC;
		}
		if (kill_at && clock_now_ns() > kill_at)
			kill(pid, SIGKILL);
	}
}

void scozd_run(char **argv, double limit_s, struct scozd_result *ret)
{
	struct saying s = { .said = xcalloc(1, SAID_MOST + 1) };
	pid_t self = getpid(), pid;
	struct sigaction old[ARRAY_SIZE(ending)];
	sigset_t set, before;
	int ends[2];

	*ret = (struct scozd_result){ .status = -1, .said = s.said };
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		snprintf(s.said, SAID_MOST, NAME "no pipe to it: %s\n", strerror(errno));
		return;
	}
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		fcntl(ends[1], F_SETFL, 0);
		execute(argv, ends[1], self);
	}
	close(ends[1]);
	child = pid;
	catch_signals(old);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid > 0)
		ret->status = await(pid, ends[0], limit_s, &s);
	else
		s.said_n = snprintf(s.said, SAID_MOST, NAME "cannot fork: %s\n", strerror(errno));
	child = 0;
	ret->signal = got_signal;
	release_signals(old);
	close(ends[0]);
	s.said[s.said_n] = '\0';
}
