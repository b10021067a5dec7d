/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time per unit of work as a control variate; inside lib/stats and tests. */
#ifndef SCOZ_CONTROL_VARIATE_H
#define SCOZ_CONTROL_VARIATE_H

#include "stats/units.h"

struct control {
	double slope;	  /* of log time over log CPU time of a unit of work; 0: not used */
	double slope_se;  /* standard error */
	double explained; /* share of the variance of units that it explains */
	double valid;	  /* probability that virtual speedup leaves the CPU time as it is */
};

/* What CPU times are good for; all 0 where they are good for nothing. */
void control_fit(const struct unit_sets *sets, struct control *ret);
/* @deviation: of the time of each unit of @set; what is left once the noise is taken off. */
void control_deviations(const struct control *c, const struct unit_set *set, double *deviation);
/*
 * @r: by set, what times alone say, with the scatter of what control_deviations() left; those of
 * treated sets are replaced with what they say once the noise that CPU times show is taken off.
 */
void control_apply(const struct unit_sets *sets, struct control *c, struct log_ratio *r);

#endif
