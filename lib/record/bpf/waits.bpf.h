/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits: a thread leaves the CPU, is woken, is back. Most waits contain no sampling point and leave
 * nothing but three timestamps. Of the others the record is written after the switch, by the thread
 * itself, whose stacks still say where it waited: in sched_switch the user's stack of the next
 * thread cannot be read.
 */
#ifndef SCOZ_RECORD_WAITS_BPF_H
#define SCOZ_RECORD_WAITS_BPF_H

#include "engine/bpf/busy_loop.bpf.h"
#include "record/bpf/emit.bpf.h"

static __always_inline u8 why_left(struct task_struct *task, bool preempt)
{
	if (preempt || !task->__state)
		return RECORD_LEFT_QUEUED;
	return BPF_CORE_READ_BITFIELD(task, in_iowait) ? RECORD_LEFT_IO : RECORD_LEFT_OTHER;
}

/* Is @task in futex(), and with which arguments? The words are still to be read. */
static __always_inline bool in_futex(struct task_struct *task, struct record_futex *f)
{
	struct pt_regs *regs;

	f->known = f->has_after = 0;
	if (!task->mm || task->flags & PF_KERNELS)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (syscall_number(regs) != SYSCALL_FUTEX || !syscall_is_native(task, regs))
		return false;
	f->address = syscall_argument_0(regs);
	f->op = syscall_argument_1(regs);
	f->value = syscall_argument_2(regs);
	return true;
}

/* @task is the current one. What lies behind the word may be on a page that is not there. */
static __always_inline void note_futex(struct task_struct *task, struct record_futex *f)
{
	if (!in_futex(task, f))
		return;
	if (!bpf_probe_read_user(f->words, sizeof(f->words), (const void *)f->address))
		f->known = RECORD_FUTEX_WORDS;
	else if (!bpf_probe_read_user(f->words, sizeof(u32), (const void *)f->address))
		f->known = 1;
}

static __always_inline void leaves(struct task_struct *task, struct thread_state *t, bool preempt,
				   u64 now, bool sampled)
{
	if (t->in) {
		t->on += now - t->in;
		if (sampled)
			t->unpaid += now - t->in;
	} else { /* nobody saw it come */
		trace_event(RECORD_TRACE_ENTER, 0, now, t->tid, RECORD_TRACE_UNSEEN, 0);
	}
	t->why = why_left(task, preempt);
	t->stint = t->in ? t->in : now;
	t->left = now;
	t->in = 0;
	if (t->why == RECORD_LEFT_OTHER)
		note_futex(task, &t->futex);
	trace_leaves(task, t, now);
}

/* Adds the time off the CPU up to @now to the thread's times; fills @e when there was a point. */
static __always_inline bool measure_wait(struct thread_state *t, u64 now, struct record_event *e)
{
	u64 woken = t->why != RECORD_LEFT_QUEUED && t->woken > t->stint ? t->woken : 0;
	u64 wait = t->why == RECORD_LEFT_QUEUED ? t->left : woken ? woken : now;
	u64 before, until;

	if (wait < t->left)
		wait = t->left;
	if (wait > now)
		wait = now;
	t->queued += now - wait;
	if (t->why == RECORD_LEFT_IO)
		t->io += wait - t->left;
	else
		t->other += wait - t->left;
	/* Mostly there is none, and the next one is known: no division. */
	if (t->point < t->left)
		t->point = points_next(t->left, t->tid, period);
	if (t->point >= now)
		return false;
	before = points_before(t->left, t->tid, period);
	until = points_before(wait, t->tid, period);
	e->points_waited = until - before;
	e->points_queued = points_before(now, t->tid, period) - until;
	e->time = now;
	e->left = t->left;
	e->woken = wait;
	e->why = t->why;
	e->woken_by = woken ? t->woken_by : RECORD_BY_NOBODY;
	e->waker = t->waker;
	if (t->why == RECORD_LEFT_OTHER)
		e->futex = t->futex;
	else
		e->futex.known = 0;
	return true;
}

