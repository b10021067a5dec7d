/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the libraries by which MPI waits for messages, and tells the engine what their functions
 * are to those who poll (account/polling.h).
 */
#ifndef SCOZD_POLLING_H
#define SCOZD_POLLING_H

#include "account/polling.h"
#include "daemon/chains.h"
#include "engine/engine.h"
#include "maps/maps.h"
#include "unwind/follow.h"

struct polling;
/* What it is given must outlive it. */
struct polling *polling_create(struct maps *maps, struct engine *engine,
			       struct unwind_follow *unwind);
void polling_destroy(struct polling *p);
/* For what has been mapped since; the main thread, now and then. */
void polling_look(struct polling *p);
/*
 * A chain, whose binaries all have tables: in MPICH's library, who calls UCX's engine of progress
 * is one, too, but its functions have no names. Any thread.
 */
void polling_learn(struct polling *p, const struct chain *chain);

/* Is this the chain of a task that waits by polling, as the engine takes it? Any thread. */
bool polling_waits(struct polling *p, const struct chain *chain);

/* ---- pure ---- */

/* By its name, is it a file of which something is to be known? @role: of all that has no other. */
bool polling_file(const char *path, enum scoz_poll_role *role);

#endif
