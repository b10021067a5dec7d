// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/cpus.h"

#include "trace/devices.h"
#include "whatif/polls.h"
#include "whatif/rerun.h"
#include "whatif/strangers.h"

#include <math.h>

#define FIRST	     0.1 /* part of the visits that is left out: threads find their places */
#define LEAST_VISITS 20
#define OTHER_WAYS   0.2  /* of what rules differ by: there are more ways than rules */
#define METHOD	     1.0  /* points that bounds are always wider by */
#define SCHEDULER    0.2  /* of what is gained: another scheduler gives CPUs otherwise */
#define UNSEEN	     0.3  /* the same, of a recording on one CPU: there no two ever met */
#define SPINNING     100  /* points for all of the time: what is spun for is not known */
#define LOCKS	     0.02 /* of the waits: locks matter */
#define LOCKED	     0.5
#define SHARED	     0.05 /* of the waits */

static const struct rerun_rules rules[] = {
	{ .meets = RERUN_USUAL },
	{ .meets = RERUN_NOBODY },
	{ .meets = RERUN_ALL, .in_step = true },
	{ .meets = RERUN_USUAL, .locks_in_turn = true },
	{ .meets = RERUN_NOBODY, .no_locks = true },
	{ .meets = RERUN_USUAL, .in_turn = true },
	{ .meets = RERUN_ALL, .clock = true, .locks_in_turn = true },
};

/* Visits that had come before @end. */
static size_t reached(const uint64_t *visits, size_t n, uint64_t end)
{
	while (n && visits[n - 1] > end)
		n--;
	return n;
}

static double unit(const uint64_t *visits, size_t from, size_t to)
{
	return (double)(visits[to - 1] - visits[from]) / (to - 1 - from);
}

/* How long the same takes in the one and in the other; false: neither is known. */
static bool compare(const struct work *w, const struct rerun *a, const struct rerun *b, double *ra,
		    double *rb)
{
	size_t first = ceil(w->n_visits * FIRST), last;

	if (!w->n_visits) {
		uint64_t starts = w->root == TRACE_NONE ? 0 : w->threads[w->root].starts;

		*ra = (double)a->root_end - starts;
		*rb = (double)b->root_end - starts;
		return w->root_end && a->root_end > starts && b->root_end > starts;
	}
	last = reached(a->visits, a->n_visits, a->end);
	if (last > reached(b->visits, b->n_visits, b->end))
		last = reached(b->visits, b->n_visits, b->end);
	if (last < first + LEAST_VISITS)
		return false;
	*ra = unit(a->visits, first, last);
	*rb = unit(b->visits, first, last);
	return true;
}

struct cpus_now {
	const struct work *work;
	uint32_t cpus;
	struct rerun again[ARRAY_SIZE(rules)];
	bool has_run[ARRAY_SIZE(rules)];
};

struct cpus_now *cpus_now_create(const struct work *w, uint32_t cpus)
{
	struct cpus_now *now = xcalloc(1, sizeof(*now));

	now->work = w;
	now->cpus = cpus;
	return now;
}

void cpus_now_free(struct cpus_now *now)
{
	if (!now)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		rerun_free(&now->again[i]);
	free(now);
}

static const struct rerun *run_now(struct cpus_now *now, size_t rule)
{
	if (!now->has_run[rule])
		rerun(now->work, now->cpus, &rules[rule], &now->again[rule]);
	now->has_run[rule] = true;
	return &now->again[rule];
}

double cpus_fit(struct cpus_now *now)
{
	const struct work *w = now->work;
	const struct rerun real = {
		.visits = w->visits, .n_visits = w->n_visits, .root_end = w->root_end, .end = w->end
	};
	double recorded, again;

	if (!compare(w, &real, run_now(now, 0), &recorded, &again) || again <= 0)
		return NAN;
	return recorded / again;
}

static double gain(struct cpus_now *now, uint32_t to, size_t rule)
{
	const struct rerun *a = run_now(now, rule);
	double before, after, ret = NAN;
	struct rerun b;

	rerun(now->work, to, &rules[rule], &b);
	if (compare(now->work, a, &b, &before, &after) && before > 0)
		ret = 100 * (1 - after / before);
	rerun_free(&b);
	return ret;
}

/*
 * Of locks a recording has what was waited for: with more CPUs it is something else. On one CPU
 * nobody even comes to a lock but when its owner has lost the CPU.
 */
static void widen_by_locks(const struct work *w, uint32_t from, struct bounds_answer *a)
{
	if (!w->lock_waits || w->lock_waits < LOCKS * w->waits)
		return;
	if (from == 1)
		a->low = fmin(a->low, 0);
	else
		a->low -= LOCKED * fabs(a->middle);
}

/*
 * Who of several does what there is to do is another one then; and who is woken together with whom.
 * More than this cannot be gained: as long as no thread wants a CPU that another one has, there is
 * none.
 */
static void widen_by_sharing(const struct work *w, double most, struct bounds_answer *a)
{
	double crowded = w->end ? w->crowded / (double)w->end : 0;

	if (w->shared_waits && w->shared_waits >= SHARED * w->waits)
		a->high = fmax(a->high, crowded * most);
}

