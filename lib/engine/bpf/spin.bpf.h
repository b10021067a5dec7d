/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for a lock without giving up the core. The functions in which the kernel spins begin and
 * end such a wait: spin locks, and mutexes and rwsems whose owner runs. Their names differ with
 * the kernel; the loader takes those that are there.
 */
#ifndef SCOZ_SPIN_BPF_H
#define SCOZ_SPIN_BPF_H

#include "engine/bpf/page.bpf.h"

/* The idle task and the profiler run in nobody's time. */
static __always_inline struct scoz_core *spinning_core(void)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());

	if (!c || c->idle || bpf_get_current_task_btf()->tgid == self_tgid)
		return NULL;
	return c;
}

static __always_inline int spin_begin(void)
{
	struct scoz_core *c = spinning_core();

	if (c)
		scoz_spin_enter(c, bpf_ktime_get_ns());
	return 0;
}

/*
 * Which core had a spin lock last, among those that waited for it, by the lock's address: its upper
 * bits and the CPU. Collisions and locks taken without waiting cost accuracy, nothing else.
 */
#define HOLDERS	 1024
#define CPU_MASK 0xffffULL

__u64 holders[HOLDERS];

/* @lock: 0 for kinds of locks whose holders are not kept. */
static __always_inline struct scoz_core *take_over(__u64 lock)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 hash = lock * 0x9e3779b97f4a7c15ULL, last;
	struct scoz_core *holder;

	if (!lock)
		return NULL;
	last = holders[hash >> 54];
	holders[hash >> 54] = (hash & ~CPU_MASK) | cpu;
	if ((last ^ hash) & ~CPU_MASK || (last & CPU_MASK) == cpu)
		return NULL;
	holder = page_core(last & CPU_MASK);
	return holder && holder->sampled && !holder->idle ? holder : NULL;
}

static __always_inline int spin_end(__u64 lock)
{
	struct scoz_core *c = spinning_core(), *holder;
	struct scoz_header *h = page_header();
	struct scoz_global *g = page_global();
	s64 delay, ender, lump = 0;
	bool held;

	if (!c || !h || !g)
		return 0;
	holder = take_over(lock);
	delay = ender = READ_ONCE(g->delay);
	if (holder) {
		ender = READ_ONCE(holder->absorbed);
		lump = scoz_lump(h->period, h->speedup);
	}
	held = READ_ONCE(c->stopping);
	if (held) /* by what this interrupt came into: it absorbs nothing */
		ender = c->absorbed;
	else
		account_hold(c);
	scoz_spin_leave(c, ender, lump, delay, bpf_ktime_get_ns());
	if (!held)
		account_let_go(c);
	return 0;
}

/* As a number: with a pointer nothing may be calculated. */
static __always_inline __u64 first_argument(unsigned long long *ctx)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, 0, &value);
	return value;
}

#define FOLLOW_SPINS(function, lock) \
	SEC("fentry/" #function) \
	int BPF_PROG(spin_##function##_entry) \
	{ \
		return spin_begin(); \
	} \
	SEC("fexit/" #function) \
	int BPF_PROG(spin_##function##_exit) \
	{ \
		return spin_end(lock); \
	}

FOLLOW_SPINS(native_queued_spin_lock_slowpath, first_argument(ctx))
FOLLOW_SPINS(__pv_queued_spin_lock_slowpath, first_argument(ctx))
FOLLOW_SPINS(queued_spin_lock_slowpath, first_argument(ctx))
FOLLOW_SPINS(osq_lock, 0)
FOLLOW_SPINS(mutex_spin_on_owner, 0)
FOLLOW_SPINS(rwsem_spin_on_owner, 0)

#endif
