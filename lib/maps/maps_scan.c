// SPDX-License-Identifier: GPL-2.0-or-later
/* What processes have mapped, read from /proc: at the start, and where records were lost. */
#include "host/patient_reader.h"
#include "maps/maps_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

/* The kernel writes a newline in a path as \012 (and nothing else so). */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (!strncmp(s, "\\012", 4)) {
			*out++ = '\n';
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

/* One line of /proc/PID/maps; false when it is no executable mapping of a file. */
static bool parse_line(char *line, struct seen *seen)
{
	unsigned int major, minor;
	char perms[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &seen->start, &seen->end, perms, &seen->pgoff, &major, &minor, &seen->id.ino,
		   &path) < 7)
		return false;
	if (strlen(perms) != 4 || perms[2] != 'x' || seen->end <= seen->start || !path)
		return false;
	seen->id.dev_major = major;
	seen->id.dev_minor = minor;
	seen->id.generation = 0;
	unescape(line + path);
	seen->path = maps_file_name(line + path);
	return seen->path;
}

struct scan {
	struct maps *m;
	int error; /* of the last one */
	size_t unreadable;
	int unreadable_pid, unreadable_error; /* of the first */
};

static void take(int pid, char *text, int error, void *arg)
{
	struct scan *s = arg;
	struct seen *seen = NULL;
	size_t n = 0, cap = 0;

	/* Processes may end any time. */
	s->error = error == ENOENT ? ESRCH : error;
	if (s->error && s->error != ESRCH && !s->unreadable++) {
		s->unreadable_pid = pid;
		s->unreadable_error = s->error;
	}
	/* Of a process that is about to end, or to execute, nothing is told. */
	if (error || !*text)
		return;
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		array_reserve(seen, cap, n + 1);
		if (parse_line(line, &seen[n]))
			n++;
	}
	maps_replace(s->m, pid, seen, n);
	for (size_t i = 0; i < n; i++)
		free((char *)seen[i].path);
	free(seen);
}

int maps_scan_process(struct maps *m, int pid)
{
	struct scan s = { .m = m };

	proc_maps_read(&pid, 1, take, &s);
	return -s.error;
}

void maps_scan_again(struct maps *m, int pid)
{
	int ret = maps_scan_process(m, pid);

	maps_scanned_again(m, pid, !ret || ret == -ESRCH);
}

struct question {
	uint64_t addr;
	enum maps_code answer;
};

static void answer(int pid, char *text, int error, void *arg)
{
	struct question *q = arg;

	(void)pid;
	(void)error;
	for (char *line = text, *next; line && *line; line = next) {
		unsigned long long start, end;
		struct seen seen;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%llx-%llx", &start, &end) != 2 || q->addr < start ||
		    q->addr >= end)
			continue;
		q->answer = parse_line(line, &seen) ? MAPS_CODE_FILE : MAPS_CODE_MEMORY;
		if (q->answer == MAPS_CODE_FILE)
			free((char *)seen.path);
		return;
	}
}

enum maps_code maps_code_at(int pid, uint64_t addr)
{
	struct question q = { addr, MAPS_CODE_GONE };

	proc_maps_read(&pid, 1, answer, &q);
	return q.answer;
}

int maps_rescan(struct maps *m, void (*fn)(int pid, void *arg), void *arg, struct error *err)
{
	_cleanup_free_ int *pids = NULL;
	size_t n = maps_living(m, &pids);

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *path = sysroot_path("/proc/%d", pids[i]);

		if (access(path, F_OK) && errno == ENOENT)
			maps_exit(m, 0, pids[i]);
		if (fn)
			fn(pids[i], arg);
	}
	return maps_scan_all(m, err);
}

int maps_scan_all(struct maps *m, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/proc");
	struct scan s = { .m = m };
	DIR *dir = opendir(path);
	_cleanup_free_ int *pids = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;

	if (!dir)
		return error_set(err, errno, "%s: cannot be read: %s", path, strerror(errno));
	while ((e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		array_reserve(pids, cap, n + 1);
		pids[n++] = atoi(e->d_name);
	}
	closedir(dir);
	proc_maps_read(pids, n, take, &s);
	if (s.unreadable)
		log_info("mappings of %zu processes could not be read (process %d: %s)",
			 s.unreadable, s.unreadable_pid, strerror(s.unreadable_error));
	return 0;
}
