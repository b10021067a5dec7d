// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/bounds.h"

#include "whatif/work.h"

#include <math.h>

#define OTHER_WAYS 0.2 /* of what rules differ by: there are more ways than rules */

#define WORKER 0.01 /* of the time that a thread runs: it is one of those that need CPUs */

/* CPUs are in use for no more of the time, unless they were recorded so: surely, and likely. */
#define FULL	    0.8
#define LIKELY_FULL 0.9

/* Of the time in which they run or want to, threads want CPUs that others have: there are no more.
 */
#define CROWDED 0.02

struct state {
	enum { NOWHERE, RUNS, QUEUED } now;
	uint64_t since;
	double ran, spun;
	uint32_t cpu;
	bool early;   /* it was woken while it ran: on its way to sleep, perhaps */
	bool needed;  /* somebody waits for what it does, or it visits the progress point */
	double *work; /* by target, as bounds.work, until that is known; NULL: none */
};

/* What is known of CPUs at an event. */
struct use {
	uint64_t at;
	uint32_t cpus;	/* on which they ran */
	uint32_t all;	/* that there are for them, as far as nothing speaks against it */
	size_t workers; /* that are needed */
	double work;	/* ns that those that are needed ran, spinning left out */
};

struct bounds {
	struct replay *replay;
	size_t n_speedups;
	double *speedups;
	struct state *threads;
	size_t n_threads, n_cpus;
	uint32_t there; /* CPUs of the machine */
	double ran, queued;
	uint64_t *cpus; /* by CPU: ns that threads ran there */
	struct use use;
	uint64_t from, to; /* of all events */
	bool begun;	   /* the first thread has been seen */
	size_t n_targets;
	uint64_t *devices; /* by target */
	double *hit;	   /* by target: ns in it, of all threads */
	double *work;	   /* of it, of those that are needed, spinning left out */
};

struct bounds *bounds_create(size_t threads, size_t cpus, size_t targets, const uint64_t *devices,
			     const double *speedups, size_t n_speedups, uint64_t visits)
{
	size_t n = targets * n_speedups * REPLAY_RULES, i = 0;
	struct replay_lane *lanes = xcalloc(n, sizeof(*lanes));
	struct bounds *b = xcalloc(1, sizeof(*b));

	/* Rules outermost: replay is fast where many lanes that follow one another have the same.
	 */
	for (int k = 0; k < REPLAY_RULES; k++) {
		for (uint32_t t = 0; t < targets; t++) {
			for (size_t s = 0; s < n_speedups; s++)
				lanes[i++] = (struct replay_lane){ t, speedups[s], k,
								   devices ? devices[t] : 0 };
		}
	}
	b->replay = replay_create(threads, cpus, lanes, n, visits);
	b->n_speedups = n_speedups;
	b->n_targets = targets;
	b->hit = xcalloc(targets + 1, sizeof(*b->hit));
	b->work = xcalloc(targets + 1, sizeof(*b->work));
	b->cpus = xcalloc(cpus + 1, sizeof(*b->cpus));
	b->speedups = xcalloc(n_speedups, sizeof(*b->speedups));
	memcpy(b->speedups, speedups, n_speedups * sizeof(*speedups));
	b->threads = xcalloc(threads + 1, sizeof(*b->threads));
	b->n_threads = threads;
	b->n_cpus = cpus;
	b->there = cpus;
	b->devices = xcalloc(targets + 1, sizeof(*b->devices));
	if (devices)
		memcpy(b->devices, devices, targets * sizeof(*devices));
	free(lanes);
	return b;
}

void bounds_free(struct bounds *b)
{
	if (!b)
		return;
	replay_free(b->replay);
	free(b->speedups);
	free(b->hit);
	free(b->work);
	free(b->cpus);
	free(b->devices);
	for (size_t i = 0; i < b->n_threads; i++)
		free(b->threads[i].work);
	free(b->threads);
	free(b);
}

void bounds_family(struct bounds *b, uint32_t thread, uint32_t family)
{
	replay_family(b->replay, thread, family);
}

void bounds_looks(struct bounds *b, uint32_t thread)
{
	replay_looks(b->replay, thread);
}

void bounds_handed(struct bounds *b, uint32_t thread)
{
	replay_handed(b->replay, thread);
}

