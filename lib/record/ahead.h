/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * While samples wait for tables, who made code that was seen meanwhile may end: nobody could open
 * what it told any more, once its samples have their turn. So it is opened ahead.
 */
#ifndef SCOZ_RECORD_AHEAD_H
#define SCOZ_RECORD_AHEAD_H

#include "base/hash_index.h"
#include "maps/maps.h"
#include "record/queue.h"
#include "record/unwinding.h"

struct ahead {
	struct hash_index tgids; /* that were looked at */
	uint64_t since;		 /* when none had been */
};

/* Entries of @q from @first on, which were read just now. */
void ahead_look(struct ahead *a, const struct queue *q, size_t first, const struct unwinding *u,
		struct maps *maps);
void ahead_free(struct ahead *a);

#endif
