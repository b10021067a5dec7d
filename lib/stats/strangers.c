// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Strangers take cores away when they like to: in one window a tenth, in the next one half. Where
 * they do, this is most of what windows differ by, and it is known how much they left. Virtual
 * speedup leaves it as it is, so what treated windows and their baselines differ by in it is noise,
 * of which control_variate.c takes off what it does to times.
 *
 * What they leave is a share of the wall time. (Of virtual time it would be wrong: real-time tasks,
 * timers and daemons go by the wall clock, and run in stops or right after them.) But not all
 * strangers go by the clock. Who takes whatever is left has what a stopped program leaves, or is
 * held up by stops himself; a program that has become faster leaves him less, or has more for him
 * to do. So what ordinary strangers take may have changed by the share of time that was stopped,
 * and by that by which the program became faster, in either direction; real-time ones wait for
 * nobody. Only what is then likely to be noise is taken off, and what is not known about it widens
 * the interval: beside one busy loop that is always there, there is no noise to speak of, and
 * nothing changes.
 */
#include "stats/strangers.h"

#include <math.h>

#define MOST_TAKEN  0.95
#define NEVER_EXACT 0.002 /* what real-time strangers may change by, all the same */

double strangers_ran(const struct profile_window *w)
{
	return fmax(w->busy_s + w->stolen_s - w->ran_s - w->stopped_s, 0);
}

double strangers_left(const struct profile_window *w)
{
	if (!w->cores || !(w->busy_s > 0) || !(w->wall_s > 0))
		return NAN;
	return 1 - fmin(strangers_ran(w) / (w->wall_s * w->cores), MOST_TAKEN);
}

struct unit *strangers_units(const struct unit_sets *sets, const struct unit_set *set)
{
	struct unit *ret = xcalloc(set->n + 1, sizeof(*ret));

	for (size_t i = 0; i < set->n; i++) {
		const struct unit *u = &set->u[i];

		if (sets->per_run)
			ret[i] = (struct unit){ .time = u->left,
						.work = u->work,
						.time0 = u->left0,
						.work0 = u->work0 };
		else
			ret[i] = (struct unit){ .time = u->time,
						.work = u->left,
						.time0 = u->time0,
						.work0 = u->left0 };
	}
	return ret;
}

/* Variance of what the treatment may have done to what strangers leave, as a log ratio. */
static double treatment_variance(const struct profile_window *zero,
				 const struct profile_window *treated, double change)
{
	double ordinary = fmax(strangers_ran(zero) - zero->urgent_s, 0),
	       left = strangers_left(zero);
	double share = ordinary / (zero->wall_s * zero->cores) / left;
	double stopped = treated->wall_s > 0 ? fmin(treated->inserted_s / treated->wall_s, 1) : 0;
	double faster = fmin(fabs(expm1(change)), 1);

	/* Each anywhere between the share of theirs, more or less. */
	return share * share * (stopped * stopped + faster * faster) / 3 +
	       NEVER_EXACT * NEVER_EXACT;
}

struct strangers_noise strangers_noise_in(double seen, double variance,
					  const struct profile_window *zero,
					  const struct profile_window *treated, double change)
{
	double treatment = treatment_variance(zero, treated, change);

	return (struct strangers_noise){
		.mean = seen * variance / (variance + treatment),
		.variance = variance * treatment / (variance + treatment),
	};
}

struct strangers_noise strangers_noise(const struct unit_sets *sets, const struct unit_set *set,
				       double change)
{
	_cleanup_free_ struct unit *u = strangers_units(sets, set);
	struct log_ratio seen = log_ratio_estimate(u, set->n, set->inflation);

	return strangers_noise_in(seen.value, seen.se * seen.se, &sets->s[0].sum.w, &set->sum.w,
				  change);
}
