/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What samples stand for is inserted as their tasks run (account/spread.h): at ticks, and before
 * the account of the task that runs goes to others.
 */
#ifndef SCOZ_SPREAD_BPF_H
#define SCOZ_SPREAD_BPF_H

#include "engine/bpf/page.bpf.h"

static __always_inline bool is_spread(const struct task_struct *task, const struct task_state *t,
				      u64 now)
{
	return spread_hits && t && !is_server(task) && !is_stranger(t, now);
}

static __always_inline u32 target_number(void)
{
	u32 key = 0;
	struct bpf_target *target = bpf_map_lookup_elem(&target_map, &key);

	return target ? target->number : 0;
}

/* The caller adds what is returned to G. */
static __always_inline s64 release_spread(struct scoz_core *c, const struct scoz_header *h,
					  const struct task_struct *task, struct task_state *t,
					  bool ends, u64 now)
{
	u64 r;

	r = task->flags & PF_EXITING ? scoz_spread_flush(&t->spread)
				     : scoz_spread_release(&t->spread, c, ends, h->period, now);
	if (!r || t->spread.target != target_number())
		return 0;
	if (now >= READ_ONCE(h->lease_until)) {
		c->clipped += h->speedup > 0; /* this window says too little */
		return 0;
	}
	return scoz_spread_insert(c, r, h->speedup);
}

/* @task runs on @c, and its account is about to be looked at. @ends: a stretch of it does. */
static __always_inline void release(struct scoz_core *c, struct scoz_global *g,
				    const struct task_struct *task, struct task_state *t, bool ends,
				    u64 now)
{
	struct scoz_header *h = page_header();
	s64 d;

	if (!h || c->idle || !c->sampled || READ_ONCE(c->stopping) || !is_spread(task, t, now))
		return;
	account_hold(c); /* interrupts are on where tasks are started and requests queued */
	d = release_spread(c, h, task, t, ends, now);
	account_let_go(c);
	if (d)
		__sync_fetch_and_add(&g->delay, d);
}

/* What release() would add to the account, for who only reads it. */
static __always_inline s64 unreleased(const struct scoz_core *c, const struct task_struct *task,
				      const struct task_state *t, u64 now)
{
	struct scoz_header *h = page_header();

	if (!h || !h->speedup || c->idle || !c->sampled || READ_ONCE(c->stopping) ||
	    !is_spread(task, t, now) || t->spread.target != target_number() ||
	    now >= READ_ONCE(h->lease_until))
		return 0;
	return scoz_lump(scoz_spread_due(&t->spread, c, h->period, now), h->speedup);
}

#endif