void bounds_cpus(struct bounds *b, uint32_t there)
{
	b->there = there;
}

void bounds_servers(struct bounds *b, uint32_t device, uint32_t servers)
{
	replay_servers(b->replay, device, servers);
}

static double *work_of(struct bounds *b, uint32_t thread, size_t target)
{
	struct state *s = &b->threads[thread];

	if (s->needed)
		return &b->work[target];
	if (!s->work)
		s->work = xcalloc(b->n_targets, sizeof(*s->work));
	return &s->work[target];
}

/* Somebody waits for @thread. */
static void needs(struct bounds *b, uint32_t thread)
{
	struct state *s = &b->threads[thread];

	for (size_t t = 0; s->work && t < b->n_targets; t++)
		b->work[t] += s->work[t];
	free(s->work);
	s->work = NULL;
	s->needed = true;
}

void bounds_ran(struct bounds *b, uint32_t thread, double ns, const float *share,
		const double *spun)
{
	double spins = 0;

	for (int k = 0; spun && k < REPLAY_SPINS; k++)
		spins += spun[k];
	b->threads[thread].spun += spins;
	for (size_t t = 0; t < b->n_targets; t++) {
		b->hit[t] += ns * share[t];
		if (share[t] > 0)
			*work_of(b, thread, t) += fmax(ns - spins, 0) * share[t];
	}
	replay_ran(b->replay, thread, ns, share, spun);
}

void bounds_follow(struct bounds *b, uint32_t thread)
{
	replay_follow(b->replay, thread);
}

static void go(struct bounds *b, uint32_t thread, int now, uint64_t time)
{
	struct state *s = &b->threads[thread];

	if (s->now == RUNS) {
		b->ran += time - s->since;
		s->ran += time - s->since;
		if (s->cpu < b->n_cpus)
			b->cpus[s->cpu] += time - s->since;
	} else if (s->now == QUEUED) {
		b->queued += time - s->since;
	}
	s->now = now;
	s->since = time;
}

void bounds_event(struct bounds *b, const struct trace_event *e)
{
	if (!b->to)
		b->from = e->time;
	b->to = e->time;
	if (e->type == TRACE_WAKE && e->by == TRACE_BY_THREAD && e->other < b->n_threads)
		needs(b, e->other);
	/* Its end may be what counts. */
	if (e->thread < b->n_threads && (e->type == TRACE_PROGRESS || !b->begun)) {
		needs(b, e->thread);
		b->begun = true;
	}
	if (e->thread < b->n_threads) {
		struct state *s = &b->threads[e->thread];

		switch (e->type) {
		case TRACE_FOLLOW:
			if (e->why != TRACE_RUNS)
				break;
			/* fallthrough */
		case TRACE_ENTER:
			if (s->early && s->now == NOWHERE)
				s->now = QUEUED;
			s->early = false;
			go(b, e->thread, RUNS, e->time);
			s->cpu = e->cpu;
			break;
		case TRACE_LEAVE:
			go(b, e->thread, e->why == TRACE_QUEUED ? QUEUED : NOWHERE, e->time);
			break;
		case TRACE_WAKE:
			s->early |= s->now == RUNS;
			if (s->now == NOWHERE)
				go(b, e->thread, QUEUED, e->time);
			break;
		case TRACE_FORK:
			go(b, e->thread, QUEUED, e->time);
			break;
		case TRACE_EXIT:
			free(s->work);
			s->work = NULL;
			break;
		}
	}
	replay_event(b->replay, e);
}

size_t bounds_row(size_t n_speedups)
{
	return n_speedups * REPLAY_RULES * REPLAY_ROWS * sizeof(double);
}

uint64_t bounds_memory(const struct bounds *b)
{
	return replay_memory(b->replay);
}

double bounds_crowded(const struct bounds *b)
{
	return b->queued > 0 ? b->queued / (b->queued + b->ran) : 0;
}

/* Of one lane: what the recording says. */
struct source {
	struct bounds *b;
	const double *now; /* NULL: by progress */
	double passed;
};

static double gain(const struct source *s, size_t lane)
{
	if (s->now)
		return s->passed > 0 ? 100 * s->now[lane] / s->passed : NAN;
	return replay_gain(s->b->replay, lane);
}