static __always_inline void describe(struct record_event *e, struct task_struct *task,
				     const struct thread_state *t)
{
	e->tid = t->tid;
	e->tgid = task->tgid;
	e->born = born(task, t->tid);
	e->cpu = bpf_get_smp_processor_id();
	e->type = RECORD_EVENT_WAIT;
	e->unfinished = 0;
	e->no_chain = 0;
}

static __always_inline void arrives(struct cpu_state *s, struct task_struct *task,
				    struct thread_state *t, u64 now)
{
	/* Causal recordings tell waits by their events, and nobody would read their records. */
	if (!t->in && !causal && measure_wait(t, now, &s->event)) {
		describe(&s->event, task, t);
		s->due = task->pid;
	}
	if (t->in) { /* nobody saw it leave */
		t->on += now - t->in;
		trace_event(RECORD_TRACE_LEAVE, RECORD_LEFT_QUEUED, now, t->tid,
			    RECORD_TRACE_UNSEEN, 0);
	}
	trace_event(RECORD_TRACE_ENTER, 0, now, t->tid, 0, 0);
	t->in = now;
}

/* Another thread of its process executes a program, has its tid, and is told by that. */
static __always_inline bool is_taken_over(const struct task_struct *task,
					  const struct thread_state *t)
{
	const u64 *when;

	if (t->tid == (u32)task->pid || task->pid == task->tgid)
		return false;
	when = bpf_map_lookup_elem(&taken_over, &t->tid);
	return when && *when > t->since;
}

/* It ends after the recording, and before anybody has looked at it: its times are to be known. */
static __always_inline void ends_late(struct cpu_state *s, struct task_struct *task)
{
	struct thread_state *t;

	if (!task->pid || !(task->__state & TASK_DEAD))
		return;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t || t->told || t->since >= finished)
		return;
	if (t->in && t->in < finished)
		t->on += finished - t->in;
	else if (!t->in && t->left < finished)
		measure_wait(t, finished, &s->event);
	t->in = t->left = finished;
	emit_times(task, t->tid, t, finished, true);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_state *s = this_cpu();
	u64 now = bpf_ktime_get_ns();
	struct thread_state *t;

	if (!s)
		return 0;
	if (finished) {
		ends_late(s, prev);
		return 0;
	}
	s->device = 0;
	if (s->due) { /* nothing came after its switch: a thread's first one */
		bpf_probe_read_kernel_str(s->event.comm, sizeof(s->event.comm), prev->comm);
		emit_bare(&s->event);
		s->due = 0;
	}
	if (prev->pid) {
		t = bpf_task_storage_get(&threads, prev, 0, 0);
		if (t && !is_taken_over(prev, t)) {
			leaves(prev, t, preempt, now, s->ticks);
			if (prev->__state & TASK_DEAD) {
				trace_event(RECORD_TRACE_EXIT, 0, now, t->tid, 0, 0);
				emit_times(prev, t->tid, t, now, true);
				t->told = 1;
			}
		}
	}
	s->runs = next->pid;
	if (!next->pid)
		return 0;
	t = bpf_task_storage_get(&threads, next, 0, 0);
	if (!t || is_taken_over(next, t))
		return 0;
	arrives(s, next, t, now);
	if (s->due && chain_at_switch) {
		struct scratch *out = scratch(SCRATCH_WAIT);
		long n;

		if (out) {
			out->event = s->event;
			bpf_probe_read_kernel_str(out->event.comm, sizeof(out->event.comm),
						  next->comm);
			n = frames(bpf_get_task_stack(next, out->chain, CHAIN_BYTES, 0));
			out->event.n_user = 0;
			out->event.no_chain = next->mm != NULL;
			if (n > RECORD_MAX_FRAMES)
				n = RECORD_MAX_FRAMES;
			out->event.n_kernel = n;
			if (bpf_ringbuf_output(&events, out, sizeof(out->event) + n * sizeof(u64),
					       BPF_RB_NO_WAKEUP))
				count_lost();
		}
		s->due = 0;
	}
	return 0;
}

