/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What samples stand for is inserted as their tasks run (account/spread.h): at ticks, and before
 * the account of the task that runs goes to others. Of targets whose begin and end are seen it is
 * what they have run: whole tasks, system calls, whose tracepoints are here, and functions, whose
 * probes are.
 */
#ifndef SCOZ_SPREAD_BPF_H
#define SCOZ_SPREAD_BPF_H

#include "engine/bpf/whose.bpf.h"

static __always_inline bool is_spread(const struct task_struct *task, const struct task_state *t,
				      u64 now)
{
	return spread_hits && t && !is_server(task) && !is_stranger(t, now);
}

/* What @t, of the running @task, has run in the target since the last release. */
static __always_inline u64 seen_run(struct bpf_target *target, const struct scoz_core *c,
				    const struct task_struct *task, struct task_state *t, u64 now)
{
	scoz_spread_target(&t->spread, target->number);
	if (target->seen == BPF_SEEN_TASKS)
		scoz_spread_is_inside(&t->spread, hits_count(task, t, now) && is_one_of(target),
				      now);
	return scoz_spread_seen(&t->spread, c, now);
}

/* Is it to be sampled? Of what tasks run that spin only samples tell what was waiting. */
static __always_inline bool is_sampled(const struct bpf_target *target, const struct task_state *t,
				       u64 now)
{
	return !target->seen || now < t->spread.spun_until;
}

/* The profiler is late: @r of the target are not inserted, and this window says too little. */
static __always_inline void clip(struct scoz_core *c, const struct scoz_header *h, u64 r)
{
	struct target_time *time = target_time(bpf_get_smp_processor_id());

	if (time && h->speedup)
		c->clipped += scoz_spread_clipped(&time->clipped, r, h->period);
}

/* Of @t, the running task's. The caller adds what is returned to G. */
__noinline s64 release_spread(struct scoz_core *c, struct task_state *t, bool ends, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_target *target = current_target();
	struct scoz_header *h = page_header();
	u64 since, r;

	if (!target || !h || !c || !t)
		return 0;
	since = t->spread.at;
	if (!is_sampled(target, t, now))
		r = seen_run(target, c, task, t, now);
	else if (task->flags & PF_EXITING)
		r = scoz_spread_flush(&t->spread);
	else
		r = scoz_spread_release(&t->spread, c, ends, h->period, now);
	if (!r || control || t->spread.target != target->number)
		return 0;
	if (!had_lease(h, since)) {
		clip(c, h, r);
		return 0;
	}
	return scoz_spread_insert(c, r, h->speedup);
}

/* Before the account of @t, which runs on @c, is looked at. @ends: a stretch of it does. */
__noinline int release(struct scoz_core *c, struct task_state *t, bool ends, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scoz_global *g = page_global();
	s64 d;

	if (!g || !c || c->idle || !c->sampled || READ_ONCE(c->stopping) ||
	    !is_spread(task, t, now))
		return 0;
	account_hold(c); /* interrupts are on where tasks are started and requests queued */
	d = release_spread(c, t, ends, now);
	account_let_go(c);
	if (d)
		__sync_fetch_and_add(&g->delay, d);
	return 0;
}

/* What release() would add to the account, for who only reads it. */
static __always_inline s64 unreleased(const struct scoz_core *c, const struct task_struct *task,
				      const struct task_state *t, u64 now)
{
	struct bpf_target *target = current_target();
	struct scoz_header *h = page_header();
	u64 due;

	if (!h || !target || !h->speedup || control || c->idle || !c->sampled ||
	    READ_ONCE(c->stopping) || !is_spread(task, t, now) ||
	    t->spread.target != target->number || !had_lease(h, t->spread.at))
		return 0;
	due = is_sampled(target, t, now) ? scoz_spread_due(&t->spread, c, h->period, now)
					 : scoz_spread_seen_due(&t->spread, c, now);
	return scoz_lump(due, h->speedup);
}

/* A system call begins or ends: of all that do on this machine most are not the target. */
static __always_inline int crosses(struct pt_regs *regs, u32 number, bool begins)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_target *target = current_target();
	struct scoz_global *g;
	struct task_state *t;
	struct scoz_core *c;
	u64 now;

	if (!target || target->seen != BPF_SEEN_SYSCALL || !is_target_call(target, number) ||
	    !syscall_is_native(task, regs))
		return 0;
	c = page_core(bpf_get_smp_processor_id());
	g = page_global();
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	now = bpf_ktime_get_ns();
	if (!c || !g || !is_spread(task, t, now))
		return 0;
	release(c, t, false, now);
	scoz_spread_target(&t->spread, target->number);
	scoz_spread_is_inside(&t->spread, begins && hits_count(task, t, now), now);
	return 0;
}

/* A function that is the target, or part of it, begins or ends: with interrupts on. */
static __always_inline int crosses_function(bool begins)
{
	struct bpf_target *target = current_target();
	u32 cpu = bpf_get_smp_processor_id();
	struct target_time *time = target_time(cpu);
	struct scoz_core *c = page_core(cpu);
	struct task_struct *task;
	struct task_state *t;
	u64 now;

	if (!target || !time || !c)
		return 0;
	if (begins)
		__sync_fetch_and_add(&time->calls, 1);
	if (target->seen != BPF_SEEN_FUNCTION)
		return 0;
	task = bpf_get_current_task_btf();
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	now = bpf_ktime_get_ns();
	if (!is_spread(task, t, now) || !hits_count(task, t, now))
		return 0;
	scoz_spread_target(&t->spread, target->number);
	if (begins)
		scoz_spread_enters(&t->spread, c, now);
	else
		scoz_spread_leaves(&t->spread, c, now);
	return 0;
}

SEC("uprobe")
int on_function_begin(void *ctx)
{
	return crosses_function(true);
}

SEC("uprobe")
int on_function_end(void *ctx)
{
	return crosses_function(false);
}

SEC("raw_tp/sys_enter")
int on_target_begin(struct bpf_raw_tracepoint_args *ctx)
{
	return crosses((struct pt_regs *)ctx->args[0], ctx->args[1], true);
}

SEC("raw_tp/sys_exit")
int on_target_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];

	return crosses(regs, syscall_number(regs), false);
}

#endif
