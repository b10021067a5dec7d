/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run measures with, and the windows of one run of the command in the order of lib/plan. */
#ifndef SCOZD_EXPERIMENT_H
#define SCOZD_EXPERIMENT_H

#include "daemon/period.h"
#include "daemon/trials.h"
#include "daemon/window.h"

/* Three windows with a speedup, and those without around them: below that there is no interval. */
#define EXPERIMENT_LEAST_TREATED 3
#define EXPERIMENT_LEAST_WINDOWS (2 * EXPERIMENT_LEAST_TREATED + 1)

/* Owned by main(). */
struct experiment {
	struct session *s;
	struct sampling sampling;
	struct trials *trials;
	struct windows *windows;
	struct window_tuner *tuner;
	size_t slowest;	     /* the progress point that windows are as long as they are for */
	bool in_bursts;	     /* ... because of the pauses between its visits */
	size_t next_control; /* after how many windows all is stopped in one (stats/stretch.h) */
	struct window_length length;   /* of the last trial; 0 s: nothing was measured */
	bool provisional;	       /* the period, until it is known whether targets are seen */
	double precise_s;	       /* precise_goes_on() */
	struct machine_times *machine; /* at the start, by core */
};

/* The period, from what happened so far. */
void experiment_choose_period(struct experiment *x, const struct happened *h);
/*
 * Warms up, then the windows of one run of the command, or until the end. The period is chosen by
 * what happens in the warm-up, anew after the first visit of a progress point.
 */
int experiment_run(struct experiment *x, struct error *err);

#endif
