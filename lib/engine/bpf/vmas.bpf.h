/* SPDX-License-Identifier: GPL-2.0-only */
/* Going through the mappings of a task, on kernels that let programs do that. */
#ifndef SCOZ_VMAS_BPF_H
#define SCOZ_VMAS_BPF_H

#include "engine/bpf/kernel_types.bpf.h"
#include <bpf/bpf_helpers.h>

#define VM_EXEC 4

struct bpf_iter_task_vma {
	u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_task_vma_new(struct bpf_iter_task_vma *it, struct task_struct *task,
				 u64 addr) __ksym __weak;
extern struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *it) __ksym __weak;
extern void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *it) __ksym __weak;

const volatile __u32 page_shift = 12; /* set by the loader */

#endif
