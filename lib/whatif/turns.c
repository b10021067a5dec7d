// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/turns.h"

#include <math.h>

#define RING	 256 /* samples that are remembered of each CPU */
#define BESIDE	 8   /* CPUs that each is compared with */
#define EXPECTED 20  /* meetings by chance, at least */
#define RARELY	 0.25
#define WAITED	 0.05 /* of the time in it: more is contention, which the rules see */
/* Handing over to one who waits may take as long as what is guarded does. */
#define HANDED 2.0

/* Samples so far apart are what chance would bring; steps have no common factor with each other. */
static const uint32_t apart[] = { 5, 7, 11, 17, 29, 53, 97, 191 };

struct ring {
	struct turns_sample v[RING];
	uint64_t n;
};

struct turns {
	struct ring *cpus;
	size_t n_cpus, n_threads;
	uint64_t period;
	double pairs, apart_pairs;
	double met[TURNS_FUNCTIONS], apart_met[TURNS_FUNCTIONS];
	double in[TURNS_FUNCTIONS][TURNS_FUNCTIONS]; /* ns in both */
	double ended_waited[TURNS_FUNCTIONS];	     /* of threads that have ended */
	/* By thread, of those that have samples and live: ns by function, and in all of them */
	double **hit;
	double *ran, *waited;
	uint64_t *blocked; /* since, plus one; 0: does not wait for a lock */
	uint64_t *born;
	bool *gone;
};

struct turns *turns_create(size_t cpus, size_t threads, uint64_t period)
{
	struct turns *t = xcalloc(1, sizeof(*t));

	t->cpus = xcalloc(cpus + 1, sizeof(*t->cpus));
	t->n_cpus = cpus;
	t->n_threads = threads;
	t->period = period;
	t->hit = xcalloc(threads + 1, sizeof(*t->hit));
	t->ran = xcalloc(threads + 1, sizeof(*t->ran));
	t->waited = xcalloc(threads + 1, sizeof(*t->waited));
	t->blocked = xcalloc(threads + 1, sizeof(*t->blocked));
	t->born = xcalloc(threads + 1, sizeof(*t->born));
	t->gone = xcalloc(threads + 1, sizeof(*t->gone));
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_threads; i++)
		free(t->hit[i]);
	free(t->cpus);
	free(t->hit);
	free(t->ran);
	free(t->waited);
	free(t->blocked);
	free(t->born);
	free(t->gone);
	free(t);
}

static void count(double *met, uint64_t mask)
{
	for (; mask; mask &= mask - 1)
		met[__builtin_ctzll(mask)]++;
}

static bool are_two(const struct turns_sample *a, const struct turns_sample *b)
{
	return a->thread != b->thread && a->family == b->family;
}

/* Whoever lives after the other could not have met it. */
static bool lived_together(const struct turns *t, const struct turns_sample *now,
			   const struct turns_sample *then)
{
	return !t->gone[then->thread] && t->born[now->thread] <= then->time;
}

static void compare(struct turns *t, const struct turns_sample *s, const struct ring *other)
{
	const struct turns_sample *now = &other->v[(other->n - 1) % RING];

	/* Of two that follow each other on either CPU, one lies within half a period. */
	if (!other->n || s->time - now->time >= t->period / 2 || !are_two(s, now))
		return;
	t->pairs++;
	count(t->met, s->mask & now->mask);
	for (size_t i = 0; i < ARRAY_SIZE(apart) && apart[i] < other->n; i++) {
		const struct turns_sample *then = &other->v[(other->n - 1 - apart[i]) % RING];

		if (!are_two(s, then) || !lived_together(t, s, then))
			continue;
		t->apart_pairs++;
		count(t->apart_met, s->mask & then->mask);
	}
}

