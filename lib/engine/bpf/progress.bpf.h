/* SPDX-License-Identifier: GPL-2.0-only */
/* Counting progress: uprobes, USDT probes, tracepoints and system calls. */
#ifndef SCOZ_PROGRESS_BPF_H
#define SCOZ_PROGRESS_BPF_H

#include "engine/bpf/related.bpf.h"
#include "engine/bpf/spread.bpf.h"
#include "engine/bpf/kernel_points.bpf.h"

/* Names of those who come to a point that counts others, for people who wonder why it does not. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_MAX_OTHERS);
	__type(key, struct other_task);
	__type(value, u8);
} other_tasks SEC(".maps");

/* Effective users, of points that count by these (engine_count_user()). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_MAX_USERS);
	__type(key, u32);
	__type(value, u8);
} point_users SEC(".maps");

static __always_inline bool user_counts(struct task_struct *task)
{
	u32 uid = BPF_CORE_READ(task, cred, euid.val);

	return bpf_map_lookup_elem(&point_users, &uid);
}

static __always_inline void span_add(u32 slot, u32 bin, u64 n)
{
	u32 key = slot * SPAN_SLOT + bin;
	u64 *count = bpf_map_lookup_elem(&span_bins, &key);

	if (count)
		__sync_fetch_and_add(count, n);
}

/* A begin that has no end of its own, or is to count as none. */
static __always_inline void span_again(u32 slot, u64 now)
{
	span_add(slot, SPAN_AGAIN_NS, now);
	span_add(slot, SPAN_AGAIN, 1);
}

static __always_inline void span_unbegun(u32 slot, u64 now, bool plain)
{
	span_add(slot, SPAN_UNBEGUN_NS, now);
	span_add(slot, SPAN_UNBEGUN, 1);
	if (plain)
		span_add(slot, SPAN_ELSEWHERE, 1);
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

	if (!h)
		return;
	begin.plain = !READ_ONCE(h->speedup);
	begun = bpf_map_lookup_elem(&span_begins, &key);
	if (config->role == SPAN_ROLE_BEGIN) {
		if (begun) { /* for who counts, the older one goes on as this one */
			span_again(config->slot, now);
			bpf_map_update_elem(&span_begins, &key, &begin, BPF_ANY);
		} else if (!bpf_map_update_elem(&span_begins, &key, &begin, BPF_ANY)) {
			span_add(config->slot, SPAN_UNDERWAY, 1);
		}
	} else if (begun) {
		if (begun->plain)
			span_add(config->slot, span_bin(now > begun->time ? now - begun->time : 0),
				 1);
		span_add(config->slot, SPAN_UNDERWAY, -1);
		bpf_map_delete_elem(&span_begins, &key);
	} else {
		span_unbegun(config->slot, now, begin.plain);
	}
}

/* An end that comes in an interrupt: it has no other end in its thread. */
static __always_inline void span_of_nobody(const struct progress_config *config, u64 now)
{
	struct scoz_header *h = page_header();

	if (config->role == SPAN_ROLE_BEGIN)
		span_again(config->slot, now);
	else
		span_unbegun(config->slot, now, h && !READ_ONCE(h->speedup));
}

volatile __u32 span_slots; /* of latencies that are in use: below that */

/* Whoever ends between begin and end does not get there: it was never there, from now on. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_exit, struct task_struct *p)
{
	struct span_key key = { .tid = p->pid };
	struct scoz_global *g = page_global();
	struct span_begin *begun;

	if (!g)
		return 0;
	for (u32 slot = 0; slot < SCOZ_MAX_POINTS; slot++) {
		if (slot >= span_slots)
			break;
		key.slot = slot;
		begun = bpf_map_lookup_elem(&span_begins, &key);
		if (!begun)
			continue;
		span_again(slot, bpf_ktime_get_ns() - READ_ONCE(g->delay));
		span_add(slot, SPAN_UNDERWAY, -1);
		bpf_map_delete_elem(&span_begins, &key);
	}
	return 0;
}

static __always_inline bool comm_matches(const struct progress_config *config, u32 point)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct other_task other = { .point = point };
	u8 yes = 1;

	if (!config->comm[0])
		return true;
	bpf_get_current_comm(other.comm, sizeof(other.comm));
	if (is_called(task, other.comm, config->comm))
		return true;
	if (!bpf_map_lookup_elem(&other_tasks, &other))
		bpf_map_update_elem(&other_tasks, &other, &yes, BPF_NOEXIST);
	return false;
}

/* The profiler, or who works for it: of its image until it executes another. */
static __always_inline bool is_own(struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	return is_self(task) || (mm && self_stack && mm->start_stack == self_stack &&
				 mm->start_code == self_code && mm->end_code == self_code_end);
}

static __always_inline bool in_a_task(void)
{
	struct irq_state *s = irq_state();

	return s && current_context(s) == CONTEXT_TASK;
}

/*
 * With interrupts on, and of uprobes on kernels that preempt even preemption: accounts are only
 * read. What a tick that comes in between changes is in one of the two parts, or for once in both.
 * What an interrupt does (a request is done, a packet has come) is nobody's, whomever it
 * interrupted: it makes no stranger one of the profiled, and has no name.
 */
__noinline int visit(u32 point)
{
	struct progress_config *config = bpf_map_lookup_elem(&progress_configs, &point);
	u32 cpu = bpf_get_smp_processor_id();
	bool somebodys = in_a_task();
	struct scoz_core *c = page_core(cpu);
	struct scoz_global *g = page_global();
	struct task_struct *task = bpf_get_current_task_btf();
	struct scoz_count *p;
	struct task_state *t;
	u64 now = bpf_ktime_get_ns(), virtual;
	u32 key = cpu * SCOZ_MAX_POINTS + point;

	if (!config || !c || !g || (somebodys && is_own(task)))
		return 0;
	if (somebodys ? !comm_matches(config, point) : config->comm[0])
		return 0;
	p = bpf_map_lookup_elem(&progress, &key);
	if (!p)
		return 0;
	t = somebodys ? bpf_task_storage_get(&tasks, task, 0, 0) : NULL;
	if (config->by_user && !(t && t->involved_until == INVOLVED_FOREVER) && !user_counts(task))
		return 0;
	if (!somebodys)
		virtual = now - READ_ONCE(g->delay);
	else
		virtual = now - task_account_now(c, g, task, t, now, false) -
			  unreleased(c, task, t, now);
	__sync_fetch_and_add(&p->visits, 1);
	/*
	 * Whoever begins a request may owe, and pay by waiting for its end: he is further in
	 * virtual time than others, and so is the request.
	 */
	__sync_fetch_and_add(&p->sum_time, config->role ? virtual : now);
	WRITE_ONCE(p->last_virtual, virtual);
	WRITE_ONCE(p->last_time, now);
	if (config->role && somebodys)
		span(config, virtual);
	else if (config->role)
		span_of_nobody(config, virtual);
	if (t) {
		process_visits(task, t);
		scoz_sink_counts(&t->sink);
		t->looks = 0;
		couple(t);
		related_visits(t, now);
	}
	return 0;
}

SEC("uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	return visit(bpf_get_attach_cookie(ctx));
}

#endif
