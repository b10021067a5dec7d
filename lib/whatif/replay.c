// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/replay_internal.h"

#include <math.h>

#define MOST_BURST 64	  /* threads that are remembered to have been woken at once */
#define BURST_NS   50000  /* between the first and the last of them */
#define LATENCY	   100000 /* ns from a waking until an idle CPU runs whom it was for, at most */
#define PACED	   0.02	  /* intervals of timers that differ by less look as if set by the clock */
/* Behind one another at a lock: it is always taken, and order decides nothing. */
#define MOST_CHAIN 64
/* Locks are freed unseen where nobody waits: what seems held for so much longer was. */
#define HELD_LONGER 3
#define FAR	    6 /* times a wait for a lock, and the time for which it is held */

struct replay *replay_create(size_t threads, size_t cpus, const struct replay_lane *lanes,
			     size_t n_lanes, uint64_t visits)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->lanes = xcalloc(n_lanes, sizeof(*lanes));
	memcpy(r->lanes, lanes, n_lanes * sizeof(*lanes));
	r->n_lanes = n_lanes;
	r->most = xcalloc(n_lanes + 1, sizeof(*r->most));
	r->before = xcalloc(n_lanes + 1, sizeof(*r->before));
	r->spun = xcalloc(3 * n_lanes + 1, sizeof(*r->spun));
	r->blocks = xcalloc(n_lanes + 1, sizeof(*r->blocks));
	for (size_t l = 0; l < n_lanes; l++) {
		if (!l || lanes[l].rules != lanes[l - 1].rules)
			r->blocks[r->n_blocks++] = (struct block){ lanes[l].rules, l, l };
		r->blocks[r->n_blocks - 1].to = l + 1;
	}
	r->targets = xcalloc(n_lanes + 1, sizeof(*r->targets));
	for (size_t l = 0; l < n_lanes; l++) {
		if (!l || lanes[l].target != lanes[l - 1].target)
			r->targets[r->n_targets++] = (struct lanes_of){ lanes[l].target, l, l };
		r->targets[r->n_targets - 1].to = l + 1;
	}
	r->threads = xcalloc(threads + 1, sizeof(*r->threads));
	r->n_threads = threads;
	r->cpus = xcalloc(cpus + 1, sizeof(*r->cpus));
	r->n_cpus = cpus;
	for (size_t c = 0; c < cpus; c++)
		r->cpus[c].last = TRACE_NONE;
	for (size_t i = 0; i < threads; i++)
		r->threads[i].parent = r->threads[i].waker = r->threads[i].early = TRACE_NONE;
	r->rows = xcalloc(threads + 1, sizeof(*r->rows));
	r->families = xcalloc(threads + 1, sizeof(*r->families));
	r->visits = visits_create(n_lanes, visits, threads);
	r->requests = requests_create(r->lanes, n_lanes, cpus);
	r->answers = answers_create(n_lanes, threads);
	r->latches = latches_create(n_lanes, threads);
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	requests_free(r->requests);
	answers_free(r->answers);
	latches_free(r->latches);
	free(r->lanes);
	free(r->targets);
	free(r->blocks);
	free(r->most);
	free(r->before);
	free(r->spun);
	for (size_t i = 0; i < r->n_threads; i++)
		free(r->rows[i]), free(r->families[i]), free(r->threads[i].burst);
	free(r->threads);
	free(r->cpus);
	while (r->n_spare)
		free(r->spare[--r->n_spare]);
	free(r->rows);
	free(r->families);
	free(r->spare);
	visits_free(r->visits);
	free(r);
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

uint64_t replay_memory(const struct replay *r)
{
	size_t rows = r->n_rows + r->n_families + requests_rows(r->requests) +
		      answers_rows(r->answers) + latches_rows(r->latches) + visits_rows(r->visits);

	return (uint64_t)rows * r->n_lanes * sizeof(double);
}

const double *replay_earlier(struct replay *r, uint32_t thread)
{
	return of(r, thread);
}

void replay_family(struct replay *r, uint32_t thread, uint32_t family)
{
	r->threads[thread].family = family;
}

void replay_looks(struct replay *r, uint32_t thread)
{
	r->threads[thread].looks = true;
}

void replay_handed(struct replay *r, uint32_t thread)
{
	r->threads[thread].handed = true;
}

void replay_servers(struct replay *r, uint32_t device, uint32_t servers)
{
	requests_servers(r->requests, device, servers);
}