static __always_inline int write_wait(void *ctx)
{
	struct cpu_state *s = this_cpu();
	struct task_struct *task;
	struct scratch *out;

	if (!s || finished)
		return 0;
	task = bpf_get_current_task_btf();
	if (s->runs != (u32)task->pid) { /* the tracepoint was passed over: it happens */
		struct thread_state *t = bpf_task_storage_get(&threads, task, 0, 0);

		s->runs = task->pid;
		if (t && task->pid)
			arrives(s, task, t, bpf_ktime_get_ns());
	}
	if (!s->due || s->due != (u32)task->pid)
		return 0;
	s->due = 0;
	out = scratch(SCRATCH_WAIT);
	if (!out)
		return 0;
	out->event = s->event;
	bpf_get_current_comm(out->event.comm, sizeof(out->event.comm));
	if (out->event.futex.known)
		out->event.futex.has_after =
			!bpf_probe_read_user(&out->event.futex.after, sizeof(u32),
					     (const void *)out->event.futex.address);
	emit_with_chains(ctx, SCRATCH_WAIT, out);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_switched)
{
	return write_wait(ctx);
}

/* Where the kernel has no sched_exit_tp; the rest of the switch, on the new thread's stack. */
SEC("kprobe")
int on_finish_switch(struct pt_regs *ctx)
{
	return write_wait(ctx);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread_state *t = bpf_task_storage_get(&threads, task, 0, 0);

	if (!t || finished)
		return 0;
	who_wakes(t);
	t->woken = bpf_ktime_get_ns();
	trace_event(RECORD_TRACE_WAKE, t->woken_by, t->woken, t->tid, t->waker, 0);
	return 0;
}

/*
 * Ticks come late or not at all: in a virtual machine that was not scheduled, because another
 * program held BPF's per-CPU lock, or because interrupts were off until the next thread ran, which
 * takes from threads that switch often. How long each ran is known exactly. So a tick stands for
 * somewhat more than one point while a thread has fewer than its time is worth, and for less while
 * it has more; slowly, so that no place is preferred.
 */
#define CORRECTION  64 /* ticks over which a difference is made up for */
#define MOST_POINTS 8

static __always_inline u32 points_of_tick(struct thread_state *t, u64 now)
{
	s64 unit = CORRECTION * period, due = unit + t->unpaid + (s64)(now - t->in);
	u32 points;

	if (due < 0)
		due = 0;
	if (due > MOST_POINTS * unit)
		due = MOST_POINTS * unit;
	points = (due + ((u64)bpf_get_prandom_u32() * unit >> 32)) / (u64)unit;
	t->unpaid -= points * period;
	return points;
}

/* The clock's tick on a CPU: whoever runs is sampled. */
SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *t;
	struct cpu_state *s = this_cpu();
	struct scratch *out;
	u32 points;
	u64 now;

	if (!s || finished)
		return 0;
	s->ticks = 1;
	if (!task->pid || is_self(task))
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	if (!t->in) { /* adopted while it was being switched in, or the switch was passed over */
		s->runs = task->pid;
		arrives(s, task, t, now);
	}
	points = points_of_tick(t, now);
	if (!points)
		return 0;
	out = scratch(SCRATCH_TICK);
	if (!out)
		return 0;
	out->event = (struct record_event){
		.time = now,
		.born = born(task, t->tid),
		.tid = t->tid,
		.tgid = task->tgid,
		.points_waited = points,
		.cpu = bpf_get_smp_processor_id(),
		.type = RECORD_EVENT_TICK,
		.spins = waits_busily(bpf_get_current_task_btf(),
				      (const struct sample_registers *)ctx),
	};
	bpf_get_current_comm(out->event.comm, sizeof(out->event.comm));
	emit_with_chains(ctx, SCRATCH_TICK, out);
	return 0;
}

#endif
