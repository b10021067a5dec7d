// SPDX-License-Identifier: GPL-2.0-or-later
#include "experiment.h"

#include "base/base.h"
#include "plan/pauses.h"
#include "plan/period.h"
#include "plan/plan.h"
#include "plan/window_length.h"
#include "stats/discard.h"

#include <math.h>

#define WARM_UP_S     0.2
#define MAX_OLD_DEBT  (5 * SIM_MS) /* as daemon/window.c */
#define SETTLE_STEP_S 0.02
#define SETTLE_LIMIT  50 /* steps */
#define WAIT_S	      0.1
#define LOOK_S	      0.02 /* as daemon/session.c */

/* The progress point as scozd sees it, all the time. */
struct watch {
	struct pauses pauses;
};

static void look(const struct sim *s, struct watch *w)
{
	struct sim_progress p;

	sim_read_progress(s, &p);
	pauses_see(&w->pauses, sim_now(s) / 1e9, p.visits);
}

static void run_for(struct sim *s, struct watch *w, double seconds)
{
	int64_t end = sim_now(s) + llround(seconds * SIM_S);

	while (sim_now(s) < end) {
		sim_run(s, fmin(end, sim_now(s) + LOOK_S * SIM_S));
		look(s, w);
	}
}

/* 0: there were none. */
static double visits_per_s(const struct sim *s)
{
	struct sim_progress p;

	sim_read_progress(s, &p);
	return p.visits / (sim_now(s) / 1e9);
}

static void settle(struct sim *s, struct watch *w, const struct plan_window *what, double seconds)
{
	sim_set_speedup(s, what->real ? 0 : what->speedup, what->real ? what->speedup : 0);
	run_for(s, w, seconds);
	for (int i = 0; i < SETTLE_LIMIT && sim_largest_debt(s) > MAX_OLD_DEBT; i++)
		run_for(s, w, SETTLE_STEP_S);
}

/* As daemon/experiment.c. */
static double expected_pp(const struct sim_options *o, const struct sim_ledger *a,
			  const struct sim_ledger *b, double seconds, int cores, uint64_t visits)
{
	double own = fmax(seconds - (b->delay - a->delay) / 1e9, seconds / 100);

	return period_expected_pp(
		&(struct period_input){
			.syncs_per_s = (b->syncs - a->syncs) / own,
			.spins_per_s = (b->spins - a->spins) / own,
			.spin_ns = b->spins > a->spins
					   ? (double)(b->spun - a->spun) / (b->spins - a->spins)
					   : 0,
			.visits_per_s = visits / own,
			.tick_cost_ns = o->tick_cost,
			.seen = o->seen,
			.busy_cores = cores - (b->idle - a->idle) / 1e9 / seconds,
		},
		o->period);
}

/* Not idle and not stolen, stops and all. */
static int64_t ran_of(const struct sim_ledger *l)
{
	return l->ran + l->others_ran + l->stopped - l->stolen;
}

static void measure(struct sim *s, struct watch *watch, const struct sim_options *o,
		    const struct plan_window *what, double length_s, int cores,
		    struct profile_window *w)
{
	struct window_progress *p = xcalloc(1, sizeof(*p));
	struct sim_progress a, b;
	struct sim_ledger before, after;
	int64_t start;

	start = sim_now(s);
	sim_read_progress(s, &a);
	sim_read_ledger(s, &before);
	run_for(s, watch, length_s);
	sim_read_progress(s, &b);
	sim_read_ledger(s, &after);
	p->visits = b.visits - a.visits;
	p->virtual_s = (b.last_virtual - a.last_virtual) / 1e9;
	*w = (struct profile_window){
		.speedup = what->speedup,
		.real = what->real,
		.start_s = start / 1e9,
		.wall_s = length_s,
		.inserted_s = (after.delay - before.delay) / 1e9,
		.external_s = (after.external_waited - before.external_waited) / 1e9,
		.crowded_s = (after.crowded - before.crowded) / 1e9 / cores,
		.shared_s = (after.shared - before.shared) / 1e9,
		.urgent_s = (after.urgent - before.urgent) / 1e9,
		.external_waits = after.external_waits - before.external_waits,
		.ran_s = (after.ran - before.ran) / 1e9,
		.stolen_s = (after.stolen - before.stolen) / 1e9,
		.stopped_s = (after.stopped - before.stopped) / 1e9,
		.busy_s = (ran_of(&after) - ran_of(&before)) / 1e9,
		.cores = cores,
		.syncs = after.syncs - before.syncs,
		.spun_s = (after.spun_seen - before.spun_seen) / 1e9,
		.spun_first_s = (after.spun_first - before.spun_first) / 1e9,
		.hits = after.hits - before.hits,
		.expected_pp = expected_pp(o, &before, &after, length_s, cores, p->visits),
		.discard = !p->visits || p->virtual_s <= 0 ? DISCARD_FEW_VISITS : KEPT,
		.n_progress = 1,
		.progress = p,
	};
}

