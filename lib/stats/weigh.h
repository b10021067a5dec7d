/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much each unit counts; inside lib/stats only. */
#ifndef SCOZ_WEIGH_H
#define SCOZ_WEIGH_H

#include "stats/resample.h"

/* How the work of a unit went on: in its treated window, and in those beside it. */
struct unit_flow {
	double visits, visits0;
	double wall_s, wall0_s; /* between them */
	double left_s;		/* what inserted delay leaves of the former; above 0 */
};

/* Scales both sides of the units of one speedup, in time order. */
void units_weigh(struct unit *u, const struct unit_flow *flow, size_t n);

#endif
