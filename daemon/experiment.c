// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of windows. One round of a target is 0 %, s1, 0 %, s2, ... 0 % with the speedups in
 * random order, so that every treated window stands between two of its baselines, seconds apart
 * at most: a machine that changes speed for longer cancels out.
 */
#include "daemon/lease.h"
#include "daemon/session.h"

#include <math.h>

#define WINDOW_VISITS	20 /* visits of the slowest point in a window, if it need not be long */
#define WINDOW_MIN_S	0.2
#define WINDOW_MAX_S	10
#define SETTLE_VISITS	4
#define SETTLE_MIN_S	0.1
#define SETTLE_MAX_S	2
#define WARM_UP_LIMIT_S 10 /* how long to wait for the first visit and the first target */

#define RETRY_NS (200 * NSEC_PER_MSEC)

#define PERIOD_MIN_NS	 (100 * NSEC_PER_USEC)
#define PERIOD_MAX_NS	 (1 * NSEC_PER_MSEC)
#define PERIODS_PER_SYNC 10
#define COARSE_PERIODS	 5 /* fewer periods between synchronisations than this: warn */

static double next_random(struct session *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 11) * 0x1p-53;
}

/*
 * Delays come in lumps of speedup * period; where programs synchronise more often than that, lumps
 * hide in the waits (accounting.md section 4). The time between synchronisations is taken from the
 * wake-ups among profiled tasks; cores beyond two are assumed to synchronise in pairs of their own.
 */
void experiment_choose_period(struct session *s, const struct engine_ledger *a,
			      const struct engine_ledger *b, double seconds)
{
	double syncs = (b->syncs - a->syncs) / seconds;
	double busy = s->cores.n - (b->idle - a->idle) / 1e9 / seconds;
	double pairs = busy > 2 ? busy / 2 : 1, period;
	struct error err = {};

	s->sync_interval_s = syncs > 0 ? pairs / syncs : INFINITY;
	period = s->sync_interval_s * 1e9 / PERIODS_PER_SYNC;
	if (period > PERIOD_MAX_NS)
		period = PERIOD_MAX_NS;
	if (period < PERIOD_MIN_NS)
		period = PERIOD_MIN_NS;
	if (s->opt.frequency > 0)
		period = NSEC_PER_SEC / s->opt.frequency;
	s->period_ns = period;
	s->coarse = s->sync_interval_s * 1e9 < COARSE_PERIODS * period;
	engine_set_nominal_period(s->engine, s->period_ns);
	handlers_set_period(s->handlers, s->period_ns);
	for (int i = 0; i < s->cores.n; i++)
		engine_set_period(s->engine, i, s->period_ns);
	if (profile_writer_frequency(s->writer, 1e9 / s->period_ns, &err))
		log_warn("%s", err.text);
	status_event(s, "frequency", "%.0f samples a second and core (synchronises every %.2f ms)",
		     1e9 / s->period_ns, s->sync_interval_s * 1e3);
	if (s->coarse)
		session_warn(
			s,
			"the profiled tasks synchronise every %.2f ms: no allowed sampling period "
			"is fine enough for that (in use: %.2f ms), and predictions may be wrong "
			"by "
			"several points",
			s->sync_interval_s * 1e3, s->period_ns / 1e6);
}

int experiment_warm_up(struct session *s, struct error *err)
{
	struct engine_ledger a, b;
	uint64_t t0 = clock_now_ns();

	(void)err;
	engine_read_ledger(s->engine, &a);
	if (!session_sleep(s, s->opt.warmup > 0 ? s->opt.warmup : 0.05))
		return -EINTR;
	engine_read_ledger(s->engine, &b);
	experiment_choose_period(s, &a, &b, (clock_now_ns() - t0) / 1e9);
	return 0;
}

/* Visits per second of the slowest point that moves at all; 0 when none does. */
static double slowest_rate(struct session *s, double *since)
{
	double slowest = 0;

	for (size_t i = 0; i < points_count(s->points); i++) {
		struct point_reading r;
		double rate;

		points_read(s->points, i, &r);
		rate = (r.visits - s->first[i].visits) / ((r.time - s->first[i].time) / 1e9);
		*since = (r.time - s->first[i].time) / 1e9;
		if (rate > 0 && (slowest == 0 || rate < slowest))
			slowest = rate;
	}
	return slowest;
}

static double clamp(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static int run_round(struct session *s, struct trial *t, double settle_s, double length_s)
{
	size_t n = s->opt.n_speedups;
	_cleanup_free_ double *order = xcalloc(n, sizeof(*order));
	int ret;

	memcpy(order, s->opt.speedups, n * sizeof(*order));
	for (size_t i = n; i > 1; i--) {
		size_t j = next_random(s) * i;
		double swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
	ret = window_measure(s, t, 0, settle_s, length_s);
	for (size_t i = 0; !ret && i < n; i++) {
		ret = window_measure(s, t, order[i], settle_s, length_s);
		if (!ret)
			ret = window_measure(s, t, 0, settle_s, length_s);
	}
	engine_set_speedup(s->engine, 0);
	if (!ret)
		t->rounds++;
	return ret;
}

static bool precise_enough(struct session *s)
{
	struct stats_options opt = { .resamples = 500, .seed = s->opt.seed };
	struct estimates e;
	bool enough = true;

	if (s->opt.precision <= 0 ||
	    stats_estimate(s->windows, s->n_windows, points_count(s->points), &opt, &e))
		return false;
	for (size_t i = 0; i < e.n; i++)
		enough &= estimate_half_width(&e.e[i]) <= s->opt.precision;
	enough &= e.n > 0;
	estimates_free(&e);
	return enough;
}

int experiment_run(struct session *s, struct error *err)
{
	int ret = s->lease ? 0 : lease_start(s->engine, &s->lease, err);

	while (!ret) {
		double since = 0, rate = slowest_rate(s, &since);
		struct trial *t = rate > 0 ? trials_next(s) : NULL;

		if (!t) {
			if (s->n_trials && !trials_pending(s))
				return 0;
			ret = session_sleep(s, 0.1) ? 0 : -EINTR;
			continue;
		}
		ret = trial_select(s, t, err);
		if (ret == -ENOENT && session_elapsed_s(s) < WARM_UP_LIMIT_S) {
			log_debug("%s", err->text); /* its binary may not have run yet */
			t->not_before_ns = clock_now_ns() + RETRY_NS;
			ret = 0;
			continue;
		}
		if (ret == -ENOSPC || ret == -EIO)
			return ret;
		if (ret) {
			session_reason(s, "%s", err->text);
			t->broken = true;
			ret = 0;
			continue;
		}
		ret = run_round(s, t, clamp(SETTLE_VISITS / rate, SETTLE_MIN_S, SETTLE_MAX_S),
				clamp(WINDOW_VISITS / rate, WINDOW_MIN_S, WINDOW_MAX_S));
		if (!ret && precise_enough(s)) {
			s->end = "precision";
			return 0;
		}
	}
	return ret == -EINTR ? 0 : ret;
}