void turns_sample(struct turns *t, const struct turns_sample *s)
{
	struct ring *r;

	if (s->cpu >= t->n_cpus || s->thread >= t->n_threads)
		return;
	r = &t->cpus[s->cpu];
	for (size_t i = 1; i <= BESIDE && i < t->n_cpus; i++)
		compare(t, s, &t->cpus[(s->cpu + i) % t->n_cpus]);
	r->v[r->n++ % RING] = *s;
	if (!t->hit[s->thread])
		t->hit[s->thread] = xcalloc(TURNS_FUNCTIONS, sizeof(double));
	t->ran[s->thread] += s->weight;
	for (uint64_t a = s->mask; a; a &= a - 1) {
		double *in = t->in[__builtin_ctzll(a)];

		t->hit[s->thread][__builtin_ctzll(a)] += s->weight;
		for (uint64_t b = s->mask; b; b &= b - 1)
			in[__builtin_ctzll(b)] += s->weight;
	}
}

/* For how long it waited for a lock, by what it did. */
static double waited_in(const struct turns *t, size_t thread, size_t function)
{
	if (!t->hit[thread] || t->ran[thread] <= 0)
		return 0;
	return t->waited[thread] * t->hit[thread][function] / t->ran[thread];
}

static void ended(struct turns *t, uint32_t thread)
{
	t->gone[thread] = true;
	for (size_t f = 0; f < TURNS_FUNCTIONS; f++)
		t->ended_waited[f] += waited_in(t, thread, f);
	free(t->hit[thread]);
	t->hit[thread] = NULL;
	t->ran[thread] = t->waited[thread] = 0;
}

void turns_event(struct turns *t, const struct trace_event *e)
{
	bool guarded = e->wait == TRACE_WAIT_LOCK || e->wait == TRACE_WAIT_FUTEX;

	if (e->thread >= t->n_threads)
		return;
	if (e->type == TRACE_FORK) {
		t->born[e->thread] = e->time;
	} else if (e->type == TRACE_EXIT) {
		ended(t, e->thread);
	} else if (e->type == TRACE_LEAVE && e->why == TRACE_BLOCKED && guarded) {
		t->blocked[e->thread] = e->time + 1;
	} else if (e->type == TRACE_WAKE && t->blocked[e->thread]) {
		t->waited[e->thread] += e->time + 1 - t->blocked[e->thread];
		t->blocked[e->thread] = 0;
	}
}

bool turns_taken(const struct turns *t, size_t function)
{
	double expected =
		t->apart_pairs > 0 ? t->pairs * t->apart_met[function] / t->apart_pairs : 0;
	double waited = t->ended_waited[function];

	if (expected < EXPECTED || t->apart_met[function] < EXPECTED ||
	    t->met[function] > RARELY * expected)
		return false;
	for (size_t i = 0; i < t->n_threads; i++)
		waited += waited_in(t, i, function);
	return waited < WAITED * t->in[function][function];
}

static void guarded(double used, double left, struct bounds_answer *a)
{
	double faster = 1 - fmin(fmax(a->high, a->middle) / 100, 0.99);
	double then = faster > 0 ? fmin(left / faster, 1) : 1;
	double worst = 100 * (1 - HANDED * left), most = 100 * (1 - left);

	/* They come to it no more often than they did. */
	if (then <= used)
		return;
	if (worst < a->low)
		a->low -= (then - used) / (1 - used) * (a->low - worst);
	a->middle = fmin(a->middle, most);
	a->low = fmin(a->low, a->middle);
}

void turns_widen(const struct turns *t, size_t target, double speedup, double duration,
		 struct bounds_answer *a)
{
	struct bounds_answer before = *a;

	for (size_t f = 0; f < TURNS_FUNCTIONS && duration > 0; f++) {
		struct bounds_answer with = before;
		double used = fmin(t->in[f][f] / duration, 1);

		if (!turns_taken(t, f))
			continue;
		guarded(used, used * (1 - speedup * t->in[f][target] / t->in[f][f]), &with);
		a->low = fmin(a->low, with.low);
		a->middle = fmin(a->middle, with.middle);
	}
}
