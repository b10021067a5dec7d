// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delays come in lumps of speedup * period; where programs synchronise more often than that, lumps
 * hide in the waits (docs/accounting.md section 4). The time between synchronisations is taken from
 * the wake-ups among profiled tasks; cores beyond two are assumed to synchronise in pairs of their
 * own. A spin lock that is waited for in earnest is a synchronisation, too. Tasks that spin in user
 * space tell nobody, so half a unit of work is taken for a synchronisation as well: it may hold
 * several, a lock or a barrier. Who runs alone waits for nobody so: it is believed as far as there
 * is another task that could run at the same time. Who sleeps, looks for what others have done, and
 * sleeps again finds it later by what has not been inserted as he looks; for him it is of no use
 * that begin and end of the target are seen.
 *
 * Ticks take time, and not from all alike: they slow computing down, but no device and no timer,
 * so that a program under many ticks is another program. What both do to predictions was simulated
 * (docs/accuracy/period.md, "The period"): on average over the models,
 *
 *     error = 4.5 r + 15 p + 2 q + 34 q^2 points
 *
 * where r = period / interval, p = looks in a period, q = tick's cost / period, and lumps much
 * longer than the interval do no more than LUMPS_MAX_PP (since they are spread, account/spread.h).
 * A target that is waiting is not sampled: a wait is a hit of its length where it ends, however
 * many synchronisations a period has (docs/accuracy/waiting.md, "Periods").
 *
 * Both terms count, and whatever the first one says, ticks may take PERIOD_MAX_SHARE of a busy core
 * and no more. Between periods that are as good to a tenth of a point the coarser one is taken.
 */
#include "plan/period.h"

#include <math.h>

#define PERIOD_MIN_NS (100 * NSEC_PER_USEC)
#define PERIOD_MAX_NS (500 * NSEC_PER_USEC) /* unless ticks are dear */
#define PERIOD_STEP   1.02		    /* from one that is looked at to the next */
#define LUMPS_PP      4.5
#define POLLS_PP      15.0 /* measured, not simulated (docs/accuracy/period.md) */
#define SEEN_LUMPS_PP 0.5  /* where begin and end of the target are seen */
#define TICKS_PP      2.0
#define TICKS_PP2     34.0
#define LUMPS_MAX_PP  8.0 /* lumps much longer than the interval do no worse than that */
#define ERROR_MAX_PP  20.0
#define AS_GOOD_PP    0.1
#define WORTH_PP      0.3   /* what a better period must gain to be mentioned */
#define SPIN_LONG_NS  20000 /* shorter ones are a cache line under way, no wait */
#define TICK_COST_NS  10000 /* where it is not known */

/* What decides between periods. */
struct quality {
	double interval_ns, cost_ns;
	double polls_per_ns;
	double lumps_pp; /* for each period / interval */
	double waits;
};

static double share(const struct quality *q, double period_ns)
{
	return q->cost_ns / period_ns;
}

static double lumps_pp(const struct quality *q, double period_ns)
{
	double ratio = period_ns / q->interval_ns;

	return (1 - q->waits) * q->lumps_pp * ratio + q->waits * SEEN_LUMPS_PP * fmin(ratio, 1);
}

static double looks_and_ticks_pp(const struct quality *q, double period_ns)
{
	double ticks = share(q, period_ns);

	return POLLS_PP * period_ns * q->polls_per_ns + TICKS_PP * ticks +
	       TICKS_PP2 * ticks * ticks;
}

/* What periods are compared by: also where the coarser one does no more harm, it is no better. */
static double error_pp(const struct quality *q, double period_ns)
{
	return lumps_pp(q, period_ns) + looks_and_ticks_pp(q, period_ns);
}

static double expected_pp(const struct quality *q, double period_ns)
{
	double lumps = fmin(lumps_pp(q, period_ns), LUMPS_MAX_PP);

	return fmin(lumps + looks_and_ticks_pp(q, period_ns), ERROR_MAX_PP);
}

/* The coarsest period from @lo to @hi that is about as good as the best of them. */
static double best_period(const struct quality *q, double lo, double hi)
{
	double least = INFINITY, best = lo;

	for (double p = lo; p <= hi * 1.0001; p *= PERIOD_STEP)
		least = fmin(least, error_pp(q, p));
	for (double p = lo; p <= hi * 1.0001; p *= PERIOD_STEP) {
		if (error_pp(q, p) <= least + AS_GOOD_PP)
			best = p;
	}
	return best;
}

