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

static __always_inline int spin_end(void)
{
	struct scoz_core *c = spinning_core();
	struct scoz_global *g = page_global();

	if (c && g && c->spinning)
		scoz_spin_leave(c, READ_ONCE(g->delay), bpf_ktime_get_ns());
	return 0;
}

#define FOLLOW_SPINS(function) \
	SEC("fentry/" #function) \
	int BPF_PROG(spin_##function##_entry) \
	{ \
		return spin_begin(); \
	} \
	SEC("fexit/" #function) \
	int BPF_PROG(spin_##function##_exit) \
	{ \
		return spin_end(); \
	}

FOLLOW_SPINS(native_queued_spin_lock_slowpath)
FOLLOW_SPINS(__pv_queued_spin_lock_slowpath)
FOLLOW_SPINS(queued_spin_lock_slowpath)
FOLLOW_SPINS(osq_lock)
FOLLOW_SPINS(mutex_spin_on_owner)
FOLLOW_SPINS(rwsem_spin_on_owner)

#endif
