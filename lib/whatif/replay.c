// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/answers.h"
#include "whatif/requests.h"
#include "whatif/visits.h"

#include <math.h>

#define MOST_BURST 64	  /* threads that are remembered to have been woken at once */
#define BURST_NS   50000  /* between the first and the last of them */
#define LATENCY	   100000 /* ns from a waking until an idle CPU runs whom it was for, at most */
#define PACED	   0.02	  /* intervals of timers that differ by less look as if set by the clock */
/* Behind one another at a lock: it is always taken, and order decides nothing. */
#define MOST_CHAIN  64
#define MOST_ASKED  4
#define MOST_BESIDE 256
#define SPINNER	    0.01 /* of its time that a thread spins: it is one that does */
/* Locks are freed unseen where nobody waits: what seems held for so much longer was. */
#define HELD_LONGER 3
#define FAR	    6 /* times a wait for a lock, and the time for which it is held */

struct thread {
	uint64_t since;	  /* it waits, or wants a CPU */
	uint64_t began;	  /* the wait that is over */
	uint64_t got;	  /* a lock that it waited for, in this turn on the CPU; 0: none */
	uint32_t chain;	  /* so many in a row have waited for that lock */
	uint64_t freed;	  /* when it last woke one that waited for a lock */
	uint64_t holds;	  /* the shortest time from `got` to `freed`; 0: not known */
	double ran, spun; /* `spun`: where it is not known that others are met */
	double spins[REPLAY_SPINS]; /* ns since it last followed others */
	uint64_t told;		    /* until when what it ran is */
	uint32_t family;
	bool blocked, queued, gone;
	bool kernel;	 /* a thread of the kernel that waits for work */
	uint64_t served; /* when one such, or one that is not followed, last ended its wait */
	bool followed;	 /* what it does is in the recording; else only what it does to others */
	uint8_t wait;
	uint64_t timer;		   /* when one last woke it */
	double interval;	   /* between the last two */
	uint32_t parent;	   /* who made it */
	uint32_t waker;		   /* who ended its last wait, */
	uint64_t woken, entered;   /* and when; since when it runs, or ran last */
	uint32_t asks[MOST_ASKED]; /* whom it has woken who waited for something to come */
	uint32_t n_asks;
	bool serves;	   /* it was woken so */
	bool orphans;	   /* children have ended for which it did not wait just then */
	double ran_before; /* its own `ran` when it last woke another, or was */
	uint32_t *burst;   /* woken by it just now, and yet to run on */
	uint32_t n_burst, cap_burst;
	uint64_t burst_at;
};

struct cpu {
	uint32_t last; /* who ran there */
	uint64_t entered, left;
};

enum row {
	EARLIER,
	AT_TIMER,   /* the same when a timer last woke it */
	BY_RUNNING, /* what running alone has gained */
	OTHERS,	    /* what running had gained the others of its family when it was last told */
	BEFORE,	    /* BY_RUNNING when it last woke another, or was */
	JOINS,	    /* when the last of its children that it did not wait for just then has ended */
	ROWS
};

/* Lanes of one target that follow one another. */
struct lanes_of {
	uint32_t target;
	size_t from, to;
};

/* Lanes with the same rules that follow one another: loops over these have no branches. */
struct block {
	enum replay_rules rules;
	size_t from, to;
};

struct replay {
	struct replay_lane *lanes;
	size_t n_lanes;
	struct block *blocks;
	size_t n_blocks;
	double *most, *before; /* by lane, while one wakes another */
	struct lanes_of *targets;
	size_t n_targets;
	struct thread *threads;
	size_t n_threads;
	struct cpu *cpus;
	size_t n_cpus;
	/* By thread, of those that were met: by lane, each of enum row. */
	double **rows;
	double **families; /* by family: by lane, what running has gained its threads */
	uint64_t now;
	double **spare; /* rows of those that have ended */
	size_t n_spare, cap_spare;
	struct visits *visits;
	struct requests *requests;
	struct answers *answers;
};

struct replay *replay_create(size_t threads, size_t cpus, const struct replay_lane *lanes,
			     size_t n_lanes, uint64_t visits)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->lanes = xcalloc(n_lanes, sizeof(*lanes));
	memcpy(r->lanes, lanes, n_lanes * sizeof(*lanes));
	r->n_lanes = n_lanes;
	r->most = xcalloc(n_lanes + 1, sizeof(*r->most));
	r->before = xcalloc(n_lanes + 1, sizeof(*r->before));
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
		r->threads[i].parent = r->threads[i].waker = TRACE_NONE;
	r->rows = xcalloc(threads + 1, sizeof(*r->rows));
	r->families = xcalloc(threads + 1, sizeof(*r->families));
	r->visits = visits_create(n_lanes, visits, threads);
	r->requests = requests_create(r->lanes, n_lanes, cpus);
	r->answers = answers_create(n_lanes, threads);
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	requests_free(r->requests);
	answers_free(r->answers);
	free(r->lanes);
	free(r->targets);
	free(r->blocks);
	free(r->most);
	free(r->before);
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

