// SPDX-License-Identifier: GPL-2.0-or-later
/* The windows of one run, in the order that lib/plan gives, and at the period that it gives. */
#include "daemon/lease.h"
#include "daemon/session.h"
#include "plan/period.h"

#include <math.h>

#define WARM_UP_LIMIT_S 30 /* how long to wait for the first visit and the first target */

/* What a period has to do with: what happened between two ledgers. */
static struct period_input period_input(const struct session *s, const struct engine_ledger *a,
					const struct engine_ledger *b, double seconds,
					double visits_per_s)
{
	/* Stops are no time of the program's. */
	double own = fmax(seconds - (b->delay - a->delay) / 1e9, seconds / 100);

	return (struct period_input){
		.syncs_per_s = (b->syncs - a->syncs) / own,
		.spins_per_s = (b->spins - a->spins) / own,
		.spin_ns = b->spins > a->spins ? (double)(b->spun - a->spun) / (b->spins - a->spins)
					       : 0,
		.visits_per_s = visits_per_s,
		.tick_cost_ns = s->tick_cost_ns,
		.busy_cores = s->cores.n - (b->idle - a->idle) / 1e9 / seconds,
		.frequency_hz = s->opt.frequency,
		.least_ns = s->min_period_ns,
	};
}

double experiment_expected_pp(const struct session *s, const struct engine_ledger *a,
			      const struct engine_ledger *b, double seconds, double visits_per_s)
{
	struct period_input in = period_input(s, a, b, seconds, visits_per_s);

	return period_expected_pp(&in, s->period_ns);
}

void experiment_choose_period(struct session *s, const struct engine_ledger *a,
			      const struct engine_ledger *b, double seconds, double visits_per_s)
{
	struct period_input in = period_input(s, a, b, seconds, visits_per_s);
	struct period_choice choice = period_choose(&in);
	_cleanup_free_ char *doubt = period_describe(&in, &choice), *interval = NULL;
	struct error err = {};

	s->period_ns = choice.period_ns;
	s->expected_pp = choice.error_pp;
	plan_set_period(s->plan, s->period_ns);
	engine_set_nominal_period(s->engine, s->period_ns);
	handlers_set_period(s->handlers, s->period_ns);
	for (int i = 0; i < s->cores.n; i++)
		engine_set_period(s->engine, i, s->period_ns);
	if (profile_writer_frequency(s->writer, 1e9 / s->period_ns, &err))
		log_warn("%s", err.text);
	if (isfinite(choice.interval_s))
		interval = xasprintf("; the profiled tasks synchronise about every %.2f ms",
				     choice.interval_s * 1e3);
	status_event(
		s, "frequency",
		"%.0f samples a second and core, for which ticks take %.1f %% of a busy core%s: "
		"expect predictions to be off by %.1f points",
		1e9 / s->period_ns, 100 * choice.tick_share, interval ? interval : "",
		choice.error_pp);
	/* Before the first visit it is chosen for the time being. */
	if (doubt && (visits_per_s > 0 || s->opt.end_to_end))
		session_warn(s, "%s", doubt);
}

/* Without visits nothing is known of the work yet: then it is to be done again after the first. */
static int warm_up(struct session *s, bool *visited)
{
	size_t n = points_count(s->points);
	_cleanup_free_ struct point_reading *before = xcalloc(n, sizeof(*before));
	struct engine_ledger a, b;
	uint64_t t0 = clock_now_ns();
	double seconds, busiest = 0;

	for (size_t i = 0; i < n; i++)
		points_read(s->points, i, &before[i]);
	engine_read_ledger(s->engine, &a);
	if (!session_sleep(s, s->opt.warmup > 0 ? s->opt.warmup : 0.05))
		return -EINTR;
	engine_read_ledger(s->engine, &b);
	seconds = (clock_now_ns() - t0) / 1e9;
	for (size_t i = 0; i < n; i++) {
		struct point_reading r;

		points_read(s->points, i, &r);
		busiest = fmax(busiest, (r.visits - before[i].visits) / seconds);
	}
	experiment_choose_period(s, &a, &b, seconds, busiest);
	*visited = busiest > 0;
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

/* The point with most visits says most about whether the program had settled. */
static double log_period(const struct profile_window *w)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < w->n_progress; i++) {
		if (w->progress[i].visits > w->progress[best].visits)
			best = i;
	}
	return w->discard ? NAN : log(w->progress[best].virtual_s / w->progress[best].visits);
}

static int measure(struct session *s, const struct plan_window *what, double visits_per_s)
{
	struct window_length length = window_tuner_next(s->tuner, visits_per_s);
	struct profile_window w[WINDOW_MAX_HOLD];
	int ret = window_hold(s, what, &length, w);

	if (ret || length.hold == 1)
		return ret;
	/* A real speedup changes the program as a virtual one does, but they are not the same. */
	if (window_tuner_held(s->tuner, what->real ? -what->speedup : what->speedup,
			      log_period(&w[length.hold - 1]) - log_period(&w[0]))) {
		length = window_tuner_next(s->tuner, visits_per_s);
		status_event(s, "unsettled",
			     "the program had not settled when windows began: they take %.2f s and "
			     "begin after %.2f s from now on",
			     length.length_s, length.settle_s);
		window_discard_all(s, "unsettled");
	}
	return 0;
}

int experiment_run(struct session *s, struct error *err)
{
	bool visited = false;
	int ret = warm_up(s, &visited);

	if (ret)
		return 0; /* the run is over */
	if (!s->lease)
		ret = lease_start(s->engine, &s->lease, err);

	plan_interrupt(s->plan);
	s->selected = NULL;
	while (!ret) {
		double since = 0, rate;
		enum plan_answer answer = PLAN_WAIT;
		struct plan_window what;
		struct trial *t;

		lease_beat(s->lease);
		session_look_for_marks(s);
		if (!session_repair(s, err))
			log_warn("%s", err->text);
		rate = slowest_rate(s, &since);
		if (rate > 0 && !visited) {
			ret = warm_up(s, &visited) ? -EINTR : 0;
			visited = true;
			continue;
		}
		if (rate > 0)
			answer = trials_next(s, &what);
		if (answer == PLAN_PRECISE) {
			s->end = "precision";
			return 0;
		}
		if (answer == PLAN_WAIT) {
			if (s->n_trials && !trials_pending(s))
				return 0;
			ret = session_sleep(s, 0.1) ? 0 : -EINTR;
			continue;
		}
		t = &s->trials[what.target];
		ret = trial_select(s, t, err);
		/* Its binary is being read, or may not have run yet. */
		if (ret == -EAGAIN || (ret == -ENOENT && session_elapsed_s(s) < WARM_UP_LIMIT_S)) {
			log_debug("%s", err->text);
			trial_postpone(s, t);
			ret = 0;
			continue;
		}
		if (ret == -ENOSPC || ret == -EIO)
			return ret;
		if (ret) {
			trial_break(s, t, err->text);
			ret = 0;
			continue;
		}
		ret = measure(s, &what, rate);
		trial_rest(s, &s->trials[what.target]);
	}
	return ret == -EINTR ? 0 : ret;
}
