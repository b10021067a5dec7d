/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a library of the target is in a process that has just mapped it. Handlers publish that, too
 * (bpf_publish_mapping()), but they hear of it some 20 ms late, when what a compiler, a filter or a
 * request's own process does may be over. What they publish holds for a process until they forget
 * it; what is published here, for the image that mapped it, so that it need not be forgotten at
 * exec, which they hear of late as well.
 *
 * Nothing tells here that a library is closed. But nobody runs its code then, until other code lies
 * there: which it does by a mapping that is seen, or in a place that was found to be free.
 */
#ifndef SCOZ_MAPPED_BPF_H
#define SCOZ_MAPPED_BPF_H

#include "engine/bpf/match.bpf.h"
#include "engine/bpf/learned.bpf.h"

/* Of part @i of the target; @look: the programs do not hear of what is mapped there now. */
__noinline int withdraw_part(u32 i, u64 start, u64 end, bool look)
{
	struct bpf_target *t = current_target();
	struct space_key key = {};
	struct space *known;

	if (!t || i >= SCOZ_MAX_PARTS)
		return 0;
	key.tgid = bpf_get_current_pid_tgid() >> 32;
	key.binary = t->part[i].binary;
	known = bpf_map_lookup_elem(&spaces, &key);
	if (!known)
		return 0;
	space_withdraw(known, start, end);
	if (look)
		known->look = 1;
	return 0;
}

/* @own: the part that is mapped there. */
static __always_inline void withdraw(const struct bpf_target *t, u32 own, u64 start, u64 end,
				     bool look)
{
	for (u32 i = 0; i < SCOZ_MAX_PARTS; i++) {
		if (i >= t->n_parts)
			break;
		if (i != own)
			withdraw_part(i, start, end, look);
	}
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

/* What has to be added to a vaddr of part @i that is mapped from @offset on at @start; 0: no code.
 */
static __always_inline u64 bias_of(const struct bpf_target *t, u32 i, u64 start, u64 offset)
{
	for (u32 k = 0; k < BPF_STRETCHES; k++) {
		const struct bpf_stretch *s = &t->code[i][k];

		if (offset >= s->first && offset < s->end)
			return start - offset + s->zero;
	}
	return 0;
}

/* Part @i of the target, by whoever runs. */
__noinline int publish(u32 i, u64 start, u64 end, u64 offset)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct bpf_target *t = current_target();
	struct segment new = { .start = start, .end = end };
	struct space_key key = {};
	struct space *known, fresh = {};

	if (!t || !mm || !mm->start_stack || i >= SCOZ_MAX_PARTS)
		return 0;
	new.image = mm->start_stack;
	new.bias = bias_of(t, i, start, offset);
	if (!new.bias)
		return 0;
	key.tgid = bpf_get_current_pid_tgid() >> 32;
	key.binary = t->part[i].binary;
	known = bpf_map_lookup_elem(&spaces, &key);
	if (known) {
		space_put(known, &new);
		return 0;
	}
	fresh.seg[0] = new;
	bpf_map_update_elem(&spaces, &key, &fresh, BPF_ANY);
	return 0;
}

static __always_inline void publish_vma(const struct bpf_target *t, struct vm_area_struct *vma,
					bool is_new)
{
	struct file *file = vma->vm_file;
	struct inode *inode = file ? file->f_inode : NULL;
	u32 i = SCOZ_MAX_PARTS;

	if (!(vma->vm_flags & VM_EXEC))
		return;
	if (inode)
		i = part_in(t, inode);
	if (is_new)
		withdraw(t, i, vma->vm_start, vma->vm_end, false);
	if (i < SCOZ_MAX_PARTS && i < t->n_parts)
		publish(i, vma->vm_start, vma->vm_end, (u64)vma->vm_pgoff << page_shift);
}

/* While mappings are changed nobody else goes through them. */
SEC("fentry/perf_event_mmap")
int BPF_PROG(on_mmap, struct vm_area_struct *vma)
{
	struct bpf_target *t = current_target();

	if (t && t->user)
		publish_vma(t, vma, true);
	if (unwind_by_tables && vma->vm_flags & VM_EXEC)
		learn_again(vma);
	return 0;
}

#define MOST_ERROR 4095
/* What is mapped next lies within, and nothing does now. */
SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(on_unmapped_area, unsigned long addr, struct vm_unmapped_area_info *info)
{
	struct bpf_target *t = current_target();

	if (t && t->user && addr < (u64)-MOST_ERROR)
		withdraw(t, SCOZ_MAX_PARTS, addr, addr + info->length, true);
	return 0;
}

static __always_inline bool knows_image(const struct space *s, u64 image)
{
	bool any = false;

	for (u32 i = 0; i < BPF_MAX_SEGMENTS; i++)
		any |= s->seg[i].end && s->seg[i].image == image;
	return any;
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
	if ((known && !known->look && knows_image(known, mm->start_stack)) ||
	    !bpf_iter_task_vma_new)
		return;
	if (known)
		known->look = 0;
	bpf_iter_task_vma_new(&it, task, 0);
	while ((vma = bpf_iter_task_vma_next(&it)))
		publish_vma(t, vma, false);
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
		if (!known)
			continue;
		copy = *known;
		for (u32 k = 0; k < BPF_MAX_SEGMENTS; k++) {
			if (!segment_holds(&copy.seg[k], mm->start_stack))
				copy.seg[k].end = 0;
			copy.seg[k].image = mm->start_stack;
		}
		key.tgid = child->tgid;
		bpf_map_update_elem(&spaces, &key, &copy, BPF_ANY);
	}
}

#endif
