/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Following tasks: who runs, who waits, who was woken by whom.
 *
 * Nothing stops here: on_waking() holds the task's pi_lock, on_switch() the run queue's lock, and
 * third cores would spin for these with interrupts off, whose late ticks then credit the wrong
 * code. Cores stop once the locks are dropped (switched.bpf.h).
 *
 * Involved tasks. A daemon that wakes up every second by a timer has "waited for a timer" and
 * would owe all that was inserted meanwhile, and its core with it, though it has nothing to do
 * with the work being profiled. So device and timer waits leave a debt only for involved tasks:
 * the command and its descendants, processes that reach progress points or were named, and, for
 * 100 ms, whoever woke one of these or was woken by it. All others absorb while they sleep.
 */
#ifndef SCOZ_SCHED_BPF_H
#define SCOZ_SCHED_BPF_H

#include "engine/bpf/context.bpf.h"
#include "engine/bpf/operations.bpf.h"
#include "engine/bpf/related.bpf.h"
#include "engine/bpf/spread.bpf.h"
#include "engine/bpf/switched.bpf.h"

/* After which a sleeper no longer counts against waivers. */
#define LONG_SLEEP 50000000ULL

/*
 * A profiled task falls asleep whose last wait was ended by a device or timer: as long as it may be
 * such a wait again, common debt must not be waived (tick.bpf.h). The exchange keeps the count
 * right against a wake-up on another core, and against tasks that die.
 */
static __always_inline void task_blocks(struct task_state *t, struct scoz_global *g)
{
	t->blocked = 1;
	if (t->external && !is_sink(t) && t->involved_until == INVOLVED_FOREVER &&
	    !__sync_lock_test_and_set(&t->counted, 1))
		__sync_fetch_and_add(&g->external_waiters, 1);
}

static __always_inline void task_runs(struct task_state *t, struct scoz_global *g)
{
	t->blocked = 0;
	if (t->counted && __sync_lock_test_and_set(&t->counted, 0))
		__sync_fetch_and_add(&g->external_waiters, -1);
}

static __always_inline void task_leaves(struct task_state *t, struct scoz_global *g,
					const struct task_struct *task)
{
	if (!(task->__state & TASK_DEAD))
		task_blocks(t, g);
}

/*
 * It falls asleep and takes along what is left after the longest stop: no tick has met it. Where
 * waits are sped up, whoever sleeps long and runs briefly brings that much each time, and would go
 * on before it may.
 */
static __always_inline void note_unpaid(u32 cpu, const struct task_state *t, s64 delay, u64 now)
{
	struct scoz_header *h = page_header();
	struct target_time *time = target_time(cpu);
	s64 unpaid = delay - t->account.absorbed;

	if (h && time && unpaid > (s64)h->max_stop && is_involved(t, now) && !is_sink(t))
		time->unpaid += unpaid - h->max_stop;
}

static __always_inline void leave_server(struct target_time *time, struct task_state *t, u64 now)
{
	WRITE_ONCE(time->server, 0);
	if (t) /* its account is what it was set to work with */
		t->account.since = now;
}

/* What @t, which has waited in the target, can absorb at most where it can run elsewhere. */
static __always_inline s64 could_use(const struct scoz_core *c, const struct target_time *time,
				     const struct task_state *t, const struct task_struct *task,
				     s64 delay, u64 now)
{
	struct scoz_header *h = page_header();

	if (!h || !h->speedup || task->nr_cpus_allowed == 1 || !waits_are_hits())
		return 0;
	return scoz_min(scoz_task_arrives(c, &t->account, now), delay) +
	       scoz_wait_inserts(time->serves, h->speedup);
}

/* @task, which runs, loses its core, and queues. */
static __always_inline void core_taken(struct scoz_core_use *use, const struct task_struct *task,
				       struct task_state *t, u64 now)
{
	struct bpf_target *target = current_target();
	struct scoz_header *h = page_header();

	if (!target || !h || is_stranger(t, now))
		return;
	if (is_spread(task, t, now) && !is_sampled(target, t, now) &&
	    t->spread.target == target->number)
		t->use.rate = 1 + (t->spread.inside ? h->speedup : 0);
	scoz_use_taken(use, &t->use, task->pid);
}

/*
 * @t is about to run on @use: what it has queued for behind strangers who came while it slept, and
 * how much of that would not have been (account/share.h).
 */
