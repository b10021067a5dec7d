/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * After a task switch, before the task that was switched in does anything: it looks at the wait
 * that is over, and the core pays what it owes. The ways to get there, the best that this kernel
 * has:
 *
 * - on_switched(): the scheduler has dropped its locks, on the stack of the task just switched in.
 * - on_self_interrupt(): on_switch() writes a record to a perf event that wants a wake-up for each.
 *   Where the run queue's lock is held such wake-ups are left to an interrupt that the core sends
 *   to itself; it comes as soon as interrupts are on again, which is right after the switch. Nobody
 *   reads the records (the buffer overwrites itself), nobody is woken: what is wanted is the
 *   tracepoint at the interrupt's entry. Interrupts are off there, so stops are as short as in a
 *   tick, and the rest follows in the next one.
 * - on_kicked(): the same by the module (module.bpf.h), where there is no such tracepoint.
 * - on_sys_exit(): most waits happen in system calls. Between the switch and its end the task has
 *   run in the kernel, and perhaps woken others; who was preempted pays at a tick.
 */
#ifndef SCOZ_SWITCHED_BPF_H
#define SCOZ_SWITCHED_BPF_H

#include "engine/bpf/self_interrupt.bpf.h"
#include "engine/bpf/stop.bpf.h"
#include "engine/bpf/waits.bpf.h"

static __always_inline bool is_self(const struct task_struct *task)
{
	return task->tgid == self_tgid;
}

static __always_inline int pay_switched(bool interrupts_off)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scoz_core *c = page_core(cpu);
	struct scoz_header *h;
	struct scoz_global *g;
	struct task_struct *task;
	u64 begun;

	if (!c || !c->due)
		return 0;
	task = bpf_get_current_task_btf();
	if (!task->pid || is_self(task) || is_realtime(task))
		return 0;
	c->due = 0;
	h = page_header();
	g = page_global();
	if (!h || !g)
		return 0;
	account_hold(c);
	begun = bpf_ktime_get_ns();
	pay(c, cpu, h, g, interrupts_off ? longest_tick_stop(h, begun) : (s64)h->max_stop, begun);
	account_let_go(c);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_switched)
{
	look_at_wait(ctx);
	return pay_switched(false);
}

SEC("tp_btf/irq_work_entry")
int BPF_PROG(on_self_interrupt)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());

	if (!c || c->stopping) /* whoever was interrupted does it, or the next tick */
		return 0;
	look_at_wait(ctx);
	kick_if_wanted();
	return pay_switched(true);
}

/* The module has interrupted this core: for itself, after a switch, or for a hit elsewhere. */
SEC("tp_btf/scoz_kicked")
int BPF_PROG(on_kicked)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct task_struct *task = bpf_get_current_task_btf();
	u64 now = bpf_ktime_get_ns();
	struct task_state *t;

	if (!c)
		return 0;
	c->kicks++;
	if (c->stopping || c->idle || !task->pid || is_self(task) || is_realtime(task))
		return 0;
	look_at_wait(ctx);
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (is_stranger(t, now) || is_server(task))
		return 0;
	c->due = 0;
	pay_in_tick(now);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit)
{
	look_at_wait(ctx);
	return pay_switched(false);
}

#endif
