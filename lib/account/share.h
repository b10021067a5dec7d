/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Cores that are shared with strangers, tasks that are no part of what is profiled: pure functions
 * over plain structs, like account.h, for engines that cannot take what a hit saves off a task's
 * share of its core (vruntime).
 *
 * A fair scheduler gives a task that competes with others a share of its core: what it runs for, it
 * has to wait for. If the target took s % less CPU time, its task would be spared s % of these
 * waits, too; a prediction that knows only of the CPU time is too small, by two thirds with two
 * strangers on the core. Three rules follow (docs/accuracy/strangers.md has the figures):
 *
 *   wait    While strangers run, and a task queues for their core, G grows by s times the share f
 *           of its run time that hit the target: a tick that meets a stranger counts as a hit of
 *           f times its weight. The core absorbs that as it does a hit, the task by waiting. With
 *           several in the queue f is their mean.
 * Real-time tasks do not compete: they come by the clock and stay for as long as they like.
 *
 *   taken   If one has taken the core from a task that still queues there, it makes longer what
 *           that was doing, as a host would: a tick inserts s of its weight if that was in the
 *           target, all of it if it stood still for others, what it absorbed of its time if it
 *           spun, else nothing. It is that stretch, perhaps under a lock, that others wait for;
 *           the rest of the queue would wait for it anyway. The task absorbs just that.
 *   behind  Who queues behind one that came while he slept is spared as much of that as he has
 *           absorbed of his sleep: so much less of it there would have been for them to come in.
 *
 * And whoever the strangers are:
 *
 *   spare   Strangers are not stopped, and their core owes nothing while they run: they take what
 *           they need by the clock, which goes on while others stand still, and to stop them only
 *           makes those who queue behind them wait for longer.
 *   keep    A debt that a task brings into such a wait is still there afterwards: it absorbs what
 *           was inserted meanwhile, no more.
 *
 * Where the profiled tasks compete with each other nothing changes: what one of them saves another
 * gets at once, on the same core.
 *
 * A task that has not run for long borrows its f from its core: what profiled tasks did there.
 */
#ifndef SCOZ_SHARE_H
#define SCOZ_SHARE_H

#include "account/account.h"

#define SCOZ_SHARE_SHIFT 10
#define SCOZ_SHARE_ONE	 (1 << SCOZ_SHARE_SHIFT)
/* ns of run time: long against time slices, short against phases of a program. */
#define SCOZ_SHARE_MEMORY 50000000ULL
/* What the core says weighs as much as this of a task's own run time, ns. */
#define SCOZ_SHARE_BORROW 2000000ULL
/* More than that nobody queues behind strangers, ns. */
#define SCOZ_SHARE_LONGEST 1000000000ULL
/* One task in core_use.wanted; below it, the sum of f. */
#define SCOZ_SHARE_TASK (1LL << 32)

/* Run time of late, and how much of it hit the target, ns; zero-initialised is valid. */
struct scoz_share {
	__u64 ran;
	__u64 hit;
};

/* A core; zero-initialised is valid. */
struct scoz_core_use {
	struct scoz_share share; /* of the profiled tasks that ran here */
	__s64 wanted;		 /* SCOZ_SHARE_TASK + f for each in the queue; changed atomically */
	__u64 since;		 /* when the last profiled task left; of no use after idling */
	__u64 began;		 /* to run the real-time stranger that runs still; 0: none does */
	__u64 taken;	/* from whom, and what a tick of the stranger's inserts; 0: nobody */
	__s64 inserted; /* by the strangers that ran here */
	__u32 stranger; /* one is running */
	__u32 idled;	/* since then */
	__u32 stood;	/* whoever is about to lose the core, for others */
	__u32 pad;
};

/* A task; zero-initialised is valid. */
struct scoz_task_use {
	struct scoz_share share;
	__u32 cpu;	/* it ran there last, so it is taken to queue there */
	__u32 rate;	/* 1 + what it inserts or absorbs of its time, as speedups; 0: not known */
	__s64 wants;	/* its part in core_use.wanted of that core; 0: it does not queue */
	__s64 delay;	/* G when it began to */
	__u64 since;	/* it fell asleep; 0: it has not since it ran */
	__s64 absorbed; /* what it had absorbed then */
	__s64 inserted; /* by strangers on its core, when it lost that */
};

