/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise that lasts for longer than a unit; inside lib/stats and tests. */
#ifndef SCOZ_SPELLS_H
#define SCOZ_SPELLS_H

#include "stats/units.h"

/* What there is to know of the scatter of one set. */
struct scatter {
	const struct unit_set *set;
	const double *deviation; /* of each unit (log_ratio_deviations()), in time order */
};

/*
 * @r: by scatter, the estimates; those that have an interval get the standard error and degrees of
 * freedom that the scatter of all of them together suggests. @slow: by scatter, the share of the
 * variance of each that comes from what lasts longer than a unit, and so is common to all.
 * @n_windows: of the target.
 */
void spells_apply(const struct scatter *s, size_t n, size_t n_windows, struct log_ratio *r,
		  double *slow);

#endif
