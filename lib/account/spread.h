/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Samples that come seldom, for programs whose tasks synchronise often: pure functions over plain
 * structs, like account.h, for engines that have an account of each task.
 *
 * Spreading. A sample that hits stands for a period, of which most may be other stretches of its
 * task, before and after waits, than the one it fell into. Inserted at once it is a lump that
 * nobody has waited long enough to absorb: who takes turns stands still for what he would have
 * gained, and predictions are too low (tests/sim, "errors -x 0.2": -39 for 61 at a period of two
 * turns). So what samples stand for is held for the task, and inserted as the task runs: of what is
 * held, the share that a stretch is of SCOZ_SPREAD periods of running. In the long run that is as
 * much as was hit, and in each stretch about as much as it has run in the target.
 *
 *   hit      held[k] += w            k: kind of the stretch
 *   release  r = held[k] * min(1, run / (SCOZ_SPREAD * P - SCOZ_SPREAD / 2 * usual[k]))
 *            held[k] -= r, d = s * r; G += d, A(c) += d
 *
 * run is what the task has run since the last release, and a release is due wherever its account
 * goes to others: before it wakes, starts or submits something, blocks or is preempted, and at
 * ticks. A visit only looks at it, often, and where ticks may come in between: it takes the release
 * that would be due into account and leaves it to the next tick. What is left when the task exits
 * is inserted then.
 *
 * Kinds. What a task does under a lock is not what it does outside. Stretches are told apart by how
 * they begin: by what kind of wait has ended, and how often the task has woken somebody since.
 *
 * Stretches that usually run for two periods or more have enough samples of their own: held back,
 * those would be inserted too late. So the longer they usually are, the sooner is inserted, and in
 * the limit at once. At once, too, for tasks that spin: what they wait for does not divide their
 * stretches.
 *
 * What is held is time, not delay, so it is right whatever the speedup is; it belongs to one
 * target.
 *
 * Seen targets. Where a system call or a whole task is the target, its begin and end can be seen.
 * Then no sample is needed: at each release just what the task has run there is inserted, and there
 * are no lumps but those in which others pay (tests/sim, "-c seen": 0.0 instead of -14.8 for four
 * that meet at a barrier each 0.4 ms at a period of 0.86 ms, 100 %). Tasks that spin are sampled
 * all the same: of what they run only samples tell what was waiting. But where the kernel spins
 * (account.h, "spin") begin and end of that are seen, too.
 *
 *   begin, end    release, then inside = 1, 0; a sample sets it, too: some begins are missed
 *   release       r = inside ? run less what of it was spent spinning : 0
 *
 * Functions of programs are seen by probes where control comes in and goes out, which are executed
 * with interrupts on and must leave the core's account alone. So these only note how much of the
 * time since the last release was inside. Calls nest. An end is missed when control leaves by
 * another way (an exception, longjmp), a begin when the call was under way before the probes were
 * there: where SCOZ_SPREAD_DOUBTS samples in a row contradict and no probe was met in between, they
 * are right. Should a tick come while a probe notes, that one call is taken for longer or shorter,
 * by a period at most.
 *
 * The clock. Ticks come in wall time, and those that meet an idle core count nothing. If the next
 * one stood for what has run since the last that did count, code that runs right after idling would
 * seem the shorter, and code that runs before it the longer. Each moment of a busy stretch is as
 * likely to be met as any other, so the first tick of a stretch stands for a period; if none was
 * lost, it comes after less than that.
 */
#ifndef SCOZ_SPREAD_H
#define SCOZ_SPREAD_H

#include "account/account.h"

#define SCOZ_SPREAD	     8 /* periods */
#define SCOZ_SPREAD_KINDS    8
#define SCOZ_SPREAD_EXTERNAL 4 /* a device or a timer has ended the wait */
#define SCOZ_SPREAD_WAKES    3 /* of each half; what begins later is of the last kind */
#define SCOZ_SPREAD_DOUBTS   3
#define SCOZ_SPREAD_SPUN_FOR 1000000000ULL /* ns after which a task no longer passes for one */

/* Of a task; zero-initialised is valid. */
struct scoz_spread {
	__u32 held[SCOZ_SPREAD_KINDS];	/* ns in the target that samples stand for, not inserted */
	__u32 usual[SCOZ_SPREAD_KINDS]; /* ns that such stretches run for */
	__u64 at;			/* the last release, or when it was switched in */
	__u64 stopped;			/* scoz_core.stopped then */
	__u64 spun;			/* scoz_spun() then */
	__u64 stretch;			/* ns that the present one has run */
	__u64 spun_until;		/* until when it passes for one that spins */
	__u32 kind;			/* of the present stretch */
	__u32 target;			/* that the times held belong to */
	__u32 inside;			/* it runs in a target that is seen; 0 or 1 */
	__u64 inside_since;		/* if so */
	/* Of functions that are seen: */
	__u64 ran_inside; /* ns since the last release, of calls that have ended */
	__u64 entered;	  /* what it had run since the last release as the present call began */
	__u32 depth;	  /* calls that have not ended */
	__u32 doubts;	  /* samples in a row that contradict */
};

