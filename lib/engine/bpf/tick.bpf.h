/* SPDX-License-Identifier: GPL-2.0-only */
/* The accounting tick: the per-core cpu-clock event. Hits are accounted at the sample itself. */
#ifndef SCOZ_TICK_BPF_H
#define SCOZ_TICK_BPF_H

#include "engine/bpf/busy_wait.bpf.h"
#include "engine/bpf/match.bpf.h"
#include "engine/bpf/module.bpf.h"
#include "engine/bpf/self_interrupt.bpf.h"
#include "engine/bpf/related.bpf.h"
#include "engine/bpf/spread.bpf.h"
#include "engine/bpf/stop.bpf.h"

#define ENOSPC 28

/* Of each core: whose records go to the same ring as its samples. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* cores */
	__type(key, u32);
	__type(value, u32);
} chain_events SEC(".maps");

/* With interrupts off, no longer than half a scheduler tick. */
static __always_inline s64 longest_tick_stop(const struct scoz_header *h, u64 now)
{
	return realtime_room(now, scoz_min(h->max_stop, tick_ns / 2));
}

struct minimum {
	struct scoz_global *global;
	s64 debt;
	u64 now;
};

static long min_debt(u32 cpu, void *arg)
{
	struct minimum *m = arg;
	struct scoz_core *c = page_core(cpu);
	struct scoz_core_use *use;
	u64 began;
	s64 debt;

	if (!c)
		return 1;
	if (!c->sampled || READ_ONCE(c->idle) || !READ_ONCE(c->last_tick))
		return 0;
	use = core_use(cpu);
	if (use && !scoz_use_counts(use))
		return 0;
	/* In this order: a stop that ends meanwhile counts twice rather than not at all. */
	began = READ_ONCE(c->stop_began);
	debt = READ_ONCE(m->global->delay) - READ_ONCE(c->absorbed);
	if (began && m->now > began)
		debt -= m->now - began;
	if (debt < m->debt)
		m->debt = debt;
	return m->debt <= 0;
}

/*
 * Common debt (docs/accounting.md section 6): what every running core owes is taken off G. A core
 * in the middle of a stop counts with what it has not served yet (its account moves only at the
 * end; it notices the smaller G by itself). Tasks in an external wait would lose the credit of
 * their own hits, so as long as there are any, nothing is waived. One core at a time: two that
 * found the same minimum would take it off twice; whoever finds the lock taken leaves it for the
 * next hit. It is given back by an exchange: additions whose result nobody uses are not ordered
 * before a plain store (arm64), and the next one would find the minimum still there.
 */
static __always_inline void waive_common_debt(struct scoz_header *h, struct scoz_global *g, u64 now)
{
	struct minimum m = { .global = g, .debt = 1LL << 62, .now = now };

	if (READ_ONCE(g->external_waiters) > 0 || __sync_lock_test_and_set(&g->waiving, 1))
		return;
	bpf_loop(h->cores, min_debt, &m, 0);
	if (m.debt > 0 && m.debt != 1LL << 62) {
		__sync_fetch_and_add(&g->delay, -m.debt);
		__sync_fetch_and_add(&g->waived, m.debt);
	}
	__sync_lock_test_and_set(&g->waiving, 0);
}

/* @d: what it inserts. */
__noinline int account_hit(s64 d, u64 now)
{
	struct scoz_header *h = page_header();
	struct scoz_global *g = page_global();
	s64 delay;
	u64 hit;

	if (!h || !g)
		return 0;
	delay = __sync_fetch_and_add(&g->delay, d) + d;
	hit = __sync_fetch_and_add(&g->hits, 1);
	if (measure_latency) {
		u32 key = hit % BPF_HIT_LOG;
		struct hit_record *r = bpf_map_lookup_elem(&hit_log, &key);

		if (r) {
			r->delay = delay;
			r->time = now;
			r->cpu = bpf_get_smp_processor_id();
		}
	}
	if (h->waive && !control)
		waive_common_debt(h, g, now);
	if (d > 0)
		hit_kicks(h, g);
	return 0;
}

