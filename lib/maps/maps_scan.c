// SPDX-License-Identifier: GPL-2.0-or-later
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

int maps_scan_process(struct maps *m, int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/maps", pid), *text = NULL;
	struct seen *seen = NULL;
	size_t n = 0, cap = 0;

	text = read_file(path, NULL);
	if (!text)
		return errno == ENOENT ? -ESRCH : -errno;
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		array_reserve(seen, cap, n + 1);
		if (parse_line(line, &seen[n]))
			n++;
	}
	maps_replace(m, pid, seen, n);
	for (size_t i = 0; i < n; i++)
		free((char *)seen[i].path);
	free(seen);
	return 0;
}

enum maps_code maps_code_at(int pid, uint64_t addr)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/maps", pid), *text = NULL;

	text = read_file(path, NULL);
	for (char *line = text, *next; line && *line; line = next) {
		unsigned long long start, end;
		struct seen seen;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%llx-%llx", &start, &end) != 2 || addr < start || addr >= end)
			continue;
		if (!parse_line(line, &seen))
			return MAPS_CODE_MEMORY;
		free((char *)seen.path);
		return MAPS_CODE_FILE;
	}
	return MAPS_CODE_GONE;
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
	DIR *dir = opendir(path);
	size_t unreadable = 0;
	struct dirent *e;

	if (!dir)
		return error_set(err, errno, "%s: cannot be read: %s", path, strerror(errno));
	while ((e = readdir(dir))) {
		int rc;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		/* Processes may end any time. */
		rc = maps_scan_process(m, atoi(e->d_name));
		unreadable += rc && rc != -ESRCH;
	}
	closedir(dir);
	if (unreadable)
		log_info("mappings of %zu processes may not be read", unreadable);
	return 0;
}
