/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks with a real-time or deadline policy are not stopped, and do not wait for the stops of
 * others: a stop ends when one wants its core. It shows on the core's run queue, at once where
 * interrupts are on. In a tick they are off, and the core's own timers wait as well: such a stop
 * ends before the next one that a real-time task sleeps on. What a device would do is not to be
 * seen by anybody: where real-time tasks have run lately, stops in a tick are short.
 */
#ifndef SCOZ_REALTIME_BPF_H
#define SCOZ_REALTIME_BPF_H

#include "engine/bpf/page.bpf.h"
#include "engine/bpf/percpu.bpf.h"

#define REALTIME_LATELY 1000000000ULL
#define REALTIME_SLICE	500000LL
/* What is left to do in the tick's interrupt after the stop. */
#define TIMER_MARGIN	 5000ULL
#define TIMER_BASES	 4 /* the others' timers expire in softirqs, with interrupts on */
#define TIMER_WALK_STEPS 128

struct realtime_state {
	u64 ran;      /* when one ran here last */
	u64 cpu_base; /* the core's timers (struct hrtimer_cpu_base); 0: not seen yet */
};

PERCPU(struct realtime_state, realtime_states, realtime_state)

static __always_inline bool is_realtime(const struct task_struct *task)
{
	return task->prio < MAX_RT_PRIO;
}

/* Threads of the kernel are there on every machine, and those for interrupts at every device. */
static __always_inline void note_realtime(const struct task_struct *next, u64 now)
{
	struct realtime_state *r;

	if (!is_realtime(next) || next->flags & PF_KTHREAD)
		return;
	r = realtime_state();
	if (r)
		r->ran = now;
}

/* @timer expires on this core. Symbols of data are not to be had from every kernel. */
static __always_inline void note_timers(const struct hrtimer *timer)
{
	struct realtime_state *r = realtime_state();
	struct hrtimer_clock_base *base = NULL;

	if (!r || r->cpu_base || !bpf_core_field_exists(base->active.rb_root.rb_leftmost))
		return;
	base = timer->base;
	if (base)
		r->cpu_base = (u64)base->cpu_base;
}

/* Those of the fair and extensible classes that @rq has. */
static __always_inline u32 ordinary_tasks(const struct rq *rq)
{
	const struct rq___extensible *ext = (const void *)rq;
	u32 n = bpf_core_field_exists(rq->cfs.h_nr_queued) ? rq->cfs.h_nr_queued
							   : rq->cfs.h_nr_running;

	return bpf_core_field_exists(ext->scx) ? n + ext->scx.nr_running : n;
}

/* Of this core; NULL: not known on every kernel. */
static __always_inline struct rq *run_queue(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cfs_rq *queue = NULL;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(queue->rq))
		return NULL;
	queue = task->se.cfs_rq;
	return queue ? queue->rq : NULL;
}

/* Called while an ordinary task runs: whoever is there waits. Not known on every kernel. */
static __always_inline bool realtime_wants_core(void)
{
	struct rq *rq = run_queue();

	if (!rq || !bpf_core_field_exists(rq->rt.rt_queued))
		return false;
	if (rq->rt.rt_queued) /* and not throttled */
		return true;
	if (!bpf_core_field_exists(rq->fair_server))
		return rq->dl.dl_nr_running > 0;
	/* The deadline class has an entity for the fair one, which counts there as well. */
	return rq->dl.dl_nr_running > 0 &&
	       rq->nr_running > ordinary_tasks(rq) + rq->rt.rt_nr_running;
}

/* In the order of the red-black tree, which is that of expiry. */
enum timer_step { STEP_LOOK, STEP_DOWN, STEP_UP };

struct timer_walk {
	u64 node;
	u64 until;
	s64 offset; /* of the base's clock */
	enum timer_step step;
};

static __always_inline bool wakes_realtime(const struct hrtimer_sleeper *sleeper)
{
	struct task_struct *task;

	if ((u64)BPF_CORE_READ(sleeper, timer.function) != sleep_function)
		return false;
	task = BPF_CORE_READ(sleeper, task);
	return task && BPF_CORE_READ(task, prio) < MAX_RT_PRIO;
}

static long walk_timers(u32 index, void *arg)
{
	struct timer_walk *w = arg;
	const struct rb_node *node = (const void *)w->node;
	const struct timerqueue_node *queued = (const void *)node;
	const struct rb_node *next;
	u64 expires;

	if (!node)
		return 1;
	switch (w->step) {
	case STEP_LOOK:
		expires = BPF_CORE_READ(queued, expires) - w->offset;
		if ((s64)(expires - w->until) >= 0)
			return 1;
		if (wakes_realtime((const void *)queued)) {
			w->until = expires;
			return 1;
		}
		next = BPF_CORE_READ(node, rb_right);
		w->step = next ? STEP_DOWN : STEP_UP;
		w->node = next ? (u64)next : w->node;
		return 0;
	case STEP_DOWN:
		next = BPF_CORE_READ(node, rb_left);
		if (next)
			w->node = (u64)next;
		else
			w->step = STEP_LOOK;
		return 0;
	case STEP_UP:
		next = (const void *)(BPF_CORE_READ(node, __rb_parent_color) & ~3UL);
		if (next && BPF_CORE_READ(next, rb_left) == node)
			w->step = STEP_LOOK;
		w->node = (u64)next;
		return 0;
	}
	return 1;
}

/* @now, with interrupts off: how long a stop, else @longest, may last for the sake of others. */
static __always_inline s64 realtime_room(u64 now, s64 longest)
{
	struct realtime_state *r = realtime_state();
	const struct hrtimer_cpu_base *cpu_base;
	struct timer_walk w = {};

	if (!r)
		return 0;
	cpu_base = (const void *)r->cpu_base;
	if (!cpu_base || !sleep_function || (r->ran && now - r->ran < REALTIME_LATELY))
		longest = scoz_min(longest, REALTIME_SLICE);
	if (!cpu_base || !sleep_function)
		return longest;
	w.until = now + longest + TIMER_MARGIN;
	for (int i = 0; i < TIMER_BASES; i++) {
		w.node = (u64)BPF_CORE_READ(cpu_base, clock_base[i].active.rb_root.rb_leftmost);
		w.offset = BPF_CORE_READ(cpu_base, clock_base[i].offset);
		w.step = STEP_LOOK;
		bpf_loop(TIMER_WALK_STEPS, walk_timers, &w, 0);
	}
	return (s64)(w.until - now) - (s64)TIMER_MARGIN;
}

#endif