static __always_inline s64 spared(const struct scoz_core_use *use, const struct task_state *t,
				  u64 now, u64 *behind)
{
	struct scoz_header *h;

	if (!use->began || !spare_strangers || control)
		return 0;
	h = page_header();
	if (!h || !h->speedup || is_sink(t) || !is_involved(t, now) || !had_lease(h, now))
		return 0;
	*behind = scoz_use_behind(use, &t->use, t->account.since, now);
	return scoz_use_spared(&t->use, t->account.absorbed, t->account.since, *behind);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scoz_core *c = page_core(cpu);
	struct scoz_global *g = page_global();
	struct irq_state *irq = irq_state();
	struct scoz_core_use *use = core_use(cpu);
	struct task_state *t;
	u64 now = bpf_ktime_get_ns(), behind = 0;
	bool stranger, server, wait = false;
	struct target_time *time = target_time(cpu);
	s64 delay, less = 0;

	if (!c || !g || !irq || !use || !time)
		return 0;
	delay = READ_ONCE(g->delay);
	irq->operation_known = 0;
	c->spinning = 0;
	if (!c->sampled)
		scoz_core_follow(c, delay);
	if (prev->pid && !is_self(prev)) {
		scoz_look(c, delay, READ_ONCE(g->waived));
		t = bpf_task_storage_get(&tasks, prev, 0, 0);
		if (t)
			count_run(c, time, t, now, is_involved(t, now));
		release(c, t, !preempt && prev->__state, now);
		delay = READ_ONCE(g->delay);
		server = is_server(prev);
		scoz_switch_out(c, t && !server ? &t->account : NULL, now);
		stranger = is_stranger(t, now);
		scoz_use_out(use, stranger || server, now);
		if (server)
			leave_server(time, t, now);
		else if (stranger)
			scoz_core_follow(c, delay);
		else if (!t || !is_sink(t))
			profiled_leaves(time, c, now);
		if (!t)
			c->no_task++;
		else if (!preempt && prev->__state) {
			if (!server)
				note_unpaid(cpu, t, delay, now);
			task_leaves(t, g, prev);
			scoz_use_sleeps(&t->use, t->account.absorbed, now);
		} else if (!server) {
			begin_queueing(t, delay, now);
			core_taken(use, prev, t, now);
		}
	}
	if (is_self(prev))
		self_leaves(time, c, now);
	scoz_run_begin(c, now);
	if (is_self(next)) /* the profiler runs in nobody's time: the core's state stays */
		return 0;
	note_realtime(next, now);
	if (!next->pid) {
		scoz_use_idle(use);
		if (!c->idle)
			scoz_idle_enter(c, delay, now);
		return 0;
	}
	t = bpf_task_storage_get(&tasks, next, 0, 0);
	if (t) {
		join_process(next, t);
		scoz_spread_in(&t->spread, c, now);
	}
	if (c->idle)
		scoz_clock_busy(&time->clock, c, now);
	server = is_server(next);
	WRITE_ONCE(time->server, server);
	if (t) {
		if (t->blocked) /* its wake-up was missed: the wait counts as queueing */
			scoz_wake(&t->account, delay, now);
		else if (is_involved(t, now)) {
			c->queued += now - t->account.since;
			if (!t->external)
				time->woken += scoz_min(scoz_wakes_up(c, &t->account, now),
							LONGEST_WAKE_UP);
		}
		task_runs(t, g);
		if (!server)
			less = spared(use, t, now, &behind);
		wait = target_wait_ends(time, next, t, !server && is_involved(t, now),
					is_self(prev) ? 0 : scoz_wakes_up(c, &t->account, now),
					behind);
		end_queueing(use, t, next->pid, cpu, delay, now);
	}
	if (measure_latency && c->idle)
		c->paid_hit = READ_ONCE(g->hits);
	stranger = is_stranger(t, now);
	if (t && t->external && is_sink(t))
		scoz_sink_runs(&t->account, delay);
	if (t && !server && !stranger && model == SCOZ_MODEL_WAIT)
		rest(c, time, cpu, t, wait ? could_use(c, time, t, next, delay, now) : 0, delay,
		     now);
	if (t && wait && model == SCOZ_MODEL_WAIT)
		arrive(c, time, t, delay, now);
	else
		scoz_switch_in(c, t && !server ? &t->account : NULL, delay, now, model);
	scoz_use_in(use, stranger || server, stranger && is_realtime(next), now);
	if (less > 0) {
		account_shared(cpu, scoz_use_insert(use, c, less), now);
		delay = READ_ONCE(g->delay);
	}
	if (stranger && !server)
		scoz_core_follow(c, delay);
	c->due = c->sampled && !server && scoz_debt(delay, c) > 0;
	if (c->due || wait)
		interrupt_self(ctx);
	return 0;
}

