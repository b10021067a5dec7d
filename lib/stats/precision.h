/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What it took to know a target as precisely as it is known; inside lib/stats only. */
#ifndef SCOZ_PRECISION_H
#define SCOZ_PRECISION_H

#include "stats/stats.h"

/*
 * By index, the time that went into each window, settling included: from the end of the window
 * before (of any target) to its own end. To be freed.
 */
double *precision_time_spent(const struct profile_window *windows, size_t n);

/* Below: @w, windows of one target, sorted by compare_order(); @spent of each of these. */

/*
 * Sets spent_s of each point: a speedup's own windows, and as many 0 % windows of the target as
 * they would have alone.
 */
void precision_spent(const struct profile_window *const *w, const double *spent, size_t n,
		     struct estimate *e);
/* After how much of that no interval was wider than PRECISION_PP any more; INFINITY: not yet. */
double precision_reached(const struct profile_window *const *w, const double *spent, size_t n,
			 const struct estimate *e);

#endif
