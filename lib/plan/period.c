// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delays come in lumps of speedup * period; where programs synchronise more often than that, lumps
 * hide in the waits (accounting.md section 4). The time between synchronisations is taken from the
 * wake-ups among profiled tasks; cores beyond two are assumed to synchronise in pairs of their own.
 * A spin lock that is waited for in earnest is a synchronisation, too. Tasks that spin in user
 * space tell nobody, so a unit of work is taken for a synchronisation as well: where it is none, a
 * finer period than needed costs time but no truth.
 *
 * The constants are those of `make bench-sim` (docs/accuracy.md): errors shrink in proportion to
 * the period, to half a point on average at a tenth of the interval and a quarter at a twentieth.
 * The finer one is taken as far as ticks are cheap.
 */
#include "plan/period.h"

#include <math.h>

#define PERIOD_MIN_NS  (100 * NSEC_PER_USEC)
#define PERIOD_MAX_NS  (500 * NSEC_PER_USEC)
#define PERIODS_WANTED 20    /* between two synchronisations */
#define PERIODS_NEEDED 10    /* whatever they cost */
#define COARSE_PERIODS 5     /* fewer than this: warn */
#define SPIN_LONG_NS   20000 /* shorter ones are a cache line under way, no wait */
#define TICK_SHARE     0.08  /* of the time may go to more ticks than are needed */

struct period_choice period_choose(const struct period_input *in)
{
	struct period_choice c = { .sync_interval_s = INFINITY };
	double pairs = in->busy_cores > 2 ? in->busy_cores / 2 : 1;
	double syncs = in->syncs_per_s, wanted, needed, period;

	if (in->spin_ns >= SPIN_LONG_NS)
		syncs += in->spins_per_s;
	if (syncs > 0)
		c.sync_interval_s = pairs / syncs;
	wanted = needed = c.sync_interval_s;
	if (in->visits_per_s > 0) {
		double visit_s = fmax(in->busy_cores, 1) / in->visits_per_s;

		needed = fmin(needed, visit_s);
		wanted = fmin(wanted, visit_s / 2); /* it may hold several: a lock, a barrier */
	}
	period = fmax(wanted / PERIODS_WANTED,
		      fmin(needed / PERIODS_NEEDED, in->tick_cost_ns / 1e9 / TICK_SHARE));
	period = fmin(fmax(period * NSEC_PER_SEC, PERIOD_MIN_NS), PERIOD_MAX_NS);
	if (in->frequency_hz > 0)
		period = NSEC_PER_SEC / in->frequency_hz;
	c.period_ns = period;
	c.coarse = c.sync_interval_s * NSEC_PER_SEC < COARSE_PERIODS * (double)c.period_ns;
	return c;
}
