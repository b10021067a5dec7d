/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is running this code: a task, a device or a timer? A wake-up by a task carries the waker's
 * account over; one by a device or timer does not (docs/accounting.md 3a: getting this wrong costs
 * 17 to 33 points). Hard interrupts are external. A softirq belongs to whoever raised it: loopback
 * sockets deliver in a softirq that runs inside the sender's own system call.
 */
#ifndef SCOZ_CONTEXT_BPF_H
#define SCOZ_CONTEXT_BPF_H

#include "engine/bpf/hardirq.bpf.h"
#include "engine/bpf/page.bpf.h"
#include "engine/bpf/percpu.bpf.h"

#define MAX_SOFTIRQS 16

enum context { CONTEXT_TASK, CONTEXT_EXTERNAL };

struct irq_state {
	u32 raised_by[MAX_SOFTIRQS]; /* enum context */
	u32 serving;		     /* a softirq runs on this core */
	u32 current;		     /* raised by */
	u32 hardirq;		     /* bits of enum hardirq */
	/*
	 * The operation whose completion is being handled: its submitter's account then. Known
	 * until the interrupt that completes it ends, or the kernel thread that does is switched
	 * out.
	 */
	u32 operation_known;
	u32 operation_involved; /* its submitter was an involved task */
	u32 unawaited; /* it is a timer of an involved task, and nobody has been woken yet */
	s64 operation;
	u64 timer_since; /* it is a timer, set then; else 0 */
	u32 sleeps;	 /* the timer of somebody's sleep goes off */
	u64 device;	 /* which has served it, 0: none */
	u32 by_server;	 /* its submitter was a thread of the kernel (is_server()) */
	u32 by_disk;	 /* BPF_CLASS_DISK: the disk that is the target has served it; else 0 */
	u32 by_peer;	 /* BPF_CLASS_PEER: the softirq delivers what that peer has sent; else 0 */
};

/* After which nobody inherits a device's account any more. */
#define DEVICE_FORGOTTEN 1000000000ULL

/*
 * A block device that has served requests, or a thread of the kernel (is_server()); the key is the
 * address of its queue, of the task.
 */
struct device_state {
	struct scoz_device device;
	u64 target_until; /* waits for it were hits of late: who waits for it inherits its account
			   */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, struct device_state);
} devices SEC(".maps");

PERCPU(struct irq_state, irq_states, irq_state)

/*
 * The preemption count tells at a glance, but is not to be had from every kernel. So interrupts are
 * followed as well; one bit for each kind heals itself should an entry or exit have been missed
 * while the programs were attached.
 */
enum hardirq {
	HARDIRQ_TIMER = 1,
	HARDIRQ_DEVICE = 2,
};

static __always_inline enum context current_context(const struct irq_state *s)
{
	if (s->hardirq || in_hardirq())
		return CONTEXT_EXTERNAL;
	if (s->serving)
		return s->current;
	/* The idle loop runs what other cores and devices have queued for it. */
	return bpf_get_current_task_btf()->pid ? CONTEXT_TASK : CONTEXT_EXTERNAL;
}

static __always_inline int hardirq_enter(u32 bit)
{
	struct irq_state *s = irq_state();

	if (s) {
		s->hardirq |= bit;
		s->operation_known = 0;
	}
	return 0;
}

static __always_inline int hardirq_exit(u32 bit)
{
	struct irq_state *s = irq_state();

	if (s) {
		s->hardirq &= ~bit;
		if (!s->hardirq && !s->serving)
			s->operation_known = 0;
	}
	return 0;
}

#define FOLLOW_HARDIRQ(tracepoint, bit) \
	SEC("tp_btf/" #tracepoint "_entry") \
	int BPF_PROG(on_##tracepoint##_entry) \
	{ \
		return hardirq_enter(bit); \
	} \
	SEC("tp_btf/" #tracepoint "_exit") \
	int BPF_PROG(on_##tracepoint##_exit) \
	{ \
		return hardirq_exit(bit); \
	}

/*
 * Timers: operations.bpf.h. Cross-calls (IPIs) are left out: they hardly ever wake tasks, and
 * following them would cost every wake-up of another core two more programs. in_hardirq() mostly
 * knows them.
 */
FOLLOW_HARDIRQ(irq_handler, HARDIRQ_DEVICE)

/*
 * Vectors by which a task may reach another: NET_TX, NET_RX and tasklets. Block completions and
 * timers are external whoever raised them (a completion may be handed on to another core).
 */
static __always_inline bool carries_messages(u32 vector)
{
	return vector == 2 || vector == 3 || vector == 0 || vector == 6;
}

/* The barrier keeps the compiler from proving the mask needless, which the verifier can't. */
static __always_inline u32 softirq_index(u32 vector)
{
	asm volatile("" : "+r"(vector));
	return vector & (MAX_SOFTIRQS - 1);
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int vector)
{
	struct irq_state *s = irq_state();

	if (s)
		s->raised_by[softirq_index(vector)] =
			carries_messages(vector) ? current_context(s) : CONTEXT_EXTERNAL;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	struct irq_state *s = irq_state();

	if (s) {
		s->operation_known = 0;
		s->by_peer = 0;
		s->serving = 1;
		s->current = s->raised_by[softirq_index(vector)];
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector)
{
	struct irq_state *s = irq_state();

	if (s) {
		s->serving = 0;
		s->operation_known = 0;
	}
	return 0;
}

#endif
