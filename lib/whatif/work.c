// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/work.h"

#define BURST_NS   50000 /* between the first and the last who are woken at once */
#define MOST_CHAIN 64	 /* behind one another at a lock: it is always taken */
#define USED	   0.01 /* of the busiest CPU's time: less is not one of those that threads may use */

struct state {
	enum { ABSENT, RUNS, QUEUED, BLOCKED } now;
	uint64_t since;
	uint32_t cpu; /* that it is on */
	uint32_t parent;
	uint64_t got;	/* a lock that it waited for, in this turn; 0: none */
	uint32_t chain; /* so many in a row have waited for that */
	uint32_t woke;	/* another thread, last; TRACE_NONE: none */
	uint64_t woke_at;
	bool gave_way; /* it lost its CPU right after that */
	bool queues;
	size_t first_wake; /* of the present breath; SIZE_MAX: none */
	uint64_t first_wake_at;
	/* Children that have ended since, and that it may wait for as well. */
	uint32_t *orphans;
	size_t n_orphans, cap_orphans;
};

struct work_builder {
	struct work w;
	struct state *states;
	uint64_t *cpus; /* by id: ns that threads ran there */
	size_t n_cpus, cap_cpus;
	uint32_t queued; /* threads that want a CPU */
	uint64_t queued_since;
};

/* @thread wants a CPU that another one has, or does so no more. */
static void queues(struct work_builder *b, uint32_t thread, bool now, uint64_t time)
{
	struct state *s = &b->states[thread];

	if (s->queues == now)
		return;
	s->queues = now;
	if (now && !b->queued++)
		b->queued_since = time;
	else if (!now && !--b->queued)
		b->w.crowded += time - b->queued_since;
}

struct work_builder *work_begin(size_t threads)
{
	struct work_builder *b = xcalloc(1, sizeof(*b));

	b->w.threads = xcalloc(threads + 1, sizeof(*b->w.threads));
	b->w.n_threads = threads;
	b->w.root = TRACE_NONE;
	b->states = xcalloc(threads + 1, sizeof(*b->states));
	for (size_t i = 0; i < threads; i++) {
		b->states[i].parent = TRACE_NONE;
		b->states[i].first_wake = SIZE_MAX;
		b->states[i].woke = TRACE_NONE;
	}
	return b;
}

static struct work_step *add(struct work_builder *b, uint32_t thread, enum work_kind kind)
{
	struct work_thread *t = &b->w.threads[thread];

	array_reserve(t->steps, t->cap, t->n + 1);
	t->steps[t->n] = (struct work_step){ .kind = kind, .other = TRACE_NONE };
	return &t->steps[t->n++];
}

static void ran_on(struct work_builder *b, uint32_t cpu, uint64_t ns)
{
	while (b->n_cpus <= cpu) {
		array_reserve(b->cpus, b->cap_cpus, b->n_cpus + 1);
		b->cpus[b->n_cpus++] = 0;
	}
	b->cpus[cpu] += ns;
}

/* It has run until now. */
static void run_until(struct work_builder *b, uint32_t thread, uint64_t now)
{
	struct state *s = &b->states[thread];
	struct work_thread *t = &b->w.threads[thread];

	if (s->now != RUNS || now <= s->since)
		return;
	if (t->n && t->steps[t->n - 1].kind == WORK_RUN)
		t->steps[t->n - 1].ns += now - s->since;
	else
		add(b, thread, WORK_RUN)->ns = now - s->since;
	t->ran += now - s->since;
	ran_on(b, s->cpu, now - s->since);
	b->w.ran += now - s->since;
	s->since = now;
}

static void begins_to_wait(struct work_builder *b, uint32_t thread, const struct trace_event *e)
{
	struct work_step *step = add(b, thread, WORK_WAIT);

	step->at = e->time;
	step->wait = e->wait;
	step->open = true;
}

/* The wait that @thread is in; NULL: none. */
static struct work_step *open_wait(struct work_builder *b, uint32_t thread)
{
	struct work_thread *t = &b->w.threads[thread];
	struct work_step *last = t->n ? &t->steps[t->n - 1] : NULL;

	return b->states[thread].now == BLOCKED && last && last->open ? last : NULL;
}

/* @waker frees the lock that @thread has waited for since @began. */
static void lock_freed(struct work_builder *b, uint32_t waker, uint32_t thread, uint64_t now,
		       struct work_step *wait, uint64_t began)
{
	struct state *s = &b->states[thread], *w = &b->states[waker];

