/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers, Student's t and ratios of ratios; inside lib/stats, lib/plan and tests. */
#ifndef SCOZ_RESAMPLE_H
#define SCOZ_RESAMPLE_H

#include "base/base.h"

struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *r);
/* Independent streams: mixes @value into @seed. */
uint64_t rng_mix(uint64_t seed, uint64_t value);

/* P(|T| > |t|) and the t with P(T < t) = p, for df degrees of freedom. */
double student_two_sided(double t, double df);
double student_quantile(double p, double df);

/* One observation: time and work of a treated window and of its baseline. */
struct unit {
	double time, work;   /* treated */
	double time0, work0; /* baseline */
	/* In the time of the visits: waits that a device or timer ended, and inserted delay. */
	double external, external0, inserted;
	double waits, waits0; /* that external consists of */
	double ran, ran0;     /* CPU time of profiled tasks; 0: not known */
	/*
	 * The time times the share of the cores that strangers leave (strangers.h), or, of whole
	 * runs, the work divided by it; NAN: not known.
	 */
	double left, left0;
	double start_s; /* of the treated window */
	/* The 0 % windows that the baseline is the mean of, by index among the target's windows. */
	uint32_t zero[2], n_zero;
};

struct log_ratio {
	double value;  /* log(period / baseline period) */
	double lo, hi; /* 95 % interval; infinite with fewer than three units */
	double se, df; /* of value; 0 with fewer than three units */
};

/*
 * @inflation: variance of the estimate over what it would be were the units independent (they
 * share baselines), at least 1.
 */
struct log_ratio log_ratio_estimate(const struct unit *u, size_t n, double inflation);
/* So many units of one length would vary as much: n where all are alike, 1 where one is all. */
double log_ratio_units(const struct unit *u, size_t n);
/*
 * By how much each unit moves the estimate, times n: its deviation, as a log ratio, as large as it
 * would be had it not pulled the mean towards itself.
 */
void log_ratio_deviations(const struct unit *u, size_t n, double *ret);
/* With its 95 % interval. */
void log_ratio_set(struct log_ratio *r, double value, double se, double df);
/* By how many percent less time that is. */
double log_ratio_percent(double log_ratio);

#define Z_975 1.959963984540054

#endif
