/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of a recording (whatif/work.h), run again on so many CPUs by a scheduler of its own: all
 * CPUs are alike, who has had least of them is next, and has one for 3 ms while others want it.
 */
#ifndef SCOZ_WHATIF_RERUN_H
#define SCOZ_WHATIF_RERUN_H

#include "whatif/work.h"

/* Would who wakes another have had to wait for it, had it come earlier (whatif/replay.h)? */
enum rerun_meets { RERUN_NOBODY, RERUN_USUAL, RERUN_ALL };

struct rerun_rules {
	enum rerun_meets meets;
	bool locks_in_turn; /* in the order that was seen, by whom one waited for */
	bool no_locks;	    /* nobody waits for one */
	bool in_step;	    /* who lost its CPU to whom it had set going needed what that did */
	bool in_turn;	    /* CPUs are given in the order in which they were asked for, and kept */
	bool clock; /* timers and others outside come when they came, however early one waits */
};

struct rerun {
	uint64_t *visits; /* when each was */
	size_t n_visits;
	uint64_t root_end; /* 0: it has not come so far */
	/* Until then, all had something to do that had in the recording. */
	uint64_t end;
};
void rerun(const struct work *w, uint32_t cpus, const struct rerun_rules *rules, struct rerun *ret);
void rerun_free(struct rerun *r);

#endif
