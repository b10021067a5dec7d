/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would more CPUs bring? The work of a recording is run again on as many as there were and on
 * as many as are asked for, by several rules; the answer is by how much the second takes less.
 */
#ifndef SCOZ_WHATIF_CPUS_H
#define SCOZ_WHATIF_CPUS_H

#include "whatif/bounds.h"
#include "whatif/work.h"

#define CPUS_MOST 1024 /* that can be asked for */

struct cpus_options {
	double spun; /* share of the time that threads ran: waiting in a loop; 0 to 1 */
	double busy; /* share of the time that the busiest device had something to do */
};

/* Work, which must outlive it, run again on as many CPUs as there are: once, for all answers. */
struct cpus_now;
struct cpus_now *cpus_now_create(const struct work *w, uint32_t cpus);
void cpus_now_free(struct cpus_now *now);
/* @to: as many as there would be. NAN: too few units. */
void cpus_answer(struct cpus_now *now, uint32_t to, const struct cpus_options *o,
		 struct bounds_answer *ret);
/* By how much longer the recording took than the same work, run again: 1 is as long. */
double cpus_fit(struct cpus_now *now);

/* A causal recording's answers. */
struct cpus_asked {
	uint32_t cpus; /* in all; asked for as @more than were used */
	bool more;
	struct bounds_answer a;
};
struct cpus_told {
	uint32_t used; /* threads ran on so many */
	double queued; /* share of the time that they could run: they wanted one that others had */
	double fit;
	double spun, busy;
	double locks; /* share of the waits for other threads: for locks */
	uint64_t visits;
	double strangers; /* as in struct predict */
	bool by_run_time, concluded;
};
/* @point: as predict_options. Of as many CPUs as were used, or fewer, there is no answer. */
int cpus_predict(const struct trace *t, uint32_t point, struct cpus_asked *asked, size_t n,
		 struct cpus_told *told, struct error *err);

#endif
