// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/latches.h"

#include <math.h>

#define AT_ONCE	     50000 /* ns between the first and the last who are woken */
#define MOST_AT_ONCE 64
#define ON_ITS_WAY   100000 /* ns: who is so soon asleep was done before */

struct thread {
	/* What it gave to others. */
	uint32_t *to;
	uint32_t n, cap, number; /* number: of such times */
	uint64_t since;
	bool any;     /* somebody is done without a word */
	double *done; /* by lane: when the last of these was; NULL: never so far */
	/* What it was given. */
	uint32_t by, time; /* time: the giver's `number` */
	bool works, told;
	uint32_t missed; /* who has gone on since, at @missed_at */
	uint64_t missed_at;
	uint32_t not_for; /* who did while it was at work; TRACE_NONE: nobody */
};

struct latches {
	size_t n_lanes, n_threads, n_rows;
	struct thread *threads;
};

static const struct thread nobody = { .by = TRACE_NONE,
				      .missed = TRACE_NONE,
				      .not_for = TRACE_NONE };

struct latches *latches_create(size_t n_lanes, size_t threads)
{
	struct latches *l = xcalloc(1, sizeof(*l));

	l->n_lanes = n_lanes;
	l->n_threads = threads;
	l->threads = xcalloc(threads + 1, sizeof(*l->threads));
	for (size_t i = 0; i < threads; i++)
		l->threads[i] = nobody;
	return l;
}

static void forget(struct thread *t)
{
	free(t->to);
	free(t->done);
	*t = nobody;
}

void latches_free(struct latches *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_threads; i++)
		forget(&l->threads[i]);
	free(l->threads);
	free(l);
}

static void begin(struct thread *t, uint64_t now)
{
	t->n = 0;
	t->any = false;
	t->since = now;
	t->number++;
}

void latches_gave(struct latches *l, uint32_t waker, uint32_t thread, uint64_t now)
{
	struct thread *w = &l->threads[waker], *t = &l->threads[thread];

	if (!w->n || now - w->since > AT_ONCE)
		begin(w, now);
	t->by = TRACE_NONE;
	if (w->n == MOST_AT_ONCE)
		return;
	array_reserve(w->to, w->cap, w->n + 1);
	w->to[w->n++] = thread;
	t->by = waker;
	t->time = w->number;
	t->works = true;
	t->told = false;
}

void latches_told(struct latches *l, uint32_t waker)
{
	l->threads[waker].told = true;
}

/* Is @thread one of those to whom @giver gave something last? */
static bool is_of(const struct latches *l, uint32_t thread, uint32_t giver)
{
	const struct thread *t = &l->threads[thread];

	return t->by == giver && l->threads[giver].n && t->time == l->threads[giver].number;
}

void latches_done(struct latches *l, uint32_t thread, uint64_t now, const double *earlier)
{
	struct thread *t = &l->threads[thread], *w = NULL;

	if (t->missed != TRACE_NONE && now - t->missed_at > ON_ITS_WAY)
		t->not_for = t->missed;
	if (!t->told && t->by != TRACE_NONE && t->by != t->not_for && is_of(l, thread, t->by))
		w = &l->threads[t->by];
	t->works = false;
	t->by = t->missed = TRACE_NONE;
	if (!w)
		return;
	if (!w->done) {
		w->done = xcalloc(l->n_lanes + 1, sizeof(*w->done));
		l->n_rows++;
	}
	for (size_t i = 0; i < l->n_lanes; i++)
		w->done[i] = w->any ? fmax(w->done[i], now - earlier[i]) : now - earlier[i];
	w->any = true;
}

const double *latches_opened(struct latches *l, uint32_t waker, uint32_t thread, uint64_t now)
{
	struct thread *t = &l->threads[thread];

	if (!is_of(l, waker, thread))
		return NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		struct thread *other = &l->threads[t->to[i]];

		if (t->to[i] == waker || !other->works || !is_of(l, t->to[i], thread))
			continue;
		other->missed = thread;
		other->missed_at = now;
	}
	t->n = 0;
	return t->any ? t->done : NULL;
}

void latches_ended(struct latches *l, uint32_t thread)
{
	l->n_rows -= !!l->threads[thread].done;
	forget(&l->threads[thread]);
}

size_t latches_rows(const struct latches *l)
{
	return l->n_rows;
}
