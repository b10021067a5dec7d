/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places in programs that can be targets (lines or functions), interned: equal names have equal
 * ids. Thread-safe.
 */
#ifndef SCOZD_LOCATIONS_H
#define SCOZD_LOCATIONS_H

#include "base/base.h"
#include "daemon/options.h"
#include "map/map.h"

#define LOCATION_NONE UINT32_MAX

struct location {
	char *target;	    /* TARGET notation, "func:work@bar" */
	const char *kind;   /* "line", "function", "kernel" */
	char *where;	    /* "bar.c:8", or "" */
	const char *binary; /* path; lives as long as the maps */
};

struct locations;
struct locations *locations_create(const struct options *opt);
void locations_destroy(struct locations *l);
/* LOCATION_NONE when out of --source-scope or without a name. */
uint32_t locations_intern(struct locations *l, const struct maps_binary *binary,
			  const struct map_frame *frame);
uint32_t locations_count(struct locations *l);
/* Stable until locations_destroy(). */
const struct location *locations_get(struct locations *l, uint32_t id);

#endif
