/* SPDX-License-Identifier: GPL-2.0-only */
/* A core interrupts itself, as soon as its interrupts are on: switched.bpf.h tells what for. */
#ifndef SCOZ_SELF_INTERRUPT_BPF_H
#define SCOZ_SELF_INTERRUPT_BPF_H

#include "engine/bpf/module.bpf.h"

const volatile __u32 self_interrupts; /* enum bpf_self_interrupts */

/* Of each core: the event that interrupts it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* cores */
	__type(key, u32);
	__type(value, u32);
} interrupt_events SEC(".maps");

static __always_inline void interrupt_self(void *ctx)
{
	u64 nothing = 0;

	if (self_interrupts == SELF_INTERRUPT_EVENT)
		bpf_perf_event_output(ctx, &interrupt_events, BPF_F_CURRENT_CPU, &nothing,
				      sizeof(nothing));
	else if (self_interrupts == SELF_INTERRUPT_MODULE)
		scoz_kick(bpf_get_smp_processor_id());
}

#endif
