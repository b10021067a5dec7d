/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a sample hit the target? The IP or any caller must lie in one of its ranges. Ranges are
 * those of the file; per process only the load bias differs. For the executable of a process it
 * follows from mm->start_code, so that a process just born or execed needs no publishing at all;
 * for libraries the handler publishes the mappings as they appear.
 *
 * The user's part of a chain is unwound by tables where there are some (unwind.bpf.h), else it is
 * what frame pointers tell. It is walked at most once a sample, and only where somebody looks at
 * it: a target that lies in this process, or the handler.
 */
#ifndef SCOZ_MATCH_BPF_H
#define SCOZ_MATCH_BPF_H

#include "engine/bpf/unwind.bpf.h"
#include "engine/bpf/whose.bpf.h"

#define MAX_WINDOWS (SCOZ_MAX_PARTS * 2)
/* PERF_CONTEXT_MAX: events that record call chains hand them on with perf's markers inside. */
#define FIRST_CONTEXT_MARKER (~0ULL - 4094)

/* A stretch of addresses that may hold target code, in this process. */
struct code_window {
	u64 start, end, bias;
	u32 first, n;
};

#define NOT_WALKED 0xffffffffu

struct match {
	struct unwind_walk walk;
	u32 user_words; /* in walk.frames; 0: none by tables; NOT_WALKED */
	u32 pad;
	u64 frames[SCOZ_MAX_FRAMES + 1];
	struct code_window window[MAX_WINDOWS];
	u32 n_windows;
	u32 exact; /* the next frame is where it ran, not a return address */
	u32 found;
};

/* Whoever looks at a wait may be interrupted by a tick. */
enum { MATCH_TICK, MATCH_WAIT, MATCHES };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MATCHES);
	__type(key, u32);
	__type(value, struct match);
} matches SEC(".maps");

/* As many as halve SCOZ_MAX_RANGES down to nothing. */
#define RANGE_STEPS 19
_Static_assert(SCOZ_MAX_RANGES < 1 << RANGE_STEPS, "ranges that are not found");

/* This and other functions are global for the verifier's sake (docs/hacking.md, "Rules"). */
__noinline bool in_ranges(u32 first, u32 n, u64 vaddr)
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

struct match_ctx {
	struct match *m;
	u64 *frames;
};

static long match_frame(u32 index, void *arg)
{
	struct match_ctx *c = arg;
	struct match *m = c->m;
	u64 addr;

	if (index >= SCOZ_MAX_FRAMES)
		return 1;
	addr = c->frames[index];
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

static __always_inline bool is_inode(const struct inode *inode, u64 ino, u64 dev)
{
	return inode && inode->i_ino == ino && inode->i_sb->s_dev == dev;
}

static __always_inline bool is_executable(const struct mm_struct *mm, u64 ino, u64 dev)
{
	struct file *exe = mm->exe_file;

	return exe && is_inode(exe->f_inode, ino, dev);
}

/* Not a newer file by the number of one that was deleted. */
static __always_inline bool is_file_of_part(const struct bpf_target *t, u32 i,
					    const struct inode *inode)
{
	const struct scoz_part *part = &t->part[i];

	return part->ino && is_inode(inode, part->ino, part->dev) &&
	       (!t->generation[i] || t->generation[i] == inode->i_generation);
}

/* Part @i of the target, in the process that runs. */
__noinline int add_part(struct match *m, u32 i)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_target *t = current_target();
	struct space_key key = { .tgid = task->tgid };
	struct mm_struct *mm = task->mm;
	const struct scoz_part *part;
	struct file *exe;
	struct space *s;

	if (!m || !t || !mm || i >= SCOZ_MAX_PARTS)
		return 0;
	part = &t->part[i];
	exe = mm->exe_file;
	if (exe && is_file_of_part(t, i, exe->f_inode)) {
		add_window(m, part, 0, ~0ULL, mm->start_code - part->code_vaddr);
		return 0;
	}
	key.binary = part->binary;
	s = bpf_map_lookup_elem(&spaces, &key);
	if (!s)
		return 0;
	for (u32 i = 0; i < BPF_MAX_SEGMENTS; i++) {
		if (segment_holds(&s->seg[i], mm->start_stack))
			add_window(m, part, s->seg[i].start, s->seg[i].end, s->seg[i].bias);
	}
	return 0;
}

