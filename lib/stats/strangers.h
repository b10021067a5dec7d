/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What strangers leave of the cores; inside lib/stats and tests. */
#ifndef SCOZ_STATS_STRANGERS_H
#define SCOZ_STATS_STRANGERS_H

#include "stats/units.h"

/* CPU time of others, as far as it is known; what the host took of it as well, as in `ran_s`. */
double strangers_ran(const struct profile_window *w);
/* The share of the cores' time that is left, 0 to 1; NAN: not known. */
double strangers_left(const struct profile_window *w);

/*
 * The units of @set with what is left in the place of what gets done: their estimate is by how much
 * less is left in treated windows than in their baselines; to be freed.
 */
struct unit *strangers_units(const struct unit_sets *sets, const struct unit_set *set);

struct strangers_noise {
	double mean, variance;
};

/*
 * What of a difference in the logarithm of what is left is noise, and no doing of the treatment,
 * which made the time per unit of work differ by the log ratio @change: @seen, with that @variance,
 * in @treated windows (their sum) compared with those at @zero.
 */
struct strangers_noise strangers_noise_in(double seen, double variance,
					  const struct profile_window *zero,
					  const struct profile_window *treated, double change);
/* The same of a set and its baselines. */
struct strangers_noise strangers_noise(const struct unit_sets *sets, const struct unit_set *set,
				       double change);

#endif
