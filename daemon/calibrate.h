/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What looking costs on this machine: a child spins on each profiled core for a moment while
 * sampling is on, and notes the gaps that interrupts tear (account.h, "the cost of looking").
 */
#ifndef SCOZD_CALIBRATE_H
#define SCOZD_CALIBRATE_H

#include "run/cores.h"
#include "engine/engine.h"

/*
 * Measures, tells the engine, and returns what a tick costs, ns (0: not known). Machines differ
 * tenfold; a failure only costs accuracy.
 */
double calibrate_cost(struct engine *e, const struct cores *cores);

#endif