static __always_inline void scoz_share_note(struct scoz_share *s, __u64 weight, __u32 hit)
{
	s->ran += weight;
	if (hit)
		s->hit += weight;
	if (s->ran > SCOZ_SHARE_MEMORY) {
		s->ran -= s->ran / 4;
		s->hit -= s->hit / 4;
	}
}

/* A tick of @weight met a profiled task. */
static __always_inline void scoz_use_tick(struct scoz_core_use *u, struct scoz_task_use *t,
					  __u64 weight, __u32 hit, __u32 speedup)
{
	scoz_share_note(&u->share, weight, hit);
	scoz_share_note(&t->share, weight, hit);
	t->rate = 1 + (hit ? speedup : 0);
}

/* ... which spun, and has absorbed @amount of it. */
static __always_inline void scoz_use_spun(struct scoz_task_use *t, __u64 weight, __s64 amount)
{
	if (amount > 0)
		t->rate = 1 + ((__u64)amount << SCOZ_SPEEDUP_SHIFT) / (weight ?: 1);
}

/* What a tick of @weight that met a stranger counts as a hit, by those who queue. */
static __always_inline __u64 scoz_use_weight(const struct scoz_core_use *u, __u64 weight)
{
	__s64 wanted = u->wanted;
	__u64 tasks = (__u64)wanted / SCOZ_SHARE_TASK;

	return wanted > 0 && tasks ? (weight * (__u32)wanted >> SCOZ_SHARE_SHIFT) / tasks : 0;
}

/* What it inserts. */
static __always_inline __s64 scoz_use_inserts(const struct scoz_core_use *u, __u64 weight,
					      __u32 speedup)
{
	if (u->taken)
		return speedup ? scoz_lump(weight, (__u32)u->taken - 1) : 0;
	return scoz_lump(scoz_use_weight(u, weight), speedup);
}

/* @d is inserted for a wait: as by a hit, but it is no sample of the target. */
static __always_inline __s64 scoz_use_insert(struct scoz_core_use *u, struct scoz_core *c, __s64 d)
{
	c->absorbed += d;
	c->own += d;
	u->inserted += d;
	return d;
}

/*
 * @t, which does not queue yet, begins to: the caller adds what is returned to wanted of core
 * t->cpu (@u).
 */
static __always_inline __s64 scoz_use_queue(const struct scoz_core_use *u, struct scoz_task_use *t,
					    __s64 delay)
{
	__u64 ran = t->share.ran, hit = t->share.hit;

	if (u->share.ran > SCOZ_SHARE_BORROW) {
		hit += u->share.hit * (SCOZ_SHARE_BORROW >> SCOZ_SHARE_SHIFT) /
		       (u->share.ran >> SCOZ_SHARE_SHIFT);
		ran += SCOZ_SHARE_BORROW;
	}
	t->delay = delay;
	t->wants = SCOZ_SHARE_TASK + (ran ? (hit << SCOZ_SHARE_SHIFT) / ran : 0);
	return t->wants;
}

/* A stop on @u ends, since a real-time task wants to run. */
static __always_inline void scoz_use_stood(struct scoz_core_use *u)
{
	u->stood = 1;
}

/* @t, named @who, has lost its core @u, and queues: after scoz_use_queue(). */
static __always_inline void scoz_use_taken(struct scoz_core_use *u, struct scoz_task_use *t,
					   __u32 who)
{
	__u32 rate = u->stood ? 1 + SCOZ_SPEEDUP_ONE : t->rate;

	t->inserted = u->inserted;
	u->taken = t->wants && rate ? (__u64)who << 32 | rate : 0;
}

/* @who runs, or is gone: it no longer queues for core @u. */
static __always_inline void scoz_use_given_back(struct scoz_core_use *u, __u32 who)
{
	if (u->taken >> 32 == who)
		u->taken = 0;
}

