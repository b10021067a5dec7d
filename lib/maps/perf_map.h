/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /tmp/perf-PID.map: where a process that makes code tells its functions' names. */
#ifndef SCOZ_MAPS_PERF_MAP_H
#define SCOZ_MAPS_PERF_MAP_H

#include "base/base.h"

#include <sys/stat.h>

/*
 * Opens the map of process @pid: in the root and by the number that the process itself sees, a
 * regular file that belongs to its user, that nobody else may write, and that has been written
 * since the process began. Returns a descriptor, or a negative errno: -ENOENT (without a text) when
 * there is none; -EPERM when there is one that is not believed. @path, as the process sees it, is
 * malloc'ed, or NULL.
 */
int perf_map_open(int pid, struct stat *st, char **path, struct error *err);
/* When process @pid began, in ticks since the machine did: tells processes of one number apart. 0:
 * it is gone. */
uint64_t perf_map_started(int pid);

#endif
