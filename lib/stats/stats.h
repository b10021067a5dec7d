/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From windows to predictions with intervals (docs/accounting.md sections 1 and 7).
 *
 *   period       = virtual time / visits                       (latency: inflight * that)
 *   program speedup(s) = 1 - period(s) / period(0)             in percent of run time per unit
 *
 * The unit of resampling is a treated window together with the 0 % windows of the same target
 * around it, so that a machine that changes speed for seconds cancels out. stats.c tells how.
 */
#ifndef SCOZ_STATS_H
#define SCOZ_STATS_H

#include "stats/window.h"
#include "stats/control_variate.h"
#include "stats/phases.h"

/*
 * optimize    some program speedup is surely above 0 and at least 1 %
 * contention  some program speedup is surely below 0 and at most -1 %, and none is above 0
 * no effect   every program speedup is within 2.5 % of 0, surely within 5 %, and either not
 *             distinguishable from 0 or smaller than 1 %
 * undecided   everything else
 * "Surely" is much stricter than the 95 % of intervals: VERDICT_ALPHA is the chance that any of all
 * the points of this progress point, over all targets and speedups, is on the wrong side. In a
 * program that is paced from outside (paced.c) no prediction can be trusted: it is undecided. So it
 * is as long as that, or what else forbids a verdict, cannot be told yet.
 */
#define VERDICT_ALPHA 0.0005
enum verdict { VERDICT_OPTIMIZE, VERDICT_NO_EFFECT, VERDICT_CONTENTION, VERDICT_UNDECIDED };
/*
 * Why it is undecided. Of what is paced from outside, waits for what is not sped up, or had many
 * windows in which cores would have stood still too long, so that those kept are a choice, numbers
 * are not to be acted on however narrow their interval is.
 */
enum doubt {
	DOUBT_NONE, /* it is not undecided */
	/* These forbid a verdict: estimate_is_withheld(). */
	DOUBT_FLAWED, /* probes, or CPUs that are not sampled, forbid any conclusion */
	DOUBT_PACED,
	DOUBT_WAITS,
	DOUBT_LEFT_OUT,
	DOUBT_UNSEEN, /* no sample of the target: nothing was sped up */
	DOUBT_MISSED, /* most of what samples lie in it was not sped up */
	DOUBT_SELDOM, /* windows hold too few visits of the progress point */
	/* Tests have not had the data yet that they need (unjudged.h): estimate_is_unjudged(). */
	DOUBT_CLOCK,
	DOUBT_PACE,
	DOUBT_WAITED_FOR,
	DOUBT_CHOICE,
	/* Windows do not decide. */
	DOUBT_FEW_WINDOWS,
	DOUBT_ALONE, /* tasks that nobody waits for run it */
	DOUBT_STRANGERS,
	DOUBT_CHANCE /* of so many points some look like it by chance */
};
const char *verdict_name(enum verdict v); /* "optimize", "no effect", "contention", "undecided" */

/* Errors that do not shrink however long one measures: trust.h has what each is in words. */
enum fixed_part {
	FIXED_METHOD,
	FIXED_CROWDED,
	FIXED_SHARED,
	FIXED_PERIOD,
	FIXED_STEAL,
	FIXED_SPINS,
	FIXED_FAR,
	FIXED_QUOTA,
	N_FIXED_PARTS
};

struct estimate_point {
	double speedup_pct;
	double program_speedup_pct;
	/* 95 %; -INFINITY and INFINITY with fewer than three usable windows. */
	double ci_lo, ci_hi;
	uint32_t windows; /* used: kept, and with 0 % windows beside them */
	uint32_t units;	  /* those that were measured in one go counted once */
	bool decides;	  /* enough of them, and no choice, for something to be concluded */
	/* log(period / period at 0 %), its standard error, degrees of freedom (0: unknown). */
	double log_ratio, se, df;
	/* To tell log_ratio from 0: what does not shrink is as many points on the way there. */
	double test_se;
	/*
	 * Of the half width what does not shrink with time, in percentage points, and the degrees
	 * of freedom and the standard error, of log_ratio, of the rest (0: unknown): trust.h.
	 */
	double fixed_pp, noise_df, noise_se;
	double fixed_part[N_FIXED_PARTS]; /* fixed_pp is the root of the sum of their squares, */
	/* and half of these, by which one end alone is further away (stats.c) */
	double above_pp, below_pp;
	double low_pp; /* by which predictions are rather too low, so both ends are higher by it */
	const char *fixed_cause; /* the largest of them all */
	/* Profiling time spent on it and its baselines, settling included; 0 with
	 * stats_options.bare */
	double spent_s;
	/* By its own windows alone; the values above are those of the whole curve (curve.c). */
	double alone_pct, alone_lo, alone_hi;
	/* What was really gained where the target was really made cheaper; 0 windows: not tried. */
	double measured_pct, measured_lo, measured_hi;
	uint32_t measured_windows;
};
/* One-sided: each of the two holds with probability 1 - @alpha. */
void estimate_point_bounds(const struct estimate_point *p, double alpha, double *lo, double *hi);

