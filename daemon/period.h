/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often is sampled: chosen from what happens (lib/plan/period.h), and what that does. */
#ifndef SCOZD_PERIOD_H
#define SCOZD_PERIOD_H

#include "daemon/session.h"

struct sampling {
	uint64_t period_ns;
	double expected_pp;	/* what predictions were expected to be off by when it was chosen */
	uint64_t min_period_ns; /* the kernel would throttle a shorter one; 0: any will do */
	double tick_cost_ns;	/* 0: not known */
};

/* What happened between two ledgers, @seconds apart. */
struct happened {
	const struct engine_ledger *a, *b;
	double seconds;
	double visits_per_s; /* of the busiest progress point; 0: not known */
	double seen;	     /* share of hits whose begin and end are seen */
	double waits;	     /* share of the target's time that is waits (plan/period.h) */
};
/* For the time being, until something is known. */
void sampling_begin(struct sampling *p, const struct options *opt);
/* @provisional: what is seen is not known yet, so that it will be chosen anew: no doubts are told.
 */
void sampling_choose(struct sampling *p, struct session *s, const struct happened *h,
		     bool provisional);
/* What predictions were to be off by at the period in use, from what happened, in points. */
double sampling_expected_pp(const struct sampling *p, const struct session *s,
			    const struct happened *h);

#endif
