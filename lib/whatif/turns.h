/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that threads take turns in. A lock that is free whenever somebody wants it leaves no
 * trace in a recording: nobody waits. But what it guards is never met on two CPUs at once, although
 * it would be by chance, if threads came to it at random. So samples of two CPUs that are nearest
 * in time are compared with samples that lie further apart: a function that is found on both much
 * less often at the same time is run by one after the other. If those come to it more often,
 * because something else became faster, they will meet, and wait.
 *
 * That may also be chance of another kind (threads that keep a distance without any lock); so it
 * only makes bounds wider, and the most likely value no better than what such a lock would let
 * through. Sections that are shorter than the samples lie apart are not seen.
 *
 * No files, no kernel. Times in ns.
 */
#ifndef SCOZ_WHATIF_TURNS_H
#define SCOZ_WHATIF_TURNS_H

#include "trace/trace.h"
#include "whatif/bounds.h"

#define TURNS_FUNCTIONS 64

struct turns_sample {
	uint64_t time, mask; /* mask: the functions that it was in */
	uint32_t thread, family;
	uint32_t cpu;
	double weight;
};

struct turns;
/* CPUs and threads: numbers are below these. @period: of the samples. */
struct turns *turns_create(size_t cpus, size_t threads, uint64_t period);
/* In the order of time. Only threads of one family share locks. */
void turns_sample(struct turns *t, const struct turns_sample *s);
/* Waits for locks and the like: where there are many, the recording shows what they do. */
void turns_event(struct turns *t, const struct trace_event *e);
/* Is @function run by one thread after the other, without any waiting for it? */
bool turns_taken(const struct turns *t, size_t function);
/*
 * What a lock around such a function would make of @a, with @target faster by @speedup (0 to 1) in
 * a recording of @duration.
 */
void turns_widen(const struct turns *t, size_t target, double speedup, double duration,
		 struct bounds_answer *a);
void turns_free(struct turns *t);

#endif
