// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/handed.h"

#define LEAST_FOUND 10 /* of each */
#define EQUALS	    4  /* times as often woken as waking, or the reverse, at most */
#define OTHERS	    10 /* may end one of so many waits at most: who now and then needs the lock, too */
#define APART	    10 /* one of so many meetings at least: in step there are hardly any */

struct thread {
	uint64_t visits, woken, wakes, apart, mutual, by_equals;
	uint64_t whom;	 /* it has woken: a bit for each, shared by every 64th */
	uint64_t met;	 /* number of the last meeting */
	uint64_t before; /* of that before its own */
	bool own;	 /* it has woken somebody since it last slept: that is one meeting */
	bool waits;	 /* in a futex, for another thread */
};

struct handed {
	struct thread *threads;
	size_t n_threads;
	uint64_t meetings;
};

struct handed *handed_create(size_t threads)
{
	struct handed *h = xcalloc(1, sizeof(*h));

	h->threads = xcalloc(threads + 1, sizeof(*h->threads));
	h->n_threads = threads;
	return h;
}

void handed_free(struct handed *h)
{
	if (!h)
		return;
	free(h->threads);
	free(h);
}

static uint64_t bit_of(const struct handed *h, const struct thread *t)
{
	return 1ull << ((t - h->threads) % 64);
}

static void meet(struct handed *h, struct thread *waker, struct thread *t)
{
	bool apart;

	if (!waker->own) {
		waker->before = waker->met;
		waker->met = ++h->meetings;
		waker->own = true;
	}
	apart = t->met != waker->before && t->met != waker->met;
	t->met = waker->met;
	t->woken++;
	waker->wakes++;
	t->apart += apart;
	waker->apart += apart;
	waker->whom |= bit_of(h, t);
	t->by_equals += waker->visits > 0;
	t->mutual += !!(t->whom & bit_of(h, waker));
}

void handed_event(struct handed *h, const struct trace_event *e)
{
	struct thread *t = e->thread < h->n_threads ? &h->threads[e->thread] : NULL;

	if (!t)
		return;
	switch (e->type) {
	case TRACE_LEAVE:
		t->waits = e->why == TRACE_BLOCKED && e->wait == TRACE_WAIT_FUTEX;
		if (e->why == TRACE_BLOCKED)
			t->own = false;
		break;
	case TRACE_WAKE:
		if (t->waits && e->by == TRACE_BY_THREAD && e->other < h->n_threads &&
		    e->other != e->thread)
			meet(h, &h->threads[e->other], t);
		t->waits = false;
		break;
	case TRACE_PROGRESS:
		t->visits++;
		break;
	default:
		break;
	}
}

bool handed_of(const struct handed *h, uint32_t thread)
{
	const struct thread *t = &h->threads[thread];

	return t->visits >= LEAST_FOUND && t->woken >= LEAST_FOUND && t->wakes >= LEAST_FOUND &&
	       t->woken <= EQUALS * t->wakes && t->wakes <= EQUALS * t->woken &&
	       OTHERS * (t->woken - t->by_equals) <= t->woken && 2 * t->mutual >= t->woken &&
	       APART * t->apart >= t->woken + t->wakes;
}
