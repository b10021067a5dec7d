/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A replay by all rules at once: what the usual ones say, and between which bounds the others lie.
 * Where the rules agree the bounds are narrow; where a recording cannot know, they are wide.
 */
#ifndef SCOZ_WHATIF_BOUNDS_H
#define SCOZ_WHATIF_BOUNDS_H

#include "whatif/replay.h"

/* Reduction of the time a unit takes, in percent. NAN: too few units. */
struct bounds_answer {
	double middle, low, high;
};

struct bounds;
/* @devices: by target, which of them it makes faster (replay_device_bit()); NULL: code only. */
struct bounds *bounds_create(size_t threads, size_t cpus, size_t targets, const uint64_t *devices,
			     const double *speedups, size_t n_speedups, uint64_t visits);
/*
 * So many CPUs there are, whatever they are numbered; else all whose numbers are below @cpus of
 * bounds_create().
 */
void bounds_cpus(struct bounds *b, uint32_t there);
/* As replay_family(), replay_looks(), replay_servers(), replay_ran(), replay_follow() and
 * replay_event(). */
void bounds_family(struct bounds *b, uint32_t thread, uint32_t family);
void bounds_looks(struct bounds *b, uint32_t thread);
/* As replay_handed(). */
void bounds_handed(struct bounds *b, uint32_t thread);
void bounds_servers(struct bounds *b, uint32_t device, uint32_t servers);
void bounds_ran(struct bounds *b, uint32_t thread, double ns, const float *share,
		const double *spun);
void bounds_follow(struct bounds *b, uint32_t thread);
void bounds_event(struct bounds *b, const struct trace_event *e);
void bounds_read(struct bounds *b, size_t target, size_t speedup, struct bounds_answer *ret);
/* The same of the time until now, as thread @thread has it: since @from. */
void bounds_read_now(struct bounds *b, uint32_t thread, uint64_t passed, size_t target,
		     size_t speedup, struct bounds_answer *ret);
/* Share of the time that threads wanted a CPU, of that and the time they had one: 0 to 1. */
double bounds_crowded(const struct bounds *b);
/* Bytes that a thread takes for a target, at least. */
size_t bounds_row(size_t n_speedups);
/* replay_memory() */
uint64_t bounds_memory(const struct bounds *b);
void bounds_free(struct bounds *b);

#endif
