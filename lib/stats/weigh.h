/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much each unit counts; inside lib/stats only. */
#ifndef SCOZ_WEIGH_H
#define SCOZ_WEIGH_H

#include "stats/resample.h"

/*
 * Scales both sides of the units of one speedup, in time order. @rest: by unit, what inserted delay
 * leaves of the treated window's time, above 0 and at most 1.
 */
void units_weigh(struct unit *u, size_t n, const double *rest);

#endif
