// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/waiters.h"

#include "base/hash_index.h"

#define LEAST_SAMPLES 5	   /* fewer say nothing */
#define LEAST_SHARE   0.01 /* of the time */
#define MOST_PAIRS    (1u << 17)

struct waiting {
	uint64_t since;
	uint64_t ended; /* ns of waits that threads ended */
	uint8_t wait;
	bool blocked;
};

struct pair {
	uint32_t target, thread, group;
	uint64_t samples;
	double weight, waits[TRACE_WAITS];
};

struct finder {
	const struct trace *t;
	const struct candidates *c;
	struct waiting *threads;
	uint32_t *groups; /* by thread: the first one that is called alike */
	struct trace_order order;
	struct pair *pairs;
	size_t n_pairs, cap_pairs;
	struct hash_index index;
};

static bool same_pair(const void *items, uint32_t number, const void *key)
{
	const struct pair *a = &((const struct pair *)items)[number], *b = key;

	return a->target == b->target && a->thread == b->thread;
}

static void credit(struct finder *f, uint32_t target, uint32_t thread, double weight)
{
	const struct waiting *w = &f->threads[thread];
	struct pair new = { .target = target, .thread = thread, .group = f->groups[thread] };
	uint64_t hash = hash_mix(hash_mix(HASH_START, target), thread);
	uint32_t i = hash_index_find(&f->index, hash, same_pair, f->pairs, &new);

	if (i == HASH_NONE) {
		if (f->n_pairs == MOST_PAIRS)
			return;
		i = f->n_pairs++;
		array_reserve(f->pairs, f->cap_pairs, f->n_pairs);
		f->pairs[i] = new;
		hash_index_add(&f->index, hash, i);
	}
	f->pairs[i].samples++;
	f->pairs[i].weight += weight;
	f->pairs[i].waits[w->wait] += weight;
}

/* Of what its waker did meanwhile, as far as samples met it. */
static void end_wait(struct finder *f, uint32_t thread, uint64_t now, uint32_t waker)
{
	struct waiting *w = &f->threads[thread];
	const struct trace *t = f->t;

	w->ended += now - w->since;
	for (size_t i = trace_first_after(t, &f->order, waker, w->since);
	     i < f->order.first[waker + 1]; i++) {
		const struct trace_event *s = &t->samples[f->order.samples[i]];
		uint64_t mask = s->stack != TRACE_NONE ? f->c->masks[s->stack] : 0;

		if (s->time > now)
			break;
		for (; mask; mask &= mask - 1)
			credit(f, __builtin_ctzll(mask), thread, s->weight);
	}
}

static int see(const struct trace_event *e, void *arg)
{
	struct finder *f = arg;
	struct waiting *w = e->thread != TRACE_NONE ? &f->threads[e->thread] : NULL;

	switch (w ? e->type : TRACE_TYPES) {
	case TRACE_FOLLOW:
	case TRACE_LEAVE:
		w->blocked = e->why == TRACE_BLOCKED;
		w->since = e->time;
		w->wait = e->wait;
		break;
	case TRACE_WAKE:
		if (w->blocked && e->by == TRACE_BY_THREAD && e->other != e->thread)
			end_wait(f, e->thread, e->time, e->other);
		w->blocked = false;
		break;
	case TRACE_ENTER:
	case TRACE_EXIT:
		w->blocked = false;
		break;
	}
	return 0;
}

static int by_target_and_group(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void keep(struct waiters *to, const struct waiter *w)
{
	size_t i;

	if (w->samples < LEAST_SAMPLES || !(w->share >= LEAST_SHARE))
		return;
	if (to->n < WAITERS_SHOWN)
		to->n++;
	else if (w->share <= to->list[to->n - 1].share)
		return;
	for (i = to->n - 1; i && to->list[i - 1].share < w->share; i--)
		to->list[i] = to->list[i - 1];
	to->list[i] = *w;
}

/* Of one target and group. */
static struct waiter sum_up(const struct finder *f, const struct pair *p, size_t n)
{
	const struct trace_thread *named = &f->t->threads[p->group];
	struct waiter w = { .thread = named->comm,
			    .process = f->t->processes[named->process].name,
			    .threads = n };
	double waits[TRACE_WAITS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double most = f->threads[p[i].thread].ended;

		/* Samples stand for more than they met, by chance. */
		w.share += (p[i].weight < most ? p[i].weight : most) / f->t->end;
		w.samples += p[i].samples;
		for (int k = 0; k < TRACE_WAITS; k++)
			waits[k] += p[i].waits[k];
	}
	for (int k = 0; k < TRACE_WAITS; k++) {
		if (waits[k] > waits[w.wait])
			w.wait = k;
	}
	return w;
}

int waiters_find(const struct trace *t, const struct candidates *c, struct waiters *ret,
		 struct error *err)
{
	struct finder f = { .t = t, .c = c };
	int r;

	memset(ret, 0, c->n * sizeof(*ret));
	f.threads = xcalloc(t->n_threads + 1, sizeof(*f.threads));
	f.groups = trace_threads_alike(t);
	trace_order_samples(t, &f.order);
	r = trace_each(t, see, &f, err);
	if (f.n_pairs)
		qsort(f.pairs, f.n_pairs, sizeof(*f.pairs), by_target_and_group);
	for (size_t i = 0, n; !r && i < f.n_pairs && t->end; i += n) {
		struct waiter w;

		for (n = 1; i + n < f.n_pairs && f.pairs[i + n].target == f.pairs[i].target &&
			    f.pairs[i + n].group == f.pairs[i].group;
		     n++)
			;
		w = sum_up(&f, &f.pairs[i], n);
		keep(&ret[f.pairs[i].target], &w);
	}
	free(f.threads);
	free(f.groups);
	trace_order_free(&f.order);
	free(f.pairs);
	hash_index_deinit(&f.index);
	return r;
}
