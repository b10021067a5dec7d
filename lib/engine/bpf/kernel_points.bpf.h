/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Progress points in the kernel: system calls and tracepoints. Whoever includes this says in
 * visit() what one is worth; engine/bpf/kernel_points.h attaches the programs.
 */
#ifndef SCOZ_KERNEL_POINTS_BPF_H
#define SCOZ_KERNEL_POINTS_BPF_H

#include "engine/bpf/kernel_types.bpf.h"
#include "engine/bpf/kernel_points_shared.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* @point was reached by whoever runs. Returns 0. */
__noinline int visit(u32 point);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POINTS_MOST_SYSCALLS);
	__type(key, u32); /* system call number */
	__type(value, struct syscall_points);
} syscall_points SEC(".maps");

static __always_inline bool same_comm(const char *a, const char *b)
{
	for (int i = 0; i < 16; i++) {
		if (a[i] != b[i])
			return false;
		if (!a[i])
			break;
	}
	return true;
}

/* By its own name @own, or that of its process: threads are often given names of their own. */
static __always_inline bool is_called(struct task_struct *task, const char *own, const char *comm)
{
	char leader[16] = {};

	if (same_comm(own, comm))
		return true;
	BPF_CORE_READ_STR_INTO(&leader, task, group_leader, comm);
	return same_comm(leader, comm);
}

/*
 * A signal has interrupted it, and it is called again once that is handled, or fails. What goes on
 * as another call (-ERESTART_RESTARTBLOCK, of sleeps) is over here.
 */
static __always_inline bool restarts(long result)
{
	return result == -512 || result == -513 || result == -514; /* as <linux/errno.h> has them */
}

SEC("raw_tp/sys_exit")
int on_syscall(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	u32 number = syscall_number(regs);
	struct syscall_points *p = bpf_map_lookup_elem(&syscall_points, &number);

	if (!p || !syscall_is_native(bpf_get_current_task_btf(), regs) || restarts(ctx->args[1]) ||
	    (p->forks && !ctx->args[1]))
		return 0;
	for (u32 i = 0; i < POINTS_PER_SYSCALL; i++) {
		if (i >= p->n)
			break;
		visit(p->point[i]);
	}
	return 0;
}

/* A raw tracepoint carries no cookie on older kernels: one program for each. */
volatile __u32 tracepoint_point[POINTS_TRACEPOINTS] = {
	~0U,
};

#define TRACEPOINT_PROGRAM(n) \
	SEC("raw_tp") \
	int on_tracepoint_##n(void *ctx) \
	{ \
		return visit(tracepoint_point[n]); \
	}

TRACEPOINT_PROGRAM(0)
TRACEPOINT_PROGRAM(1)
TRACEPOINT_PROGRAM(2)
TRACEPOINT_PROGRAM(3)
TRACEPOINT_PROGRAM(4)
TRACEPOINT_PROGRAM(5)
TRACEPOINT_PROGRAM(6)
TRACEPOINT_PROGRAM(7)

#endif
