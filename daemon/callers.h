/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By which calls the targets of a run are reached: of each that is code, how often it
 * was sampled since it was first tried, and its commonest call paths. The commonest of those that
 * came first, that is: of each target a bounded number is told apart. Not thread-safe.
 */
#ifndef SCOZD_CALLERS_H
#define SCOZD_CALLERS_H

#include "daemon/locations.h"
#include "engine/engine.h"

#define CALLERS_SHOWN 5 /* paths of a target, at most */

/* One frame of a chain, inlined ones included. */
struct caller_frame {
	uint16_t chain;	   /* which frame of the chain as it was sampled */
	uint8_t origin;	   /* enum code_origin */
	uint32_t location; /* or LOCATION_NONE */
	uint32_t binary;
	uint64_t vaddr; /* in that binary */
};

struct callers;
struct callers *callers_create(struct locations *locations);
void callers_destroy(struct callers *c);
/*
 * Target @id of the profile, which is called @name, is all of @parts from now on. Where it was
 * known before, samples go on being counted.
 */
void callers_watch(struct callers *c, uint32_t id, const char *name,
		   const struct engine_part *parts, int n);
bool callers_are_watched(const struct callers *c);
/* A chain of @n frames, innermost first, that was sampled @count times; @polls: it waited so. */
void callers_add(struct callers *c, const struct caller_frame *frame, int n, uint64_t count,
		 bool polls);

/* What is to be told of the @i-th target, commonest path first; false: there are no more. */
struct caller_path {
	uint64_t samples;
	const char *const *functions; /* TARGET notation, innermost first; live as the locations */
	size_t n;
};
struct caller_target {
	uint32_t id;
	uint64_t samples, all; /* of it, and of everything, since it was first tried */
	uint64_t polled;       /* of its samples */
	struct caller_path paths[CALLERS_SHOWN];
	size_t n_paths;
};
bool callers_get(struct callers *c, size_t i, struct caller_target *ret);

#endif
