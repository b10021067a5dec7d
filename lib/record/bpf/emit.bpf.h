/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing records with their call chains to the ring. Nobody is woken: the reader polls. */
#ifndef SCOZ_RECORD_EMIT_BPF_H
#define SCOZ_RECORD_EMIT_BPF_H

#include "engine/bpf/unwind.bpf.h"
#include "record/bpf/wakers.bpf.h"

#define CHAIN_BYTES (RECORD_MAX_FRAMES * sizeof(u64))

struct scratch {
	struct record_event event;
	u64 chain[2 * RECORD_MAX_FRAMES + 2];
};

/*
 * Interrupts come on top of tasks: a tick may find the scratch area in use by a wait's record. So
 * there is one for each.
 */
enum scratch_user { SCRATCH_TICK, SCRATCH_WAIT, SCRATCH_ITER, SCRATCH_USERS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_USERS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_USERS);
	__type(key, u32);
	__type(value, struct unwind_walk);
} walks SEC(".maps");

static __always_inline struct scratch *scratch(u32 user)
{
	return bpf_map_lookup_elem(&scratches, &user);
}

static __always_inline u32 frames(long bytes)
{
	return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

/* The current task's user chain by tables; how many words, 0: none. */
static __always_inline u32 walked_chain(u32 which, u64 *to, struct record_event *e)
{
	struct unwind_walk *w = bpf_map_lookup_elem(&walks, &which);
	u32 words;

	e->chain = RECORD_CHAIN_POINTERS;
	if (!unwind_by_tables || !w)
		return 0;
	words = unwind_user(w);
	if (!words)
		return 0;
	if (words > RECORD_MAX_FRAMES)
		words = RECORD_MAX_FRAMES;
	if (bpf_probe_read_kernel(to, words * sizeof(u64), w->frames))
		return 0;
	e->chain = w->ended == WALK_COMPLETE && !w->last_by_pointer ? RECORD_CHAIN_WHOLE
								    : RECORD_CHAIN_TABLES;
	e->pointed[0] = w->pointed[0];
	e->pointed[1] = w->pointed[1];
	return words;
}

/* @ctx: of a program that runs as the thread itself; @which uses @s. */
static __always_inline void emit_with_chains(void *ctx, u32 which, struct scratch *s)
{
	u32 kernel = frames(bpf_get_stack(ctx, s->chain, CHAIN_BYTES, 0)), user;
	u64 size;

	if (kernel > RECORD_MAX_FRAMES)
		kernel = RECORD_MAX_FRAMES;
	user = walked_chain(which, &s->chain[kernel], &s->event);
	if (!user)
		user = frames(bpf_get_stack(ctx, &s->chain[kernel], CHAIN_BYTES, BPF_F_USER_STACK));
	if (user > RECORD_MAX_FRAMES)
		user = RECORD_MAX_FRAMES;
	s->event.n_kernel = kernel;
	s->event.n_user = user;
	size = sizeof(s->event) + (kernel + user) * sizeof(u64);
	if (size > sizeof(*s))
		return;
	if (bpf_ringbuf_output(&events, s, size, BPF_RB_NO_WAKEUP))
		count_lost();
}

static __always_inline void emit_bare(struct record_event *e)
{
	e->n_kernel = e->n_user = 0;
	e->no_chain = 1;
	if (bpf_ringbuf_output(&events, e, sizeof(*e), BPF_RB_NO_WAKEUP))
		count_lost();
}

struct times_event {
	struct record_event event;
	struct record_times times;
};

/* 0: not known. */
static __always_inline u64 born(const struct task_struct *task, u32 tid)
{
	return tid == (u32)task->pid ? task->start_time : 0;
}

static __always_inline void emit_times(struct task_struct *task, u32 tid,
				       const struct thread_state *t, u64 now, bool exited)
{
	struct times_event e = {
		.event = {
			.type = RECORD_EVENT_TIMES,
			.time = now,
			.tid = tid,
			.tgid = task->tgid,
			.born = born(task, tid),
		},
		.times = {
			.since = t->since,
			.on = t->on,
			.queued = t->queued,
			.io = t->io,
			.other = t->other,
			.exited = exited,
		},
	};

	bpf_probe_read_kernel_str(e.event.comm, sizeof(e.event.comm), task->comm);
	if (bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_NO_WAKEUP))
		count_lost();
}

#endif
