/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of devices and timers that were submitted before their waiter fell asleep: a disk
 * read started ahead, a timerfd armed 15 ms before it is waited for. What counts is the account
 * of the submitter at the submission (see account.h, "wake").
 */
#ifndef SCOZ_OPERATIONS_BPF_H
#define SCOZ_OPERATIONS_BPF_H

#include "engine/bpf/context.bpf.h"
#include "engine/bpf/realtime.bpf.h"
#include "engine/bpf/spread.bpf.h"

#define HRTIMER_RELATIVE 1 /* HRTIMER_MODE_REL */

struct operation {
	s64 absorbed;
	u32 involved; /* submitted by an involved task */
	u32 queued;   /* known since it was queued: who issues it does so for somebody else */
	u64 since;    /* when it was submitted */
	u32 server;   /* by a thread of the kernel that is accounted as a device itself */
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct operation);
} operations SEC(".maps");

/*
 * In an interrupt nobody submits anything, whoever it interrupts; but the end of one request may
 * start the next (the parts of a flush), which is then part of the same operation.
 */
static __always_inline int submitted(u64 key, bool queued, bool chained)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct scoz_global *g = page_global();
	struct irq_state *s = irq_state();
	u64 now = bpf_ktime_get_ns();
	struct operation o = { .queued = queued, .since = now };
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_state *t;

	if (!c || !g || !s)
		return 0;
	if (current_context(s) == CONTEXT_EXTERNAL) {
		if (!chained || !s->operation_known) {
			bpf_map_delete_elem(&operations, &key);
			return 0;
		}
		o.absorbed = s->operation;
		o.involved = s->operation_involved;
		o.server = s->by_server;
	} else {
		t = bpf_task_storage_get(&tasks, current, 0, 0);
		release(c, t, false, now);
		o.absorbed = task_account_now(c, g, current, t, now, false);
		o.involved = t && is_involved(t, now);
		o.server = is_server(current);
	}
	bpf_map_update_elem(&operations, &key, &o, BPF_ANY);
	return 0;
}

/*
 * The device's account (account/wait.h), by which waits for it go as long as they are the target;
 * else the submitter's. Two cores that handle completions of one device at the same moment may each
 * count the same time as its service, or neither: a few microseconds; and one may take the other's
 * lateness off the device's account, which it has back once it has idled for as long.
 */
static __always_inline s64 device_ends(u64 key, const struct operation *o)
{
	struct scoz_global *g = page_global();
	struct device_state *d = bpf_map_lookup_elem(&devices, &key);
	u64 now = bpf_ktime_get_ns(), served;
	s64 ender;

	if (!g)
		return o->absorbed;
	if (!d) {
		struct device_state new = {};

		bpf_map_update_elem(&devices, &key, &new, BPF_NOEXIST);
		d = bpf_map_lookup_elem(&devices, &key);
		if (!d)
			return o->absorbed;
	}
	served = d->device.served;
	ender = scoz_device_ends(&d->device, o->absorbed, o->since, READ_ONCE(g->delay), now);
	if (!o->involved)
		d->device.served = served;
	return now > d->target_until ? o->absorbed : ender;
}

/*
 * An operation ends once: an account left behind would be found by the next one at this address,
 * which may never have been submitted here, and its waiter would pay again what has been paid.
 */
static __always_inline bool completed(u64 key, bool last, bool timer, u64 device, u32 disk)
{
	struct irq_state *s = irq_state();
	struct operation *o;

	if (!s)
		return false;
	o = bpf_map_lookup_elem(&operations, &key);
	if (!o)
		return false;
	s->operation_known = current_context(s) == CONTEXT_EXTERNAL ||
			     bpf_get_current_task_btf()->flags & PF_KTHREAD;
	s->operation = device && !o->server ? device_ends(device, o) : o->absorbed;
	s->timer_since = timer ? o->since : 0;
	s->device = device;
	s->by_disk = disk;
	s->by_server = o->server;
	s->operation_involved = o->involved;
	s->unawaited = timer && o->involved;
	if (last)
		bpf_map_delete_elem(&operations, &key);
	return true;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_block_insert, struct request *rq)
{
	return submitted((u64)rq, true, true);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_issue, struct request *rq)
{
	u64 key = (u64)rq;
	struct operation *o = bpf_map_lookup_elem(&operations, &key);

	if (o && o->queued) { /* by whoever has it run now */
		o->queued = 0;
		return 0;
	}
	return submitted(key, false, true);
}

