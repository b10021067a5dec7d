// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/replay.h"

#include <math.h>

#define WARM_UP	    0.1	   /* of the visits, left out */
#define WINDOW	    0.05   /* of the visits at the beginning and at the end, which are compared */
#define MOST_BURST  64	   /* threads that are remembered to have been woken at once */
#define BURST_NS    50000  /* between the first and the last of them */
#define LATENCY	    100000 /* ns from a waking until an idle CPU runs whom it was for, at most */
#define PACED	    0.02   /* intervals of timers that differ by less look as if set by the clock */
#define LEAST_VISIT 20
/* Behind one another at a lock: it is always taken, and order decides nothing. */
#define MOST_CHAIN 64

struct thread {
	uint64_t since; /* it waits, or wants a CPU */
	uint64_t began; /* the wait that is over */
	uint64_t got;	/* a lock that it waited for, in this turn on the CPU; 0: none */
	uint32_t chain; /* so many in a row have waited for that lock */
	double ran;
	bool blocked, queued, gone;
	uint8_t wait;
	uint64_t timer;		    /* when one last woke it */
	double interval;	    /* between the last two */
	uint32_t burst[MOST_BURST]; /* woken by it just now, and yet to run on */
	uint32_t n_burst;
	uint64_t burst_at;
};

struct cpu {
	uint32_t last; /* who ran there */
	uint64_t entered, left;
};

struct window {
	double *earlier; /* sums, by lane */
	double time;
	uint64_t n;
};

struct replay {
	struct replay_lane *lanes;
	size_t n_lanes;
	struct thread *threads;
	size_t n_threads;
	struct cpu *cpus;
	size_t n_cpus;
	/* By thread, of those that were met: by lane, the same when a timer last woke it, and what
	 * running alone has gained. */
	double **rows;
	double **spare; /* rows of those that have ended */
	size_t n_spare, cap_spare;
	uint64_t visits, seen;
	struct window first, last;
};

struct replay *replay_create(size_t threads, size_t cpus, const struct replay_lane *lanes,
			     size_t n_lanes, uint64_t visits)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->lanes = xcalloc(n_lanes, sizeof(*lanes));
	memcpy(r->lanes, lanes, n_lanes * sizeof(*lanes));
	r->n_lanes = n_lanes;
	r->threads = xcalloc(threads + 1, sizeof(*r->threads));
	r->n_threads = threads;
	r->cpus = xcalloc(cpus + 1, sizeof(*r->cpus));
	r->n_cpus = cpus;
	for (size_t c = 0; c < cpus; c++)
		r->cpus[c].last = TRACE_NONE;
	r->rows = xcalloc(threads + 1, sizeof(*r->rows));
	r->visits = visits;
	r->first.earlier = xcalloc(n_lanes, sizeof(double));
	r->last.earlier = xcalloc(n_lanes, sizeof(double));
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	free(r->lanes);
	free(r->threads);
	free(r->cpus);
	for (size_t i = 0; i < r->n_threads; i++)
		free(r->rows[i]);
	while (r->n_spare)
		free(r->spare[--r->n_spare]);
	free(r->rows);
	free(r->spare);
	free(r->first.earlier);
	free(r->last.earlier);
	free(r);
}

static double *of(struct replay *r, uint32_t thread)
{
	double **row = &r->rows[thread];

	if (!*row && r->n_spare) {
		*row = r->spare[--r->n_spare];
		memset(*row, 0, 3 * r->n_lanes * sizeof(**row));
	} else if (!*row) {
		*row = xcalloc(3 * r->n_lanes, sizeof(**row));
	}
	return *row;
}

/* It has ended: nobody will be woken by it. */
static void forget(struct replay *r, uint32_t thread)
{
	if (!r->rows[thread])
		return;
	array_reserve(r->spare, r->cap_spare, r->n_spare + 1);
	r->spare[r->n_spare++] = r->rows[thread];
	r->rows[thread] = NULL;
}

const double *replay_earlier(struct replay *r, uint32_t thread)
{
	return of(r, thread);
}

