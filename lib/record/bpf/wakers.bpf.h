/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is running this code: a task, a timer or a device? A softirq that carries messages belongs to
 * whoever raised it: loopback sockets deliver in a softirq inside the sender's own system call.
 */
#ifndef SCOZ_RECORD_WAKERS_BPF_H
#define SCOZ_RECORD_WAKERS_BPF_H

#include "engine/bpf/hardirq.bpf.h"
#include "record/bpf/state.bpf.h"
#include "record/bpf/trace.bpf.h"

#define MAX_SOFTIRQS 16
#define VECTOR_TIMER 1

struct cpu_state {
	u8 raised_by_task[MAX_SOFTIRQS];
	u32 serving; /* softirq vector + 1 */
	u32 irq;     /* number + 1 of the device's interrupt being handled */
	u32 timer;   /* a timer's function runs */
	u32 device;  /* block device whose request is being completed; 0: none */
	u32 ticks;   /* 1: this CPU is sampled */
	u32 runs;    /* tid of the thread that was last seen switched in */
	u32 due;     /* tid of the thread just switched in whose wait is to be written; 0: none */
	struct record_event event; /* that wait */
};

PERCPU(struct cpu_state, cpus, this_cpu)

/* The barrier keeps the compiler from proving the mask needless, which the verifier can't. */
static __always_inline u32 softirq_index(u32 vector)
{
	asm volatile("" : "+r"(vector));
	return vector & (MAX_SOFTIRQS - 1);
}

static __always_inline bool in_task(const struct cpu_state *s)
{
	if (s->timer || s->irq || in_hardirq())
		return false;
	if (s->serving)
		return s->raised_by_task[softirq_index(s->serving - 1)];
	return bpf_get_current_task_btf()->pid;
}

static __always_inline void who_wakes(struct thread_state *t)
{
	struct cpu_state *s = this_cpu();

	if (!s)
		return;
	if (in_task(s)) {
		t->woken_by = RECORD_BY_TASK;
		t->waker = bpf_get_current_task_btf()->pid;
	} else if (s->device && !s->timer) {
		t->woken_by = RECORD_BY_DEVICE;
		t->waker = s->device;
	} else if (s->timer || s->serving == VECTOR_TIMER + 1) {
		t->woken_by = RECORD_BY_TIMER;
	} else if (s->irq) {
		t->woken_by = RECORD_BY_IRQ;
		t->waker = s->irq - 1;
	} else if (s->serving) {
		t->woken_by = RECORD_BY_SOFTIRQ;
		t->waker = s->serving - 1;
	} else {
		t->woken_by = RECORD_BY_CPU;
	}
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq)
{
	struct cpu_state *s = this_cpu();

	if (s) {
		s->irq = irq + 1;
		s->device = 0;
	}
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	struct cpu_state *s = this_cpu();

	if (s) {
		s->irq = 0;
		s->device = 0;
	}
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_entry)
{
	struct cpu_state *s = this_cpu();

	if (s)
		s->timer = 1;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_exit)
{
	struct cpu_state *s = this_cpu();

	if (s)
		s->timer = 0;
	return 0;
}

/* NET_TX, NET_RX and tasklets. */
static __always_inline bool carries_messages(u32 vector)
{
	return vector == 2 || vector == 3 || vector == 0 || vector == 6;
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int vector)
{
	struct cpu_state *s = this_cpu();

	if (s && carries_messages(vector))
		s->raised_by_task[softirq_index(vector)] = in_task(s);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	struct cpu_state *s = this_cpu();

	if (s) {
		s->serving = vector + 1;
		s->device = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	struct cpu_state *s = this_cpu();

	if (s) {
		s->serving = 0;
		s->device = 0;
	}
	return 0;
}

/*
 * The disk that serves it, in whichever partition, as the kernel encodes its number. What the block
 * layer issues to have the disk's cache written down has no part and no data, but is of a disk,
 * too.
 */
static __always_inline u32 request_device(struct request *rq)
{
	struct gendisk *disk = rq->q->disk;

	return disk ? (u32)disk->major << 20 | (u32)disk->first_minor : 0;
}

/*
 * The programs may not compute with a pointer. Of requests that a device has at a time, those that
 * began together have different tags; of two, the scheduler's is the one that a request keeps.
 */
struct request___number {
	u64 start_time_ns;
	int tag, internal_tag;
} __attribute__((preserve_access_index));

#define NO_TAG	   -1
#define TAG_FACTOR 0x9e3779b1u

static __always_inline u32 request_number(struct request *rq)
{
	struct request___number *r = (void *)rq;
	int tag = BPF_CORE_READ(r, internal_tag);

	if (tag == NO_TAG)
		tag = BPF_CORE_READ(r, tag);
	return (u32)BPF_CORE_READ(r, start_time_ns) + tag * TAG_FACTOR;
}

static __always_inline void trace_request(u8 type, struct request *rq, u32 device)
{
	u32 tid = type == RECORD_TRACE_ISSUE ? (u32)bpf_get_current_pid_tgid() : 0;

	if (causal && device && !finished)
		trace_event(type, 0, bpf_ktime_get_ns(), tid, device, request_number(rq));
}

/*
 * From here on the CPU completes a request: whom it wakes waited for it. That ends with the
 * interrupt or the softirq, or with the next switch on this CPU.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_complete, struct request *rq)
{
	struct cpu_state *s = this_cpu();
	u32 device = request_device(rq);

	if (s && device)
		s->device = device;
	trace_request(RECORD_TRACE_COMPLETE, rq, device);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_issue, struct request *rq)
{
	trace_request(RECORD_TRACE_ISSUE, rq, request_device(rq));
	return 0;
}

/* The device would not have it now: it will be issued once more. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(on_block_requeue, struct request *rq)
{
	trace_request(RECORD_TRACE_COMPLETE, rq, request_device(rq));
	return 0;
}

#endif
