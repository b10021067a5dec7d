/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ends a run of the command: its work, or a clock (alarm(), timeout, a loop that asks for the
 * time)? Who works until the time is up takes as long however much delay is inserted, and would
 * seem to have saved all of it. Nor do runs with a speedup tell: of one thread that saves what
 * others are delayed by, nobody is stopped. So in some runs everybody is stopped for what was
 * inserted, and nobody saves anything (discarded as "control"). Those that end when the work is
 * done take longer by just that.
 */
#ifndef SCOZ_STRETCH_H
#define SCOZ_STRETCH_H

#include "stats/window.h"

struct stretch {
	size_t runs;   /* in which all was stopped, with others beside them; 0: not known */
	double part;   /* of the delay, by which they took longer: about 1, or 0 with a clock */
	double lo, hi; /* 95 % interval; infinite with too few others */
};

/* From all windows of a profile, in any order. */
struct stretch stretch_estimate(const struct profile_window *w, size_t n);
/* Another such run would tell more: it is not clear yet what ends runs. */
bool stretch_is_open(const struct stretch *s);
/* Probably a clock: what end-to-end predictions say is worth nothing. */
bool stretch_by_clock(const struct stretch *s);

#endif