/*
 * By a device or a timer. Threads that handle interrupts, and kernel threads that end requests, do
 * it on behalf of a device: the operation is known then (operations.bpf.h).
 */
static __always_inline bool woken_externally(const struct irq_state *s)
{
	return current_context(s) == CONTEXT_EXTERNAL || s->operation_known;
}

/*
 * Does it owe for a wait that a device or a timer has ended? Kernel threads serve others: unless
 * they wait for a request they have made, it is for the next thing to do, which is nobody's work,
 * however involved they have just become.
 */
static __always_inline bool owes_for_wait(const struct irq_state *s, const struct task_state *t,
					  const struct task_struct *p, u64 now)
{
	if (is_sink(t))
		return false;
	return all_involved ||
	       (is_involved(t, now) && (s->operation_known || !(p->flags & PF_KTHREAD)));
}

static __always_inline void count_external_wait(struct scoz_core *c, struct task_state *t,
						u64 length, u64 now)
{
	t->external = 1;
	if (is_involved(t, now) && !is_sink(t)) {
		c->external_waited += scoz_min(length, LONG_WAIT);
		c->external_waits++;
	}
	scoz_sink_waited(&t->sink, length, t->account.ran);
}

/*
 * Who sleeps for some time, looks at something and sleeps again, until it is there: a wait for
 * somebody that nobody sees, in pieces (plan/period.h). Who works for longer than that does not
 * look.
 */
#define LOOK_PART 4 /* of its sleep, at most, it runs */
static __always_inline void count_poll(struct task_state *t, const struct irq_state *s, u64 length,
				       u64 now)
{
	struct target_time *time = target_time(bpf_get_smp_processor_id());
	u64 ran = t->account.ran - t->ran_then;

	if (time && t->looks && s->hardirq & HARDIRQ_TIMER && ran < length / LOOK_PART &&
	    is_involved(t, now) && !is_sink(t)) {
		time->polls++;
		time->polled += length;
	}
	t->looks = s->hardirq & HARDIRQ_TIMER;
	t->ran_then = t->account.ran;
}

/*
 * A timer that was set long before the wait that it ends, and before another wait of who waits: it
 * is not what holds him up, but interrupts him. So it is with the alarms of a program, and with the
 * timers of an event loop that sleeps a thousand times meanwhile: their account is that of seconds
 * ago. Who sets a timer, computes, and waits for it, however shortly, has slept for nothing else.
 */
#define TIMER_PART 8
static __always_inline bool interrupts_only(const struct irq_state *s, const struct task_state *t,
					    u64 length, u64 now)
{
	return s->timer_since && now > s->timer_since && t->woken_at > s->timer_since &&
	       length < (now - s->timer_since) / TIMER_PART;
}

/* Somebody is woken now since the time is over for which he wanted to sleep at most. */
static __always_inline bool has_slept_enough(const struct irq_state *s)
{
	return s->hardirq & HARDIRQ_TIMER && s->sleeps;
}

/* Until a deadline it has done nothing but sleep. */
#define DEADLINE_PART 8 /* of the time, less than that it ran */
static __always_inline bool meets_deadline(const struct irq_state *s, const struct task_state *t,
					   u64 now)
{
	return has_slept_enough(s) && t->again &&
	       t->account.ran - t->deadline_ran < (now - t->deadline_at) / DEADLINE_PART;
}

static __always_inline void end_external_wait(struct scoz_core *c, struct scoz_global *g,
					      struct irq_state *s, struct task_state *t,
					      const struct task_struct *p, u64 length, u64 now)
{
	s64 delay = READ_ONCE(g->delay);

	s->unawaited = 0;
	count_external_wait(c, t, length, now);
	count_poll(t, s, length, now);
	t->naps += has_slept_enough(s);
	if (is_server(p)) /* it serves whom it was set to work for */
		scoz_wake_external(&t->account, now);
	else if (!owes_for_wait(s, t, p, now))
		scoz_wake(&t->account, delay, now);
	else if (s->operation_known && !interrupts_only(s, t, length, now))
		scoz_wake(&t->account, s->operation, now);
	else if (meets_deadline(s, t, now))
		scoz_wake(&t->account, scoz_min(t->deadline_account, t->account.absorbed), now);
	else
		scoz_wake_external(&t->account, now);
}

