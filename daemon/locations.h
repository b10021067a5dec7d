/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places in programs that can be targets (lines or functions), interned: equal names have equal
 * ids. Thread-safe.
 */
#ifndef SCOZD_LOCATIONS_H
#define SCOZD_LOCATIONS_H

#include "base/base.h"
#include "daemon/options.h"
#include "maps/maps.h"
#include "maps/credit.h"

#define LOCATION_NONE UINT32_MAX

struct location {
	char *target;	       /* TARGET notation, "func:work@bar" */
	enum target_kind kind; /* line, function, or kernel */
	char *where;	       /* "bar.c:8", or "" */
	char *function;	       /* of a line: TARGET notation of what it is in, else NULL */
	const char *binary;    /* path; lives as long as the maps */
};

/* What bears that name in one binary; the strings are its table's, and live as long as the maps. */
struct location_site {
	uint32_t binary;
	uint32_t line;
	const char *file; /* as the compiler saw it; NULL: not known */
	const char *function;
};

struct locations;
struct locations *locations_create(const struct options *opt);
void locations_destroy(struct locations *l);
/*
 * @origin: whose code it is, as code_origins() tells; becomes CODE_OUTSIDE when it is out of
 * --source-scope. LOCATION_NONE: then, or without a name (CODE_UNKNOWN), or without a line where
 * --granularity asks for lines.
 */
uint32_t locations_intern(struct locations *l, const struct maps_binary *binary,
			  const struct map_frame *frame, uint8_t *origin);
/* Of a source file, as targets and locations have it: a part of @path. */
const char *location_short_path(const char *path);
/*
 * A function as a target: in the file at @path, or in code that processes make (@made), or in the
 * kernel. malloc'ed.
 */
char *location_function_target(const char *function, const char *path, bool made, bool kernel);
/* A binary as a target, "bin:gzip", malloc'ed. */
char *locations_binary_target(const char *path);
uint32_t locations_count(struct locations *l);
/* Stable until locations_destroy(). */
const struct location *locations_get(struct locations *l, uint32_t id);
/* Where it is, in the order in which that was seen; malloc'ed, at least one. */
size_t locations_sites(struct locations *l, uint32_t id, struct location_site **ret);

#endif
