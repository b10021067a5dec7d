/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the lease of the delay page alive, and vouches for the whole profiler: threads of two cores
 * renew it while the main thread shows by lease_beat() that it gets on with its work. So all
 * delaying is over 8 ms after scozd was killed, stopped or swapped out, and LEASE_PATIENCE_MS after
 * the main thread got stuck, wherever that is.
 */
#ifndef SCOZD_LEASE_H
#define SCOZD_LEASE_H

#include "engine/engine.h"
#include "run/cores.h"

#define LEASE_PATIENCE_MS 1000

struct lease;
/* @cores stays the caller's, and valid. */
int lease_start(struct engine *e, const struct cores *cores, struct lease **ret, struct error *err);
void lease_stop(struct lease *l);
/* By the main thread, wherever it waits; nothing when @l is NULL. */
void lease_beat(struct lease *l);
/* For how long there has been no lease so far, ns, for whatever reason: nobody was stopped then. */
uint64_t lease_lapsed_ns(const struct lease *l);

#endif