	wait->overtakes = wait->ns + (w->got && w->got < began ? began - w->got : 0);
	if (w->chain > MOST_CHAIN)
		wait->overtakes = UINT64_MAX;
	s->got = now;
	s->chain = w->got ? w->chain + 1 : 1;
}

static void add_wake(struct work_builder *b, uint32_t waker, uint32_t thread, uint64_t now,
		     const struct work_step *wait, uint64_t began)
{
	struct state *s = &b->states[waker];
	struct work_thread *t = &b->w.threads[waker];
	struct work_step *step;

	run_until(b, waker, now);
	if (s->first_wake == SIZE_MAX || now - s->first_wake_at > BURST_NS) {
		s->first_wake = t->n;
		s->first_wake_at = now;
	} else {
		t->steps[s->first_wake].more++;
	}
	step = add(b, waker, WORK_WAKE);
	step->other = thread;
	step->step = b->w.threads[thread].n - 1;
	step->wait = wait->wait;
	step->apart = began > s->first_wake_at;
}

/* Its maker has waited for @thread's end: and would for all others that have ended meanwhile. */
static void add_joins(struct work_builder *b, uint32_t maker, uint32_t thread)
{
	struct state *s = &b->states[maker];

	for (size_t i = 0; i < s->n_orphans; i++) {
		if (s->orphans[i] != thread)
			add(b, maker, WORK_JOIN)->other = s->orphans[i];
	}
	s->n_orphans = 0;
}

static void count_wait(struct work_builder *b, uint32_t waker, uint32_t thread,
		       const struct work_step *wait)
{
	struct state *w = &b->states[waker];

	b->w.waits++;
	if (wait->wait == TRACE_WAIT_LOCK)
		b->w.lock_waits++;
	else if (w->woke != TRACE_NONE && w->woke != thread)
		b->w.shared_waits++;
	if (b->states[thread].woke == waker && wait->wait != TRACE_WAIT_LOCK &&
	    wait->wait != TRACE_WAIT_WRITE)
		b->w.threads[thread].answers++;
	w->woke = thread;
	w->woke_at = wait->at;
}

/*
 * Should @thread need what the one does that it has set going, and that has taken its CPU at once,
 * it would have come to wait for that; so it did not have to.
 */
static void comes_after(struct work_builder *b, uint32_t thread)
{
	struct state *s = &b->states[thread];
	const struct work_step *wait;
	struct work_step *step;

	if (!s->gave_way)
		return;
	s->gave_way = false;
	wait = open_wait(b, s->woke);
	if (!wait)
		return;
	step = add(b, thread, WORK_AFTER);
	step->other = s->woke;
	step->step = b->w.threads[s->woke].n - 1;
	b->w.threads[thread].afters++;
}

static void woken(struct work_builder *b, const struct trace_event *e)
{
	struct work_step *wait = open_wait(b, e->thread);
	struct state *s = &b->states[e->thread];
	uint64_t began;

	if (!wait)
		return;
	began = wait->at;
	wait->open = false;
	wait->ns = e->time - began;
	wait->at = e->time;
	wait->by_thread = e->by == TRACE_BY_THREAD && e->other < b->w.n_threads &&
			  e->other != e->thread && b->states[e->other].now == RUNS;
	s->now = QUEUED;
	s->since = e->time;
	if (!wait->by_thread)
		return;
	count_wait(b, e->other, e->thread, wait);
	if (wait->wait == TRACE_WAIT_LOCK)
		lock_freed(b, e->other, e->thread, e->time, wait, began);
	add_wake(b, e->other, e->thread, e->time, wait, began);
	if (b->states[e->other].parent == e->thread)
		add_joins(b, e->thread, e->other);
}

static void ended(struct work_builder *b, uint32_t thread, uint64_t now)
{
	struct work_thread *t = &b->w.threads[thread];
	struct state *s = &b->states[thread], *p;

	run_until(b, thread, now);
	if (open_wait(b, thread)) /* its last one: nobody ends that */
		t->n--;
	add(b, thread, WORK_END);
	s->now = ABSENT;
	if (thread == b->w.root)
		b->w.root_end = now;
	if (s->parent >= b->w.n_threads)
		return;
	p = &b->states[s->parent];
	if (p->now != BLOCKED && p->now != QUEUED)
		return;
	array_reserve(p->orphans, p->cap_orphans, p->n_orphans + 1);
	p->orphans[p->n_orphans++] = thread;
}

