/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words to write model programs with; lengths in milliseconds at scale 1. */
#ifndef SIM_BUILDER_H
#define SIM_BUILDER_H

#include "program.h"

struct builder {
	struct sim_program *p;
	double ms;
	int task; /* the one being written */
};

static inline void task(struct builder *b)
{
	b->task = program_task(b->p);
}

static inline int object(struct builder *b, int size)
{
	return program_object(b->p, size);
}

static inline void op(struct builder *b, enum sim_op_kind kind, int object)
{
	program_op(b->p, b->task, kind, 0, object, SIM_REST);
}

static inline void timed(struct builder *b, enum sim_op_kind kind, double ms, int object)
{
	program_op(b->p, b->task, kind, ms * b->ms, object, SIM_REST);
}

static inline void work(struct builder *b, double ms)
{
	program_op(b->p, b->task, OP_COMPUTE, ms * b->ms, -1, SIM_REST);
}

static inline void target(struct builder *b, double ms)
{
	if (ms > 0)
		program_op(b->p, b->task, OP_COMPUTE, ms * b->ms, -1, SIM_TARGET);
}

/* Sleeping, a request, the start of a timer: that is to be sped up. */
static inline void target_wait(struct builder *b, enum sim_op_kind kind, double ms, int object)
{
	program_op(b->p, b->task, kind, ms * b->ms, object, SIM_TARGET);
}

/* A thread of the kernel, and what it does for those who wait for it. */
static inline void kernel_task(struct builder *b)
{
	task(b);
	b->p->task[b->task].kernel = true;
}

static inline void serve(struct builder *b, enum sim_op_kind kind, double ms, int object)
{
	program_op(b->p, b->task, kind, ms * b->ms, object, SIM_SERVED);
}

static inline void progress(struct builder *b)
{
	op(b, OP_PROGRESS, -1);
}

struct sim_model {
	const char *name;
	int cores;
	void (*write)(struct builder *b);
};

/* sleepers.c: programs beside tasks that sleep; ends with a NULL name. */
extern const struct sim_model sleeper_models[];
/* waits.c: programs whose target is waiting; the same. */
extern const struct sim_model waiting_models[];
/* writers.c: the same, beside tasks that wake up now and then to use the disk; the same. */
extern const struct sim_model writer_models[];
/* bursts.c: programs that come to their progress point in bursts; the same. */
extern const struct sim_model burst_models[];

#endif
