/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of devices and timers that were submitted before their waiter fell asleep: a disk
 * read started ahead, a timerfd armed 15 ms before it is waited for. What counts is the account
 * of the submitter at the submission (see account.h, "wake").
 */
#ifndef SCOZ_OPERATIONS_BPF_H
#define SCOZ_OPERATIONS_BPF_H

#include "engine/bpf/context.bpf.h"

#define HRTIMER_RELATIVE 1 /* HRTIMER_MODE_REL */

struct operation {
	s64 absorbed;
	u64 involved; /* submitted by an involved task */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct operation);
} operations SEC(".maps");

static __always_inline int submitted(u64 key)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct scoz_global *g = page_global();
	struct task_state *t;
	struct operation o = {};
	u64 now;

	if (!c || !g)
		return 0;
	now = bpf_ktime_get_ns();
	o.absorbed = account_now(c, g, now, false);
	t = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
	o.involved = t && is_involved(t, now);
	bpf_map_update_elem(&operations, &key, &o, BPF_ANY);
	return 0;
}

static __always_inline int completed(u64 key, bool timer)
{
	struct irq_state *s = irq_state();
	struct operation *o;

	if (!s)
		return 0;
	o = bpf_map_lookup_elem(&operations, &key);
	s->operation_known = o != NULL;
	if (o) {
		s->operation = o->absorbed;
		s->unawaited = timer && o->involved;
	}
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_issue, struct request *rq)
{
	return submitted((u64)rq);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_complete, struct request *rq)
{
	return completed((u64)rq, false);
}

/* Only timers that a program arms for later; those of a sleep start as the sleep does. */
static __always_inline bool program_timer(const struct hrtimer *timer)
{
	u64 function = (u64)timer->function;

	return function && (function == timerfd_function || function == posix_timer_function ||
			    function == itimer_function);
}

/*
 * Programs that sleep until points in time are paced by the clock, whatever is inserted. Poll and
 * its like pass absolute times for relative waits, so only clock_nanosleep() and timers of the
 * program count.
 */
static __always_inline bool in_clock_nanosleep(const struct hrtimer *timer)
{
	struct pt_regs *regs;

	if (!sleep_function || (u64)timer->function != sleep_function)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return syscall_number(regs) == clock_nanosleep_number;
}

static __always_inline void count_absolute(void)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct task_state *t;

	t = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
	if (c && t && is_involved(t, bpf_ktime_get_ns()))
		c->absolute_waits++;
}

SEC("tp_btf/hrtimer_start")
int BPF_PROG(on_timer_start, struct hrtimer *timer, u32 mode)
{
	bool absolute = !(mode & HRTIMER_RELATIVE), programs = program_timer(timer);

	if (absolute && (programs || in_clock_nanosleep(timer)))
		count_absolute();
	return programs ? submitted((u64)timer) : 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_expire, struct hrtimer *timer)
{
	struct irq_state *s = irq_state();

	if (s) {
		s->operation_known = 0;
		s->unawaited = 0;
		s->hardirq |= HARDIRQ_TIMER;
	}
	if (!program_timer(timer))
		return 0;
	return completed((u64)timer, true);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_expired)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct irq_state *s = irq_state();

	if (c && s && s->unawaited) {
		c->unawaited++;
		s->unawaited = 0;
	}
	return hardirq_exit(HARDIRQ_TIMER);
}

#endif
