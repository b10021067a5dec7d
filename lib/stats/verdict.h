/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judging the points of one target; inside lib/stats only. */
#ifndef SCOZ_VERDICT_H
#define SCOZ_VERDICT_H

#include "stats/stats.h"
#include "stats/units.h"

struct point_detail {
	double p; /* that the true program speedup is 0 */
	const struct unit_set *set;
};

/* Sets best, verdict and warning; @detail goes with e->points. */
void judge(struct estimate *e, const struct point_detail *detail, const struct unit_sets *sets);

#endif
