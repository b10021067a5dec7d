/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stopping a core: a bounded spin in the kernel with preemption off. It ends when the debt is
 * paid (G may grow meanwhile), at the longest allowed stop, when the share of stopped time is
 * used up, when a real-time task wants the core, or when the lease has run out because the
 * profiler died; what is left is paid later.
 */
#ifndef SCOZ_STOP_BPF_H
#define SCOZ_STOP_BPF_H

#include "engine/bpf/realtime.bpf.h"

#define SPIN_LIMIT (1 << 20)

/*
 * Longest lump of stops beyond the share: stopped <= share * t + (1 - share) * burst, so that the
 * lump adds at most 1 ms to any 100 ms.
 */
#define SHARE_BURST(share) (100000000LL / (u64)(100 - (share)))

struct spin {
	const struct scoz_header *header;
	const struct scoz_global *global;
	const struct scoz_core *core;
	struct scoz_core_use *use;
	u64 start, now;
	s64 allowed; /* by length and share */
	u64 crowded; /* see account.h, "alone" */
};

/*
 * Does anybody but @task want its core? Strangers do not count where they are known. Not known on
 * every kernel: then nobody does.
 */
static __always_inline bool others_want_core(const struct spin *s)
{
	struct rq *rq;

	if (spare_strangers)
		return s->use->wanted > 0;
	rq = run_queue();
	if (!rq)
		return false;
	/* nr_running counts sleepers that the fair class has not dequeued yet. */
	if (bpf_core_field_exists(rq->cfs.h_nr_runnable))
		return rq->cfs.h_nr_runnable > 1;
	return rq->nr_running > 1;
}

static long spin_once(u32 index, void *arg)
{
	struct spin *s = arg;
	u64 before = s->now;
	s64 passed;

	s->now = bpf_ktime_get_ns();
	passed = s->now - s->start;
	if (s->core->alone && passed > scoz_common_debt(READ_ONCE(s->global->delay), s->core) &&
	    others_want_core(s))
		s->crowded += s->now - before;
	if (passed >= s->allowed || !had_lease(s->header, s->now))
		return 1;
	if (realtime_wants_core()) {
		scoz_use_stood(s->use);
		s->allowed = passed;
		return 1;
	}
	return passed >= scoz_debt(READ_ONCE(s->global->delay), s->core);
}

/* A stop that is about to begin, or has ended: for the latency figures only. */
struct stop {
	u64 start;
	s64 absorbed; /* at its start */
	u64 last_end; /* of the stop before */
	bool ended;
};

static __always_inline void count_latency(u32 *bins, s64 latency)
{
	u64 bin = latency > 0 ? (u64)latency / SCOZ_LATENCY_BIN : 0;

	if (bin >= SCOZ_LATENCY_BINS)
		bin = SCOZ_LATENCY_BINS - 1;
	bins[bin]++;
}

/*
 * Hits are logged with the G they led to; a core has paid a hit when its account reaches that.
 * "Begun" is how long the core went on running after the oldest unpaid hit until it stopped,
 * "paid" the time from the hit until it was paid. The core's own hits, and those it was excused
 * from (paid_hit moved on at switch-in), do not count.
 */
static __always_inline void note_latency(struct scoz_core *c, u32 cpu, u64 hits,
					 const struct stop *stop)
{
	struct scoz_latency *h = bpf_map_lookup_elem(&latencies, &cpu);

	if (!h)
		return;
	for (int i = 0; i < 32 && c->paid_hit < hits; i++) {
		u32 key = c->paid_hit % BPF_HIT_LOG;
		struct hit_record *r = bpf_map_lookup_elem(&hit_log, &key);

		if (!r)
			return;
		if (r->cpu != cpu) {
			if (!stop->ended) {
				u64 since = r->time > stop->last_end ? r->time : stop->last_end;

				count_latency(h->begun, stop->start - since);
				return; /* the oldest unpaid hit */
			}
			if (r->delay > c->absorbed)
				return;
			count_latency(h->paid, stop->start + (r->delay - stop->absorbed) - r->time);
		}
		c->paid_hit++;
	}
}

/*
 * Pays what @c owes, as far as allowed now. Only the core itself calls it. @begun: since when it
 * does nothing else.
 */
static __always_inline void pay(struct scoz_core *c, u32 cpu, struct scoz_header *h,
				struct scoz_global *g, s64 longest, u64 begun)
{
	struct spin s = { .header = h, .global = g, .core = c, .use = core_use(cpu) };
	s64 debt = scoz_debt(READ_ONCE(g->delay), c), length;
	struct stop stop;

	if (debt <= 0 || c->spinning || !s.use)
		return;
	scoz_look(c, READ_ONCE(g->delay), READ_ONCE(g->waived));
	s.start = s.now = begun;
	if (!had_lease(h, bpf_ktime_get_ns()))
		return;
	s.allowed = scoz_min(scoz_share_room(c, s.start, h->max_share, SHARE_BURST(h->max_share)),
			     scoz_paid_room(c, READ_ONCE(g->delay) + READ_ONCE(g->waived)));
	if (s.allowed < debt && s.allowed < longest)
		c->capped++;
	s.allowed = scoz_min(s.allowed, longest);
	if (s.allowed <= 0 || realtime_wants_core())
		return;
	stop = (struct stop){ s.start, c->absorbed, c->stop_end, false };
	if (measure_latency)
		note_latency(c, cpu, READ_ONCE(g->hits), &stop);
	WRITE_ONCE(c->stop_began, s.start);
	bpf_loop(SPIN_LIMIT, spin_once, &s, 0);
	length = s.now - s.start;
	c->asked += scoz_min(scoz_debt(READ_ONCE(g->delay), c), s.allowed);
	c->crowded += s.crowded;
	scoz_stopped(c, length, READ_ONCE(g->delay), h->background);
	WRITE_ONCE(c->stop_began, 0);
	scoz_share_stopped(c, length, s.now);
	c->stops++;
	stop.ended = true;
	if (measure_latency)
		note_latency(c, cpu, READ_ONCE(g->hits), &stop);
	c->stop_end = s.now;
}

#endif