/* The user's frames, or those that follow_pointers() has found. */
__noinline bool match_frames(struct match *m, bool pointers, u32 words)
{
	struct match_ctx c = { .m = m };

	if (!m)
		return false;
	c.frames = pointers ? m->frames : m->walk.frames;
	m->found = 0;
	m->exact = 1;
	bpf_loop(words, match_frame, &c, 0);
	return m->found;
}

/* What frame pointers tell; how many words. */
static __always_inline u32 follow_pointers(void *ctx, u64 *frames, u64 flags)
{
	long bytes = bpf_get_stack(ctx, frames, SCOZ_MAX_FRAMES * sizeof(u64), flags);

	return bytes > 0 ? bytes / sizeof(u64) : 0;
}

static __always_inline u32 walked_user(struct match *m)
{
	u32 words = READ_ONCE(m->user_words);

	if (words == NOT_WALKED)
		WRITE_ONCE(m->user_words, words = unwind_user(&m->walk));
	return words;
}

/*
 * Who called what it found running was looked for, and not found up to the end. (Global, so the
 * verifier follows its ways once, and not each time that it comes by.)
 */
__noinline int match_is_cut(const struct match *m)
{
	u32 words = m ? READ_ONCE(m->user_words) : 0;

	return words && words != NOT_WALKED && m->walk.ended != WALK_COMPLETE;
}

static __always_inline bool match_user(void *ctx, struct match *m)
{
	u32 words = walked_user(m);

	if (!words)
		words = follow_pointers(ctx, m->walk.frames, BPF_F_USER_STACK);
	return match_frames(m, false, words);
}

static __always_inline bool match_kernel(void *ctx, struct match *m)
{
	return match_frames(m, true, follow_pointers(ctx, m->frames, 0));
}

/*
 * The registers saved at the top of the task's kernel stack are those with which it entered the
 * kernel; an interrupt or a fault of the program stores -1 where the number of a system call is.
 * So no function has to be known by name, and none that the entry jumps to is missed. Threads that
 * the kernel has cloned from a program keep a copy of its registers for ever.
 */
static __always_inline bool in_syscall(struct task_struct *task, const struct bpf_target *t)
{
	struct pt_regs *regs;

	if (task->flags & PF_KERNELS)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	return regs && is_target_call(t, syscall_number(regs)) && syscall_is_native(task, regs);
}

/* Where to match; @which is whoever does. NULL: never. */
static __always_inline struct match *match_begin(u32 which)
{
	struct match *m = bpf_map_lookup_elem(&matches, &which);

	if (m)
		m->user_words = NOT_WALKED;
	return m;
}

/* Where the target may be in this process, or in the kernel; how many stretches. */
__noinline u32 find_windows(struct match *m, bool kernel)
{
	struct bpf_target *t = current_target();

	if (!t || !m)
		return 0;
	m->n_windows = 0;
	for (u32 i = 0; i < SCOZ_MAX_PARTS; i++) {
		if (i >= t->n_parts)
			break;
		if (!kernel && t->part[i].binary)
			add_part(m, i);
		else if (kernel && !t->part[i].binary)
			add_window(m, &t->part[i], 0, ~0ULL, 0);
	}
	return m->n_windows;
}

static __always_inline bool matches_by(void *ctx, struct match *m, struct task_struct *task)
{
	struct bpf_target *t = current_target();

	if (!t)
		return false;
	if (t->classes)
		return t->classes & BPF_CLASS_ON && is_one_of(t);
	if (t->n_calls)
		return in_syscall(task, t);
	if (t->user && !(task->flags & PF_KTHREAD) && find_windows(m, false) && match_user(ctx, m))
		return true;
	return t->kernel && find_windows(m, true) && match_kernel(ctx, m);
}

/* By the task itself, of where it is in the kernel now. */
static __always_inline bool matches_target(void *ctx, struct task_struct *task)
{
	struct match *m = match_begin(MATCH_WAIT);

	return m && matches_by(ctx, m, task);
}

#endif
