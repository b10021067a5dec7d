// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/made_files.h"

#include "files/held_file.h"
#include "host/process.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Clocks differ by that much, at most: when a process began is told in hundredths of a second. */
#define SLACK_S	 2
#define AHEAD_NS (60 * NSEC_PER_SEC)

static double clock_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* CLOCK_REALTIME, s; 0: not known. */
static double began(int pid)
{
	struct process_stat s;

	return process_read_stat(pid, &s) ? 0
					  : clock_s(CLOCK_REALTIME) - clock_s(CLOCK_BOOTTIME) +
						    (double)s.started / sysconf(_SC_CLK_TCK);
}

/* What lies at @path below the root of @pid, unopened. */
static int find(int pid, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT };
	_cleanup_close_ int dir = process_open(pid, "root");
	int fd;

	if (dir < 0)
		return dir;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static int refuse(int pid, const char *path, struct error *err, const char *why)
{
	_cleanup_free_ char *comm = task_comm(pid);

	return error_set(err, EPERM,
			 "%s: not read: %s; so functions that process %d (%s) makes while it runs "
			 "have no names: remove the file, and let the process itself write it",
			 path, why, pid, comm ? comm : "gone");
}

/* Whoever may write to it could name the code of somebody else's process. */
static int check(int pid, const char *path, const struct process_status *s, const struct stat *st,
		 struct error *err)
{
	_cleanup_free_ char *why = NULL;

	if (!S_ISREG(st->st_mode))
		why = xasprintf("it is %s", S_ISLNK(st->st_mode)   ? "a symbolic link"
					    : S_ISDIR(st->st_mode) ? "a directory"
								   : "no regular file");
	else if (st->st_uid != s->user)
		why = xasprintf("it belongs to user %u, the process to user %u", st->st_uid,
				s->user);
	else if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != s->group_id))
		why = xstrdup("others may write to it");
	return why ? refuse(pid, path, err, why) : 0;
}

int perf_map_open(int pid, struct stat *st, char **path, struct error *err)
{
	_cleanup_close_ int found = -1;
	struct process_status s;
	int ret;

	*path = NULL;
	if (!process_read_status(pid, &s))
		return -ENOENT;
	*path = xasprintf("/tmp/perf-%d.map", s.inner_pid);
	found = find(pid, *path);
	if (found < 0 || fstat(found, st))
		return -ENOENT;
	ret = check(pid, *path, &s, st, err);
	if (ret)
		return ret;
	/* Of another process that had this number before. */
	if (st->st_mtim.tv_sec + SLACK_S < began(pid))
		return -ENOENT;
	ret = held_file_reopen(found, st);
	return ret >= 0 ? ret
			: error_set(err, -ret, "%s: cannot be opened: %s", *path, strerror(-ret));
}

/* The number in the name of a jitdump; 0: it is called otherwise. */
static int jitdump_number(const char *path)
{
	int pid, end = 0;

	if (sscanf(path_base(path), "jit-%9d.dump%n", &pid, &end) != 1 || !end ||
	    path_base(path)[end] || pid <= 0)
		return 0;
	return pid;
}

bool is_jitdump(const char *path)
{
	return jitdump_number(path);
}

bool is_made_file(const char *path)
{
	unsigned int pid;
	int end = 0;

	return is_jitdump(path) || (sscanf(path_base(path), "perf-%9u.map%n", &pid, &end) == 1 &&
				    end && !path_base(path)[end]);
}

int jitdump_check(int pid, const char *path, const struct stat *st, struct error *err)
{
	struct process_status s;

	if (!process_read_status(pid, &s) || jitdump_number(path) != s.inner_pid)
		return -ENOENT;
	return check(pid, path, &s, st, err);
}

static void forget(struct files_ahead *f, size_t i)
{
	if (f->v[i].fd >= 0)
		close(f->v[i].fd);
	free(f->v[i].path);
	f->v[i] = f->v[--f->n];
}

void files_ahead_open(struct files_ahead *f, int pid, size_t most)
{
	struct file_ahead a = { .pid = pid, .when = clock_now_ns() };
	struct error err = { 0 };
	struct stat st;

	for (size_t i = f->n; i-- > 0;) {
		if (f->v[i].pid == pid || a.when - f->v[i].when > AHEAD_NS)
			forget(f, i);
	}
	/* Why one is not believed will be said when it is asked for. */
	a.fd = f->n < most ? perf_map_open(pid, &st, &a.path, &err) : -1;
	if (a.fd < 0) {
		free(a.path);
		return;
	}
	array_reserve(f->v, f->cap, f->n + 1);
	f->v[f->n++] = a;
}

int files_ahead_take(struct files_ahead *f, int pid, uint64_t since, char **path)
{
	for (size_t i = 0; i < f->n; i++) {
		struct file_ahead a = f->v[i];

		if (a.pid != pid || a.when < since)
			continue;
		f->v[i] = f->v[--f->n];
		free(*path);
		*path = a.path;
		return a.fd;
	}
	return -1;
}

void files_ahead_close(struct files_ahead *f)
{
	while (f->n)
		forget(f, 0);
	free(f->v);
}