/* It is part of another now, and ends with that. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_block_merge, struct request *rq)
{
	u64 key = (u64)rq;

	bpf_map_delete_elem(&operations, &key);
	return 0;
}

/* BPF_CLASS_DISK: the target is the disk that has served it, in whichever partition; else 0. */
static __always_inline u32 by_target_disk(struct request *rq)
{
	struct bpf_target *t = current_target();
	struct gendisk *disk;

	if (!t || !t->disk)
		return 0;
	disk = rq->q->disk;
	if (!disk || ((u32)disk->major << 20 | (u32)disk->first_minor) != t->disk)
		return 0;
	return BPF_CLASS_DISK;
}

/*
 * A flush that has nothing to write ends without having been issued: the block layer issues a
 * request of its own, whose end ends it in the same interrupt. What is known of that stays.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_complete, struct request *rq, int error, unsigned int bytes)
{
	completed((u64)rq, bytes >= rq->__data_len, false, (u64)rq->q, by_target_disk(rq));
	return 0;
}

/* Only timers that a program arms for later; those of a sleep start as the sleep does. */
static __always_inline bool program_timer(const struct hrtimer *timer)
{
	u64 function = (u64)timer->function;

	return function && (function == timerfd_function || function == posix_timer_function ||
			    function == itimer_function);
}

/* Of a sleep, or of a wait with a time limit. */
static __always_inline bool ends_sleep(const struct hrtimer *timer)
{
	return sleep_function && (u64)timer->function == sleep_function;
}

/*
 * Programs that sleep until points in time are paced by the clock, whatever is inserted. Poll and
 * its like pass absolute times for relative waits, so only clock_nanosleep() and timers of the
 * program count, and of the former no lengths of time in disguise (account/deadline.h).
 */
static __always_inline bool in_clock_nanosleep(const struct hrtimer *timer)
{
	struct pt_regs *regs;

	if (!ends_sleep(timer))
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return syscall_number(regs) == clock_nanosleep_number;
}

static __always_inline void count_absolute(const struct hrtimer *timer, bool sleeps)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	u64 now = bpf_ktime_get_ns();
	struct task_state *t;

	t = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
	if (!c || !t || !is_involved(t, now))
		return;
	if (!sleeps || !scoz_deadline_relative(&t->deadlines, timer->node.expires, now))
		c->absolute_waits++;
}

/*
 * Who sleeps until a point in time, is woken, looks, and sleeps on until the same (a time limit of
 * a condition variable) has waited for the clock since he first did: meanwhile his account may have
 * become that of whoever woke him, but the clock has not moved on for what that had absorbed.
 */
static __always_inline void note_deadline(const struct hrtimer *timer)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct task_struct *task = bpf_get_current_task_btf();
	struct scoz_global *g = page_global();
	struct task_state *t;
	u64 now;

	t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!t || !c || !g)
		return;
	t->again = t->deadline == timer->node.expires;
	if (t->again)
		return;
	now = bpf_ktime_get_ns();
	release(c, t, false, now);
	t->deadline = timer->node.expires;
	t->deadline_account = account_now(c, g, now, false);
	t->deadline_ran = t->account.ran;
	t->deadline_at = now;
}

SEC("tp_btf/hrtimer_start")
int BPF_PROG(on_timer_start, struct hrtimer *timer, u32 mode)
{
	bool absolute = !(mode & HRTIMER_RELATIVE), programs = program_timer(timer);

	if (absolute && (programs || in_clock_nanosleep(timer)))
		count_absolute(timer, !programs);
	if (ends_sleep(timer))
		note_deadline(timer);
	/* Started again as it fires: it is not known in whose time the next period begins. */
	return programs ? submitted((u64)timer, false, false) : 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_expire, struct hrtimer *timer)
{
	struct irq_state *s = irq_state();

	note_timers(timer);
	if (s) {
		s->operation_known = 0;
		s->unawaited = 0;
		s->hardirq |= HARDIRQ_TIMER;
		s->sleeps = ends_sleep(timer);
	}
	if (program_timer(timer))
		completed((u64)timer, true, true, 0, 0);
	return 0;
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