static __always_inline void note_external_wait(struct task_state *t, const struct task_struct *p,
					       const struct irq_state *s, u64 length, s64 most)
{
	u64 device = s->operation_known ? s->device : 0;
	u32 classes = device || in_iowait(p) ? BPF_CLASS_IO : BPF_CLASS_OTHER;

	if (device)
		classes |= s->by_disk;
	else if (s->serving && !s->hardirq)
		classes |= s->by_peer;
	note_wait(t, classes, s->by_server ? 0 : device, length, most);
}

/* A kernel thread woken on behalf of involved tasks works for them, as do those that it wakes. */
static __always_inline void serve(struct task_state *t, const struct task_struct *p, u64 until)
{
	if (members_known && p->flags & PF_KTHREAD && until > t->serves_until)
		t->serves_until = until;
}

/*
 * Terminals, sockets and pipes of the kernel's own have a kernel thread tell one program what
 * another one has done: that wait is for a task. Who has set a kernel thread to work for itself (a
 * sync, a read ahead) waits for the kernel.
 */
static __always_inline bool hands_on(const struct task_state *kernel_thread,
				     const struct task_struct *to)
{
	return kernel_thread && kernel_thread->works_for &&
	       kernel_thread->works_for != (u32)to->pid;
}

/*
 * @waker, a thread of the kernel, has done what @t waited for: as a device that was busy with it
 * since it fell asleep.
 */
static __always_inline void end_served_wait(struct scoz_core *c, struct scoz_global *g,
					    struct task_state *t, const struct task_struct *p,
					    const struct task_struct *waker,
					    const struct task_state *w, u64 length, s64 most,
					    u64 now)
{
	struct operation o = { .absorbed = t->account.absorbed,
			       .involved = is_involved(t, now),
			       .since = t->account.since };
	u64 key = (u64)waker;
	s64 ender = device_ends(key, &o);

	count_external_wait(c, t, length, now);
	if (is_sink(t) || !o.involved)
		ender = READ_ONCE(g->delay);
	scoz_wake(&t->account, ender, now);
	note_wait(t, w->through_io | (in_iowait(p) ? BPF_CLASS_IO : 0), key, length, most);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct scoz_global *g = page_global();
	struct irq_state *s = irq_state();
	struct task_state *t, *w;
	struct task_struct *waker;
	u64 now, length;
	s64 most, ender;
	bool served;

	if (!c || !g || !s || is_self(p))
		return 0;
	t = bpf_task_storage_get(&tasks, p, 0, 0);
	if (!t || !t->blocked)
		return 0;
	now = bpf_ktime_get_ns();
	join_process(p, t);
	task_runs(t, g);
	length = now > t->account.since ? now - t->account.since : 0;
	most = t->account.absorbed + length;
	t->waited = 0;
	t->works_for = 0;
	scoz_spread_woken(&t->spread, woken_externally(s));
	if (woken_externally(s)) {
		end_external_wait(c, g, s, t, p, length, now);
		t->woken_at = now;
		if (owes_for_wait(s, t, p, now)) /* else nobody waits for it */
			note_external_wait(t, p, s, length, most);
		if (p->flags & PF_KTHREAD)
			t->through_io |= t->wait_classes & (BPF_CLASS_IO | BPF_CLASS_DISK);
		if (is_server(p))
			t->waited = 0;
		if (s->operation_known && s->operation_involved)
			serve(t, p, now + INVOLVED_FOR);
		begin_queueing(t, READ_ONCE(g->delay), now);
		return 0;
	}
	t->woken_at = now;
	t->looks = 0;
	couple(t);
	waker = bpf_get_current_task_btf();
	w = bpf_task_storage_get(&tasks, waker, 0, 0);
	if (w && !is_self(waker)) {
		release(c, w, true, now);
		scoz_spread_wakes(&w->spread);
		if (!((p->flags | waker->flags) & PF_KTHREAD)) /* these serve all */
			related_meet(t, w);
	}
	ender = task_account_now(c, g, waker, w, now, is_self(waker));
	served = !(p->flags & PF_KTHREAD) && waker->flags & PF_KTHREAD && !hands_on(w, p);
	if (served && w && is_server(waker)) {
		end_served_wait(c, g, t, p, waker, w, length, most, now);
	} else {
		t->external = 0;
		if (is_involved(t, now))
			c->syncs++;
		if (is_server(p))
			scoz_set_to_work(&t->account, ender, now);
		else
			scoz_wake(&t->account, ender, now);
		if (served)
			note_wait(t, in_iowait(p) || (w && w->through_io) ? BPF_CLASS_IO : 0, 0,
				  length, most);
	}
	if (p->flags & PF_KTHREAD) {
		t->works_for = !(waker->flags & PF_KTHREAD) ? waker->pid : w ? w->works_for : 0;
		t->through_io = w && waker->flags & PF_KTHREAD ? w->through_io : 0;
	}
	begin_queueing(t, READ_ONCE(g->delay), now);
	if (is_self(waker) || !w)
		return 0;
	/* A program does not make its kernel threads wait, but these each other. */
	if ((!(p->flags & PF_KTHREAD) || waker->flags & PF_KTHREAD) && !is_sink(t))
		scoz_sink_wakes(&w->sink, length);
	if (!(p->flags & PF_KTHREAD)) {
		w->looks = 0;
		couple(w);
	}
	if (all_involved)
		return 0;
	serve(t, p, w->involved_until == INVOLVED_FOREVER ? now + INVOLVED_FOR : w->involved_until);
	serve(t, p, w->serves_until);
	if (w->involved_until == INVOLVED_FOREVER && t->involved_until < now + INVOLVED_FOR)
		t->involved_until = now + INVOLVED_FOR;
	else if (t->involved_until == INVOLVED_FOREVER && w->involved_until < now + INVOLVED_FOR)
		w->involved_until = now + INVOLVED_FOR;
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(on_newtask, struct task_struct *child)
{
	struct scoz_core *c = page_core(bpf_get_smp_processor_id());
	struct task_struct *current = bpf_get_current_task_btf();
	struct scoz_global *g = page_global();
	struct task_state *t, *parent;
	u64 now = bpf_ktime_get_ns();

	inherit_spaces(child, current);
	t = bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || !c || !g)
		return 0;
	parent = bpf_task_storage_get(&tasks, current, 0, 0);
	if (!is_self(current))
		release(c, parent, false, now);
	t->account.absorbed = account_now(c, g, now, is_self(current));
	t->account.since = now;
	if (!parent)
		return 0;
	couple(parent);
	related_begins(t, parent, child->pid == child->tgid, now);
	scoz_sink_counts(&parent->sink);
	if (parent->involved_until == INVOLVED_FOREVER)
		t->involved_until = INVOLVED_FOREVER;
	return 0;
}

