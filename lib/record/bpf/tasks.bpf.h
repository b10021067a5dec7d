/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads are followed, from when on, and what is said about those still there at the end. */
#ifndef SCOZ_RECORD_TASKS_BPF_H
#define SCOZ_RECORD_TASKS_BPF_H

#include "record/bpf/waits.bpf.h"

/* What the iterator over all tasks does. */
volatile __s32 adopt_tgid = -1; /* this process; 0: all; -1: none */

static __always_inline void follow(struct task_struct *task, u64 now, bool newborn)
{
	struct thread_state t = { .since = now, .tid = task->pid }, *kept;

	if (newborn) {
		t.left = now; /* wants a CPU from now on */
	} else if (task->on_cpu) {
		t.in = now;
	} else {
		t.left = now;
		t.why = why_left(task, false);
	}
	t.stint = now;
	trace_names(task, newborn ? RECORD_TRACE_FORK : RECORD_TRACE_FOLLOW,
		    t.in ? RECORD_TRACE_RUNS : t.why, now,
		    newborn ? (u32)bpf_get_current_pid_tgid() : 0);
	kept = bpf_task_storage_get(&threads, task, &t, BPF_LOCAL_STORAGE_GET_F_CREATE);
	/* It may have been switched out before anybody could know that it is followed. */
	if (kept && !task->on_cpu && kept->in == now) {
		kept->left = now;
		kept->why = why_left(task, false);
		kept->in = 0;
		trace_event(RECORD_TRACE_LEAVE, kept->why, now, task->pid, RECORD_TRACE_UNSEEN, 0);
	}
}

SEC("tp_btf/task_newtask")
int BPF_PROG(on_newtask, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();

	if (is_self(child))
		return 0;
	if (everybody || bpf_task_storage_get(&threads, parent, 0, 0))
		follow(child, bpf_ktime_get_ns(), true);
	return 0;
}

/*
 * A thread that is not the first one calls exec: it takes over the first one's tid, which may have
 * to leave its CPU yet. The two have exchanged their tids before; until now each was told by the
 * one that it had, and the first one is not told any more.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_tid)
{
	struct thread_state *t;
	u32 tid = task->pid;
	u64 now;

	if (task->pid == old_tid)
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	if (t->in)
		t->on += now - t->in;
	emit_times(task, old_tid, t, now, true);
	*t = (struct thread_state){ .since = now, .in = now, .tid = tid };
	bpf_map_update_elem(&taken_over, &tid, &now, BPF_ANY);
	trace_event(RECORD_TRACE_EXIT, 0, now - 1, tid, 0, 0);
	trace_event(RECORD_TRACE_EXIT, 0, now, old_tid, 0, 0);
	trace_names(task, RECORD_TRACE_FOLLOW, RECORD_TRACE_RUNS, now, 0);
	return 0;
}

#define READ_USER(dst, address, task) \
	(!bpf_copy_from_user_task(dst, sizeof(*(dst)), (const void *)(address), task, 0))

struct sleeper {
	struct task_struct *task;
	struct scratch *out;
	u64 frame;
};

/* Counts in `out`: what lies in a map the verifier need not follow through every round. */
static long next_frame(u32 i, void *arg)
{
	struct sleeper *w = arg;
	u32 at = w->out->event.n_kernel + w->out->event.n_user;
	u64 pair[2]; /* the caller's frame pointer, the return address */

	if (!w->frame || w->frame & 7 || !READ_USER(&pair, w->frame, w->task) || !pair[1])
		return 1;
	if (at >= 2 * RECORD_MAX_FRAMES)
		return 1;
	w->out->chain[at] = pair[1];
	w->out->event.n_user++;
	if (pair[0] <= w->frame)
		return 1;
	w->frame = pair[0];
	return 0;
}

/* The user's stack of a sleeping thread, by frame pointers, behind its kernel chain. */
static __always_inline void add_user_chain(struct task_struct *task, struct scratch *out)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct sleeper w = { .task = task, .out = out };
	u32 at = out->event.n_kernel;

	out->event.n_user = 0;
	if (!task->mm || task->flags & PF_KERNELS || at >= RECORD_MAX_FRAMES)
		return;
#if defined(__TARGET_ARCH_x86)
	out->chain[at] = BPF_CORE_READ(regs, ip);
	w.frame = BPF_CORE_READ(regs, bp);
#else
	out->chain[at] = BPF_CORE_READ(regs, pc);
	w.frame = BPF_CORE_READ(regs, regs[29]);
#endif
	out->event.n_user = 1;
	bpf_loop(RECORD_MAX_FRAMES - 1, next_frame, &w, 0);
}

/* What goes on when the recording ends has a record, too. */
static __always_inline void finish_thread(struct task_struct *task, struct thread_state *t)
{
	struct scratch *out = scratch(SCRATCH_ITER);
	u64 now = finished;
	u32 kernel;
	u64 size;

	if (!out)
		return;
	/* A waker that met it still running said nothing about the sleep it is in now. */
	if (task->__state && !(task->__state & TASK_WAKING))
		t->woken = 0;
	if (t->in) {
		if (now > t->in)
			t->on += now - t->in;
	} else if (now > t->left && !causal && measure_wait(t, now, &out->event)) {
		describe(&out->event, task, t);
		out->event.unfinished = 1;
		bpf_probe_read_kernel_str(out->event.comm, sizeof(out->event.comm), task->comm);
		kernel = frames(bpf_get_task_stack(task, out->chain, CHAIN_BYTES, 0));
		if (kernel > RECORD_MAX_FRAMES)
			kernel = RECORD_MAX_FRAMES;
		out->event.n_kernel = kernel;
		add_user_chain(task, out);
		size = sizeof(out->event) + (out->event.n_kernel + out->event.n_user) * sizeof(u64);
		if (size > sizeof(*out) || bpf_ringbuf_output(&events, out, size, BPF_RB_NO_WAKEUP))
			count_lost();
	}
	t->in = t->left = now; /* all is told, should it end yet */
	emit_times(task, t->tid, t, now, false);
}

/* A thread that has been waiting since before anybody looked. */
static __always_inline void adopt_futex(struct task_struct *task, u64 since)
{
	struct thread_state *t = bpf_task_storage_get(&threads, task, 0, 0);
	struct record_futex f = {};

	if (!t || t->in || t->why != RECORD_LEFT_OTHER || !in_futex(task, &f))
		return;
	if (READ_USER(&f.words, f.address, task))
		f.known = RECORD_FUTEX_WORDS;
	else if (READ_USER(&f.words[0], f.address, task))
		f.known = 1;
	if (!t->in && t->left == since)
		t->futex = f;
}

SEC("iter.s/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *t;

	if (!task || !task->pid)
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	/* The dead stay in the list until somebody asks for their status; some begin after all. */
	if (t && finished && !t->told && t->since < finished)
		finish_thread(task, t);
	else if (!t && !finished && !task->exit_state && !is_self(task) &&
		 (!adopt_tgid || task->tgid == adopt_tgid)) {
		u64 now = bpf_ktime_get_ns();

		follow(task, now, false);
		adopt_futex(task, now);
	}
	return 0;
}

#endif
