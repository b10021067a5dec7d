/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a library of the target is in a process that has just mapped it. Handlers publish that, too
 * (bpf_publish_mapping()), but they hear of it some 20 ms late, when what a compiler, a filter or a
 * request's own process does may be over. What they publish holds for a process until they forget
 * it; what is published here, for the image that mapped it, so that it need not be forgotten at
 * exec, which they hear of late as well.
 */
#ifndef SCOZ_MAPPED_BPF_H
#define SCOZ_MAPPED_BPF_H

#include "engine/bpf/match.bpf.h"
#include "engine/bpf/learned.bpf.h"

static __always_inline void add_segment(struct space *s, const struct segment *new)
{
	u32 n = s->n;

	for (u32 i = 0; i < BPF_MAX_SEGMENTS; i++) {
		if (i >= n || s->seg[i].start == new->start) {
			s->seg[i] = *new;
			s->n = i < n ? n : i + 1;
			return;
		}
	}
	s->seg[0] = *new;
}

static __always_inline void publish(u32 tgid, u32 binary, u64 image, const struct segment *new)
{
	struct space_key key = { .tgid = tgid, .binary = binary };
	struct space *known = bpf_map_lookup_elem(&spaces, &key), fresh = { .image = image };

	if (known && known->image == image) {
		add_segment(known, new);
		return;
	}
	fresh.seg[0] = *new;
	fresh.n = 1;
	bpf_map_update_elem(&spaces, &key, &fresh, BPF_ANY);
}

/* Which part of the target the file of @inode is; n_parts or more: none. */
static __always_inline u32 part_in(const struct bpf_target *t, const struct inode *inode)
{
	u32 i;

	for (i = 0; i < SCOZ_MAX_PARTS; i++) {
		if (i >= t->n_parts || is_file_of_part(t, i, inode))
			break;
	}
	return i;
}

static __always_inline void publish_vma(struct task_struct *task, struct vm_area_struct *vma)
{
	struct bpf_target *t = current_target();
	struct mm_struct *mm = vma->vm_mm;
	struct file *file = vma->vm_file;
	struct inode *inode = file ? file->f_inode : NULL;
	u64 start = vma->vm_start, offset = vma->vm_pgoff << page_shift;
	struct segment new = { .start = start, .end = vma->vm_end };
	u32 i;

	if (!t || !inode || !mm || !mm->start_stack || !(vma->vm_flags & VM_EXEC))
		return;
	i = part_in(t, inode);
	if (i >= SCOZ_MAX_PARTS || i >= t->n_parts)
		return;
	/* Another stretch of code of the same file is left to the handlers. */
	if (t->code_offset[i] < offset || t->code_offset[i] - offset >= new.end - start)
		return;
	new.bias = start + t->code_offset[i] - offset - t->part[i].code_vaddr;
	publish(task->tgid, t->part[i].binary, mm->start_stack, &new);
}

/* Of libraries only: while mappings are changed nobody else goes through them. */
SEC("fentry/perf_event_mmap")
int BPF_PROG(on_mmap, struct vm_area_struct *vma)
{
	publish_vma(bpf_get_current_task_btf(), vma);
	return 0;
}

/*
 * The loader maps all of a library, and then reads in it, which maps pages of its file: nothing of
 * it has run before. (Not so the page of the code itself: a probe in it makes that present when it
 * is mapped.)
 */
static __always_inline void publish_file(struct task_struct *task, struct inode *inode)
{
	struct bpf_target *t = current_target();
	struct mm_struct *mm = task->mm;
	struct space_key key = { .tgid = task->tgid };
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	struct space *known;
	u32 i;

	if (!t || !t->user || !mm || is_executable(mm, inode->i_ino, inode->i_sb->s_dev))
		return;
	i = part_in(t, inode);
	if (i >= SCOZ_MAX_PARTS || i >= t->n_parts)
		return;
	key.binary = t->part[i].binary;
	known = bpf_map_lookup_elem(&spaces, &key);
	if ((known && known->image == mm->start_stack) || !bpf_iter_task_vma_new)
		return;
	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it)))
		publish_vma(task, vma);
	bpf_iter_task_vma_destroy(&it);
}

/* Others' samples are shown with the callers that frame pointers tell. */
static __always_inline bool is_walked(struct task_struct *task)
{
	struct task_state *t;

	if (!unwind_by_tables || !members_known)
		return unwind_by_tables;
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	return t && is_involved(t, bpf_ktime_get_ns());
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(on_pages, struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = mapping->host;

	if (!inode)
		return 0;
	publish_file(task, inode);
	if (is_walked(task))
		learn_space(task);
	return 0;
}

/* @child has what @parent has. */
static __always_inline void inherit_spaces(struct task_struct *child, struct task_struct *parent)
{
	struct bpf_target *t = current_target();
	struct mm_struct *mm = child->mm;

	if (!t || !t->user || !mm || child->tgid == parent->tgid)
		return;
	for (u32 i = 0; i < SCOZ_MAX_PARTS; i++) {
		struct space_key key = { .tgid = parent->tgid, .binary = t->part[i].binary };
		struct space *known, copy;

		if (i >= t->n_parts)
			break;
		known = bpf_map_lookup_elem(&spaces, &key);
		if (!known || !is_of_image(known, mm))
			continue;
		copy = *known;
		copy.image = mm->start_stack;
		key.tgid = child->tgid;
		bpf_map_update_elem(&spaces, &key, &copy, BPF_ANY);
	}
}

#endif