static __always_inline __u32 scoz_spread_kind(const struct scoz_spread *s)
{
	return s->kind & (SCOZ_SPREAD_KINDS - 1);
}

/* It has been woken, and waits for a core. */
static __always_inline void scoz_spread_woken(struct scoz_spread *s, __u32 external)
{
	s->kind = external ? SCOZ_SPREAD_EXTERNAL : 0;
}

/* It has woken somebody: after the release. */
static __always_inline void scoz_spread_wakes(struct scoz_spread *s)
{
	if ((s->kind & SCOZ_SPREAD_WAKES) < SCOZ_SPREAD_WAKES)
		s->kind++;
}

/*
 * How long core @c has waited for spin locks, that of now included; what a wait that never ended
 * was taken for falls off again.
 */
static __always_inline __u64 scoz_spun(const struct scoz_core *c, __u64 now)
{
	return c->spun + (c->spinning && now > c->spin_since ? now - c->spin_since : 0);
}

static __always_inline void scoz_spread_in(struct scoz_spread *s, const struct scoz_core *c,
					   __u64 now)
{
	s->at = now;
	s->stopped = c->stopped;
	s->spun = scoz_spun(c, now);
	s->ran_inside = 0;
	s->entered = 0;
}

/* It spins, as far as ticks can see. */
static __always_inline void scoz_spread_spins(struct scoz_spread *s, __u64 now)
{
	s->spun_until = now + SCOZ_SPREAD_SPUN_FOR;
}

/* What is held, and whether it is inside, was another target's. */
static __always_inline void scoz_spread_target(struct scoz_spread *s, __u32 target)
{
	if (s->target == target)
		return;
	for (int i = 0; i < SCOZ_SPREAD_KINDS; i++)
		s->held[i] = 0;
	s->target = target;
	s->inside = 0;
	s->depth = 0;
	s->doubts = 0;
	s->ran_inside = 0;
}

/* A sample of @weight has hit @target. */
static __always_inline void scoz_spread_hit(struct scoz_spread *s, __u64 weight, __u32 target)
{
	__u32 kind = scoz_spread_kind(s);

	scoz_spread_target(s, target);
	weight += s->held[kind];
	s->held[kind] = weight < ~0U ? weight : ~0U;
}

/* Over how much running what is held is spread, ns; 0: none. */
static __always_inline __u64 scoz_spread_over(const struct scoz_spread *s, __u64 usual,
					      __u64 period, __u64 now)
{
	if (now < s->spun_until || usual >= 2 * period)
		return 0;
	return SCOZ_SPREAD * period - SCOZ_SPREAD / 2 * usual;
}

/* What it has run since the last release. */
static __always_inline __u64 scoz_spread_ran(const struct scoz_spread *s, const struct scoz_core *c,
					     __u64 now)
{
	__s64 run = (__s64)(now - s->at) - (__s64)(c->stopped - s->stopped);

	return run > 0 ? run : 0;
}

/* How long such a stretch, of which @stretch has run, usually is as far as is known now. */
static __always_inline __u64 scoz_spread_usual(const struct scoz_spread *s, __u64 stretch,
					       __u32 ends)
{
	__u64 usual = s->usual[scoz_spread_kind(s)];

	return ends || stretch > usual ? (7 * usual + stretch) / 8 : usual;
}

/* Of what is held, what @run ns are worth. */
static __always_inline __u64 scoz_spread_part(const struct scoz_spread *s, __u64 run, __u64 usual,
					      __u64 period, __u64 now)
{
	__u64 held = s->held[scoz_spread_kind(s)];
	__u64 over = scoz_spread_over(s, usual, period, now);

	if (!held || !run)
		return 0;
	return run < over ? held * run / over : held;
}

/*
 * What is inserted now, before the speedup is applied: ns of the target. @ends: the stretch does.
 * The caller looks at @s->target before.
 */
static __always_inline __u64 scoz_spread_release(struct scoz_spread *s, const struct scoz_core *c,
						 __u32 ends, __u64 period, __u64 now)
{
	__u32 kind = scoz_spread_kind(s);
	__u64 run = scoz_spread_ran(s, c, now), usual, r;

	scoz_spread_in(s, c, now);
	s->stretch += run;
	usual = scoz_spread_usual(s, s->stretch, ends);
	r = scoz_spread_part(s, run, usual, period, now);
	if (ends) {
		s->usual[kind] = usual < ~0U ? usual : ~0U;
		s->stretch = 0;
	}
	s->held[kind] -= r;
	return r;
}

/* What a release would insert, for who looks at an account that others may be changing. */
static __always_inline __u64 scoz_spread_due(const struct scoz_spread *s, const struct scoz_core *c,
					     __u64 period, __u64 now)
{
	__u64 run = scoz_spread_ran(s, c, now);

	return scoz_spread_part(s, run, scoz_spread_usual(s, s->stretch + run, 0), period, now);
}

