/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time, and what strangers leave, as control variates; inside lib/stats and tests. */
#ifndef SCOZ_CONTROL_VARIATE_H
#define SCOZ_CONTROL_VARIATE_H

#include "stats/units.h"

struct control {
	double slope;	  /* of log time over log CPU time of a unit of work; 0: not used */
	double slope_se;  /* standard error */
	double explained; /* share of the variance of units that it explains */
	double valid;	  /* probability that virtual speedup leaves the CPU time as it is */
	/*
	 * Of log time over what strangers took more of the cores (strangers.h), with CPU time
	 * beside it; and without that, as it is where the target really is cheaper.
	 */
	struct by_strangers {
		double slope, slope_se; /* 0: not used */
		double explained;	/* without CPU time */
	} strangers, really;
};

/* What they are good for; all 0 where they are good for nothing. */
void control_fit(const struct unit_sets *sets, struct control *ret);
/* @deviation: of the time of each unit of @set; what is left once the noise is taken off. */
void control_deviations(const struct control *c, const struct unit_sets *sets,
			const struct unit_set *set, double *deviation);
/*
 * @r: by set, what times alone say, with the scatter of what control_deviations() left; those of
 * treated sets are replaced with what they say once the noise is taken off that CPU times and
 * strangers show, and those of real ones without what strangers show.
 */
void control_apply(const struct unit_sets *sets, struct control *c, struct log_ratio *r);

#endif
