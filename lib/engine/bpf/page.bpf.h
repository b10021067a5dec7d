/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps, settings, and the way to the delay page. */
#ifndef SCOZ_PAGE_BPF_H
#define SCOZ_PAGE_BPF_H

#include "engine/bpf/kernel_types.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "account/deadline.h"
#include "account/share.h"
#include "account/sink.h"
#include "account/wait.h"
#include "engine/bpf/shared.h"

const volatile __u32 model;
const volatile __s32 self_tgid = -1;
/* Of the profiler's image, which processes have that it has forked; 0: they are no part of it. */
const volatile __u64 self_code, self_code_end, self_stack;
const volatile __u32 all_involved;     /* 1: no process is set apart (see sched.bpf.h) */
const volatile __u32 filter_sinks = 1; /* account/sink.h */
const volatile __u32 members_known;    /* 1: hits of tasks that are not involved do not count */
const volatile __u32 spare_strangers;  /* 1: account/share.h */
const volatile __u32 spread_hits;      /* 1: account/spread.h */
const volatile __u64 timerfd_function; /* kernel addresses, 0 when unknown */
const volatile __u64 posix_timer_function;
const volatile __u64 itimer_function;
const volatile __u64 sleep_function;
const volatile __u32 clock_nanosleep_number;
const volatile __u64 tick_ns = 1000000; /* of the scheduler (1 / CONFIG_HZ) */

/* Share of ticks whose sample goes on to the handler, of 2^32. Changed by the loader. */
volatile __u32 record_share = 0xffffffff;
/* 1: all that profiled tasks run is a hit that saves nobody anything. Changed by the loader. */
volatile __u32 control;
/* Hit-to-paid latencies are measured (benchmarks). */
const volatile __u32 measure_latency;

struct slot {
	char bytes[SCOZ_SLOT_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 3); /* resized by the loader */
	__type(key, u32);
	__type(value, struct slot);
} delay_page SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct bpf_target);
} target_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCOZ_MAX_RANGES);
	__type(key, u32);
	__type(value, struct scoz_range);
} ranges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct space_key);
	__type(value, struct space);
} spaces SEC(".maps");

/* A task's account and what else must be known about it. */
struct task_state {
	struct scoz_task account;
	struct scoz_task_use use;
	struct scoz_spread spread;
	struct scoz_sink sink;
	u64 involved_until; /* ~0: for good */
	u32 blocked;
	u32 external; /* its last wait ended by a device or timer */
	u32 counted;  /* in external_waiters */
	u32 visits;   /* it has come to a progress point; of the first thread: one of its process */
	u64 joined;   /* as many of those there were when it was last asked for its process */
	/* Its last wait, if a device, a timer or the kernel has ended it: */
	u64 waited;	  /* ns; 0: another task */
	s64 wait_limit;	  /* what it can have absorbed by it */
	u64 wait_served;  /* ns of the device that has ended it */
	u64 wait_device;  /* its key, 0: none */
	s64 wait_booked;  /* scoz_device.booked then */
	u32 wait_classes; /* BPF_CLASS_* */
	/*
	 * A kernel thread: the task of a program, by its pid, that set it to work, if none of its
	 * waits since was ended by a device or a timer. 0: none.
	 */
	u32 works_for;
	u64 serves_until; /* a kernel thread at work for involved tasks */
	u32 through_io;	  /* a kernel thread: which block devices (BPF_CLASS_*) it has waited for
			     since it was set to work */
	u32 looks;	  /* since a timer woke it, it has woken nobody, and reached no point */
	u64 woken_at;	  /* the last time that it was woken */
	u64 ran_then;	  /* account.ran when a timer woke it last */
	/* The time until which it sleeps, or last did; its account, and account.ran, when it first
	 * fell asleep until then, and when that was. */
	s64 deadline, deadline_account;
	u64 deadline_ran, deadline_at;
	u32 again; /* it sleeps until then for the second time or more */
	struct scoz_deadlines deadlines;
	/* Since another task last woke it, or noticed what it did: */
	u32 naps;    /* sleeps until some time, */
	u64 coupled; /* and its account.ran then */
	/* related.bpf.h: the last visit of a point that it has had to do with, and until when it
	 * may be awaited by its end. */
	u64 related, awaited;
};