static double pairs(const struct period_input *in)
{
	return in->busy_cores > 2 ? in->busy_cores / 2 : 1;
}

static double sync_interval_s(const struct period_input *in)
{
	double syncs = in->syncs_per_s;

	if (in->spin_ns >= SPIN_LONG_NS)
		syncs += in->spins_per_s;
	return syncs > 0 ? pairs(in) / syncs : INFINITY;
}

/* Units of work that may hold a wait which nobody sees. */
static double unseen_per_s(const struct period_input *in)
{
	double together = in->runnable > 0 ? fmin(fmax(in->runnable - 1, 0), 1) : 1;

	return in->visits_per_s * together;
}

static struct quality quality(const struct period_input *in)
{
	struct quality q = {
		.interval_ns = sync_interval_s(in) * NSEC_PER_SEC,
		.cost_ns = in->tick_cost_ns > 0 ? in->tick_cost_ns : TICK_COST_NS,
		.polls_per_ns = in->polls_per_s / pairs(in) / NSEC_PER_SEC,
		.lumps_pp = LUMPS_PP + (SEEN_LUMPS_PP - LUMPS_PP) * in->seen,
		.waits = in->waits,
	};

	if (unseen_per_s(in) > 0)
		q.interval_ns = fmin(q.interval_ns,
				     fmax(in->busy_cores, 1) / unseen_per_s(in) / 2 * NSEC_PER_SEC);
	return q;
}

double period_expected_pp(const struct period_input *in, uint64_t period_ns)
{
	struct quality q = quality(in);

	return expected_pp(&q, period_ns);
}

struct period_choice period_choose(const struct period_input *in)
{
	struct period_choice c = { .sync_interval_s = sync_interval_s(in) };
	struct quality q = quality(in);
	double finest, shared, period;

	shared = q.cost_ns / PERIOD_MAX_SHARE;
	finest = best_period(&q, fmax(PERIOD_MIN_NS, in->least_ns),
			     fmax(fmax(PERIOD_MAX_NS, in->least_ns), shared));
	period = fmax(finest, shared);
	if (in->frequency_hz > 0)
		period = fmax(NSEC_PER_SEC / in->frequency_hz, in->least_ns);
	c.period_ns = ceil(period);
	c.tick_share = in->tick_cost_ns > 0 ? share(&q, period) : 0;
	c.interval_s = 1 / (1 / q.interval_ns + q.polls_per_ns) / NSEC_PER_SEC;
	c.error_pp = expected_pp(&q, period);
	c.coarse = c.error_pp > PERIOD_ERROR_PP;
	c.finest_ns = ceil(finest);
	c.finest_share = in->tick_cost_ns > 0 ? share(&q, finest) : 0;
	c.finest_error_pp = expected_pp(&q, finest);
	return c;
}

char *period_describe(const struct period_input *in, const struct period_choice *c)
{
	_cleanup_free_ char *cost = NULL, *better = NULL;
	struct period_input free_choice = *in;
	struct period_choice chosen;

	if (!c->coarse)
		return NULL;
	free_choice.frequency_hz = 0;
	chosen = period_choose(&free_choice);
	if (c->tick_share > 0)
		cost = xasprintf(
			"; a sample costs %.0f us on this machine, so sampling takes %.1f %% of a "
			"busy core",
			in->tick_cost_ns / 1e3, 100 * c->tick_share);
	if (in->frequency_hz > 0 && chosen.error_pp < c->error_pp - WORTH_PP)
		better = xasprintf("without --frequency, %.0f Hz would be used: %.1f points",
				   1e9 / chosen.period_ns, chosen.error_pp);
	else if (c->finest_error_pp < c->error_pp - WORTH_PP)
		better = xasprintf("with --frequency %.0f sampling would take %.0f %% of a "
				   "busy core, and it would be %.1f points",
				   1e9 / c->finest_ns, 100 * c->finest_share, c->finest_error_pp);
	else
		better = xstrdup("no other period is better: take larger units of work, or trust "
				 "only larger effects");
	return xasprintf(
		"the profiled tasks synchronise about every %.2f ms, and samples are %.2f ms "
		"apart%s: expect predictions to be wrong by %.1f points on average (%s)",
		c->interval_s * 1e3, c->period_ns / 1e6, cost ? cost : "", c->error_pp, better);
}