static void appears(struct work_builder *b, const struct trace_event *e, int how)
{
	struct work_thread *t = &b->w.threads[e->thread];
	struct state *s = &b->states[e->thread];

	if (t->known)
		return;
	t->known = true;
	t->starts = e->time;
	s->now = how;
	s->since = e->time;
	s->cpu = e->cpu;
	if (b->w.root == TRACE_NONE)
		b->w.root = e->thread;
	if (how == BLOCKED)
		begins_to_wait(b, e->thread, e);
}

static void forked(struct work_builder *b, const struct trace_event *e)
{
	bool by_known = e->other < b->w.n_threads && b->states[e->other].now == RUNS;

	appears(b, e, QUEUED);
	if (!by_known || e->other == e->thread)
		return;
	b->w.threads[e->thread].forked = true;
	b->states[e->thread].parent = e->other;
	run_until(b, e->other, e->time);
	add(b, e->other, WORK_FORK)->other = e->thread;
}

static void leaves(struct work_builder *b, const struct trace_event *e)
{
	struct state *s = &b->states[e->thread];

	if (open_wait(b, e->thread)) /* its waking, and that it ran, were missed */
		woken(b, &(struct trace_event){ .thread = e->thread, .time = e->time });
	run_until(b, e->thread, e->time);
	s->first_wake = SIZE_MAX;
	s->since = e->time;
	s->gave_way = s->now == RUNS && e->why == TRACE_QUEUED && s->woke != TRACE_NONE &&
		      e->time - s->woke_at < BURST_NS;
	s->now = e->why == TRACE_BLOCKED ? BLOCKED : QUEUED;
	if (s->now != BLOCKED)
		return;
	s->got = s->chain = 0;
	begins_to_wait(b, e->thread, e);
}

void work_event(struct work_builder *b, const struct trace_event *e, uint32_t point)
{
	struct state *s;

	if (e->thread >= b->w.n_threads || e->type == TRACE_SAMPLE)
		return;
	if (e->time > b->w.end)
		b->w.end = e->time;
	s = &b->states[e->thread];
	b->w.threads[e->thread].last = e->time;
	switch (e->type) {
	case TRACE_FOLLOW:
		appears(b, e,
			e->why == TRACE_BLOCKED	 ? BLOCKED
			: e->why == TRACE_QUEUED ? QUEUED
						 : RUNS);
		break;
	case TRACE_FORK:
		forked(b, e);
		break;
	case TRACE_ENTER:
		appears(b, e, QUEUED);
		if (open_wait(b, e->thread)) /* its waking was missed */
			woken(b, &(struct trace_event){ .thread = e->thread, .time = e->time });
		b->w.queued += s->now == QUEUED ? e->time - s->since : 0;
		comes_after(b, e->thread);
		s->now = RUNS;
		s->since = e->time;
		s->cpu = e->cpu;
		break;
	case TRACE_LEAVE:
		leaves(b, e);
		break;
	case TRACE_WAKE:
		woken(b, e);
		break;
	case TRACE_EXIT:
		ended(b, e->thread, e->time);
		break;
	case TRACE_PROGRESS:
		if (e->other != point)
			break;
		run_until(b, e->thread, e->time);
		add(b, e->thread, WORK_VISIT);
		array_reserve(b->w.visits, b->w.cap_visits, b->w.n_visits + 1);
		b->w.visits[b->w.n_visits++] = e->time;
		break;
	}
	queues(b, e->thread, s->now == QUEUED, e->time);
}

uint32_t cpus_in_use(const uint64_t *ran, size_t n)
{
	uint64_t busiest = 0;
	uint32_t used = 0;

	for (size_t i = 0; i < n; i++)
		busiest = ran[i] > busiest ? ran[i] : busiest;
	for (size_t i = 0; i < n; i++)
		used += ran[i] && ran[i] >= USED * busiest;
	return used;
}

void work_end(struct work_builder *b, struct work *ret)
{
	for (size_t i = 0; i < b->w.n_threads; i++) {
		run_until(b, i, b->w.end);
		free(b->states[i].orphans);
	}
	if (b->queued)
		b->w.crowded += b->w.end - b->queued_since;
	b->w.cpus = cpus_in_use(b->cpus, b->n_cpus);
	*ret = b->w;
	free(b->states);
	free(b->cpus);
	free(b);
}

void work_free(struct work *w)
{
	for (size_t i = 0; i < w->n_threads; i++)
		free(w->threads[i].steps);
	free(w->threads);
	free(w->visits);
	*w = (struct work){};
}
