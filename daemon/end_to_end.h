/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --end-to-end: the unit of work is one whole run of the command. Each run is a window with one
 * speedup; lib/plan orders them as it orders windows. The first run (of short commands: runs) only
 * finds out what is sampled, so that there are targets, and at which frequency.
 */
#ifndef SCOZD_END_TO_END_H
#define SCOZD_END_TO_END_H

#include "daemon/experiment.h"

/* Without any limit there are enough for some intervals, and an end. 0: no limit. */
uint32_t end_to_end_max_windows(const struct options *o);
int end_to_end_run(struct experiment *x, struct error *err);

#endif
