/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may wait for a process that is not ours. The kernel lets wait who asks for its files, its
 * mappings, its environment, or for /proc/PID/stat, while it executes a program (exec_update_lock),
 * and who reads its mappings while it changes them. Its owner can make that last, by how much
 * memory it gives up and how little CPU time it has; so may a batch job on a busy machine. So a
 * thread of its own asks; where it waits too long, it is given up, and others ask on. What never
 * waits: pidfd_open(), and /proc/PID/status, comm, cmdline, cgroup and task/.
 */
#ifndef SCOZ_PATIENCE_H
#define SCOZ_PATIENCE_H

#include "base/base.h"

struct patient_thread;

/* With what one asks for. Static. */
struct patience {
	uint64_t ns;	  /* in which a thread waits; one that computes, or has no CPU, may take
			   * ten times as long */
	size_t max_stuck; /* threads that were given up, and hang */
	bool again;	  /* also who hangs with a process already does not keep others from it */
	struct patient_thread *stuck;
};

/*
 * Calls @fn(@arg), which asks for @pid. 0: it has returned. Else @arg is no longer the caller's,
 * and
 * @drop is called with it: -ETIMEDOUT: by who was given up, when that comes back; -EBUSY: another
 * one hangs with @pid; -EAGAIN: too many hang, or there are no threads.
 */
int patiently(struct patience *p, int pid, void (*fn)(void *arg), void *arg,
	      void (*drop)(void *arg));
/*
 * The same of @n of them, one after another: as long as none hangs, by one thread, which goes on
 * with @then (NULL: nothing) as soon as @fn has returned; it is not given up meanwhile. @ret: of
 * each.
 */
void patiently_all(struct patience *p, const int *pids, size_t n, void (*fn)(void *arg),
		   void (*then)(void *arg), void *const *args, void (*drop)(void *arg), int *ret);

#endif