/* Another task wakes @t, or notices what it does: they have to do with each other. */
static __always_inline void couple(struct task_state *t)
{
	t->naps = 0;
	t->coupled = t->account.ran;
}

/* Hits of the target by tasks that do not count. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} others_hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* cores */
	__type(key, u32);
	__type(value, struct scoz_core_use);
} core_uses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* cores */
	__type(key, u32);
	__type(value, struct target_time);
} target_times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCOZ_MAX_POINTS); /* times cores */
	__type(key, u32);
	__type(value, struct scoz_count);
} progress SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCOZ_MAX_POINTS);
	__type(key, u32);
	__type(value, struct progress_config);
} progress_configs SEC(".maps");

/* Begins that wait for their ends. Least recently used: of threads that have ended, say. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct span_key);
	__type(value, struct span_begin);
} span_begins SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCOZ_MAX_POINTS *SPAN_SLOT);
	__type(key, u32);
	__type(value, u64);
} span_bins SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_HIT_LOG);
	__type(key, u32);
	__type(value, struct hit_record);
} hit_log SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* cores */
	__type(key, u32);
	__type(value, struct scoz_latency);
} latencies SEC(".maps");

static __always_inline struct target_time *target_time(u32 cpu)
{
	return bpf_map_lookup_elem(&target_times, &cpu);
}

static __always_inline struct scoz_header *page_header(void)
{
	u32 key = SCOZ_SLOT_HEAD;

	return bpf_map_lookup_elem(&delay_page, &key);
}

static __always_inline struct scoz_global *page_global(void)
{
	u32 key = SCOZ_SLOT_GLOB;

	return bpf_map_lookup_elem(&delay_page, &key);
}

static __always_inline struct scoz_core *page_core(u32 cpu)
{
	u32 key = SCOZ_SLOT_CORE0 + cpu;

	return bpf_map_lookup_elem(&delay_page, &key);
}

static __always_inline struct scoz_core_use *core_use(u32 cpu)
{
	return bpf_map_lookup_elem(&core_uses, &cpu);
}

static __always_inline struct bpf_target *current_target(void)
{
	u32 key = 0;

	return bpf_map_lookup_elem(&target_map, &key);
}

/* Waits of the target are hits. */
static __always_inline bool waits_are_hits(void)
{
	struct bpf_target *target = current_target();

	return model == SCOZ_MODEL_WAIT && target && target->waits;
}

/* A thread of the kernel, accounted as a device (account/wait.h). */
static __always_inline bool is_server(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD && task->pid && waits_are_hits();
}

/*
 * The account of whoever runs on @c now. The profiler itself, and cores that are not profiled, owe
 * nothing; an idle core (an interrupt, or the profiler running there) has absorbed while idling.
 */
static __always_inline s64 account_now(const struct scoz_core *c, const struct scoz_global *g,
				       u64 now, bool self)
{
	s64 delay = READ_ONCE(g->delay);

	if (self || !c->sampled)
		return delay;
	if (c->idle)
		return scoz_min(delay, c->absorbed + (s64)(now - c->idle_since));
	return c->absorbed;
}

/* The same of @task, whose state is @t, if it runs there and is no interrupt. */
static __always_inline s64 task_account_now(const struct scoz_core *c, const struct scoz_global *g,
					    const struct task_struct *task,
					    const struct task_state *t, u64 now, bool self)
{
	if (t && is_server(task))
		return scoz_min(t->account.absorbed, READ_ONCE(g->delay));
	return account_now(c, g, now, self);
}

/*
 * Whoever changes a core's account with interrupts on holds it meanwhile: ticks and other
 * interrupts leave it alone. Not where it may be preempted: uprobes only read accounts.
 */
