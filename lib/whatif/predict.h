/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A causal recording's answer: what each of its functions would bring, were it faster. */
#ifndef SCOZ_WHATIF_PREDICT_H
#define SCOZ_WHATIF_PREDICT_H

#include "whatif/bounds.h"

#define PREDICT_TARGETS	 64 /* at most */
#define PREDICT_SPEEDUPS 3
extern const double predict_speedups[PREDICT_SPEEDUPS]; /* 0.25, 0.5, 1 */

struct predict_target {
	const char *symbol, *object; /* of the recording */
	double share; /* of the time that threads ran: in it, or called by it; 0 to 1 */
	uint64_t samples;
	struct bounds_answer at[PREDICT_SPEEDUPS];
};

struct predict {
	struct predict_target *targets; /* those with the most samples */
	size_t n_targets;
	uint64_t visits;  /* of the progress point */
	bool by_run_time; /* there is none: the time until the first thread ended */
	bool concluded;	  /* else neither is known */
	double crowded;	  /* bounds_crowded() */
	double spun;	  /* share of the time that threads ran: waiting in a loop; 0 to 1 */
	uint64_t samples, events;
};

/* @point: a number of the recording's, TRACE_NONE: its first one, or the run time. */
int predict(const struct trace *t, uint32_t point, size_t most_targets, struct predict *ret,
	    struct error *err);
void predict_free(struct predict *p);

#endif