uint64_t replay_busy(const struct replay *r, uint64_t devices)
{
	return requests_busy_in_all(r->requests, devices);
}

/*
 * Would @waker, coming earlier, have had to wait for whom it wakes? Who frees a lock would not. Who
 * brings something, or makes room, would as soon as there is no room, or nothing left: a queue only
 * puts that off. At barriers and joins it would.
 */
static bool meets(enum replay_rules rules, uint8_t wait, bool lock)
{
	if (lock)
		return false;
	if (rules == REPLAY_FREE)
		return false;
	if (rules == REPLAY_BOUND)
		return true;
	return wait == TRACE_WAIT_FUTEX || wait == TRACE_WAIT_WRITE || wait == TRACE_WAIT_READ;
}

/*
 * A thread that is earlier by more than this than who frees the lock that it waits for might have
 * got the lock first: if that one had taken it less than that before, @had.
 */
static double overtakes(enum replay_rules rules, double had)
{
	if (rules == REPLAY_ORDERED)
		return INFINITY;
	return rules == REPLAY_FREE ? 0 : had;
}

/*
 * If @waker is earlier by more than this, it would have freed the lock long before it is wanted.
 * Then the wait is not gained, for one at another of its turns comes in its place.
 */
static double runs_away(enum replay_rules rules, double waited, const struct thread *waker)
{
	return rules == REPLAY_USUAL ? FAR * (waited + waker->holds) : INFINITY;
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
	double *x = of(r, thread), *anchor = x + AT_TIMER * r->n_lanes;

	for (size_t l = 0; l < r->n_lanes; l++) {
		if (paced && r->lanes[l].rules == REPLAY_BOUND && x[l] > anchor[l])
			x[l] = anchor[l];
		anchor[l] = x[l];
	}
	t->interval = interval;
	t->timer = now;
}

/* From here on it does something else. */
static void begins_anew(struct replay *r, uint32_t thread)
{
	struct thread *t = &r->threads[thread];
	double *x = of(r, thread);

	t->ran_before = t->ran;
	memcpy(x + BEFORE * r->n_lanes, x + BY_RUNNING * r->n_lanes, r->n_lanes * sizeof(*x));
}

/* @thread has woken @server, which waited for something to come. */
static void asks(struct replay *r, uint32_t thread, uint32_t server)
{
	struct thread *t = &r->threads[thread], *s = &r->threads[server];

	for (uint32_t i = 0; i < t->n_asks && i < MOST_ASKED; i++) {
		if (t->asks[i] == server)
			return;
	}
	t->asks[t->n_asks++ % MOST_ASKED] = server;
	if (s->serves)
		return;
	s->serves = true;
	begins_anew(r, server);
}

/*
 * Does @waker answer what @thread has asked it for? Not if it was at it before @thread began to
 * wait.
 */
static bool answers(const struct replay *r, uint32_t waker, uint32_t thread, double waited)
{
	const struct thread *t = &r->threads[thread], *w = &r->threads[waker];
	bool asked = false;

	for (uint32_t i = 0; i < t->n_asks && i < MOST_ASKED; i++)
		asked |= t->asks[i] == waker;
	return asked && w->serves && (t->wait == TRACE_WAIT_READ || t->wait == TRACE_WAIT_POLL) &&
	       waited >= w->ran - w->ran_before;
}

/* @y wakes one that cannot come earlier than r->most. */
static void met(struct replay *r, const struct thread *w, const struct block *b, double *restrict y)
{
	const double *most = r->most;
	bool any = false;

	for (size_t l = b->from; l < b->to; l++)
		any |= y[l] > most[l];
	if (!any)
		return;
	/* Whoever was woken in the same breath met the last one, too. */
	for (uint32_t i = 0; i < w->n_burst; i++) {
		double *restrict z = of(r, w->burst[i]);

		for (size_t l = b->from; l < b->to; l++) {
			if (y[l] > most[l] && z[l] > most[l])
				z[l] = most[l];
		}
	}
	for (size_t l = b->from; l < b->to; l++)
		y[l] = y[l] > most[l] ? most[l] : y[l];
}

static void follows(const struct block *b, double waited, double *restrict x,
		    const double *restrict y)
{
	for (size_t l = b->from; l < b->to; l++) {
		double arrives = x[l] + waited;

		x[l] = y[l] < arrives ? y[l] : arrives;
	}
}