/* The same, where the target is seen: of what it has run. */
static __always_inline __u64 scoz_spread_seen_due(const struct scoz_spread *s,
						  const struct scoz_core *c, __u64 now)
{
	__s64 spun = scoz_spun(c, now) - s->spun, run = s->ran_inside;

	if (s->inside)
		run += (__s64)(scoz_spread_ran(s, c, now) - s->entered);
	if (s->inside && !s->entered && spun > 0)
		run -= spun;
	return run > 0 ? scoz_min(run, SCOZ_MAX_WEIGHT) : 0;
}

/* It is seen that it runs in the target, or that it does not. */
static __always_inline void scoz_spread_is_inside(struct scoz_spread *s, __u32 inside, __u64 now)
{
	if (inside && !s->inside)
		s->inside_since = now;
	s->inside = inside;
}

/* For how long it had been in @target, without a break, as it fell asleep at @slept, ns. */
static __always_inline __u64 scoz_spread_inside_for(const struct scoz_spread *s, __u32 target,
						    __u64 slept)
{
	return s->inside && s->target == target && slept > s->inside_since ? slept - s->inside_since
									   : 0;
}

/* Control comes into a function that is seen, or goes out. */
static __always_inline void scoz_spread_enters(struct scoz_spread *s, const struct scoz_core *c,
					       __u64 now)
{
	s->doubts = 0;
	if (s->depth++)
		return;
	s->entered = scoz_spread_ran(s, c, now);
	scoz_spread_is_inside(s, 1, now);
}

static __always_inline void scoz_spread_leaves(struct scoz_spread *s, const struct scoz_core *c,
					       __u64 now)
{
	__s64 run = scoz_spread_ran(s, c, now) - s->entered;

	s->doubts = 0;
	if (!s->depth || --s->depth)
		return;
	s->inside = 0;
	if (run > 0)
		s->ran_inside += run;
}

/* A sample, right after a release, has found it inside (@hit) or not. False: probes say otherwise.
 */
static __always_inline int scoz_spread_agrees(struct scoz_spread *s, __u32 hit)
{
	if (s->inside == hit) {
		s->doubts = 0;
		return 1;
	}
	if (++s->doubts >= SCOZ_SPREAD_DOUBTS) {
		s->doubts = 0;
		scoz_spread_is_inside(s, hit, s->at);
		s->depth = hit;
	}
	return 0;
}

/* Instead of scoz_spread_release(), where the target is seen. */
static __always_inline __u64 scoz_spread_seen(struct scoz_spread *s, const struct scoz_core *c,
					      __u64 now)
{
	__u64 r = scoz_spread_seen_due(s, c, now);

	scoz_spread_in(s, c, now);
	return r;
}

/* All of it: the task exits. */
static __always_inline __u64 scoz_spread_flush(struct scoz_spread *s)
{
	__u64 r = 0;

	for (int i = 0; i < SCOZ_SPREAD_KINDS; i++) {
		r += s->held[i];
		s->held[i] = 0;
	}
	return r;
}

/* Core @c's running task has run @r ns in the target: returns d, which the caller adds to G. */
static __always_inline __s64 scoz_spread_insert(struct scoz_core *c, __u64 r, __u32 speedup)
{
	__s64 d = scoz_lump(r, speedup);

	c->absorbed += d;
	c->own += d;
	return d;
}

#define SCOZ_CLIPPED_AT_ONCE 1000000ULL /* ns */

/*
 * @r of the target cannot be inserted: how many samples that is. Releases are many more than
 * samples, and of less each; a few that are lost would make a window one that says too little.
 * Where samples are coarse, a millisecond counts as one: who needs none may take few, and windows
 * are short. @left: of the core, less than one.
 */
static __always_inline __u64 scoz_spread_clipped(__u64 *left, __u64 r, __u64 period)
{
	__u64 n;

	if (!period)
		return 0;
	if (period > SCOZ_CLIPPED_AT_ONCE)
		period = SCOZ_CLIPPED_AT_ONCE;
	r += *left;
	n = r / period;
	*left = r - n * period;
	return n;
}

/* Of a core; zero-initialised is valid. */
struct scoz_clock {
	__u64 busy_since; /* when it last began to be busy, if no tick has come since; else 0 */
	__u64 stopped;	  /* scoz_core.stopped then */
};

/* It has idled, and runs something now. */
static __always_inline void scoz_clock_busy(struct scoz_clock *k, const struct scoz_core *c,
					    __u64 now)
{
	k->busy_since = now;
	k->stopped = c->stopped;
}

/* What the tick stands for; @weight: what scoz_tick() says. */
static __always_inline __u64 scoz_clock_tick(struct scoz_clock *k, const struct scoz_core *c,
					     __u64 weight, __u64 period, __u64 now)
{
	__s64 ran = (__s64)(now - k->busy_since) - (__s64)(c->stopped - k->stopped);

	if (!k->busy_since)
		return weight;
	k->busy_since = 0;
	ran = scoz_min(ran, SCOZ_MAX_WEIGHT);
	return ran < (__s64)period ? period : (__u64)ran;
}

#endif
