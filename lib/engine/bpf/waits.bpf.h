/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of the target's time is waiting for devices, timers or the kernel: time that no sample
 * sees and no experiment speeds up, so that what a prediction leaves out can be told. What the task
 * queues for afterwards is part of it. A wait that another task of a program ends is left out: what
 * that task does meanwhile is its own, and a target of its own.
 *
 * Whether the target is in the call chain is looked at when the task runs again, still inside of
 * what it waited in. That costs about a microsecond, so of waits shorter than LOOK_NS only some are
 * looked at, the more likely the longer they were, and then stand for LOOK_NS: the sum is right on
 * average, and no single wait can spoil it.
 */
#ifndef SCOZ_WAITS_BPF_H
#define SCOZ_WAITS_BPF_H

#include "engine/bpf/match.bpf.h"

#define LOOK_NS 200000ULL
/* The longest wait that is counted in full, ns: who sleeps longer has no part in the work. */
#define LONG_WAIT 1000000000LL

/* @next is switched in on @cpu, @began: when it fell asleep, if a device or the like woke it. */
static __always_inline void target_wait_ends(struct task_struct *next, u32 cpu, u64 began, u64 now)
{
	struct target_time *time = target_time(cpu);
	u64 length;

	if (!time)
		return;
	time->look = 0;
	if (!began || now <= began)
		return;
	length = scoz_min(now - began, LONG_WAIT);
	if (length < LOOK_NS && bpf_get_prandom_u32() % LOOK_NS >= length)
		return;
	time->look_pid = next->pid;
	time->look = length < LOOK_NS ? LOOK_NS : length;
}

/* By the task itself, in the system call or fault that it waited in. */
static __always_inline void look_at_wait(void *ctx)
{
	struct target_time *time = target_time(bpf_get_smp_processor_id());
	struct task_struct *task;
	u64 length;

	if (!time || !time->look)
		return;
	length = time->look;
	time->look = 0;
	task = bpf_get_current_task_btf();
	if ((u32)task->pid == time->look_pid && matches_target(ctx, task))
		time->waited += length;
}

#endif
