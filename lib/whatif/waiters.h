/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for a target: threads that were blocked while the thread that then woke them was in the
 * target's code. Directly: who waits for those in turn is not told, nor is who waits in a loop.
 */
#ifndef SCOZ_WHATIF_WAITERS_H
#define SCOZ_WHATIF_WAITERS_H

#include "whatif/candidates.h"

#define WAITERS_SHOWN 5 /* of a target, at most */

/* Threads of one name in processes of one name. */
struct waiter {
	const char *thread, *process; /* names, of the recording */
	uint32_t threads;
	double share;	  /* of the recorded time, summed over them: 1 is one that always waits */
	uint64_t samples; /* of the target, in their waits */
	enum trace_wait wait; /* what they mostly waited in */
};

struct waiters {
	struct waiter list[WAITERS_SHOWN]; /* most first */
	size_t n;
};

/* @ret: one for each candidate. */
int waiters_find(const struct trace *t, const struct candidates *c, struct waiters *ret,
		 struct error *err);

#endif
