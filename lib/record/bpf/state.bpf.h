/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps and settings of the recording programs, and what is known about a thread. */
#ifndef SCOZ_RECORD_STATE_BPF_H
#define SCOZ_RECORD_STATE_BPF_H

#include "engine/bpf/percpu.bpf.h"
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "record/bpf/shared.h"
#include "record/sampling_points.h"

const volatile __u64 period = 1000000;
const volatile __s32 self_tgid = -1;
const volatile __u32 everybody; /* 1: all threads; 0: those that are marked and their children */
volatile __u32 chain_at_switch; /* 1: no hook after the switch: kernel chain only */

/* Progress counts from now on: programs are attached before. */
volatile __u32 started;

/*
 * When the recording ended, 0: it goes on. From then on nothing changes: threads that still wait
 * are looked at one after the other.
 */
volatile __u64 finished;

/*
 * A thread's wait, and its times so far. Written by the CPU that switches it out or in; `woken`
 * and what belongs to it by its waker. A waker may be there before the switch-out, as soon as the
 * thread's state is set; so `woken` is never reset, but compared with the switch-in before.
 */
struct thread_state {
	u64 since; /* first seen */
	u64 in;	   /* on a CPU since then; 0: off */
	u64 stint; /* when it had been switched in before it left */
	u64 left;
	u64 woken; /* of the wait that began at `left` if after `stint` */
	u64 on, queued, io, other;
	u64 point;  /* a sampling point, and the first one since it was looked up */
	s64 unpaid; /* time on sampled CPUs less what its points stand for, ns */
	u32 waker;
	u32 tid; /* by which it is known: its own, but for a moment of exec (tasks.bpf.h) */
	u8 woken_by;
	u8 why;
	u8 told;		   /* its times are written, it has ended */
	struct record_futex futex; /* of the wait that began at `left` */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

/* Tids that threads have taken over to execute a program; when. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, u64);
} taken_over SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20); /* set by the loader */
} events SEC(".maps");

/* What found no room in the ring, by CPU. */
PERCPU(u64, lost, lost_here)

static __always_inline void count_lost(void)
{
	u64 *n = lost_here();

	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline bool is_self(const struct task_struct *task)
{
	return task->tgid == self_tgid;
}

#endif