static __always_inline void account_hold(struct scoz_core *c)
{
	WRITE_ONCE(c->stopping, 1);
	barrier();
}

static __always_inline void account_let_go(struct scoz_core *c)
{
	barrier();
	WRITE_ONCE(c->stopping, 0);
}

#define INVOLVED_FOREVER (~0ULL)
#define INVOLVED_FOR	 100000000ULL

static __always_inline bool is_involved(const struct task_state *t, u64 now)
{
	return all_involved || t->involved_until > now;
}

__u64 visiting_processes;

/* @t, of @task, reaches a progress point: so its process has to do with what is profiled. */
static __always_inline void process_visits(struct task_struct *task, struct task_state *t)
{
	struct task_state *first;

	t->involved_until = INVOLVED_FOREVER;
	if (t->visits) /* and its process knows */
		return;
	first = bpf_task_storage_get(&tasks, task->group_leader, 0, 0);
	if (!first)
		return;
	t->visits = 1;
	if (t != first && first->visits)
		return;
	first->visits = 1;
	__sync_fetch_and_add(&visiting_processes, 1);
}

/* Has another thread of its process reached one since it was last asked for? */
static __always_inline void join_process(struct task_struct *task, struct task_state *t)
{
	u64 visiting = READ_ONCE(visiting_processes);
	struct task_state *first;

	if (t->joined == visiting)
		return;
	t->joined = visiting;
	first = bpf_task_storage_get(&tasks, task->group_leader, 0, 0);
	if (first && first->visits)
		t->involved_until = INVOLVED_FOREVER;
}

static __always_inline bool is_sink(const struct task_state *t)
{
	return filter_sinks && scoz_sink_is(&t->sink);
}

/*
 * Where it is known who is profiled, whoever else runs the target's code stops nobody: only
 * involved tasks do, and kernel threads at work for them.
 */
static __always_inline bool hits_count(const struct task_struct *task, const struct task_state *t,
				       u64 now)
{
	if (!members_known)
		return true;
	return t && (is_involved(t, now) || (task->flags & PF_KTHREAD && t->serves_until > now));
}

static __always_inline void count_others_hit(void)
{
	u32 key = 0;
	u64 *n = bpf_map_lookup_elem(&others_hits, &key);

	if (n)
		++*n;
}

/*
 * What has run since @since counts if there was leave to stop others as it began: a host that takes
 * this core away, or all of them, keeps the lease from being renewed, and a sample stands for all
 * of that time, too. Nobody is stopped before it is renewed.
 */
static __always_inline bool had_lease(const struct scoz_header *h, u64 since)
{
	return since < READ_ONCE(h->lease_until);
}

/* Has no part in what is profiled: the rules of account/share.h. */
static __always_inline bool is_stranger(const struct task_state *t, u64 now)
{
	return spare_strangers && (!t || !is_involved(t, now));
}

/* A profiled task, awake and not running, waits for a core. */
static __always_inline void begin_queueing(struct task_state *t, s64 delay, u64 now)
{
	struct scoz_core_use *u;

	if (!spare_strangers || t->use.wants || !is_involved(t, now))
		return;
	u = core_use(t->use.cpu);
	if (u)
		__sync_fetch_and_add(&u->wanted, scoz_use_queue(u, &t->use, delay));
}

/* @t, of task @pid, is about to run on @cpu (@u). */
static __always_inline void end_queueing(struct scoz_core_use *u, struct task_state *t, u32 pid,
					 u32 cpu, s64 delay, u64 now)
{
	struct scoz_core_use *last = core_use(t->use.cpu);
	s64 wanted;

	if (t->use.wants && now > t->account.since && last)
		t->account.since +=
			scoz_use_kept(u, last, &t->use, pid, now - t->account.since, delay, now);
	wanted = scoz_use_run(&t->use, cpu);
	if (wanted && last) {
		__sync_fetch_and_add(&last->wanted, -wanted);
		scoz_use_given_back(last, pid);
	}
}

#endif
