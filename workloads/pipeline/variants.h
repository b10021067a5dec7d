/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What do the pipeline's optimised functions really bring? The last stage makes one after the
 * other fast, for a moment each, by the knobs that the other stages map, and prints the rate of
 * every such phase. Neighbours are compared with each other: a machine that changes its speed
 * does so for all of them. What is under way between the stages when a knob is turned still is
 * of the phase before: a phase counts from when that is through.
 */
#ifndef WORKLOADS_PIPELINE_VARIANTS_H
#define WORKLOADS_PIPELINE_VARIANTS_H

#include "stage.h"
#include <fcntl.h>

/* int32s of the file: above 0 where the function should be fast. */
enum stage_knob { KNOB_STOPWORD, KNOB_CHECKSUM, NR_KNOBS };

#define PHASE_NS  150000000ULL
#define SETTLE_NS 50000000ULL

struct variants {
	int fd;		/* of the knobs */
	unsigned phase; /* 0, 1, 2, 2, 1, 0, ... */
	uint64_t since_ns, from_ns, from;
};

/* 0: as it is. 1 and up: the knob of that number less one is turned. */
static inline unsigned variants_now(const struct variants *v)
{
	unsigned i = v->phase % (NR_KNOBS + 1);

	return v->phase / (NR_KNOBS + 1) % 2 ? NR_KNOBS - i : i;
}

static inline void variants_turn(const struct variants *v)
{
	int32_t knob[NR_KNOBS] = { 0 };

	if (variants_now(v))
		knob[variants_now(v) - 1] = 1;
	if (pwrite(v->fd, knob, sizeof(knob), 0) != sizeof(knob))
		stage_die("cannot write the knobs: %s", strerror(errno));
}

static inline void variants_open(struct variants *v, const char *path)
{
	v->fd = open(path, O_RDWR | O_CLOEXEC);
	if (v->fd < 0)
		stage_die("cannot open %s: %s", path, strerror(errno));
	v->since_ns = stage_now();
	variants_turn(v);
}

/* The done-th batch is done at now_ns. */
static inline void variants_batch(struct variants *v, uint64_t now_ns, uint64_t done)
{
	static const char *const name[] = { "base", "is_stopword", "verify_checksum" };

	if (now_ns < v->since_ns + SETTLE_NS)
		return;
	if (!v->from_ns) {
		v->from_ns = now_ns;
		v->from = done;
		return;
	}
	if (now_ns < v->since_ns + PHASE_NS)
		return;
	printf("%s %.1f\n", name[variants_now(v)],
	       (double)(done - v->from) * 1e9 / (double)(now_ns - v->from_ns));
	v->phase++;
	if (!(v->phase % (NR_KNOBS + 1)))
		puts("next");
	v->from_ns = 0;
	v->since_ns = now_ns;
	variants_turn(v);
}

#endif
