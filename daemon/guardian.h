/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of the machine that a run changes, and their way back however scozd ends: a small
 * process (nobody's child, so that it is not taken for the command's) waits for scozd to be gone
 * (end of file on a pipe) and writes the old values, and 0 to the file of --truth. It inherits
 * scozd's hold on the machine (run/machine_lock.h), so the next scozd does not begin before that.
 */
#ifndef SCOZD_GUARDIAN_H
#define SCOZD_GUARDIAN_H

#include "base/base.h"

struct guardian {
	int alive;    /* closed when scozd ends, however it ends */
	int done;     /* end of file when everything is restored */
	char old[32]; /* what perf_event_max_sample_rate was before */
	bool changed; /* it is another one now */
};

/*
 * Sets kernel.perf_event_max_sample_rate (idle cores would be throttled to a few hundred ticks a
 * second) to at least @rate, and starts the guardian where that changed anything, or where there is
 * a file of --truth (else @truth is -1).
 * @got: what it is now; less than @rate where only root may change it.
 */
int guardian_start(struct guardian *g, unsigned long rate, int truth, unsigned long *got,
		   struct error *err);
/*
 * Restores the settings, for one who is about to exit: whoever runs out of memory may have lost the
 * guardian. By any thread, at any time, without memory.
 */
void guardian_restore(const struct guardian *g);
/* Restores everything; returns when that has happened. */
void guardian_stop(struct guardian *g);

#endif
