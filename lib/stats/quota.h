/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a CPU quota does to the windows of one target; inside lib/stats and tests. */
#ifndef SCOZ_STATS_QUOTA_H
#define SCOZ_STATS_QUOTA_H

#include "stats/window.h"

struct quota_effect {
	double throttled; /* share of the time; 0: too little to matter */
	bool known;	  /* what it does was taken off, else it is only doubted */
};

/*
 * @w: windows of one target. By window, as units.c has them: @work (0: unusable), @scale, and
 * @time, which is replaced where the quota would allow another one. @latency: @time is of
 * latencies.
 */
void quota_correct(const struct profile_window *const *w, size_t n, const double *work,
		   const double *scale, bool latency, double *time, struct quota_effect *ret);

#endif