/*
 * @t, which has queued for @waited ns for core @last, is about to run on @u: how much of that
 * absorbs nothing. The caller adds it to its scoz_task.since before scoz_switch_in().
 */
static __always_inline __u64 scoz_use_kept(const struct scoz_core_use *u,
					   const struct scoz_core_use *last,
					   const struct scoz_task_use *t, __u32 who, __u64 waited,
					   __s64 delay, __u64 now)
{
	__u64 behind = u->idled || now < u->since ? 0 : now - u->since;
	__u32 taken = last->taken >> 32 == who;
	__s64 inserted = taken ? last->inserted - t->inserted : delay - t->delay;

	if (!t->wants)
		return 0;
	if (behind > waited || taken)
		behind = waited;
	if (inserted < 0)
		inserted = 0;
	if (!behind || (__u64)inserted >= waited)
		return 0;
	return behind - behind * (((__u64)inserted << SCOZ_SHARE_SHIFT) / waited) / SCOZ_SHARE_ONE;
}

/*
 * @t runs on @cpu: the caller takes what is returned off wanted of the core that t->cpu was before.
 */
static __always_inline __s64 scoz_use_run(struct scoz_task_use *t, __u32 cpu)
{
	__s64 wanted = t->wants;

	t->wants = 0;
	t->since = 0;
	t->rate = 0;
	t->cpu = cpu;
	return wanted;
}

/* @t, which had absorbed @absorbed, falls asleep. */
static __always_inline void scoz_use_sleeps(struct scoz_task_use *t, __s64 absorbed, __u64 now)
{
	t->since = now;
	t->absorbed = absorbed;
}

/*
 * @t, which was woken at @woken, is about to run on @u: how long has it queued behind strangers who
 * came while it waited? Without what "wait" has counted.
 */
static __always_inline __u64 scoz_use_behind(const struct scoz_core_use *u,
					     const struct scoz_task_use *t, __u64 woken, __u64 now)
{
	__u64 f = scoz_min((__u32)t->wants, SCOZ_SHARE_ONE);

	if (!t->since || u->began <= t->since || u->began >= woken || now <= woken)
		return 0;
	return ((__u64)scoz_min(now - woken, SCOZ_SHARE_LONGEST) >> SCOZ_SHARE_SHIFT) *
	       (SCOZ_SHARE_ONE - f);
}

/* What of that, @behind, fell to the part of the wait that @t, now at @absorbed, has absorbed. */
static __always_inline __s64 scoz_use_spared(const struct scoz_task_use *t, __s64 absorbed,
					     __u64 woken, __u64 behind)
{
	__s64 gained = absorbed - t->absorbed;
	__u64 length = woken - t->since;

	if (!behind || gained <= 0)
		return 0;
	return (__u64)gained >= length ? behind
				       : behind * (((__u64)gained << SCOZ_SHARE_SHIFT) / length) >>
						 SCOZ_SHARE_SHIFT;
}

/* Who leaves the core, and who comes. */
static __always_inline void scoz_use_out(struct scoz_core_use *u, __u32 stranger, __u64 now)
{
	u->stranger = 0;
	if (!stranger) {
		u->since = now;
		u->idled = 0;
	}
}

/* @urgent: it is a stranger, and a real-time task. */
static __always_inline void scoz_use_in(struct scoz_core_use *u, __u32 stranger, __u32 urgent,
					__u64 now)
{
	u->stranger = stranger;
	u->stood = 0;
	if (!urgent)
		u->taken = u->began = 0;
	else if (!u->began)
		u->began = now;
}

static __always_inline void scoz_use_idle(struct scoz_core_use *u)
{
	u->idled = 1;
	u->taken = u->began = 0;
}

/*
 * Waivers: a core that runs a stranger owes nothing, and is nobody's whom a waiver could harm,
 * unless somebody queues there. What is waived is the debt of all that count.
 */
static __always_inline __u32 scoz_use_counts(const struct scoz_core_use *u)
{
	return !u->stranger || u->wanted > 0;
}

#endif
