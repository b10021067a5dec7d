/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose the running task is, where the target is what some tasks do: by name, cgroup, rank. */
#ifndef SCOZ_WHOSE_BPF_H
#define SCOZ_WHOSE_BPF_H

#include "engine/bpf/page.bpf.h"
#include <bpf/bpf_core_read.h>

static __always_inline bool has_name(const struct bpf_tasks *t)
{
	struct task_struct *task = bpf_get_current_task_btf(), *leader = task->group_leader;
	u64 own[2], leaders[2], wanted[2];

	__builtin_memcpy(wanted, t->comm, sizeof(wanted));
	if (bpf_probe_read_kernel(own, sizeof(own), task->comm) ||
	    bpf_probe_read_kernel(leaders, sizeof(leaders), leader->comm))
		return false;
	return (own[0] == wanted[0] && own[1] == wanted[1]) ||
	       (leaders[0] == wanted[0] && leaders[1] == wanted[1]);
}

#define CGROUP_DEPTH 32

static __always_inline bool is_in_cgroup(u64 id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup_subsys_state *css;
	struct cgroup *group;

	if (!bpf_core_field_exists(task->cgroups))
		return false;
	group = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	for (int i = 0; i < CGROUP_DEPTH && group; i++) {
		if (BPF_CORE_READ(group, kn, id) == id)
			return true;
		css = BPF_CORE_READ(group, self.parent);
		group = css ? (void *)css - bpf_core_field_offset(struct cgroup, self) : NULL;
	}
	return false;
}

/* By process: which rank of a parallel job it is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, u32);
} ranks SEC(".maps");

__noinline bool is_of(struct bpf_tasks *t)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32, *rank;

	if (!t)
		return false;
	switch (t->whose) {
	case BPF_COMM:
		return has_name(t);
	case BPF_CGROUP:
		return is_in_cgroup(t->number);
	case BPF_RANK:
		rank = bpf_map_lookup_elem(&ranks, &pid);
		return rank && *rank == t->number;
	}
	return false;
}

__noinline bool is_one_of(struct bpf_target *t)
{
	if (!t)
		return false;
	if (!t->n_tasks)
		return true;
#pragma clang loop unroll(full)
	for (int i = 0; i < SCOZ_MAX_PARTS; i++) {
		if ((u32)i < t->n_tasks && is_of(&t->tasks[i]))
			return true;
	}
	return false;
}

/* Is the target, or part of it, the system call of this number? Most are not. */
static __always_inline bool is_target_call(const struct bpf_target *t, u32 number)
{
	if (t->call[0] == number)
		return true;
	if (t->n_calls < 2)
		return false;
#pragma clang loop unroll(full)
	for (int i = 1; i < SCOZ_MAX_PARTS; i++) {
		if (t->call[i] == number)
			return true;
	}
	return false;
}

#endif
