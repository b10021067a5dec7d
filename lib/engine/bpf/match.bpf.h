/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a sample hit the target? The IP or any caller must lie in one of its ranges. Ranges are
 * those of the file; per process only the load bias differs. For the executable of a process it
 * follows from mm->start_code, so that a process just born or execed needs no publishing at all;
 * for libraries the handler publishes the mappings as they appear.
 */
#ifndef SCOZ_MATCH_BPF_H
#define SCOZ_MATCH_BPF_H

#include "engine/bpf/page.bpf.h"

#define MAX_WINDOWS (SCOZ_MAX_PARTS * 2)
/* PERF_CONTEXT_MAX: events that record call chains hand them on with perf's markers inside. */
#define FIRST_CONTEXT_MARKER (~0ULL - 4094)

/* A stretch of addresses that may hold target code, in this process. */
struct code_window {
	u64 start, end, bias;
	u32 first, n;
};

struct match {
	u64 frames[SCOZ_MAX_FRAMES + 1];
	struct code_window window[MAX_WINDOWS];
	u32 n_windows;
	u32 exact; /* the next frame is where it ran, not a return address */
	u32 found;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct match);
} matches SEC(".maps");

/* As many as halve SCOZ_MAX_RANGES down to nothing. */
#define RANGE_STEPS 19
_Static_assert(SCOZ_MAX_RANGES < 1 << RANGE_STEPS, "ranges that are not found");

static __always_inline bool in_ranges(u32 first, u32 n, u64 vaddr)
{
	u32 lo = 0, hi = n;

	for (int i = 0; i < RANGE_STEPS && lo < hi; i++) {
		u32 mid = (lo + hi) / 2, key = first + mid;
		struct scoz_range *r = bpf_map_lookup_elem(&ranges, &key);

		if (!r)
			return false;
		if (vaddr < r->start)
			hi = mid;
		else if (vaddr >= r->end)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}

static long match_frame(u32 index, void *arg)
{
	struct match *m = *(struct match **)arg;
	u64 addr;

	if (index >= SCOZ_MAX_FRAMES)
		return 1;
	addr = m->frames[index];
	if (addr >= FIRST_CONTEXT_MARKER) {
		m->exact = 1;
		return 0;
	}
	if (!m->exact) /* a return address: the call is before it */
		addr--;
	m->exact = 0;
	for (u32 i = 0; i < MAX_WINDOWS; i++) {
		struct code_window *w = &m->window[i];

		if (i >= m->n_windows)
			break;
		if (addr >= w->start && addr < w->end &&
		    in_ranges(w->first, w->n, addr - w->bias)) {
			m->found = 1;
			return 1;
		}
	}
	return 0;
}

static __always_inline void add_window(struct match *m, const struct scoz_part *part, u64 start,
				       u64 end, u64 bias)
{
	/* Read once, so that the bound below is that of the index: the verifier insists. */
	u32 i = READ_ONCE(m->n_windows);
	struct code_window *w;

	if (i >= MAX_WINDOWS)
		return;
	w = &m->window[i];
	w->start = start;
	w->end = end;
	w->bias = bias;
	w->first = part->first;
	w->n = part->n;
	m->n_windows = i + 1;
}

static __always_inline void add_part(struct match *m, const struct scoz_part *part,
				     struct task_struct *task)
{
	struct space_key key = { .tgid = task->tgid, .binary = part->binary };
	struct space *s;
	struct mm_struct *mm;

	if (part->ino) {
		mm = task->mm;
		if (mm) {
			struct file *exe = mm->exe_file;
			struct inode *inode = exe ? exe->f_inode : NULL;

			if (inode && inode->i_ino == part->ino && inode->i_sb->s_dev == part->dev) {
				add_window(m, part, 0, ~0ULL, mm->start_code - part->code_vaddr);
				return;
			}
		}
	}
	s = bpf_map_lookup_elem(&spaces, &key);
	if (!s)
		return;
	for (u32 i = 0; i < BPF_MAX_SEGMENTS; i++) {
		if (i >= s->n)
			break;
		add_window(m, part, s->seg[i].start, s->seg[i].end, s->seg[i].bias);
	}
}

static __always_inline bool match_stack(void *ctx, struct match *m, u64 flags)
{
	long bytes = bpf_get_stack(ctx, m->frames, SCOZ_MAX_FRAMES * sizeof(u64), flags);

	if (bytes <= 0)
		return false;
	m->found = 0;
	m->exact = 1;
	bpf_loop(bytes / sizeof(u64), match_frame, &m, 0);
	return m->found;
}

/*
 * The registers saved at the top of the task's kernel stack are those with which it entered the
 * kernel; an interrupt or a fault of the program stores -1 where the number of a system call is.
 * So no function has to be known by name, and none that the entry jumps to is missed. Threads that
 * the kernel has cloned from a program keep a copy of its registers for ever.
 */
static __always_inline bool in_syscall(struct task_struct *task, u32 number)
{
	struct pt_regs *regs;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	return regs && syscall_number(regs) == number && syscall_is_native(task, regs);
}

static __always_inline bool matches_target(void *ctx, struct task_struct *task)
{
	u32 key = 0;
	struct bpf_target *t = bpf_map_lookup_elem(&target_map, &key);
	struct match *m = bpf_map_lookup_elem(&matches, &key);

	if (!t || !m)
		return false;
	if (t->syscall)
		return in_syscall(task, t->syscall - 1);
	if (t->user && !(task->flags & PF_KTHREAD)) {
		m->n_windows = 0;
		for (u32 i = 0; i < SCOZ_MAX_PARTS; i++) {
			if (i >= t->n_parts)
				break;
			if (t->part[i].binary)
				add_part(m, &t->part[i], task);
		}
		if (m->n_windows && match_stack(ctx, m, BPF_F_USER_STACK))
			return true;
	}
	if (t->kernel) {
		m->n_windows = 0;
		for (u32 i = 0; i < SCOZ_MAX_PARTS; i++) {
			if (i >= t->n_parts)
				break;
			if (!t->part[i].binary)
				add_window(m, &t->part[i], 0, ~0ULL, 0);
		}
		if (match_stack(ctx, m, 0))
			return true;
	}
	return false;
}

#endif