/*
 * Where threads want CPUs that others have, the scheduler would choose otherwise, and who needs
 * less is chosen sooner: all that the target takes of the CPUs may be gained or lost, in that share
 * of the time.
 */
static void widen(const struct bounds *b, size_t target, double speedup, struct bounds_answer *a)
{
	double crowded = bounds_crowded(b);
	double share = b->ran > 0 ? 100 * speedup * b->hit[target] / b->ran : 0;

	a->high += crowded * share;
	a->low -= crowded * (share < fabs(a->low) ? share : fabs(a->low));
	/* Who is woken sooner takes a CPU from others: that may cost as much as it brings. */
	if (b->devices[target] && b->to > b->from) {
		share = 200 * speedup * replay_busy(b->replay, b->devices[target]) /
			(b->to - b->from);
		a->high += crowded * share;
		a->low -= crowded * share;
	}
}

static const struct use *cpu_use(struct bounds *b)
{
	struct use *u = &b->use;

	if (u->at == b->to)
		return u;
	*u = (struct use){ .at = b->to, .cpus = cpus_in_use(b->cpus, b->n_cpus) };
	/* Where nobody has wanted another one, that does not mean that there is none. */
	u->all = bounds_crowded(b) < CROWDED && b->there > u->cpus ? b->there : u->cpus;
	for (size_t i = 0; i < b->n_threads; i++) {
		const struct state *s = &b->threads[i];

		u->work += s->needed ? s->ran - s->spun : 0;
		u->workers += s->needed && s->ran > WORKER * (b->to - b->from);
	}
	return u;
}

/* What so many CPUs let through, in percent, that are in use for no more than @full of the time. */
static double most_by_cpus(struct bounds *b, uint32_t cpus, double after, double full)
{
	const struct use *u = cpu_use(b);
	double all = (double)(b->to - b->from) * cpus;

	if (u->workers <= cpus || all <= 0)
		return INFINITY;
	return 100 * (1 - after / all / fmax(u->work / all, full));
}

/*
 * What is faster waits less and runs for more of the time. If there are more threads than CPUs,
 * these may become what all depends on; and they are never all at work: who could run waits behind
 * one that keeps its CPU while another is idle, or for what one does that is queued. Of threads
 * that nobody waits for it does not matter how much they get done.
 */
static void limit_by_cpus(struct bounds *b, size_t target, double speedup, struct bounds_answer *a)
{
	const struct use *u = cpu_use(b);
	double after = fmax(u->work - speedup * b->work[target], 0);

	if (isnan(a->middle))
		return;
	a->middle = fmin(a->middle, most_by_cpus(b, u->all, after, LIKELY_FULL));
	a->low = fmin(a->low, most_by_cpus(b, u->cpus, after, FULL));
}

static void read_source(const struct source *s, size_t target, size_t speedup,
			struct bounds_answer *ret)
{
	struct bounds *b = s->b;
	size_t lane = target * b->n_speedups + speedup, per_rule = b->n_targets * b->n_speedups;
	double span;

	*ret = (struct bounds_answer){ .middle = gain(s, lane + REPLAY_USUAL * per_rule),
				       .low = INFINITY,
				       .high = -INFINITY };
	for (int k = 0; k < REPLAY_RULES; k++) {
		ret->low = fmin(ret->low, gain(s, lane + k * per_rule));
		ret->high = fmax(ret->high, gain(s, lane + k * per_rule));
	}
	span = ret->high - ret->low;
	ret->high += OTHER_WAYS * span;
	ret->low -= OTHER_WAYS * span;
	widen(b, target, b->speedups[speedup], ret);
	limit_by_cpus(b, target, b->speedups[speedup], ret);
	if (isnan(ret->middle))
		ret->low = ret->high = NAN;
}

void bounds_read(struct bounds *b, size_t target, size_t speedup, struct bounds_answer *ret)
{
	read_source(&(struct source){ .b = b }, target, speedup, ret);
}

void bounds_read_now(struct bounds *b, uint32_t thread, uint64_t passed, size_t target,
		     size_t speedup, struct bounds_answer *ret)
{
	const struct source s = { b, replay_earlier(b->replay, thread), passed };

	read_source(&s, target, speedup, ret);
}