/* What cannot be done any faster: the devices, should they serve one request after the other. */
static void limit_by_devices(double busy, struct bounds_answer *a)
{
	double most = 100 * (1 - busy);

	a->middle = fmin(a->middle, fmax(most, 0));
	a->low = fmin(a->low, fmax(most, 0));
}

void cpus_answer(struct cpus_now *now, uint32_t to, const struct cpus_options *o,
		 struct bounds_answer *ret)
{
	double fit = cpus_fit(now), off = fit > 0 ? 100 * fmin(fabs(1 - 1 / fit), 1) : 0, span,
	       most;
	const struct work *w = now->work;
	uint32_t from = now->cpus;
	bool failed = false;

	*ret = (struct bounds_answer){ NAN, INFINITY, -INFINITY };
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		double x = gain(now, to, i);

		if (!i)
			ret->middle = x;
		failed |= isnan(x);
		ret->low = fmin(ret->low, x);
		ret->high = fmax(ret->high, x);
	}
	if (isnan(ret->middle)) {
		ret->low = ret->high = NAN;
		return;
	}
	if (from == to)
		return;
	/* All CPUs are busy, with nothing but the work. */
	most = 100 * (1 - (double)from / to);
	ret->middle = fmin(ret->middle, most);
	ret->high = failed ? most : fmin(ret->high, most);
	if (failed) /* a rule by which no end is reached: events were lost */
		ret->low = fmin(ret->low, -most);
	widen_by_sharing(w, most, ret);
	span = OTHER_WAYS * (ret->high - ret->low) + off +
	       (from == 1 ? UNSEEN : SCHEDULER) * fabs(ret->middle) + METHOD;
	ret->high = fmin(fmin(ret->high + span, most + METHOD) + SPINNING * o->spun, 100);
	ret->low -= span + SPINNING * o->spun;
	widen_by_locks(w, from, ret);
	limit_by_devices(o->busy, ret);
	ret->high = fmax(ret->high, ret->middle);
	ret->low = fmin(ret->low, ret->middle);
}

struct reading {
	struct work_builder *builder;
	struct devices *devices;
	struct strangers strangers;
	uint32_t point;
};

static int see(const struct trace_event *e, void *arg)
{
	struct reading *r = arg;

	if (strangers_visit(&r->strangers, e))
		return 0;
	devices_event(r->devices, e);
	work_event(r->builder, e, r->point);
	return 0;
}

static double share_spun(const struct trace *t)
{
	_cleanup_free_ uint8_t *polls = polls_find(t);
	double all = 0, spun = 0;

	for (size_t i = 0; i < t->n_samples; i++) {
		all += t->samples[i].weight;
		spun += sample_waits(polls, &t->samples[i]) ? t->samples[i].weight : 0;
	}
	return all > 0 ? spun / all : 0;
}

int cpus_predict(const struct trace *t, uint32_t point, struct cpus_asked *asked, size_t n,
		 struct cpus_told *told, struct error *err)
{
	struct reading r = { .builder = work_begin(t->n_threads),
			     .devices = devices_create(),
			     .point = point != TRACE_NONE ? point
				      : t->n_points	  ? 0
							  : TRACE_NONE };
	struct cpus_options o = { .spun = share_spun(t) };
	struct cpus_now *now;
	double strangers;
	struct work w;
	uint32_t used;
	int ret;

	strangers_begin(&r.strangers, t, r.point);
	ret = trace_each(t, see, &r, err);
	strangers = strangers_share(&r.strangers);
	strangers_end(&r.strangers);
	work_end(r.builder, &w);
	for (uint32_t d = 0; d < devices_count(r.devices); d++) {
		if (devices_servers(r.devices, d) == 1)
			o.busy = fmax(o.busy, devices_busy(r.devices, d, w.end) / fmax(w.end, 1));
	}
	devices_free(r.devices);
	if (ret) {
		work_free(&w);
		return ret;
	}
	used = w.cpus ? w.cpus : 1;
	now = cpus_now_create(&w, used);
	*told = (struct cpus_told){
		.used = used,
		.queued = w.queued ? (double)w.queued / (w.queued + w.ran) : 0,
		.fit = cpus_fit(now),
		.spun = o.spun,
		.busy = o.busy,
		.locks = w.waits ? (double)w.lock_waits / w.waits : 0,
		.visits = w.n_visits,
		.strangers = strangers,
		.by_run_time = r.point == TRACE_NONE,
	};
	for (size_t i = 0; i < n; i++) {
		asked[i].cpus += asked[i].more ? used : 0;
		asked[i].a = (struct bounds_answer){ NAN, NAN, NAN };
		if (asked[i].cpus > used)
			cpus_answer(now, asked[i].cpus, &o, &asked[i].a);
		told->concluded |= isfinite(asked[i].a.middle) && strangers <= STRANGERS_MOST;
	}
	cpus_now_free(now);
	work_free(&w);
	return 0;
}