__noinline int pay_in_tick(u64 now)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scoz_core *c = page_core(cpu);
	struct scoz_header *h = page_header();
	struct scoz_global *g = page_global();
	u64 begun = bpf_ktime_get_ns();

	if (c && h && g)
		pay(c, cpu, h, g, longest_tick_stop(h, now), begun);
	return 0;
}

static __always_inline void account_shared(u32 cpu, s64 d, u64 now)
{
	struct target_time *time = target_time(cpu);

	if (time)
		time->shared += d;
	account_hit(d, now);
}

/*
 * The sample goes to the handler's ring with the chain that was walked, where perf would follow
 * frame pointers: perf adds the kernel's part to it. false: it is to go there as perf has it.
 */
static __always_inline bool send_walked_chain(void *ctx, struct match *m, bool spins)
{
	u32 words = walked_user(m) & SCOZ_MAX_FRAMES;
	long r;

	if (!words)
		return false;
	m->walk.words = words | (spins ? SCOZ_WORDS_SPIN : 0);
	r = bpf_perf_event_output(ctx, &chain_events, BPF_F_CURRENT_CPU, &m->walk.words,
				  sizeof(m->walk.words) + words * sizeof(u64));
	return !r || r == -ENOSPC; /* the ring is full, and counts what it loses */
}

/* A thread of the kernel has hit the target: so much sooner it has done what others wait for. */
static __always_inline void credit_server(const struct task_struct *task, s64 d, u64 now)
{
	u64 key = (u64)task;
	struct device_state *device = bpf_map_lookup_elem(&devices, &key);
	struct scoz_global *g = page_global();

	if (!device || !g)
		return;
	if (now > device->target_until)
		scoz_device_follow(&device->device, READ_ONCE(g->delay));
	scoz_device_hit(&device->device, d);
	device->target_until = now + DEVICE_FORGOTTEN;
}

/*
 * @weight: what a sample that has hit stands for, else 0. That it may have, above what is known, is
 * looked at last: before, the verifier would follow all that comes twice.
 */
static __always_inline void tick_spreads(struct scoz_core *c, const struct scoz_header *h,
					 struct scoz_global *g, const struct task_struct *task,
					 struct task_state *t, struct target_time *time, u64 weight,
					 const struct match *m, u64 now)
{
	struct bpf_target *target = current_target();
	bool sampled;

	if (!target)
		return;
	if (time->spins)
		scoz_spread_spins(&t->spread, now);
	sampled = is_sampled(target, t, now);
	if (!weight) {
		release(c, t, false, now);
	} else {
		if (sampled)
			scoz_spread_hit(&t->spread, weight, target->number);
		c->hits++;
		account_hit(release_spread(c, t, false, now), now);
	}
	if (sampled)
		return;
	if (target->seen != BPF_SEEN_FUNCTION)
		scoz_spread_is_inside(&t->spread, weight > 0, now);
	else if ((!weight && match_is_cut(m)) || scoz_spread_agrees(&t->spread, weight > 0))
		time->agreed++; /* or does not know better */
	else
		time->differed++;
}

/*
 * For so long @t has run, and slept again and again, without having woken another task, been woken
 * by one, or reached a progress point: it goes its own way. Not if it spins: it may wait for others
 * so, or they for it. Who only runs may be at work for whoever waits for his end (a compiler), so
 * he must long have had nothing to do with points either.
 */
#define ALONE_NS   500000000ULL
#define ALONE_NAPS 10
static __always_inline bool is_alone(const struct task_state *t, u64 now)
{
	return t && now >= t->spread.spun_until &&
	       ((t->naps >= ALONE_NAPS && t->account.ran - t->coupled > ALONE_NS) ||
		is_unrelated(t, now));
}

