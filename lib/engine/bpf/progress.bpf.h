/* SPDX-License-Identifier: GPL-2.0-only */
/* Counting progress: uprobes, USDT probes, tracepoints and system calls. */
#ifndef SCOZ_PROGRESS_BPF_H
#define SCOZ_PROGRESS_BPF_H

#include "engine/bpf/spread.bpf.h"

/* Names of those who come to a point that counts others, for people who wonder why it does not. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_MAX_OTHERS);
	__type(key, struct other_task);
	__type(value, u8);
} other_tasks SEC(".maps");

static __always_inline bool same_comm(const char *comm, const struct progress_config *config)
{
	for (int i = 0; i < 16; i++) {
		if (comm[i] != config->comm[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

/*
 * A latency of which both ends run in one thread, in virtual time. It belongs to the program as it
 * is if no speedup was in force when it began: to ask for that at its end, too, would leave out the
 * long ones.
 */
static __always_inline void span(const struct progress_config *config, u64 now)
{
	struct span_key key = { .tid = bpf_get_current_pid_tgid(), .slot = config->slot };
	struct scoz_header *h = page_header();
	struct span_begin begin = { .time = now }, *begun;
	u32 bin = config->slot * SPAN_SLOT;
	u64 *count;

	if (!h)
		return;
	begin.plain = !READ_ONCE(h->speedup);
	if (config->role == SPAN_ROLE_BEGIN) {
		bpf_map_update_elem(&span_begins, &key, &begin, BPF_ANY);
		return;
	}
	begun = bpf_map_lookup_elem(&span_begins, &key);
	if (begun ? begun->plain : begin.plain) {
		bin += begun ? span_bin(now > begun->time ? now - begun->time : 0) : SPAN_ELSEWHERE;
		count = bpf_map_lookup_elem(&span_bins, &bin);
		if (count)
			__sync_fetch_and_add(count, 1);
	}
	if (begun)
		bpf_map_delete_elem(&span_begins, &key);
}

/* The thread's own name, or that of its process: threads are often given names of their own. */
static __always_inline bool comm_matches(const struct progress_config *config, u32 point)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct other_task other = { .point = point };
	char leader[16] = {};
	u8 yes = 1;

	if (!config->comm[0])
		return true;
	bpf_get_current_comm(other.comm, sizeof(other.comm));
	if (same_comm(other.comm, config))
		return true;
	BPF_CORE_READ_STR_INTO(&leader, task, group_leader, comm);
	if (same_comm(leader, config))
		return true;
	if (!bpf_map_lookup_elem(&other_tasks, &other))
		bpf_map_update_elem(&other_tasks, &other, &yes, BPF_NOEXIST);
	return false;
}

static __always_inline int visit(u32 point)
{
	struct progress_config *config = bpf_map_lookup_elem(&progress_configs, &point);
	u32 cpu = bpf_get_smp_processor_id();
	struct scoz_core *c = page_core(cpu);
	struct scoz_global *g = page_global();
	struct task_struct *task = bpf_get_current_task_btf();
	struct scoz_count *p;
	struct task_state *t;
	u64 now = bpf_ktime_get_ns(), virtual;
	u32 key = cpu * SCOZ_MAX_POINTS + point;

	if (!config || !c || !g || !comm_matches(config, point))
		return 0;
	p = bpf_map_lookup_elem(&progress, &key);
	if (!p)
		return 0;
	__sync_fetch_and_add(&p->visits, 1);
	__sync_fetch_and_add(&p->sum_time, now);
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!c->stopping)
		release(c, g, task, t, false, now);
	virtual = now - task_account_now(c, g, task, t, now, false);
	WRITE_ONCE(p->last_virtual, virtual);
	WRITE_ONCE(p->last_time, now);
	if (config->role)
		span(config, virtual);
	if (t) {
		t->involved_until = INVOLVED_FOREVER;
		scoz_sink_counts(&t->sink);
	}
	return 0;
}

SEC("uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	return visit(bpf_get_attach_cookie(ctx));
}

SEC("raw_tp/sys_exit")
int on_syscall(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	u32 number = syscall_number(regs);
	struct syscall_points *p = bpf_map_lookup_elem(&syscall_points, &number);

	if (!p)
		return 0;
	for (u32 i = 0; i < BPF_POINTS_PER_SYSCALL; i++) {
		if (i >= p->n)
			break;
		visit(p->point[i]);
	}
	return 0;
}

/* A raw tracepoint carries no cookie on older kernels: one program for each. */
volatile __u32 tracepoint_point[BPF_TRACEPOINTS] = {
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