/* A lock is given to one who waits for it. */
struct freeing {
	double waited; /* by the other one */
	double ahead;  /* who is earlier by more got it first */
	double far;    /* if it is earlier by more than that itself, it is there at another turn */
	double held;   /* for so long it ran with it; 0: nobody knows */
	const double *gained, *before; /* what it had gained by running, and when it got it */
};

static double shorter(const struct freeing *f, size_t lane)
{
	double left = 1 - (f->gained[lane] - f->before[lane]) / f->held;

	return 1 - left * left;
}

/*
 * Who has run away from another meets it at the lock as often as before, but not just then. The
 * less time it is held, the less likely that is, and the shorter is the wait.
 */
static void lock_freed(const struct block *b, const struct freeing *f, double *restrict x,
		       const double *restrict y)
{
	for (size_t l = b->from; l < b->to; l++) {
		double arrives = x[l] + f->waited, to = y[l] < arrives ? y[l] : arrives;

		if (x[l] - y[l] > f->ahead)
			to = x[l];
		else if (y[l] - x[l] > f->far)
			to = x[l] + (f->held > 0 ? f->waited * shorter(f, l) : 0);
		x[l] = to;
	}
}

/*
 * Is @wait, of @t or of whom it wakes, for a lock that the program has made itself? That is likely,
 * and not known: not by the lower bound.
 */
static bool is_own_lock(enum replay_rules rules, const struct thread *t, uint8_t wait)
{
	return t->handed && wait == TRACE_WAIT_FUTEX && rules != REPLAY_BOUND;
}

static bool wants_lock(enum replay_rules rules, const struct thread *t)
{
	return t->wait == TRACE_WAIT_LOCK || is_own_lock(rules, t, t->wait);
}

/* When @w took the lock that it frees now; 0: nobody knows, for it did not wait for it. */
static uint64_t took(struct thread *w, uint64_t now)
{
	uint64_t held = now - w->got;

	if (!w->got || w->got > now || (w->freed >= w->got && now - w->freed > BURST_NS))
		return 0;
	if (!w->holds || held < w->holds)
		w->holds = held;
	return held <= HELD_LONGER * w->holds ? w->got : 0;
}

/* @thread may have waited for others, too, whom it had woken together with @waker. */
static void joined(struct replay *r, uint32_t waker, uint32_t thread, uint64_t now)
{
	const struct thread *t = &r->threads[thread];
	uint8_t wait = t->wait;
	const double *done =
		wait == TRACE_WAIT_FUTEX ? latches_opened(r->latches, waker, thread, now) : NULL;
	double *x = of(r, thread);

	for (size_t l = 0; done && l < r->n_lanes; l++) {
		enum replay_rules rules = r->lanes[l].rules;

		if (rules != REPLAY_FREE && !is_own_lock(rules, t, wait))
			x[l] = fmin(x[l], now - done[l]);
	}
	latches_told(r->latches, waker);
	if (replay_brings_work(wait))
		latches_gave(r->latches, waker, thread, now);
}

void replay_wakes(struct replay *r, uint32_t waker, uint32_t thread, uint64_t now)
{
	struct thread *t = &r->threads[thread], *w = &r->threads[waker];
	double *x = of(r, thread), *y = of(r, waker), waited = now - t->began;
	bool lock = wants_lock(REPLAY_USUAL, t);
	uint64_t from = lock ? took(w, now) : 0;
	double had = from && from < t->began ? t->began - from : 0, work = w->ran - w->ran_before;
	const double *gained = y + BY_RUNNING * r->n_lanes, *before = y + BEFORE * r->n_lanes;
	bool answer = answers(r, waker, thread, waited);

	if (from && w->chain > MOST_CHAIN)
		had = INFINITY;
	if (lock) {
		t->got = w->freed = now;
		t->chain = from ? w->chain + 1 : 1;
	}
	if (!w->n_burst || now - w->burst_at > BURST_NS) {
		w->n_burst = 0;
		w->burst_at = now;
	}
	for (size_t l = 0; l < r->n_lanes; l++)
		r->most[l] = x[l] + waited;
	/* It cannot begin before it is asked. */
	for (size_t l = 0; answer && l < r->n_lanes; l++) {
		double left = work - (gained[l] - before[l]);

		r->most[l] -= left > 0 ? left : 0;
	}
	for (size_t i = 0; i < r->n_blocks; i++) {
		const struct block *b = &r->blocks[i];

		lock = wants_lock(b->rules, t);
		if (meets(b->rules, t->wait, lock || is_own_lock(b->rules, w, t->wait)))
			met(r, w, b, y);
		if (lock)
			lock_freed(b,
				   &(struct freeing){ waited, overtakes(b->rules, had),
						      had < INFINITY
							      ? runs_away(b->rules, waited, w)
							      : INFINITY,
						      from ? work : 0, gained, before },
				   x, y);
		else
			follows(b, waited, x, y);
	}
	if (t->wait != TRACE_WAIT_LOCK)
		joined(r, waker, thread, now);
	if (w->n_burst < MOST_BURST) {
		array_reserve(w->burst, w->cap_burst, w->n_burst + 1);
		w->burst[w->n_burst++] = thread;
	}
	if (t->wait == TRACE_WAIT_READ || t->wait == TRACE_WAIT_POLL)
		asks(r, waker, thread);
	begins_anew(r, waker);
}

