// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay.h"

#include "trace/devices.h"
#include "whatif/bounds.h"
#include "whatif/cpus.h"
#include "whatif/handed.h"
#include "whatif/turns.h"

#include <math.h>

struct kept {
	const struct sim_program *program;
	bool no_kernel;
	struct trace_event *v;
	size_t n, cap;
	uint64_t visits;
	uint32_t threads;
};

static bool is_not_followed(const struct kept *k, uint32_t thread)
{
	const struct sim_task *t;

	if (thread >= (uint32_t)k->program->n_tasks)
		return false;
	t = &k->program->task[thread];
	return t->stranger || (t->kernel && k->no_kernel);
}

static void keep(const struct trace_event *e, void *arg)
{
	struct kept *k = arg;

	/* `scoz record -- COMMAND` does not follow them. */
	if (is_not_followed(k, e->thread) && e->type != TRACE_ISSUE)
		return;
	array_reserve(k->v, k->cap, k->n + 1);
	k->v[k->n++] = *e;
	k->visits += e->type == TRACE_PROGRESS;
	if (e->thread != TRACE_NONE && e->thread >= k->threads)
		k->threads = e->thread + 1;
}

/* The run as it is, recorded. */
static void record(const struct sim_program *p, const struct sim_options *o, double seconds,
		   struct kept *k)
{
	struct sim_options mine = *o;
	struct sim *s;

	mine.tick_cost = 0;
	mine.trace = keep;
	mine.trace_arg = k;
	s = sim_create(p, &mine);
	sim_run(s, seconds * SIM_S);
	sim_free(s);
}

/* What was spun in @i is told with what follows it. */
static bool goes_on(struct kept *k, size_t i)
{
	for (size_t j = i + 1; j < k->n; j++) {
		if (k->v[j].thread != k->v[i].thread || k->v[j].type != TRACE_SAMPLE)
			continue;
		if (k->v[j].spins)
			k->v[j].weight += k->v[i].weight;
		return k->v[j].spins;
	}
	return false;
}

static double unit_ns(const struct sim_program *p, const struct sim_options *o, double speedup,
		      double seconds)
{
	struct sim_options mine = *o;

	mine.tick_cost = 0;
	return study_unit_ns(p, &mine, 0, speedup, seconds);
}

static enum replay_spin spin_of(const struct trace_event *e, bool named)
{
	return !named			    ? REPLAY_SPIN_ANY
	       : e->wait == TRACE_WAIT_LOCK ? REPLAY_SPIN_LOCK
					    : REPLAY_SPIN_MEETS;
}

static void ran(struct bounds *b, const struct trace_event *e, bool named)
{
	const float share[1] = { e->stack != SIM_REST };
	double spun[REPLAY_SPINS] = {};

	spun[spin_of(e, named)] = e->weight;
	bounds_ran(b, e->thread, e->weight, share, e->spins ? spun : NULL);
	bounds_follow(b, e->thread);
}

/* ---- samples, as a recorder takes them ---- */

#define PERIOD ((uint64_t)SIM_MS)

struct samples {
	struct turns_sample *v;
	size_t n, cap;
};

/* The CPUs' clocks are not in step. */
static void sample(struct samples *to, const struct trace_event *e)
{
	uint64_t phase = e->cpu * PERIOD / 5, begin = e->time - e->weight, at = phase;

	if (begin > phase)
		at += (begin - phase + PERIOD - 1) / PERIOD * PERIOD;
	for (; at < e->time; at += PERIOD) {
		array_reserve(to->v, to->cap, to->n + 1);
		to->v[to->n++] =
			(struct turns_sample){ .time = at,
					       .mask = 1ULL << (e->stack == SIM_TARGET ? 0 : 1),
					       .thread = e->thread,
					       .cpu = e->cpu,
					       .weight = PERIOD };
	}
}

static int by_time(const void *pa, const void *pb)
{
	const struct turns_sample *a = pa, *b = pb;

	return a->time < b->time ? -1 : a->time > b->time;
}

static struct turns *turns_of(const struct kept *k, size_t cpus)
{
	struct turns *t = turns_create(cpus, k->threads, PERIOD);
	struct samples all = {};

	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].type == TRACE_SAMPLE)
			sample(&all, &k->v[i]);
		else
			turns_event(t, &k->v[i]);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_time);
	for (size_t i = 0; i < all.n; i++)
		turns_sample(t, &all.v[i]);
	free(all.v);
	return t;
}

/* What of the program is the target. */
static uint64_t target_devices(const struct sim_program *p, bool *asked)
{
	bool any = false, others = false;
	uint64_t devices = 0;

	for (int i = 0; i < p->n_tasks; i++) {
		for (int k = 0; k < p->task[i].n; k++) {
			const struct sim_op *op = &p->task[i].op[k];

			if (op->label == SIM_REST || op->kind == OP_REQUEST)
				continue;
			any = true;
			if (op->kind == OP_IO)
				devices |= replay_device_bit(op->object);
			else if (op->kind != OP_COMPUTE)
				others = true;
		}
	}
	for (int i = 0; i < p->n_tasks; i++) {
		for (int k = 0; k < p->task[i].n; k++) {
			const struct sim_op *op = &p->task[i].op[k];

			others |= op->kind == OP_IO && op->label == SIM_REST &&
				  devices & replay_device_bit(op->object);
		}
	}
	*asked = any && !others;
	return devices;
}

static void find_handed(const struct kept *k, struct bounds *b)
{
	struct handed *h = handed_create(k->threads);

	for (size_t i = 0; i < k->n; i++)
		handed_event(h, &k->v[i]);
	for (uint32_t i = 0; i < k->threads; i++) {
		if (handed_of(h, i))
			bounds_handed(b, i);
	}
	handed_free(h);
}

