/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of devices and timers that were submitted before their waiter fell asleep: a disk
 * read started ahead, a timerfd armed 15 ms before it is waited for. What counts is the account
 * of the submitter at the submission (see account.h, "wake").
 */
#ifndef SCOZ_OPERATIONS_BPF_H
#define SCOZ_OPERATIONS_BPF_H

#include "engine/bpf/context.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, s64);
} operations SEC(".maps");

static __always_inline int submitted(u64 key)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct scoz_global *g = page_global();
	s64 absorbed;

	if (!c || !g)
		return 0;
	absorbed = account_now(c, g, bpf_ktime_get_ns(), false);
	bpf_map_update_elem(&operations, &key, &absorbed, BPF_ANY);
	return 0;
}

static __always_inline int completed(u64 key)
{
	struct irq_state *s = irq_state();
	s64 *absorbed;

	if (!s)
		return 0;
	absorbed = bpf_map_lookup_elem(&operations, &key);
	s->operation_known = absorbed != NULL;
	if (absorbed)
		s->operation = *absorbed;
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
	return completed((u64)rq);
}

/* Only timers that a program arms for later; those of a sleep start as the sleep does. */
static __always_inline bool program_timer(const struct hrtimer *timer)
{
	u64 function = (u64)timer->function;

	return function && (function == timerfd_function || function == posix_timer_function ||
			    function == itimer_function);
}

SEC("tp_btf/hrtimer_start")
int BPF_PROG(on_timer_start, struct hrtimer *timer)
{
	if (!program_timer(timer))
		return 0;
	return submitted((u64)timer);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_expire, struct hrtimer *timer)
{
	struct irq_state *s = irq_state();

	if (s) {
		s->operation_known = 0;
		s->hardirq |= HARDIRQ_TIMER;
	}
	if (!program_timer(timer))
		return 0;
	return completed((u64)timer);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_expired)
{
	return hardirq_exit(HARDIRQ_TIMER);
}

#endif
