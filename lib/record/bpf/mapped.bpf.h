/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that have just begun: their call chains are followed before the reader hears of them.
 */
#ifndef SCOZ_RECORD_MAPPED_BPF_H
#define SCOZ_RECORD_MAPPED_BPF_H

#include "engine/bpf/learned.bpf.h"
#include "record/bpf/state.bpf.h"

static __always_inline bool is_walked(struct task_struct *task)
{
	return unwind_by_tables && (everybody || bpf_task_storage_get(&threads, task, 0, 0));
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(on_pages)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (is_walked(task))
		learn_space(task);
	return 0;
}

#endif
