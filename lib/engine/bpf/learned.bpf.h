/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings of a process that nobody has told of yet. Who reads the records of exec and mmap tells
 * (unwind/follow.c), but that takes milliseconds, and what a compiler, a filter or a request's own
 * process does may be over by then. So a list is made as pages of files are mapped into a process
 * without one, of those files whose tables the programs have; it holds until somebody tells.
 *
 * A process that has just begun goes on mapping. So a list that was made here is made again when
 * the number of mappings has changed, each time after twice the time. One without anything of use
 * is kept as well: it says that there is nothing to be found.
 */
#ifndef SCOZ_LEARNED_BPF_H
#define SCOZ_LEARNED_BPF_H

#include "engine/bpf/unwind.bpf.h"
#include "engine/bpf/vmas.bpf.h"
#include "unwind/kernel_layout.h"

#define LEARN_AGAIN_NS 100000 /* the first time */
#define LEARN_REST_NS  1000000000ULL
#define LEARN_MAX_VMAS 2000 /* a list takes tens of microseconds at most */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_MAX_TABLES);
	__type(key, struct unwind_file_id);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

/* A program is not interrupted by itself. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_space);
} learning SEC(".maps");

/* What is mapped there; has its file a table? */
static __always_inline bool describe_vma(struct vm_area_struct *vma, struct unwind_mapping *m)
{
	struct file *file = vma->vm_file;
	struct inode *inode = file ? file->f_inode : NULL;
	u64 offset = vma->vm_pgoff << page_shift;
	struct unwind_file_id id = {};
	struct unwind_file *f;

	m->start = vma->vm_start;
	m->end = vma->vm_end;
	m->zero = 0;
	m->table = m->serial = 0;
	if (!inode)
		return false;
	id.dev = inode->i_sb->s_dev;
	id.ino = inode->i_ino;
	f = bpf_map_lookup_elem(&unwind_files, &id);
	if (!f || f->size != (u64)inode->i_size ||
	    (f->generation && f->generation != inode->i_generation))
		return false;
	for (u32 i = 0; i < UNWIND_FILE_STRETCHES; i++) {
		if (offset < f->stretch[i].first || offset >= f->stretch[i].end)
			continue;
		m->zero = m->start - offset + f->stretch[i].zero;
		m->table = f->table;
		m->serial = f->serial;
		return true;
	}
	return false;
}

static long leave_empty(u32 index, void *arg)
{
	struct unwind_space **s = arg;

	(*s)->map[index & UNWIND_MAX_MAPPINGS].start = UNWIND_NOWHERE;
	return 0;
}

/* Of the current task, into @s; false: it cannot be told. Counters lie in @s for the verifier's
 * sake. */
__noinline bool learn_mappings(struct unwind_space *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	u32 n;

	if (!s || !bpf_iter_task_vma_new)
		return false;
	s->n = s->n_vmas = s->n_tables = 0;
	bpf_loop(UNWIND_MAX_MAPPINGS + 1, leave_empty, &s, 0);
	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it))) {
		n = READ_ONCE(s->n);
		if (++s->n_vmas > LEARN_MAX_VMAS || n >= UNWIND_MAX_MAPPINGS)
			break;
		if (!(vma->vm_flags & VM_EXEC) || vma->vm_start >= UNWIND_NOWHERE)
			continue;
		s->n_tables += describe_vma(vma, &s->map[n & UNWIND_MAX_MAPPINGS]);
		WRITE_ONCE(s->n, n + 1);
	}
	bpf_iter_task_vma_destroy(&it);
	if (!s->n_vmas) /* somebody changes them just now */
		return false;
	if (!s->n_tables || s->n_vmas > LEARN_MAX_VMAS || s->n >= UNWIND_MAX_MAPPINGS)
		s->n = 0;
	return true;
}

/*
 * Code that has a table is mapped by who runs: whatever is known of its mappings lacks it, and is
 * made again at the next fault, unless somebody tells of more by then.
 */
static __always_inline void learn_again(struct vm_area_struct *vma)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct unwind_space *s = bpf_map_lookup_elem(&unwind_spaces, &tgid);
	struct unwind_mapping m;

	if (!s || !bpf_iter_task_vma_new || !describe_vma(vma, &m))
		return;
	if (!s->n_maps)
		s->rest_ns = LEARN_AGAIN_NS;
	s->again_ns = 0;
	s->n_maps = UNWIND_MAPS_GROWN;
}

/*
 * Of the current task, where nobody has told of it. At a page fault: kernels go through mappings in
 * a task's context only, and not while it changes them.
 */
static __always_inline void learn_space(struct task_struct *task)
{
	struct unwind_space *old = unwind_space_of(task), *s;
	u32 tgid = task->tgid, key = 0;
	struct mm_struct *mm = task->mm;
	u64 now = bpf_ktime_get_ns();

	if (!mm || !mm->start_code || (old && !old->n_maps))
		return;
	if (old && (old->n_maps == (u32)mm->map_count || now < old->again_ns))
		return;
	s = bpf_map_lookup_elem(&learning, &key);
	if (!s)
		return;
	s->rest_ns = !old			    ? LEARN_AGAIN_NS
		     : old->rest_ns < LEARN_REST_NS ? old->rest_ns * 2
						    : LEARN_REST_NS;
	s->again_ns = now + s->rest_ns;
	s->start_code = mm->start_code;
	s->start_stack = mm->start_stack;
	s->n_maps = mm->map_count;
	if (learn_mappings(s))
		bpf_map_update_elem(&unwind_spaces, &tgid, s, BPF_ANY);
}

#endif