void replay_ran(struct replay *r, uint32_t thread, double ns, const float *share)
{
	double *e = of(r, thread);
	double *by_running = e + 2 * r->n_lanes;

	r->threads[thread].ran += ns;
	for (size_t l = 0; l < r->n_lanes; l++) {
		double gain = r->lanes[l].speedup * ns * share[r->lanes[l].target];

		e[l] += gain;
		by_running[l] += gain;
	}
}

/*
 * Would @waker, coming earlier, have had to wait for whom it wakes? Who frees a lock would not. Who
 * brings something, or makes room, would as soon as there is no room, or nothing left: a queue only
 * puts that off. At barriers and joins it would.
 */
static bool meets(enum replay_rules rules, uint8_t wait)
{
	if (wait == TRACE_WAIT_LOCK)
		return false;
	if (rules == REPLAY_FREE)
		return false;
	if (rules == REPLAY_BOUND)
		return true;
	return wait == TRACE_WAIT_FUTEX || wait == TRACE_WAIT_WRITE || wait == TRACE_WAIT_READ;
}

/*
 * A thread that is earlier by @ahead than who frees the lock that it waits for might have got the
 * lock first: if that one had taken it less than that before, @had.
 */
static bool overtakes(enum replay_rules rules, double ahead, double had)
{
	if (rules == REPLAY_ORDERED)
		return false;
	return rules == REPLAY_FREE || ahead > had;
}

/*
 * A timer may have been set for a point in time that has nothing to do with when the thread began
 * to wait: then it is as early as it was at the last one.
 */
static void woken_by_timer(struct replay *r, uint32_t thread, uint64_t now)
{
	struct thread *t = &r->threads[thread];
	double interval = now - t->timer, change = interval - t->interval;
	bool paced = t->wait != TRACE_WAIT_SLEEP || fabs(change) < PACED * interval;
	double *x = of(r, thread), *anchor = x + r->n_lanes;

	for (size_t l = 0; l < r->n_lanes; l++) {
		if (paced && r->lanes[l].rules == REPLAY_BOUND && x[l] > anchor[l])
			x[l] = anchor[l];
		anchor[l] = x[l];
	}
	t->interval = interval;
	t->timer = now;
}

static void woken(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread], *w;
	double *x = of(r, e->thread), *y, waited = e->time - t->since, had;

	if (!t->blocked)
		return;
	t->blocked = false;
	t->queued = true;
	t->began = t->since;
	t->since = e->time;
	if (e->by == TRACE_BY_TIMER)
		woken_by_timer(r, e->thread, e->time);
	if (e->by != TRACE_BY_THREAD || e->other >= r->n_threads || e->other == e->thread)
		return; /* a device or a timer takes as long as it took */
	w = &r->threads[e->other];
	had = w->got && w->got < t->began ? t->began - w->got : 0;
	if (w->chain > MOST_CHAIN)
		had = INFINITY;
	if (t->wait == TRACE_WAIT_LOCK) {
		t->got = e->time;
		t->chain = w->got ? w->chain + 1 : 1;
	}
	y = of(r, e->other);
	if (!w->n_burst || e->time - w->burst_at > BURST_NS) {
		w->n_burst = 0;
		w->burst_at = e->time;
	}
	for (size_t l = 0; l < r->n_lanes; l++) {
		double arrives = x[l] + waited;

		if (y[l] > arrives && meets(r->lanes[l].rules, t->wait)) {
			y[l] = arrives;
			/* Whoever was woken in the same breath met the last one, too. */
			for (uint32_t i = 0; i < w->n_burst; i++) {
				double *z = of(r, w->burst[i]) + l;

				if (*z > arrives)
					*z = arrives;
			}
		}
		if (y[l] < x[l] && t->wait == TRACE_WAIT_LOCK &&
		    overtakes(r->lanes[l].rules, x[l] - y[l], had))
			continue;
		x[l] = y[l] < arrives ? y[l] : arrives;
	}
	if (w->n_burst < MOST_BURST)
		w->burst[w->n_burst++] = e->thread;
}

/*
 * Somebody had the CPU who was not recorded, and will have as large a share of it as before: who
 * needs less of it waits less, in proportion.
 */
