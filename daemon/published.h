/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the binaries of the engine's target are mapped: the engine is told of all that are, and
 * then of each that comes.
 */
#ifndef SCOZD_PUBLISHED_H
#define SCOZD_PUBLISHED_H

#include "engine/engine.h"
#include "maps/maps.h"

#include <stdatomic.h>

struct published {
	struct engine *engine;
	struct maps *maps;
	_Atomic uint32_t binary[SCOZ_MAX_PARTS];
	atomic_int n;
	atomic_bool full; /* the engine had no room: in some processes the target is not seen */
};

/* By one thread: from now on there is none. */
void published_clear(struct published *p);
void published_add(struct published *p, uint32_t binary);
/* By any thread: maps_on_mapping() tells. */
void published_on_mapping(struct published *p, uint32_t binary, const struct maps_mapping *m);

#endif
