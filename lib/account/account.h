/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * How virtual speedup is accounted: pure functions over plain structs, compiled into the BPF
 * programs, the kernel patch, the simulator and the unit tests. They know nothing of perf, BPF
 * or the scheduler; the caller passes the time, the global delay G and who woke whom, adds what
 * a hit returns to G, and stops the core for what scoz_debt() says.
 *
 * Model WAIT (default). Time spent waiting for a task or for a CPU absorbs inserted delay one to
 * one; time spent waiting for a device or a timer does not. Core c and task T carry A, the delay
 * absorbed so far; A <= G but for the few nanoseconds that a stop overshoots. "now - A" is a
 * virtual time stamp, and every rule below says when an entity may go on in virtual time:
 *
 *   hit       G += d, A(c) += d           the core saved that time, all others owe it
 *   stop      A(c) += length
 *   block     A(T) = A(c), t0 = now       nothing needs to be paid to fall asleep
 *   wake      A(T) = min(A(E), A(T) + time waited), t0 = now. E is who ended the wait: the
 *             waker as it stands now, debt included, so that nobody has to stop under scheduler
 *             locks; or, for a device or a timer, whoever submitted the operation, as it stood
 *             at the submission. Unknown: the sleeper itself as it fell asleep, A(T) unchanged.
 *   switch-in a = A(T) + time in the run queue
 *             b = A(c), or after idling min(G, A(c) + time idle)
 *             A(c) = min(a, b), and the core pays before T does anything
 *   spin      t0 = now; until the lock is had nothing is paid, and no sample hits
 *   acquire   as wake: A(c) = min(A(E), A(c) + time spun), E the core that held the lock, or G
 *             where that is not known. Such waits are not much longer than the lumps in which
 *             hits insert delay: what a wait had time for and was not inserted in it, up to a
 *             lump, is left to the next one, in which more may be inserted than it has time for.
 *
 * Model CORE (SCOZ paper, section 3.5), kept for comparison. A(c) is the local delay L(c):
 *
 *   pre_idle  gap = G - L;   post_idle, woken by another core: L = G - gap - carried, where
 *   carried is what the waker had not paid yet (the paper's waker stops first: catch_up)
 *
 * The sampling clock runs in busy, unstopped time: a sample stands for the time since this core's
 * last tick that met a task, less the stops and the idling in between. (Ticks of an idle core may
 * come late or not at all; what ran between them is credited at the next one that counts.)
 *
 * The cost of looking. Ticks and other interrupts come at a rate per second of wall time; a core
 * that was stopped half of the time has twice as many of them for every second it ran, and would
 * seem slower for it. In base windows they slow all cores alike and cancel out; what a core has
 * beyond that is credited as if it had been stopped: for a tick of cost K after unstopped time w,
 * K * (1 - w / period); for a stop of length S, S * (share of time other interrupts take).
 */
#ifndef SCOZ_ACCOUNT_H
#define SCOZ_ACCOUNT_H

#include <linux/scoz.h>

static __always_inline __s64 scoz_min(__s64 a, __s64 b)
{
	return a < b ? a : b;
}

static __always_inline __s64 scoz_debt(__s64 delay, const struct scoz_core *c)
{
	return delay - c->absorbed;
}

/* Moves the core's account; the difference is neither stopped nor saved but excused. */
static __always_inline void scoz_core_set(struct scoz_core *c, __s64 absorbed)
{
	c->excused += absorbed - c->absorbed;
	c->absorbed = absorbed;
}

/* A core that is not profiled owes nothing, ever. */
static __always_inline void scoz_core_follow(struct scoz_core *c, __s64 delay)
{
	scoz_core_set(c, delay);
}

/*
 * A tick at @now that met a task: the time that the sample stands for (accounting.md 3a, "the
 * sampling clock"). @limit bounds it where ticks were missing; the rest is dropped and counted.
 */
static __always_inline __u64 scoz_tick(struct scoz_core *c, __u64 now, __u64 limit)
{
	__s64 weight = (__s64)(now - c->last_tick) - (c->stopped - c->stopped_at_tick) -
		       (__s64)(c->in_idle - c->idle_at_tick);

	if (!c->last_tick || weight < 0)
		weight = 0;
	c->last_tick = now;
	c->stopped_at_tick = c->stopped;
	c->idle_at_tick = c->in_idle;
	c->ticks++;
	if ((__u64)weight > limit) {
		weight = limit;
		c->clipped++;
	}
	return weight;
}

/* The sample hit the target: returns d, which the caller adds to G. */
static __always_inline __s64 scoz_hit(struct scoz_core *c, __u64 weight, __u32 speedup)
{
	__s64 d = (weight * speedup) >> SCOZ_SPEEDUP_SHIFT;

	c->absorbed += d;
	c->own += d;
	c->hits++;
	return d;
}

/* What a hit inserts if no tick was missing. */
static __always_inline __s64 scoz_lump(__u64 period, __u32 speedup)
{
	return (period * speedup) >> SCOZ_SPEEDUP_SHIFT;
}

static __always_inline void scoz_overhead(struct scoz_core *c, __s64 excess)
{
	c->absorbed += excess;
	c->overhead += excess;
}

/* The tick that ended @weight ns of unstopped time took @cost; one for each @period is normal. */
static __always_inline void scoz_tick_cost(struct scoz_core *c, __u64 weight, __u32 cost,
					   __u64 period)
{
	__u64 part;

	if (!cost || !period)
		return;
	if (weight <= period) {
		part = cost * (period - weight) / period;
		scoz_overhead(c, part);
	} else {
		part = cost * (weight - period) / period;
		scoz_overhead(c, -(__s64)part);
	}
}

/* @background: see struct scoz_header. */
static __always_inline void scoz_stopped(struct scoz_core *c, __s64 length, __u32 background)
{
	c->absorbed += length;
	c->stopped += length;
	scoz_overhead(c, ((__u64)length * background) >> 16);
}

/*
 * What runs from here on counts, or what has run up to here, if the task is @involved: CPU time
 * that the work needs, stolen time included, stops left out.
 */
static __always_inline void scoz_run_begin(struct scoz_core *c, __u64 now)
{
	c->ran_at = now;
	c->stopped_at_ran = c->stopped;
}

static __always_inline void scoz_run_count(struct scoz_core *c, __u64 now, __u32 involved)
{
	__s64 ran = (__s64)(now - c->ran_at) - (c->stopped - c->stopped_at_ran);

	if (involved && c->ran_at && ran > 0)
		c->ran += ran;
	scoz_run_begin(c, now);
}

/* The running task blocks or is preempted. */
static __always_inline void scoz_switch_out(const struct scoz_core *c, struct scoz_task *t,
					    __u64 now)
{
	t->absorbed = c->absorbed;
	t->since = now;
}

static __always_inline void scoz_idle_enter(struct scoz_core *c, __s64 delay, __u64 now)
{
	c->idle = 1;
	c->idle_since = now;
	c->gap = delay - c->absorbed;
	c->woken = 0;
	c->carried = 0;
}

/* Woken by an entity that has absorbed @ender (see above). */
static __always_inline void scoz_wake(struct scoz_task *t, __s64 ender, __u64 now)
{
	t->absorbed = scoz_min(ender, t->absorbed + (__s64)(now - t->since));
	t->since = now;
}

/* Woken by a device or a timer about which nothing more is known. */
static __always_inline void scoz_wake_external(struct scoz_task *t, __u64 now)
{
	t->since = now;
}

/*
 * The core waits for a lock without giving itself up (spin locks; mutexes whose owner runs). Waits
 * in interrupts on top of it belong to it.
 */
static __always_inline void scoz_spin_enter(struct scoz_core *c, __u64 now)
{
	if (!c->spinning++)
		c->spin_since = now;
}

/*
 * The lock is had, or the wait given up. @ender: what the core that held the lock has absorbed; G
 * when that is not known. @lump: what a hit inserts at once; 0 when the holder is not known.
 */
static __always_inline void scoz_spin_leave(struct scoz_core *c, __s64 ender, __s64 lump, __u64 now)
{
	__s64 waited = now - c->spin_since, absorbed;

	if (!c->spinning || --c->spinning)
		return;
	c->spins++;
	if (waited <= 0)
		return;
	c->spun += waited;
	c->spin_room = scoz_min(c->spin_room, lump) + waited;
	absorbed = scoz_min(ender - c->absorbed, c->spin_room);
	if (absorbed <= 0)
		return;
	c->spin_room -= absorbed;
	scoz_core_set(c, c->absorbed + absorbed);
}

/* Core model: another core, owing @debt, sends the wake-up of idle core @c. */
static __always_inline void scoz_core_woken(struct scoz_core *c, __s64 debt)
{
	c->woken = 1;
	c->carried = debt > 0 ? debt : 0;
}

/*
 * A task is about to run on @c; @t is NULL in the core model and for tasks without an account.
 * Afterwards the core owes scoz_debt() and must pay it before the task does anything. Returns what
 * a busy core will pay for this task alone. If others want to run there, they lose that: had the
 * task been held back, they would have run meanwhile; the caller counts it (crowded), for the
 * statistics to take off again.
 */
static __always_inline __s64 scoz_switch_in(struct scoz_core *c, const struct scoz_task *t,
					    __s64 delay, __u64 now, __u32 model)
{
	__s64 alone = 0;

	if (model == SCOZ_MODEL_CORE) {
		if (c->idle && c->woken)
			scoz_core_set(c, delay - c->gap - c->carried);
	} else {
		__s64 a, b = c->absorbed;

		if (c->idle)
			b = scoz_min(delay, b + (__s64)(now - c->idle_since));
		a = t ? t->absorbed + (__s64)(now - t->since) : b;
		if (!c->idle && a < b)
			alone = b - a;
		scoz_core_set(c, scoz_min(a, b));
	}
	if (c->idle) {
		c->in_idle += now - c->idle_since;
		c->idle = 0;
	}
	return alone;
}

/*
 * How long a core may stop now so that stops take at most @max_share percent of any stretch of
 * time, plus (1 - share) * @burst: a leaky bucket whose level rises by stops and falls by
 * unstopped time * share / (100 - share).
 */
static __always_inline __s64 scoz_share_room(struct scoz_core *c, __u64 now, __u32 max_share,
					     __s64 burst)
{
	__s64 level = c->share_level;

	if (max_share >= 100)
		return burst;
	level -= (__s64)((now - c->share_at) * max_share / (100 - max_share));
	if (level < 0)
		level = 0;
	c->share_level = level;
	c->share_at = now;
	return burst > level ? burst - level : 0;
}

static __always_inline void scoz_share_stopped(struct scoz_core *c, __s64 length, __u64 now)
{
	c->share_level += length;
	c->share_at = now;
}

#endif
