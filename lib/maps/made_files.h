/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process that makes code tells its functions' names: /tmp/perf-PID.map, and the jitdump
 * that it has mapped (jit-PID.dump).
 */
#ifndef SCOZ_MAPS_MADE_FILES_H
#define SCOZ_MAPS_MADE_FILES_H

#include "base/base.h"

#include <sys/stat.h>

/*
 * Opens the perf map of process @pid: in the root and by the number that the process itself sees, a
 * regular file that belongs to its user, that nobody else may write, and that has been written
 * since the process began. Returns a descriptor, or a negative errno: -ENOENT (without a text) when
 * there is none; -EPERM when there is one that is not believed. @path, as the process sees it, is
 * malloc'ed, or NULL.
 */
int perf_map_open(int pid, struct stat *st, char **path, struct error *err);
/* Is it called as jitdump files are? */
bool is_jitdump(const char *path);
/* Is it called as files are that tell of such code: perf maps and jitdumps? */
bool is_made_file(const char *path);
/*
 * May what process @pid has mapped from @path, a file that is open and @st tells of, be its own
 * jitdump, by the same rules? -ENOENT (without a text): it is another process's, as after a fork.
 */
int jitdump_check(int pid, const char *path, const struct stat *st, struct error *err);
/*
 * Perf maps that were opened before their processes were known, for a minute at most: a process
 * may have gone when it is.
 */
struct files_ahead {
	struct file_ahead {
		int pid, fd;
		uint64_t when;
		char *path;
	} * v;
	size_t n, cap;
};
/* That of @pid, if there is one that is believed, and less than @most are open. */
void files_ahead_open(struct files_ahead *f, int pid, size_t most);
/* What was opened of @pid at @since or later; -1: nothing. */
int files_ahead_take(struct files_ahead *f, int pid, uint64_t since, char **path);
void files_ahead_close(struct files_ahead *f);

#endif
