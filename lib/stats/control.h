/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time per unit of work as a control variate; inside lib/stats and tests. */
#ifndef SCOZ_CONTROL_H
#define SCOZ_CONTROL_H

#include "stats/units.h"

struct control {
	double slope;	  /* of log time over log CPU time of a unit of work; 0: not used */
	double explained; /* share of the variance of units that it explains */
	double valid;	  /* probability that virtual speedup leaves the CPU time as it is */
};

/*
 * @r: what the sets say, by set; those of treated sets are replaced with what they say once the
 * noise that CPU times show is taken off.
 */
void control_apply(const struct unit_sets *sets, struct log_ratio *r, struct control *ret);

#endif