static double *of(struct replay *r, uint32_t thread)
{
	double **row = &r->rows[thread];

	if (!*row && r->n_spare) {
		*row = r->spare[--r->n_spare];
		memset(*row, 0, ROWS * r->n_lanes * sizeof(**row));
	} else if (!*row) {
		*row = xcalloc(ROWS * r->n_lanes, sizeof(**row));
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

void replay_family(struct replay *r, uint32_t thread, uint32_t family)
{
	r->threads[thread].family = family;
}

void replay_servers(struct replay *r, uint32_t device, uint32_t servers)
{
	requests_servers(r->requests, device, servers);
}

uint64_t replay_busy(const struct replay *r, uint64_t devices)
{
	return requests_busy_in_all(r->requests, devices);
}

static double *family_of(struct replay *r, uint32_t thread)
{
	double **row = &r->families[r->threads[thread].family];

	if (!*row)
		*row = xcalloc(r->n_lanes, sizeof(**row));
	return *row;
}

/* Those of its family that ran meanwhile on other CPUs: whoever it spun for is among them. */
static size_t beside(const struct replay *r, uint32_t thread, uint32_t *ret, size_t most)
{
	const struct thread *t = &r->threads[thread];
	size_t n = 0;

	for (size_t i = 0; i < r->n_cpus && n < most; i++) {
		const struct cpu *c = &r->cpus[i];

		if (c->last != TRACE_NONE && c->last != thread && c->left >= t->told &&
		    !r->threads[c->last].gone && r->threads[c->last].family == t->family)
			ret[n++] = c->last;
	}
	return n;
}

static double spun_since(const struct thread *t, enum replay_spin *kind)
{
	double all = 0, most = 0;

	*kind = REPLAY_SPIN_ANY;
	for (int k = 0; k < REPLAY_SPINS; k++) {
		all += t->spins[k];
		if (t->spins[k] > most) {
			most = t->spins[k];
			*kind = k;
		}
	}
	return all;
}

/*
 * It spun for @ns until one of @w let it go on, of which is not known: as a wait. At most that is
 * as early as the earliest of them, or gains what they have gained meanwhile; at least as the
 * latest. Where they meet, none of them can come before it does.
 */
static void spun(struct replay *r, uint32_t thread, const uint32_t *w, size_t n, double ns,
		 enum replay_spin kind)
{
	double *x = of(r, thread), *family = family_of(r, thread), *y[MOST_BESIDE];
	const double *seen = x + OTHERS * r->n_lanes, *own = x + BY_RUNNING * r->n_lanes;
	double late[MOST_BESIDE];
	enum replay_spin other;

	for (size_t i = 0; i < n; i++) {
		y[i] = of(r, w[i]);
		late[i] = kind == REPLAY_SPIN_MEETS ? spun_since(&r->threads[w[i]], &other) : 0;
	}
	for (size_t l = 0; l < r->n_lanes; l++) {
		enum replay_rules rules = r->lanes[l].rules;
		double arrives = x[l] + ns, first = -INFINITY, last = INFINITY, to;
		bool meets = rules != REPLAY_FREE && kind != REPLAY_SPIN_LOCK;

		for (size_t i = 0; i < n; i++) {
			first = fmax(first, y[i][l] + late[i]);
			last = fmin(last, y[i][l]);
			if (meets && y[i][l] > arrives)
				y[i][l] = arrives;
		}
		if (rules == REPLAY_BOUND)
			to = last;
		else if (rules != REPLAY_FREE && kind == REPLAY_SPIN_MEETS)
			to = first;
		else
			to = fmax(first, x[l] + family[l] - own[l] - seen[l]);
		if (rules == REPLAY_FREE)
			to = fmax(to, x[l]);
		x[l] = to < arrives ? to : arrives;
	}
}

void replay_ran(struct replay *r, uint32_t thread, double ns, const float *share,
		const double *spins)
{
	struct thread *t = &r->threads[thread];
	double *e = of(r, thread), *family = family_of(r, thread);
	double *by_running = e + BY_RUNNING * r->n_lanes;
	bool spinner;

	t->followed = true;
	t->ran += ns;
	for (int k = 0; spins && k < REPLAY_SPINS; k++) {
		t->spins[k] += spins[k];
		t->spun += k == REPLAY_SPIN_MEETS ? 0 : spins[k];
	}
	spinner = t->spun > 0 && t->spun >= SPINNER * t->ran;
	for (size_t i = 0; i < r->n_targets; i++) {
		const struct lanes_of *of_target = &r->targets[i];
		double in = ns * share[of_target->target];

		for (size_t l = of_target->from; in > 0 && l < of_target->to; l++) {
			double gain = r->lanes[l].speedup * in;

			by_running[l] += gain;
			family[l] += gain;
			/* It may spin for longer instead. */
			if (r->lanes[l].rules != REPLAY_BOUND || !spinner)
				e[l] += gain;
		}
	}
}

void replay_follow(struct replay *r, uint32_t thread)
{
	struct thread *t = &r->threads[thread];
	double *e = of(r, thread), *family = family_of(r, thread);
	double *by_running = e + BY_RUNNING * r->n_lanes, *seen = e + OTHERS * r->n_lanes;
	uint32_t w[MOST_BESIDE];
	enum replay_spin kind;
	double all = spun_since(t, &kind);
	size_t n = all > 0 ? beside(r, thread, w, MOST_BESIDE) : 0;

	if (n)
		spun(r, thread, w, n, all, kind);
	for (size_t l = 0; l < r->n_lanes; l++)
		seen[l] = family[l] - by_running[l];
	memset(t->spins, 0, sizeof(t->spins));
	t->told = r->now;
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

/* When @w took the lock that it frees now; 0: nobody knows, for it did not wait for it. */
static uint64_t took(struct thread *w, uint64_t now)
{
	uint64_t held = now - w->got;

	if (!w->got || (w->freed >= w->got && now - w->freed > BURST_NS))
		return 0;
	if (!w->holds || held < w->holds)
		w->holds = held;
	return held <= HELD_LONGER * w->holds ? w->got : 0;
}

static void wakes(struct replay *r, uint32_t waker, uint32_t thread, uint64_t now)
{
	struct thread *t = &r->threads[thread], *w = &r->threads[waker];
	double *x = of(r, thread), *y = of(r, waker), waited = now - t->began;
	uint64_t from = t->wait == TRACE_WAIT_LOCK ? took(w, now) : 0;
	double had = from && from < t->began ? t->began - from : 0, work = w->ran - w->ran_before;
	const double *gained = y + BY_RUNNING * r->n_lanes, *before = y + BEFORE * r->n_lanes;
	bool answer = answers(r, waker, thread, waited);

	if (from && w->chain > MOST_CHAIN)
		had = INFINITY;
	if (t->wait == TRACE_WAIT_LOCK) {
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

		if (meets(b->rules, t->wait))
			met(r, w, b, y);
		if (t->wait == TRACE_WAIT_LOCK)
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
	if (w->n_burst < MOST_BURST) {
		array_reserve(w->burst, w->cap_burst, w->n_burst + 1);
		w->burst[w->n_burst++] = thread;
	}
	if (t->wait == TRACE_WAIT_READ || t->wait == TRACE_WAIT_POLL)
		asks(r, waker, thread);
	begins_anew(r, waker);
}

/* A device takes as long as it took, but from the request on, not from when somebody waits for it.
 */
static void woken_by_device(struct replay *r, const struct trace_event *e)
{
	double *x = of(r, e->thread), waited = e->time - r->threads[e->thread].began;
	const double *ended = requests_ended(r->requests, e->other, e->cpu);
	uint64_t bit = replay_device_bit(e->other);

	for (size_t l = 0; l < r->n_lanes; l++) {
		const struct replay_lane *lane = &r->lanes[l];
		double most = x[l] + waited;

		if (ended)
			x[l] = ended[l] < most ? ended[l] : most;
		else if (lane->devices & bit)
			x[l] += lane->speedup * waited;
	}
}

/* Something comes from whoever that is, who may not have been waiting for anything of ours. */
static bool comes_from_outside(uint8_t wait)
{
	return replay_brings_work(wait) || wait == TRACE_WAIT_WRITE || wait == TRACE_WAIT_LOCK;
}

/* For how long devices were at work: many lanes that follow one another ask for the same. */
struct at_work {
	uint64_t devices, from;
	double busy;
};

/*
 * Somebody has done for @t what it waits for: a thread of the kernel (a journal's, a worker), or
 * one of whom nothing is recorded. That takes as long as it took; as far as devices were at work
 * meanwhile, it was for its sake. At most they were the only thing that it all depended on, since
 * the last time.
 */
static double gains_by_service(const struct replay *r, const struct thread *t,
			       const struct replay_lane *lane, uint64_t now, struct at_work *last)
{
	double waited = now - t->began, gain;
	uint64_t from = lane->rules == REPLAY_FREE ? t->served : t->began;

	if (!lane->devices)
		return 0;
	if (lane->devices != last->devices || from != last->from)
		*last = (struct at_work){ lane->devices, from,
					  requests_busy(r->requests, lane->devices, from, now) };
	gain = lane->speedup * last->busy;
	return gain < waited ? gain : waited;
}

/*
 * Something comes from outside: because of the last answer, which need not have been @thread's own,
 * or because it is time for it.
 */
static void woken_from_outside(struct replay *r, uint32_t thread, uint64_t now)
{
	double *x = of(r, thread), waited = now - r->threads[thread].began;
	const double *answer = answers_asked(r->answers, thread);

	for (size_t l = 0; l < r->n_lanes; l++) {
		double most = x[l] + waited;

		if (r->lanes[l].rules == REPLAY_BOUND)
			x[l] = fmin(x[l], 0);
		else if (answer)
			x[l] = fmax(x[l], fmin(answer[l], most));
	}
}

static void woken_by_unknown(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];
	double *x = of(r, e->thread);
	struct at_work last = {};

	if (comes_from_outside(t->wait))
		woken_from_outside(r, e->thread, e->time);
	else
		for (size_t l = 0; l < r->n_lanes; l++)
			x[l] += gains_by_service(r, t, &r->lanes[l], e->time, &last);
	t->served = e->time;
}

/*
 * A journal's thread serves all who wait for it, in the order in which they come, which may be
 * another one then: of devices that it waits for that is left out but for the bounds.
 */
static void woken_by_server(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];
	double *x = of(r, e->thread);
	struct at_work last = {};

	memcpy(r->before, x, r->n_lanes * sizeof(*x));
	wakes(r, e->other, e->thread, e->time);
	for (size_t l = 0; l < r->n_lanes; l++) {
		const struct replay_lane *lane = &r->lanes[l];
		double served = r->before[l] + gains_by_service(r, t, lane, e->time, &last);

		if (lane->rules == REPLAY_FREE)
			x[l] = fmax(x[l], served);
		else if (lane->rules == REPLAY_BOUND)
			x[l] = fmin(x[l], served);
		else if (lane->devices)
			x[l] = served;
	}
	t->served = e->time;
}

/* @thread waits for something that nothing else in the recording tells. */
static bool is_served(const struct replay *r, uint32_t thread, uint32_t waker)
{
	return r->threads[waker].kernel && r->threads[thread].wait == TRACE_WAIT_OTHER;
}

static void woken(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];

	if (!t->blocked)
		return;
	t->blocked = false;
	t->queued = true;
	t->began = t->since;
	t->since = t->woken = e->time;
	t->waker = TRACE_NONE;
	if (e->by == TRACE_BY_TIMER) {
		answers_alone(r->answers, e->thread);
		woken_by_timer(r, e->thread, e->time);
	} else if (e->by == TRACE_BY_DEVICE) {
		woken_by_device(r, e);
	} else if (e->by == TRACE_BY_THREAD && e->other < r->n_threads && e->other != e->thread) {
		t->waker = e->other;
		if (!r->threads[e->other].followed)
			woken_by_unknown(r, e);
		else if (is_served(r, e->thread, e->other))
			woken_by_server(r, e);
		else
			wakes(r, e->other, e->thread, e->time);
		if (r->threads[e->other].followed && t->wait != TRACE_WAIT_LOCK)
			answers_handed(r->answers, e->other, e->thread);
	} else if (e->by != TRACE_BY_THREAD && comes_from_outside(t->wait)) {
		woken_from_outside(r, e->thread, e->time);
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

static void forked(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];

	free(t->burst);
	*t = (struct thread){
		.family = t->family, .parent = e->other, .waker = TRACE_NONE, .followed = true
	};
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
		break;
	case TRACE_FORK:
		forked(r, e);
		t->queued = true;
		t->since = e->time;
		break;
	case TRACE_ENTER:
		t->followed = true;
		if (t->queued)
			had_queued(r, e, c);
		t->queued = t->blocked = false;
		t->entered = e->time;
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
		t->kernel |= t->blocked && e->wait == TRACE_WAIT_KERNEL;
		t->n_burst = 0;
		if (c->last == e->thread)
			c->left = e->time;
		if (t->blocked && replay_brings_work(t->wait))
			answers_given(r->answers, e->thread, of(r, e->thread));
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