/*
 * In a control run each core owes what it has just run for, and so does every other one: nothing is
 * faster, all is slower.
 */
static __always_inline s64 control_hit(struct scoz_core *c, u64 weight, u32 speedup)
{
	s64 d = scoz_hit(c, weight, speedup);

	scoz_core_set(c, c->absorbed - d);
	return d;
}

/* 1: the sample goes on to the handler's ring. */
SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scoz_core *c = page_core(cpu);
	struct scoz_header *h = page_header();
	struct scoz_global *g = page_global();
	struct task_struct *task;
	struct scoz_core_use *use = core_use(cpu);
	struct target_time *time = target_time(cpu);
	struct task_state *t;
	struct match *m = match_begin(MATCH_TICK);
	u64 now, weight;
	bool involved, stranger, matched, hit, server, polling = false;
	s64 d, wait, before, spun;

	if (!c || !h || !g || !use || !m || !time)
		return 0;
	if (c->stopping) { /* the weight goes to the next tick */
		c->ticks_in_stop++;
		return 0;
	}
	task = bpf_get_current_task_btf();
	if (!task->pid)
		return 0;
	now = bpf_ktime_get_ns();
	weight = scoz_tick(c, now, SCOZ_MAX_WEIGHT);
	if (spread_hits)
		weight = scoz_clock_tick(&time->clock, c, weight, h->period, now);
	if (task->tgid == self_tgid)
		return 0;
	t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (t)
		join_process(task, t);
	involved = t && is_involved(t, now);
	if (t)
		count_run(c, time, t, now, involved);
	scoz_look(c, READ_ONCE(g->delay), READ_ONCE(g->waived));
	scoz_tick_cost(c, weight, h->tick_cost, h->period);
	before = c->absorbed;
	if (involved)
		polling = note_busy_wait(c, cpu, weight, m, (const struct sample_registers *)ctx, h,
					 g, now);
	spun = c->absorbed - before;
	/* Matched in 0 % windows too: base and treated windows must cost the same. */
	server = is_server(task);
	matched = weight && !c->spinning &&
		  (control ? involved && !server : matches_by(ctx, m, task));
	hit = matched && hits_count(task, t, now);
	if (matched && !hit)
		count_others_hit();
	hit = hit && !polling; /* it waits for other tasks */
	stranger = is_stranger(t, now);
	if (hit && involved && !control) {
		time->ran += weight;
		if (is_alone(t, now))
			time->alone += weight;
	}
	if (t && !stranger && !server && !control) {
		scoz_use_tick(use, &t->use, weight, hit, h->speedup);
		scoz_use_spun(&t->use, weight, spun);
	}
	if (stranger && is_realtime(task))
		time->urgent += weight;
	wait = stranger && !hit && !control ? scoz_use_inserts(use, weight, h->speedup) : 0;
	if (control && t)
		release(c, t, false, now);
	if (!control && is_spread(task, t, now)) {
		tick_spreads(c, h, g, task, t, time, hit ? weight : 0, m, now);
	} else if (hit || wait) {
		if (!had_lease(h, now - weight))
			c->clipped += h->speedup > 0; /* this window says too little */
		else if (hit) {
			d = control ? control_hit(c, weight, h->speedup)
				    : scoz_hit(c, weight, h->speedup);
			if (server)
				credit_server(task, d, now);
			account_hit(d, now);
		} else
			account_shared(cpu, scoz_use_insert(use, c, wait), now);
	}
	if (stranger && !server)
		scoz_core_follow(c, READ_ONCE(g->delay));
	else if (!server && !is_realtime(task) && scoz_debt(READ_ONCE(g->delay), c) > 0)
		pay_in_tick(now);
	if (kicks == KICK_BY_INTERRUPT && time->kick)
		interrupt_self(ctx);
	return involved && bpf_get_prandom_u32() <= record_share &&
	       !send_walked_chain(ctx, m, time->spins);
}

#endif
