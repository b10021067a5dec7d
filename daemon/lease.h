/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the lease of the delay page alive: while this thread runs, cores may be stopped; 8 ms
 * after it last ran (scozd killed, stopped, swapped out) all delaying is over.
 */
#ifndef SCOZD_LEASE_H
#define SCOZD_LEASE_H

#include "engine/engine.h"

struct lease;
int lease_start(struct engine *e, struct lease **ret, struct error *err);
void lease_stop(struct lease *l);

#endif
