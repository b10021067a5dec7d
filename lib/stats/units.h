/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the windows of one target to units of resampling; inside lib/stats only. */
#ifndef SCOZ_UNITS_H
#define SCOZ_UNITS_H

#include "stats/holds.h"
#include "stats/quota.h"
#include "stats/window.h"
#include "stats/resample.h"

/* The units of one speedup of one (target, progress). */
struct unit_set {
	double speedup;
	bool real; /* the target was really made cheaper */
	struct unit *u;
	size_t n;
	size_t windows;		    /* that they are made of (holds.h) */
	double inflation;	    /* variance factor, because units share baselines */
	size_t capped;		    /* windows of it that were discarded, as below */
	size_t unpaired;	    /* treated windows without a 0 % window beside them */
	struct hold sum;	    /* of the windows of the units; at 0 % of all usable windows */
	double measured, corrected; /* ... virtual time, and without what a quota does to it */
	/* Variance of the estimate, in variances of the log period of a single window. */
	double geometry;
	double *share; /* of each 0 % window of the target in the baseline */
};

struct unit_sets {
	struct unit_set *s; /* by real, then speedup; the first is the placebo of 0 % */
	size_t n;
	size_t zeros;	  /* usable 0 % windows, each counted */
	bool latency;	  /* the progress point has numbers in flight */
	bool per_run;	  /* a window is a whole run */
	size_t n_windows; /* holds of the target: what struct unit's zero[] counts */
	/* At 0 %: wake-ups of profiled tasks by each other for a unit of work; tasks that run. */
	double waits, running;
	double visits; /* of the point in a window; INFINITY: a window is a whole run */
	/* At 0 %, share of the time of running tasks that they spin; that they begin to. */
	double spinning, spins_anew;
	/* At 0 %, tasks in the target: that run, that wait for devices, timers, the kernel. */
	double target_runs, target_waits;
	double target_alone; /* 0 to 1: of the first, by tasks on their own that are in others' way
			      */
	double target_ran;   /* CPU time in the target, in all windows; 0: not known */
	double target_share; /* at 0 %, of the time of running tasks; NAN: not known */
	bool waits_sped;     /* in all windows */
	struct quota_effect quota;
	/* Windows with a speedup: kept, and discarded since stops would have been too much. */
	size_t treated, capped;
};

/* For qsort() of pointers to windows: by run and seq. */
int compare_order(const void *pa, const void *pb);
/* @w: windows of one target, sorted by compare_order(). */
void unit_sets_build(const struct profile_window *const *w, size_t n, uint32_t progress,
		     struct unit_sets *ret);
void unit_sets_free(struct unit_sets *s);
/* At 0 %: tasks that are able to run and wait for a CPU, in hundredths. */
double unit_sets_queued_pct(const struct unit_sets *s);
/* Of the errors of two sets' estimates, because they share 0 % windows. */
double unit_sets_correlation(const struct unit_sets *s, size_t i, size_t k);

#endif
