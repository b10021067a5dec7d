// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/guardian.h"
#include "daemon/truth.h"
#include "host/privileges.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

static int write_value(const char *path, const char *value)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		return -errno;
	return 0;
}

static void __attribute__((noreturn)) guard(int fd, const char *old, int truth)
{
	sigset_t all;
	char c;

	setsid();	    /* a Ctrl-C is for scozd */
	privileges_keep(0); /* root's files are root's */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "scozd-guard");
	while (read(fd, &c, 1) > 0)
		;
	truth_set(truth, 0);
	if (old)
		write_value(RATE_FILE, old);
	_exit(0);
}

/* @old NULL: nothing to restore there. */
static int spawn_guard(struct guardian *g, const char *old, int truth)
{
	int alive[2], done[2], pid, status;

	if (pipe2(alive, O_CLOEXEC))
		return -errno;
	if (pipe2(done, O_CLOEXEC)) {
		close(alive[0]);
		close(alive[1]);
		return -errno;
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(alive[1]);
		close(done[0]);
		pid = fork();
		if (pid)
			_exit(pid < 0 ? errno : 0);
		guard(alive[0], old, truth);
	}
	close(alive[0]);
	close(done[1]);
	g->alive = alive[1];
	g->done = done[0];
	if (pid < 0)
		return -errno;
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

int guardian_start(struct guardian *g, unsigned long rate, int truth, unsigned long *got,
		   struct error *err)
{
	_cleanup_free_ char *old = read_file(RATE_FILE, NULL);
	char text[32];
	bool low;
	int ret;

	*g = (struct guardian){ .alive = -1, .done = -1 };
	if (!old)
		return error_set(err, errno, "%s: %s", RATE_FILE, strerror(errno));
	*got = strtoul(old, NULL, 10);
	low = *got < rate && !access(RATE_FILE, W_OK);
	if (!low && truth < 0)
		return 0;
	ret = spawn_guard(g, low ? old : NULL, truth);
	if (ret) {
		guardian_stop(g);
		return error_set(err, -ret, "starting the process that puts settings back: %s",
				 strerror(-ret));
	}
	if (!low)
		return 0;
	snprintf(text, sizeof(text), "%lu\n", rate);
	snprintf(g->old, sizeof(g->old), "%s", old);
	g->changed = true;
	ret = write_value(RATE_FILE, text);
	if (ret) { /* kernel.perf_cpu_time_max_percent of 0 or 100 forbids it, for instance */
		log_info("%s: %s", RATE_FILE, strerror(-ret));
		g->changed = false;
		if (truth < 0)
			guardian_stop(g);
		return 0;
	}
	*got = rate;
	return 0;
}

void guardian_restore(const struct guardian *g)
{
	if (g->changed)
		write_value(RATE_FILE, g->old);
}

void guardian_stop(struct guardian *g)
{
	char c;

	if (g->alive >= 0)
		close(g->alive);
	while (g->done >= 0 && read(g->done, &c, 1) > 0)
		;
	if (g->done >= 0)
		close(g->done);
	guardian_restore(g);
	/* What there was before stays: another thread may be restoring it, too. */
	g->alive = g->done = -1;
}