/*
 * What a point is worth saying. An interval that is wider than LEARNED_PP and reaches up to the
 * line speedup itself tells nothing that was not known before.
 */
enum knowledge {
	KNOWN_NOTHING,
	KNOWN_BOUND, /* that it is at most ci_hi */
	KNOWN_VALUE
};
#define LEARNED_PP 100.0

/* One (target, progress) pair. */
struct estimate {
	uint32_t target, progress;
	uint64_t samples;	       /* hits in all windows that are not real, kept or not */
	struct estimate_point *points; /* by speedup; the first is 0 */
	size_t n_points;
	/*
	 * The one number to act on, with its interval: of the points surely on the side of the
	 * verdict (without one: of those of which something is known) that of the highest speedup,
	 * unless a lower one is surely better (under contention: worse). With KNOWN_BOUND only
	 * best_hi holds, with KNOWN_NOTHING none of them.
	 */
	enum knowledge best;
	double best_pct, best_lo, best_hi;
	double best_at_pct;
	struct control control; /* what CPU times were good for */
	/*
	 * Profiling time spent on it (settling included, real windows not) after which the widest
	 * half width was at most PRECISION_PP points for good; INFINITY: never.
	 */
	double precision_s;
	/*
	 * Tasks in the target at 0 %: on a CPU, and waiting in it for devices, timers or the
	 * kernel. Where predictions leave that out, and it could be worth more than a verdict says,
	 * there is none.
	 */
	double target_runs, target_waits;
	bool waits_sped; /* they do not leave it out */
	enum verdict verdict;
	enum doubt doubt;
	bool time_tells; /* undecided, but a longer run that says the same would decide it */
	/* Unjudged: how much more profiling, on all targets, until it can be told; NAN: not known,
	 * or stats_options.bare. */
	double more_s;
	char *warning; /* NULL or sentences */
};
/* NULL: that speedup was not tried. */
struct estimate_point *estimate_point_at(const struct estimate *e, double speedup_pct);
#define PRECISION_PP 2.0
/*
 * What predictions are off by however long one measures (lumps of delay, the cost of looking; root
 * mean square over docs/accuracy.md, simulated and real), in percentage points. Intervals contain
 * it, as an independent error of half width METHOD_PP.
 */
#define METHOD_PP 0.5
/*
 * Where next to nothing is left of the target the program is another one: nobody falls asleep any
 * more for what it held up, requests follow each other at once. Half width, of what is won (or
 * lost) beyond a speedup of FAR_FROM: where the target no longer matters by then, nothing. Fitted
 * to a truth suite (docs/accuracy/truth-suite.md, "What is left at 100 %").
 */
#define FAR_DOUBT 0.16
#define FAR_FROM  0.5
/*
 * In programs that do more than wait and turn loops the rest takes less CPU time for a unit of work
 * where the target is gone: warmer caches, fewer and larger reads. No delay shows that. The more
 * was the target's, and the more is left, the more that is: of what is won times what is left it
 * was 0.2 in the middle, seldom the other way; the upper end alone is further away
 * (docs/accuracy/stones.md, "What no delay shows"). Not up to FAR_FROM, from there in proportion to
 * the speedup.
 */
#define FAR_ABOVE 0.35
/*
 * Where cores had to be stopped for one task while others wanted them (account.h, crowded), these
 * may be what everybody waits for: all that they lost is to be taken off then. Or nobody does (a
 * thread that is done and only has to say so): nothing is. Half of it is taken off, and the other
 * half may be wrong, either way.
 */
#define CROWDED_SHARE 0.5
#define CROWDED_DOUBT 0.5
/*
 * What strangers take of the cores is taken off as if who needs a core for less waited for it less
 * in proportion. Schedulers favour who runs little beyond that, and dependencies change: so much of
 * the share of what was inserted for it, of the line speedup, may be wrong.
 */
#define SHARED_DOUBT 0.35
/*
 * Who needs less may get more of the cores than before, or be let run at once: up to so much of the
 * share of their time that profiled tasks, able to run, wait behind strangers, may be won (or lost)
 * beyond what is predicted: of what the prediction says or leaves, whatever is more. Measured with
 * programs that were really changed, beside compilers (docs/accuracy/strangers.md, "What
 * queueing is worth"); from a speedup of QUEUED_MOST on all of it.
 */
