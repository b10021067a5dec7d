/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that live for some milliseconds have few samples each, and what a thread does is taken
 * from others that do the same. Which those are its name does not tell where one program makes
 * threads of several kinds: but these begin in different functions.
 */
#ifndef SCOZ_WHATIF_ALIKE_H
#define SCOZ_WHATIF_ALIKE_H

#include "trace/trace.h"

#define ALIKE_ENOUGH 20 /* samples: a thread that has so many is known by itself */

struct alike {
	uint32_t *kind; /* by thread: the first one of its kind, itself if it is known by itself */
	uint32_t *name; /* by thread: the first one of its name */
};

void alike_find(const struct trace *t, struct alike *ret);
void alike_free(struct alike *a);

/*
 * By thread: the first one of a process of the same name; to be freed. These may wait for one
 * another in memory that they share.
 */
uint32_t *alike_programs(const struct trace *t);

#endif