/* Core model: wake-ups of idle cores (SCOZ paper 3.5.1). The paper's waker stops first; here the
 * woken core inherits what the waker had not paid. */
static __always_inline int core_woken(u32 target)
{
	struct irq_state *s = irq_state();
	u32 cpu = bpf_get_smp_processor_id();
	struct scoz_core *c = page_core(cpu), *other = page_core(target);
	struct scoz_global *g = page_global();

	if (!s || !c || !other || !g || target == cpu || !READ_ONCE(other->idle))
		return 0;
	if (current_context(s) == CONTEXT_TASK)
		scoz_core_woken(other, is_self(bpf_get_current_task_btf()) ? NULL : c,
				READ_ONCE(g->delay));
	return 0;
}

SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(on_ipi, unsigned int cpu)
{
	return core_woken(cpu);
}

SEC("tp_btf/sched_wake_idle_without_ipi")
int BPF_PROG(on_wake_without_ipi, int cpu)
{
	return core_woken(cpu);
}

/*
 * Run over all tasks: gives each an account; involves those of `involve_tgid` for good. Who sleeps
 * long no longer stands in the way of waivers: what was inserted before it fell asleep is paid by
 * now, so a waiver takes off only what it owes as well.
 */
volatile __s32 involve_tgid = -1;

SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scoz_global *g = page_global();
	struct task_state *t;

	if (!task || !g)
		return 0;
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!t) {
		t = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!t)
			return 0;
		t->account.absorbed = g->delay;
		t->account.since = bpf_ktime_get_ns();
		t->blocked = task->__state != 0; /* else all its sleep would count as queueing */
	}
	if (t->counted && bpf_ktime_get_ns() - t->account.since > LONG_SLEEP &&
	    __sync_lock_test_and_set(&t->counted, 0))
		__sync_fetch_and_add(&g->external_waiters, -1);
	if (task->tgid == involve_tgid)
		t->involved_until = INVOLVED_FOREVER;
	return 0;
}

#endif