/* @thread waits for something that nothing else in the recording tells. */
static bool is_served(const struct replay *r, uint32_t thread, uint32_t waker)
{
	return r->threads[waker].kernel && r->threads[thread].wait == TRACE_WAIT_OTHER;
}

static void woken(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];

	if (!t->blocked) {
		if (!t->queued)
			t->early = e->by == TRACE_BY_THREAD ? e->other : TRACE_NONE;
		return;
	}
	t->blocked = false;
	t->queued = true;
	t->began = t->since;
	t->since = t->woken = e->time;
	t->waker = TRACE_NONE;
	if (e->by == TRACE_BY_TIMER) {
		answers_alone(r->answers, e->thread);
		if (t->looks && t->wait == TRACE_WAIT_SLEEP)
			replay_looked(r, e->thread, e->time);
		woken_by_timer(r, e->thread, e->time);
	} else if (e->by == TRACE_BY_DEVICE) {
		replay_woken_by_device(r, e);
	} else if (e->by == TRACE_BY_THREAD && e->other < r->n_threads && e->other != e->thread) {
		t->waker = e->other;
		if (!r->threads[e->other].followed)
			replay_woken_by_unknown(r, e);
		else if (is_served(r, e->thread, e->other))
			replay_woken_by_server(r, e);
		else
			replay_wakes(r, e->other, e->thread, e->time);
		if (r->threads[e->other].followed && !wants_lock(REPLAY_USUAL, t))
			answers_handed(r->answers, e->other, e->thread);
	} else if (e->by != TRACE_BY_THREAD && replay_comes_from_outside(t->wait)) {
		replay_woken_by_unknown(r, e);
	}
	begins_anew(r, e->thread);
}

/*
 * Its maker may wait for its end. If that waited for another one's just then, it waits for all of
 * them, and would for this one if the other had ended sooner: it goes on no earlier than the last
 * of them has ended.
 */
static void ended(struct replay *r, uint32_t thread, uint64_t now)
{
	struct thread *t = &r->threads[thread], *p;
	double *x, *y, *joins;

	t->blocked = t->queued = false;
	t->gone = true;
	free(t->burst);
	t->burst = NULL;
	t->n_burst = t->cap_burst = 0;
	visits_ended(r->visits, thread);
	answers_given(r->answers, thread, of(r, thread));
	answers_ended(r->answers, thread);
	latches_ended(r->latches, thread);
	if (t->parent >= r->n_threads || r->threads[t->parent].gone)
		return;
	p = &r->threads[t->parent];
	x = of(r, thread);
	y = of(r, t->parent);
	joins = y + JOINS * r->n_lanes;
	if (p->waker == thread && p->woken >= t->entered && !p->blocked) {
		for (size_t l = 0; l < r->n_lanes && p->orphans; l++) {
			double most = p->woken - joins[l];

			if (r->lanes[l].rules != REPLAY_FREE && most < y[l])
				y[l] = most;
		}
		p->orphans = false;
		return;
	}
	if (!p->orphans)
		memset(joins, 0, r->n_lanes * sizeof(*joins));
	p->orphans = true;
	for (size_t l = 0; l < r->n_lanes; l++) {
		if (p->blocked || r->lanes[l].rules == REPLAY_BOUND)
			joins[l] = fmax(joins[l], now - x[l]);
	}
}

/*
 * Somebody had the CPU who was not recorded, and will have as large a share of it as before: who
 * needs less of it waits less, in proportion.
 */