struct windows {
	struct profile_window *w;
	size_t n, cap;
};

static void forget(struct windows *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->w[i].progress);
	w->n = 0;
}

static double log_period(const struct profile_window *w)
{
	return w->discard ? NAN : log(w->progress[0].virtual_s / w->progress[0].visits);
}

/* One speedup, held for some windows; false when all windows so far were too short. */
static bool hold(struct sim *s, struct watch *watch, const struct sim_options *o,
		 const struct plan_window *what, const struct window_length *length, int cores,
		 struct plan *plan, struct window_tuner *tuner, struct windows *w)
{
	settle(s, watch, what, length->settle_s);
	for (uint32_t i = 0; i < length->hold; i++) {
		array_reserve(w->w, w->cap, w->n + 1);
		measure(s, watch, o, what, length->length_s, cores, &w->w[w->n]);
		w->w[w->n].seq = w->n;
		if (i)
			plan_record_more(plan, what->target, &w->w[w->n]);
		else
			plan_record(plan, what->target, &w->w[w->n]);
		w->n++;
	}
	return length->hold == 1 ||
	       !window_tuner_held(tuner, what->speedup,
				  log_period(&w->w[w->n - 1]) -
					  log_period(&w->w[w->n - length->hold]));
}

static void start_anew(struct plan *plan, struct windows *w, struct sim_estimate *ret)
{
	forget(w);
	plan_forget(plan);
	ret->lengthened++;
}

static struct plan *make_plan(const struct sim_experiment *x)
{
	struct plan *plan = plan_create(&(struct plan_options){
		.speedups = x->speedups,
		.n_speedups = x->n_speedups,
		.n_progress = 1,
		.precision = x->precision,
		.exact = !x->method,
		.seed = x->seed,
	});

	plan_add_target(plan, "target", 1);
	return plan;
}

void experiment(const struct sim_program *p, const struct sim_options *o,
		const struct sim_experiment *x, struct sim_estimate *ret)
{
	struct stats_options opt = { .seed = x->seed, .exact = !x->method };
	struct plan *plan = make_plan(x);
	struct sim *s = sim_create(p, o);
	struct windows w = { .n = 0 };
	struct window_tuner *tuner;
	struct plan_window next;
	struct watch watch = { .pauses = {} };

	memset(ret, 0, sizeof(*ret));
	look(s, &watch);
	run_for(s, &watch, WARM_UP_S);
	tuner = window_tuner_create();
	while (sim_now(s) < x->seconds * SIM_S && plan_next(plan, &next) == PLAN_MEASURE) {
		double rate = visits_per_s(s);
		struct window_length length = { x->settle_s, x->length_s, 1, false, false };

		if (!(rate > 0)) {
			run_for(s, &watch, WAIT_S);
			continue;
		}
		if (x->length_s <= 0)
			length = window_tuner_next(tuner, rate, pauses_length_s(&watch.pauses));
		if (length.bursts || !hold(s, &watch, o, &next, &length, p->cores, plan, tuner, &w))
			start_anew(plan, &w, ret);
	}
	for (size_t i = 0; i < w.n; i++)
		ret->discarded += w.w[i].discard != KEPT;
	ret->seconds = sim_now(s) / 1e9;
	ret->windows = w.n;
	stats_estimate(w.w, w.n, 1, &opt, &ret->e);
	forget(&w);
	free(w.w);
	sim_free(s);
	plan_free(plan);
	window_tuner_free(tuner);
}