#define QUEUED_DOUBT 0.5
#define QUEUED_MOST  50.0 /* percent of line speedup */
/*
 * Real-time strangers do not compete, and more is known of what they make longer: of the share of
 * their time that profiled tasks wait behind them, of the line speedup, nine models of ten of the
 * simulator keep to this (docs/accuracy/strangers.md, "Real-time strangers do not compete").
 */
#define URGENT_DOUBT 0.3

/*
 * Where a program no longer sleeps for the target, whoever its tasks wake finds a core awake: no
 * interrupt, no sleep state to leave, warm caches, all of which is dear in a virtual machine. What
 * the woken wait for is measured; so many times that may be won beyond what is predicted (redis,
 * postgres, dbench without their syncs: docs/accuracy/waiting.md, "What is not seen").
 */
#define WAKING_DOUBT 5.0
/*
 * So much of what may be won so is expected, if the target is all that the work waits for, at 100 %
 * (servers that log, writes and naps of the truth suite: docs/accuracy/waiting.md, "What is not
 * seen").
 */
#define LESS_QUEUEING 0.75
#define STRETCH	      20.0 /* of a curve, at least, percent of line speedup */
/*
 * That the last stretch of a curve wins less (or more) than the whole is believed where it does by
 * more than so many standard errors, and fully from one more on.
 */
#define STRETCH_DIFFERS 2.0

/*
 * The errors that a period is expected to cost are means of absolute values at speedups of 50 and
 * 100 %: their like in an interval of 95 % is about twice as much, in proportion to the speedup.
 */
#define PERIOD_DOUBT	  2.0
#define PERIOD_AT_SPEEDUP 0.75
/*
 * While the host has a core, a sample that stands for the time inserts delay in a lump of
 * milliseconds. What that does to predictions, in the same simulations (docs/accuracy/weather.md,
 * "Stolen time"): nine programs of ten lie between STEAL_DOUBT + STEAL_LOW points below the truth
 * and STEAL_DOUBT - STEAL_LOW above it, for each percent of the time of running tasks that is
 * stolen, at 100 %. Verdicts stand back by the larger one on both sides.
 */
#define STEAL_DOUBT 0.3
#define STEAL_LOW   0.1
#define STEAL_MOST  0.5 /* of the time of running tasks; beyond that it was others' */

/*
 * Where a CPU quota holds the program up, what is predicted goes by the CPU time that it needs
 * (quota.h). The interval has this part of what that changes (docs/accuracy/weather.md, "CPU
 * quotas": up to 3 points of 8 to 48); all that was throttled where it is not known what the quota
 * does.
 */
#define QUOTA_DOUBT 0.15

/*
 * Of what is won by tasks that nobody waits for, nor they for others, so much may not be. Measured
 * with a thread that computes and naps beside two at a barrier (docs/accuracy/clocks.md, "Work that
 * nobody waits for").
 */
#define ALONE_DOUBT 1.5

/*
 * Programs that spin tell neither for whom they wait nor how often. Predictions are wrong by up to
 * SPIN_DOUBT points for each percent of line speedup, up to half of it (not more at 100 %), where
 * such waits are shorter than the period (half of that in simulation, sim coverage -r -m spin; all
 * of it for a spin lock on a machine whose ticks allow no finer period, docs/accuracy/spinning.md);
 * where they are seen many times each, by SPIN_LEAST of that. Less, if less than SPIN_SHARE of CPU
 * time goes to them.
 */
#define SPIN_DOUBT 0.55
#define SPIN_MOST  50.0 /* percent of line speedup */
#define SPIN_LEAST 0.15
#define SPIN_SHARE 0.03

/* Pairs with at least one usable treated window, by target and progress. */
struct estimates {
	struct estimate *e;
	size_t n;
	struct phases *phases; /* by progress id */
	size_t n_phases;
};

#define STATS_ENOUGH_SAMPLED 200 /* of a target, before its share of the samples is known */

/* Samples of profiled tasks, over the whole run. */
struct stats_sampled {
	uint64_t n;	 /* in the target; 0: not known */
	uint64_t polled; /* of these, in tasks that wait by polling */
	uint64_t all;
};

struct stats_options {
	uint64_t seed;
	bool exact;			     /* intervals without METHOD_PP */
	bool bare;			     /* without phases, precision_s and warnings */
	const struct stats_sampled *sampled; /* by target */
	size_t n_sampled;
};

/* Deterministic for equal input and seed; the order of @windows does not matter. Returns 0. */
int stats_estimate(const struct profile_window *windows, size_t n_windows, size_t n_progress,
		   const struct stats_options *opt, struct estimates *ret);
void estimates_free(struct estimates *e);
/*
 * Widest half width over the treated points of one target (for --precision); INFINITY when a
 * point has fewer than three windows or there is none.
 */
double estimate_half_width(const struct estimate *e);

#endif