static void queued_behind_stranger(struct replay *r, uint32_t thread, double q)
{
	double ran = r->threads[thread].ran, *x = of(r, thread);
	const double *by_running = x + BY_RUNNING * r->n_lanes;

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
	const double *o, *by_running = x + BY_RUNNING * r->n_lanes;

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
			/* Who needs less may be chosen sooner. */
			if (r->lanes[l].rules == REPLAY_FREE && t->ran > 0)
				x[l] = fmax(x[l], most - q * (1 - by_running[l] / t->ran));
		}
	}
}

/*
 * It is on a CPU, and nobody has woken it since it left. Who wakes somebody on his way to sleep
 * does so before that is seen to leave, and where two take turns within microseconds that is often
 * so.
 */
static void woken_early(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];
	const struct trace_event wake = {
		.time = t->since,
		.type = TRACE_WAKE,
		.thread = e->thread,
		.by = TRACE_BY_THREAD,
		.other = t->early,
	};

	if (t->blocked && t->early != TRACE_NONE)
		woken(r, &wake);
	t->early = TRACE_NONE;
}

static void has_cpu(struct replay *r, const struct trace_event *e)
{
	struct cpu *c = &r->cpus[e->cpu];

	r->threads[e->thread].entered = e->time;
	/* Until now it could have been who had the CPU before. */
	if (c->last != TRACE_NONE && r->threads[c->last].gone)
		forget(r, c->last);
	c->last = e->thread;
	c->entered = e->time;
	c->left = UINT64_MAX;
}

static void forked(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];

	free(t->burst);
	*t = (struct thread){ .family = t->family,
			      .looks = t->looks,
			      .handed = t->handed,
			      .parent = e->other,
			      .waker = TRACE_NONE,
			      .early = TRACE_NONE,
			      .followed = true };
	if (e->other < r->n_threads)
		memcpy(of(r, e->thread), of(r, e->other), r->n_lanes * sizeof(double));
	answers_handed(r->answers, e->other, e->thread);
	/* What its family had gained before is nothing that it could have waited for. */
	memcpy(of(r, e->thread) + OTHERS * r->n_lanes, family_of(r, e->thread),
	       r->n_lanes * sizeof(double));
}

void replay_event(struct replay *r, const struct trace_event *e)
{
	struct thread *t;
	struct cpu *c;

	if (e->type == TRACE_COMPLETE)
		requests_completed(r->requests, e);
	if (e->thread >= r->n_threads || e->cpu >= r->n_cpus)
		return;
	r->now = e->time;
	t = &r->threads[e->thread];
	if (e->type == TRACE_LEAVE && e->why == TRACE_BLOCKED)
		t->got = t->chain = 0;
	c = &r->cpus[e->cpu];
	switch (e->type) {
	case TRACE_FOLLOW:
		t->followed = true;
		t->blocked = e->why == TRACE_BLOCKED;
		t->queued = e->why == TRACE_QUEUED;
		t->since = e->time;
		t->wait = e->wait;
		if (e->why == TRACE_RUNS)
			has_cpu(r, e);
		break;
	case TRACE_FORK:
		forked(r, e);
		t->queued = true;
		t->since = e->time;
		break;
	case TRACE_ENTER:
		t->followed = true;
		woken_early(r, e);
		if (t->queued)
			had_queued(r, e, c);
		t->queued = t->blocked = false;
		has_cpu(r, e);
		break;
	case TRACE_LEAVE:
		t->blocked = e->why == TRACE_BLOCKED;
		t->queued = !t->blocked;
		t->since = e->time;
		t->wait = e->wait;
		t->kernel |= t->blocked && e->wait == TRACE_WAIT_KERNEL;
		t->n_burst = 0;
		if (c->last == e->thread)
			c->left = e->time;
		if (t->blocked && replay_brings_work(t->wait)) {
			answers_given(r->answers, e->thread, of(r, e->thread));
			latches_done(r->latches, e->thread, e->time, of(r, e->thread));
		}
		break;
	case TRACE_WAKE:
		woken(r, e);
		break;
	case TRACE_EXIT:
		ended(r, e->thread, e->time);
		break;
	case TRACE_PROGRESS:
		visits_add(r->visits, e->thread, e->time, of(r, e->thread));
		answers_given(r->answers, e->thread, of(r, e->thread));
		break;
	case TRACE_ISSUE:
		requests_issued(r->requests, e, t->followed ? of(r, e->thread) : NULL);
		break;
	}
}

double replay_gain(const struct replay *r, size_t lane)
{
	return visits_gain(r->visits, lane);
}