static struct devices *devices_of(const struct kept *k)
{
	struct devices *d = devices_create();

	for (size_t i = 0; i < k->n; i++)
		devices_event(d, &k->v[i]);
	return d;
}

double replay_gain_of(struct trace_event *v, size_t n, const struct sim_program *p, double speedup)
{
	struct kept k = { .program = p, .v = v, .n = n };
	struct bounds_answer a;
	struct bounds *b;

	for (size_t i = 0; i < n; i++) {
		k.visits += v[i].type == TRACE_PROGRESS;
		if (v[i].thread != TRACE_NONE && v[i].thread >= k.threads)
			k.threads = v[i].thread + 1;
	}
	b = bounds_create(k.threads, p->cores, 1, NULL, &speedup, 1, k.visits);
	for (size_t i = 0; i < n; i++) {
		if (is_not_followed(&k, v[i].thread))
			continue;
		if (v[i].type != TRACE_SAMPLE)
			bounds_event(b, &v[i]);
		else if (!(v[i].spins && goes_on(&k, i)))
			ran(b, &v[i], true);
	}
	bounds_read(b, 0, 0, &a);
	bounds_free(b);
	return a.middle;
}

struct sim_replay replay_study(const struct sim_program *program, const struct sim_config *c,
			       double speedup, double seconds, int how)
{
	struct sim_program *p = study_beside(program, c);
	const double speedups[] = { speedup, 0 };
	struct sim_replay ret = {};
	struct kept k = { .program = p, .no_kernel = how & SIM_NO_KERNEL };
	struct devices *devices;
	uint64_t faster;
	bool asked;
	struct bounds *b;
	struct bounds_answer a;
	struct turns *turns;
	double before = unit_ns(p, &c->o, 0, seconds), after = unit_ns(p, &c->o, speedup, seconds);

	ret.truth = 100 * (1 - after / before);
	record(p, &c->o, seconds, &k);
	turns = turns_of(&k, p->cores);
	devices = devices_of(&k);
	faster = target_devices(p, &asked);
	b = bounds_create(k.threads, p->cores, 1, &faster, speedups, 2, k.visits);
	for (uint32_t d = 0; d < devices_count(devices); d++)
		bounds_servers(b, d, devices_servers(devices, d));
	devices_free(devices);
	find_handed(&k, b);
	for (size_t i = 0; i < k.n; i++) {
		const struct trace_event *e = &k.v[i];

		if (e->type != TRACE_SAMPLE)
			bounds_event(b, e);
		else if (!(e->spins && goes_on(&k, i)))
			ran(b, e, how & SIM_NAMED);
	}
	bounds_read(b, 0, 0, &a);
	turns_widen(turns, 0, speedup, seconds * SIM_S, &a);
	ret.middle = a.middle;
	ret.low = a.low;
	ret.high = a.high;
	bounds_read(b, 0, 1, &a);
	turns_widen(turns, 0, 0, seconds * SIM_S, &a);
	ret.zero = fmax(fabs(a.low), fabs(a.high));
	ret.stuck = !asked || !isfinite(before) || !isfinite(after) || !isfinite(ret.middle);
	bounds_free(b);
	turns_free(turns);
	free(k.v);
	program_free(p);
	return ret;
}

static bool is_pinned(const struct sim_program *p)
{
	for (int i = 0; i < p->n_tasks; i++) {
		if (p->task[i].pinned >= 0)
			return true;
	}
	return false;
}

static double busiest(const struct kept *k, double end)
{
	struct devices *devices = devices_of(k);
	double busy = 0;

	for (uint32_t d = 0; d < devices_count(devices); d++) {
		if (devices_servers(devices, d) == 1)
			busy = fmax(busy, devices_busy(devices, d, end) / end);
	}
	devices_free(devices);
	return busy;
}

struct sim_replay replay_cpus(const struct sim_program *program, const struct sim_config *c,
			      int cores, double seconds)
{
	struct sim_program *p = study_beside(program, c), *more = study_beside(program, c);
	struct cpus_options how = {};
	struct sim_replay ret = {};
	struct kept k = { .program = p };
	struct work_builder *b;
	struct bounds_answer a;
	double before, after, ran_for = 0, spun = 0;
	struct cpus_now *now;
	struct work w;

	more->cores = cores;
	before = unit_ns(p, &c->o, 0, seconds);
	after = unit_ns(more, &c->o, 0, seconds);
	ret.truth = 100 * (1 - after / before);
	record(p, &c->o, seconds, &k);
	b = work_begin(k.threads);
	for (size_t i = 0; i < k.n; i++) {
		work_event(b, &k.v[i], 0);
		ran_for += k.v[i].type == TRACE_SAMPLE ? k.v[i].weight : 0;
		spun += k.v[i].type == TRACE_SAMPLE && k.v[i].spins ? k.v[i].weight : 0;
	}
	how.spun = ran_for > 0 ? spun / ran_for : 0;
	work_end(b, &w);
	how.busy = busiest(&k, seconds * SIM_S);
	now = cpus_now_create(&w, p->cores);
	cpus_answer(now, cores, &how, &a);
	ret.middle = a.middle;
	ret.low = a.low;
	ret.high = a.high;
	ret.fit = cpus_fit(now);
	cpus_answer(now, p->cores, &how, &a);
	ret.zero = fmax(fabs(a.low), fabs(a.high));
	ret.stuck = is_pinned(p) || !isfinite(before) || !isfinite(after) || !isfinite(ret.middle);
	cpus_now_free(now);
	work_free(&w);
	free(k.v);
	program_free(p);
	program_free(more);
	return ret;
}
