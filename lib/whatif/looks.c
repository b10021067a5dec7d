// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/looks.h"

#define LEAST_FOUND 10
#define SHORT	    0.125 /* of the sleep before: no longer than a look */
#define LONGEST	    20e6  /* ns: who sleeps for longer on average does not wait for anything */

struct thread {
	uint64_t since, slept; /* it sleeps; for so long last, and it has looked since; 0: not so */
	uint64_t entered;
	bool sleeps, did; /* did: something else than to look, since it was woken */
	uint64_t found, nothing;
	double all; /* ns that it slept in these */
};

struct looks {
	struct thread *threads;
	size_t n_threads;
};

struct looks *looks_create(size_t threads)
{
	struct looks *l = xcalloc(1, sizeof(*l));

	l->threads = xcalloc(threads + 1, sizeof(*l->threads));
	l->n_threads = threads;
	return l;
}

void looks_free(struct looks *l)
{
	if (!l)
		return;
	free(l->threads);
	free(l);
}

static void leaves(struct thread *t, const struct trace_event *e)
{
	bool sleeps = e->wait == TRACE_WAIT_SLEEP;

	if (sleeps && t->slept) {
		t->did |= e->time - t->entered > SHORT * t->slept;
		t->found += t->did;
		t->nothing += !t->did;
		t->all += t->slept;
	}
	/* It waits for something in between: that belongs to what it does. */
	t->did |= !sleeps;
	t->sleeps = sleeps;
	t->since = e->time;
	if (sleeps)
		t->slept = 0;
}

void looks_event(struct looks *l, const struct trace_event *e)
{
	struct thread *t = e->thread < l->n_threads ? &l->threads[e->thread] : NULL;

	if (!t)
		return;
	switch (e->type) {
	case TRACE_ENTER:
		t->entered = e->time;
		break;
	case TRACE_LEAVE:
		if (e->why == TRACE_BLOCKED)
			leaves(t, e);
		break;
	case TRACE_WAKE:
		if (e->by == TRACE_BY_THREAD && e->other < l->n_threads)
			l->threads[e->other].did = true;
		if (!t->sleeps)
			break;
		t->sleeps = t->did = false;
		t->slept = e->by == TRACE_BY_TIMER ? e->time - t->since : 0;
		break;
	case TRACE_PROGRESS:
		t->did = true;
		break;
	}
}

uint64_t looks_of(const struct looks *l, uint32_t thread)
{
	const struct thread *t = &l->threads[thread];

	if (t->found < LEAST_FOUND || t->nothing < t->found ||
	    t->all > LONGEST * (t->found + t->nothing))
		return 0;
	return t->nothing;
}
