/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * How virtual speedup is accounted: pure functions over plain structs, compiled into the BPF
 * programs, the kernel patch, the simulator and the unit tests. They know nothing of perf, BPF
 * or the scheduler; the caller passes the time, the global delay G and who woke whom, adds what
 * a hit returns to G, and stops the core for what scoz_debt() says.
 *
 * Model WAIT (default). Time spent waiting for a task or for a CPU absorbs inserted delay one to
 * one; time spent waiting for a device or a timer does not. Core c and task T carry A, the delay
 * absorbed so far. "now - A" is a virtual time stamp, and every rule below says when an entity may
 * go on in virtual time. A <= G but for what stops have lasted too long: where a host takes cores
 * away, one that does so during a stop gives the core back milliseconds late. In virtual time that
 * has not happened, and the core has paid as much beforehand:
 *
 *   hit       G += d, A(c) += d           the core saved that time, all others owe it
 *   stop      A(c) += length
 *   block     A(T) = A(c), t0 = now       nothing needs to be paid to fall asleep; so too: preempt
 *   wake      A(T) = min(A(E), A(T) + time waited), t0 = now. E is who ended the wait: the
 *             waker as it stands now, debt included, so that nobody has to stop under scheduler
 *             locks; or, for a device or a timer, whoever submitted the operation, as it stood
 *             at the submission. Unknown: the sleeper itself as it fell asleep, A(T) unchanged.
 *   switch-in a = A(T) + time in the run queue, but for what an idle core needs to wake up
 *             b = B(c), or after idling min(max(G, A(T)), B(c) + time idle)
 *             A(c) = min(a, b), and the core pays before T does anything
 *   spin      t0 = now; until the lock is had nothing is paid, and no sample hits
 *   acquire   as wake: A(c) = min(A(E), A(c) + time spun), E the core that held the lock, or G
 *             where that is not known. Such waits are not much longer than the lumps in which
 *             hits insert delay: what a wait had time for and was not inserted in it, up to a
 *             lump, is left to the next one, in which more may be inserted than it has time for.
 *
 * Two accounts. What a task brings along is its own: the core under it may have paid long ago, and
 * the next task there owes nothing of it. So a core has an account of its own, B(c) = A(c) + alone,
 * beside A(c), that of the task it runs:
 *
 *   switch-in  alone = b - a, at least 0
 *   stop       B(c) += length, up to G or A(c)   hits and overhead: B(c) rises as A(c) does
 *   switch-out, exit   A(c) = B(c), alone = 0
 *   waiver     B(c) = min(B(c), G), at the core's next look
 *
 * Sinks. A thread that wakes up by a timer, looks at something and sleeps again would owe what was
 * inserted meanwhile, each time, and others would wait behind it for nothing: nobody waits for it.
 * A task that has slept SCOZ_SINK_WAITS times for devices or timers, without waking anybody,
 * visiting a progress point or running for a twentieth of the time, absorbs in such waits.
 *
 * Model CORE (SCOZ paper, section 3.5), kept for comparison. A(c) is the local delay L(c):
 *
 *   pre_idle  gap = G - L;   post_idle, woken by another core: L = G - gap - carried, where
 *   carried is what the waker had not paid yet (the paper's waker stops first: catch_up)
 *
 *   What is carried is owed by two cores and paid at one time, not one after the other: it is
 *   shared. In the paper the waker has paid all of its debt by then, and idles no sooner; so what
 *   is shared passes with idling too, and of two shared debts the larger counts, not the sum.
 *   (Added up, the debts of cores that wake each other before they have paid double each time.)
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

static __always_inline __s64 scoz_max(__s64 a, __s64 b)
{
	return a > b ? a : b;
}

static __always_inline __s64 scoz_debt(__s64 delay, const struct scoz_core *c)
{
	return delay - c->absorbed;
}

/* The core's own debt: what is not only the running task's. */
static __always_inline __s64 scoz_common_debt(__s64 delay, const struct scoz_core *c)
{
	return delay - c->absorbed - c->alone;
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
	c->alone = 0;
}

/*
 * To be called at ticks and before switches: what was waived (@waived: all of it so far) is no debt
 * any more, of the core's neither.
 */
static __always_inline void scoz_look(struct scoz_core *c, __s64 delay, __s64 waived)
{
	__s64 debt = scoz_debt(delay, c);

	if (c->waived_seen == waived)
		return;
	c->waived_seen = waived;
	if (c->alone > debt)
		c->alone = debt > 0 ? debt : 0;
}

/*
 * A sample that stands for longer is cut: ticks went missing. Not for less: a host takes cores away
 * for tens of milliseconds, and what ran there took so much longer.
 */
#define SCOZ_MAX_WEIGHT 100000000ULL /* ns */

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

/* The running task is about to absorb @amount by waiting: its core as well, but not beyond G. */
static __always_inline void scoz_core_absorbs(struct scoz_core *c, __s64 amount, __s64 delay)
{
	__s64 common = scoz_common_debt(delay, c);

	if (common < amount)
		c->alone -= amount - (common > 0 ? common : 0);
	if (c->alone < 0)
		c->alone = 0;
}

/* A core that has been stopped for longer than that beyond its debt has been away altogether. */
#define SCOZ_MOST_AHEAD 100000000LL /* ns */

/* @delay: G at the end of the stop. @background: see struct scoz_header. */
static __always_inline void scoz_stopped(struct scoz_core *c, __s64 length, __s64 delay,
					 __u32 background)
{
	scoz_core_absorbs(c, length, delay);
	c->absorbed += length;
	if (c->absorbed > delay + SCOZ_MOST_AHEAD)
		scoz_core_set(c, delay + SCOZ_MOST_AHEAD);
	c->stopped += length;
	c->shared = c->shared > length ? c->shared - length : 0;
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

static __always_inline void scoz_run_count(struct scoz_core *c, struct scoz_task *t, __u64 now,
					   __u32 involved)
{
	__s64 ran = (__s64)(now - c->ran_at) - (c->stopped - c->stopped_at_ran);

	if (c->ran_at && ran > 0) {
		t->ran += ran;
		if (involved)
			c->ran += ran;
	}
	scoz_run_begin(c, now);
}

/* The running task blocks, is preempted or ends; @t may be NULL. */
static __always_inline void scoz_switch_out(struct scoz_core *c, struct scoz_task *t, __u64 now)
{
	if (t) {
		t->absorbed = c->absorbed;
		t->since = now;
	}
	scoz_core_set(c, c->absorbed + c->alone);
	c->alone = 0;
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

#define SCOZ_SINK_WAITS 10
#define SCOZ_SINK_SHARE 20 /* a sink runs for less than this part of its waits */

/* @t does what others notice: it wakes or starts somebody, visits a progress point. */
static __always_inline void scoz_noticed(struct scoz_task *t)
{
	t->quiet = 0;
}

/* Nobody waits for @t: its waits for devices and timers absorb. */
static __always_inline __u32 scoz_is_sink(const struct scoz_task *t)
{
	return t->quiet > SCOZ_SINK_WAITS;
}

/* A device or a timer ends the wait of @t; before its account is moved. */
static __always_inline void scoz_external_wait(struct scoz_task *t, __u64 now)
{
	if (t->ran > (now - t->since) / SCOZ_SINK_SHARE)
		t->quiet = 0;
	else if (t->quiet <= SCOZ_SINK_WAITS)
		t->quiet++;
	t->ran = 0;
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
static __always_inline void scoz_spin_leave(struct scoz_core *c, __s64 ender, __s64 lump,
					    __s64 delay, __u64 now)
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
	scoz_core_absorbs(c, absorbed, delay);
	scoz_core_set(c, c->absorbed + absorbed);
}

/* Core model: @waker sends the wake-up of idle core @c; NULL: the profiler, which owes nothing. */
static __always_inline void scoz_core_woken(struct scoz_core *c, struct scoz_core *waker,
					    __s64 delay)
{
	__s64 debt = waker ? scoz_debt(delay, waker) : 0;

	c->woken = 1;
	c->carried = debt > 0 ? debt : 0;
	if (waker)
		waker->shared = c->carried;
}

/* Core model: @c has been idle and runs something now. */
static __always_inline void scoz_core_wakes(struct scoz_core *c, __s64 delay, __u64 now)
{
	__s64 shared = scoz_min(c->shared, c->gap > 0 ? c->gap : 0);
	__s64 left = shared - (__s64)(now - c->idle_since);

	if (left < 0)
		left = 0;
	if (c->woken) {
		c->shared = left > c->carried ? left : c->carried;
		scoz_core_set(c, delay - (c->gap - shared) - c->shared);
	} else {
		c->shared = left;
		scoz_core_set(c, c->absorbed + shared - left);
	}
}

/* How long it has taken @c, idle when @t could run, to wake up for it. */
static __always_inline __u64 scoz_wakes_up(const struct scoz_core *c, const struct scoz_task *t,
					   __u64 now)
{
	return c->idle && t->since > c->idle_since ? now - t->since : 0;
}

/*
 * What @t, that is about to run on @c, has absorbed. To wait for a CPU that others have absorbs;
 * the time in which an idle core wakes up is real, as that of a device is.
 */
static __always_inline __s64 scoz_task_arrives(const struct scoz_core *c, const struct scoz_task *t,
					       __u64 now)
{
	return t->absorbed + (__s64)(now - t->since) - (__s64)scoz_wakes_up(c, t, now);
}

/*
 * What @c has absorbed by now. By idling not more than G, or than @t (may be NULL), which is about
 * to run there, has paid beforehand.
 */
static __always_inline __s64 scoz_core_arrives(const struct scoz_core *c, const struct scoz_task *t,
					       __s64 delay, __u64 now)
{
	__s64 most = t ? scoz_max(t->absorbed, delay) : delay;

	if (!c->idle || c->absorbed >= most)
		return c->absorbed;
	return scoz_min(most, c->absorbed + (__s64)(now - c->idle_since));
}

/*
 * A task is about to run on @c; @t is NULL in the core model and for tasks without an account.
 * Afterwards the core owes scoz_debt() and must pay it before the task does anything. What is left
 * once scoz_common_debt() is paid is paid for this task alone. If others want to run there, they
 * lose that: had the task been held back, they would have run meanwhile; whoever stops the core
 * counts it (crowded), for the statistics to take off again.
 */
static __always_inline void scoz_switch_in(struct scoz_core *c, const struct scoz_task *t,
					   __s64 delay, __u64 now, __u32 model)
{
	if (model == SCOZ_MODEL_CORE) {
		if (c->idle)
			scoz_core_wakes(c, delay, now);
	} else {
		__s64 b = scoz_core_arrives(c, t, delay, now);
		__s64 a = t ? scoz_task_arrives(c, t, now) : b;

		scoz_core_set(c, scoz_min(a, b));
		c->alone = b - c->absorbed;
	}
	if (c->idle) {
		c->in_idle += now - c->idle_since;
		c->idle = 0;
	}
}

/*
 * Nobody pays the same inserted time twice. A core may stop for it once for each task that brings a
 * debt of its own, so for more than what was inserted; but where that is more than this many times
 * as much, it is no longer the work that is being slowed down (tests/sim, "sim errors -l"). Beyond
 * it no core stops and nothing is concluded. @inserted: all so far, waived or not.
 */
#define SCOZ_TIMES_PAID	  4
#define SCOZ_PAID_AT_ONCE 20000000LL /* ns; stops begin before much is inserted */

static __always_inline __s64 scoz_paid_room(const struct scoz_core *c, __s64 inserted)
{
	return SCOZ_TIMES_PAID * inserted + SCOZ_PAID_AT_ONCE - c->stopped;
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