static void queued_behind_stranger(struct replay *r, uint32_t thread, double q)
{
	double ran = r->threads[thread].ran, *x = of(r, thread);
	const double *by_running = x + 2 * r->n_lanes;

	for (size_t l = 0; l < r->n_lanes && ran > 0; l++) {
		if (r->lanes[l].rules != REPLAY_ORDERED && r->lanes[l].rules != REPLAY_UNQUEUED)
			x[l] += q * by_running[l] / ran;
	}
}

/* It has a CPU now that somebody else had while it wanted it. */
static void had_queued(struct replay *r, const struct trace_event *e, const struct cpu *c)
{
	const struct thread *t = &r->threads[e->thread];
	double *x = of(r, e->thread), q = e->time - t->since;
	const double *o;

	if (c->last == TRACE_NONE || c->last == e->thread || c->left <= t->since) {
		if (q > LATENCY)
			queued_behind_stranger(r, e->thread, q);
		return;
	}
	o = of(r, c->last);
	for (size_t l = 0; l < r->n_lanes; l++) {
		double most = x[l] + q;

		switch (r->lanes[l].rules) {
		case REPLAY_ORDERED:
			x[l] = o[l] < most ? o[l] : most;
			break;
		case REPLAY_UNQUEUED:
			break;
		default:
			if (o[l] >= x[l])
				x[l] = o[l] < most ? o[l] : most;
			else if (c->entered - o[l] < t->since - x[l])
				x[l] = o[l]; /* it comes before even so */
		}
	}
}

static void progress(struct replay *r, const struct trace_event *e)
{
	uint64_t i = r->seen++, from = WARM_UP * r->visits, length = WINDOW * r->visits;
	const double *x = of(r, e->thread);
	struct window *w;

	length = length ? length : 1;
	if (i >= from && i < from + length)
		w = &r->first;
	else if (i + length >= r->visits)
		w = &r->last;
	else
		return;
	w->n++;
	w->time += e->time;
	for (size_t l = 0; l < r->n_lanes; l++)
		w->earlier[l] += x[l];
}

void replay_event(struct replay *r, const struct trace_event *e)
{
	struct thread *t;
	struct cpu *c;

	if (e->thread >= r->n_threads || e->cpu >= r->n_cpus)
		return;
	t = &r->threads[e->thread];
	if (e->type == TRACE_LEAVE && e->why == TRACE_BLOCKED)
		t->got = t->chain = 0;
	c = &r->cpus[e->cpu];
	switch (e->type) {
	case TRACE_FOLLOW:
		t->blocked = e->why == TRACE_BLOCKED;
		t->queued = e->why == TRACE_QUEUED;
		t->since = e->time;
		t->wait = e->wait;
		break;
	case TRACE_FORK:
		memset(t, 0, sizeof(*t));
		t->queued = true;
		t->since = e->time;
		if (e->other < r->n_threads)
			memcpy(of(r, e->thread), of(r, e->other), r->n_lanes * sizeof(double));
		break;
	case TRACE_ENTER:
		if (t->queued)
			had_queued(r, e, c);
		t->queued = t->blocked = false;
		/* Until now it could have been who had the CPU before. */
		if (c->last != TRACE_NONE && r->threads[c->last].gone)
			forget(r, c->last);
		c->last = e->thread;
		c->entered = e->time;
		c->left = UINT64_MAX;
		break;
	case TRACE_LEAVE:
		t->blocked = e->why == TRACE_BLOCKED;
		t->queued = !t->blocked;
		t->since = e->time;
		t->wait = e->wait;
		t->n_burst = 0;
		if (c->last == e->thread)
			c->left = e->time;
		break;
	case TRACE_WAKE:
		woken(r, e);
		break;
	case TRACE_EXIT:
		t->blocked = t->queued = false;
		t->gone = true;
		break;
	case TRACE_PROGRESS:
		progress(r, e);
		break;
	}
}

double replay_gain(const struct replay *r, size_t lane)
{
	const struct window *a = &r->first, *b = &r->last;
	double time, earlier;

	if (r->visits < LEAST_VISIT || !a->n || !b->n)
		return NAN;
	time = b->time / b->n - a->time / a->n;
	earlier = b->earlier[lane] / b->n - a->earlier[lane] / a->n;
	return time > 0 ? 100 * earlier / time : NAN;
}
