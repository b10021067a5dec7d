/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has to do with progress points: whoever reaches one, whom he wakes, or who wakes him, and so
 * on. The time of the last visit goes from task to task with wake-ups; where it has become old, a
 * task goes its own way, however busy it is: a thread in the background, or one of another job of
 * the same processes. Its CPU time is not what a unit of work takes, and to have it faster lets it
 * do more of the same.
 *
 * Tasks that tell each other by memory alone look as if they had nothing to do with each other: so
 * nothing is said of them where tasks spin. A process that one with points has started may be
 * awaited by its end (a compiler).
 */
#ifndef SCOZ_RELATED_BPF_H
#define SCOZ_RELATED_BPF_H

#include "engine/bpf/page.bpf.h"

#define RELATED_NS   2000000000ULL /* or several times as long as points have not been reached */
#define RELATED_GAPS 4
#define AWAITED_NS   60000000000ULL
#define SPUN_NS	     2000000000ULL

__u64 related_visit, related_gap; /* by tasks: the last one, and the longest time between two */
__u64 related_spun;		  /* when a task was last seen to spin */

/* @t reaches a point. */
static __always_inline void related_visits(struct task_state *t, u64 now)
{
	u64 last = READ_ONCE(related_visit);

	if (last && now > last && now - last > READ_ONCE(related_gap))
		WRITE_ONCE(related_gap, now - last);
	WRITE_ONCE(related_visit, now);
	t->related = now;
}

/* One wakes the other. */
static __always_inline void related_meet(struct task_state *a, struct task_state *b)
{
	if (a->related < b->related)
		a->related = b->related;
	else
		b->related = a->related;
}

static __always_inline bool is_related(const struct task_state *t, u64 now)
{
	return now < t->awaited ||
	       (t->related &&
		now - t->related < RELATED_NS + RELATED_GAPS * READ_ONCE(related_gap));
}

static __always_inline void related_begins(struct task_state *child,
					   const struct task_state *parent, bool process, u64 now)
{
	child->related = parent->related;
	if (process && is_related(parent, now))
		child->awaited = now + AWAITED_NS;
}

/* And that it would be seen otherwise. */
static __always_inline bool is_unrelated(const struct task_state *t, u64 now)
{
	u64 spun = READ_ONCE(related_spun);

	return READ_ONCE(related_visit) && !is_related(t, now) && (!spun || now - spun > SPUN_NS);
}

/* What @t has run up to here. */
static __always_inline void count_run(struct scoz_core *c, struct target_time *time,
				      struct task_state *t, u64 now, bool involved)
{
	u64 before = c->ran;

	scoz_run_count(c, &t->account, now, involved);
	if (involved && is_related(t, now))
		time->related += c->ran - before;
}

#endif
