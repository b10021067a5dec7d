/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One profiler a machine: two would stop each other's cores.
 *
 * Root locks a file that nobody else can open. Who has only the capabilities cannot, and what they
 * can lock any user could keep locked: so the second lock is a name (an abstract socket) that
 * tells who holds it, and a holder who could not profile does not count.
 */
#ifndef SCOZ_RUN_MACHINE_LOCK_H
#define SCOZ_RUN_MACHINE_LOCK_H

#include "base/base.h"

struct machine_lock {
	int file, name; /* -1: not held */
};

/*
 * @file: path, @name: of the socket; NULL: the machine's. -EBUSY when another profiler runs. Either
 * lock suffices; that none could be had is said with log_warn().
 */
int machine_lock_take(struct machine_lock *l, const char *file, const char *name,
		      struct error *err);
/*
 * The process that profiles this machine now; 0: none, -1: it is in another PID namespace. @known:
 * what was returned last, 0 at first: spares asking again. @name as above.
 */
int machine_lock_holder(const char *name, int known);
void machine_lock_release(struct machine_lock *l);

#endif
