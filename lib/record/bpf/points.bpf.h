/* SPDX-License-Identifier: GPL-2.0-only */
/* Progress points of `scoz record --causal`, by their numbers. */
#ifndef SCOZ_RECORD_POINTS_BPF_H
#define SCOZ_RECORD_POINTS_BPF_H

#include "record/bpf/wakers.bpf.h"
#include "engine/bpf/kernel_points.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RECORD_MAX_POINTS);
	__type(key, u32);
	__type(value, struct record_point);
} record_points SEC(".maps");

__noinline int visit(u32 point)
{
	struct record_point *config = bpf_map_lookup_elem(&record_points, &point);
	struct task_struct *task = bpf_get_current_task_btf();
	struct cpu_state *s = this_cpu();
	char comm[16];
	u32 tid;

	if (!started || finished || !s || is_self(task))
		return 0;
	if (config && config->comm[0]) {
		bpf_get_current_comm(comm, sizeof(comm));
		if (!is_called(task, comm, config->comm))
			return 0;
	}
	/* What an interrupt does is nobody's progress, whomever it interrupted. */
	tid = in_task(s) ? task->pid : 0;
	trace_event(RECORD_TRACE_PROGRESS, 0, bpf_ktime_get_ns(), tid, point, task->tgid);
	return 0;
}

/* The cookie is the point's number. */
SEC("uprobe")
int on_point(struct pt_regs *ctx)
{
	return visit(bpf_get_attach_cookie(ctx));
}

#endif
