/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes have mapped, in their own words: /proc/PID/maps. It cannot be read while somebody
 * changes that address space, and its owner can make that last for ever. So a thread reads, and
 * where it has to wait for a process too long, another one goes on with those behind it.
 */
#ifndef SCOZ_PROC_MAPS_H
#define SCOZ_PROC_MAPS_H

#include "base/base.h"

/* @text: NULL for an error; to be changed as one likes, but not kept. */
typedef void (*proc_maps_fn)(int pid, char *text, int error, void *arg);

/*
 * @fn is called for each of @pids in turn, while the caller waits. ETIMEDOUT: of one that took more
 * than a second, and, without waiting, as long as it still hangs; so does EAGAIN for all when too
 * many do.
 */
void proc_maps_read(const int *pids, size_t n, proc_maps_fn fn, void *arg);

#endif
