// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/visits.h"

#include <math.h>

#define WARM_UP	    0.1	 /* of the visits, left out */
#define WINDOW	    0.05 /* of the visits at the beginning and at the end, which are compared */
#define LEAST_VISIT 20
#define LEAST_OWN   4	 /* visits of a thread in each: with fewer it goes with others like it */
#define MOST_GAIN   0.99 /* of a thread: what is left then takes time, too */

struct window {
	double *earlier; /* sums, by lane */
	double time;
	uint64_t n;
};

struct visitor {
	struct window first, last;
	uint64_t n; /* after the warm-up */
};

struct visits {
	size_t n_lanes;
	uint64_t n, seen;
	struct visitor **threads; /* of those that came to the point */
	size_t n_threads;
};

struct visits *visits_create(size_t n_lanes, uint64_t n, size_t threads)
{
	struct visits *v = xcalloc(1, sizeof(*v));

	v->n_lanes = n_lanes;
	v->n = n;
	v->threads = xcalloc(threads + 1, sizeof(struct visitor *));
	v->n_threads = threads;
	return v;
}

static void window_free(struct window *w)
{
	free(w->earlier);
}

void visits_free(struct visits *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_threads; i++) {
		if (!v->threads[i])
			continue;
		window_free(&v->threads[i]->first);
		window_free(&v->threads[i]->last);
		free(v->threads[i]);
	}
	free(v->threads);
	free(v);
}

static void add(const struct visits *v, struct window *w, double time, uint64_t n,
		const double *earlier)
{
	if (!w->earlier)
		w->earlier = xcalloc(v->n_lanes + 1, sizeof(double));
	w->n += n;
	w->time += time;
	for (size_t l = 0; l < v->n_lanes; l++)
		w->earlier[l] += earlier[l];
}

void visits_add(struct visits *v, uint32_t thread, uint64_t time, const double *earlier)
{
	uint64_t i = v->seen++, from = WARM_UP * v->n, length = WINDOW * v->n;
	struct visitor **of;

	if (i < from || thread >= v->n_threads)
		return;
	of = &v->threads[thread];
	if (!*of)
		*of = xcalloc(1, sizeof(**of));
	(*of)->n++;
	length = length ? length : 1;
	if (i < from + length)
		add(v, &(*of)->first, time, 1, earlier);
	else if (i + length >= v->n)
		add(v, &(*of)->last, time, 1, earlier);
}

/* How much of its time between two visits is gained; NAN: not known. */
static double share(const struct window *first, const struct window *last, size_t lane)
{
	double time, earlier;

	if (!first->n || !last->n)
		return NAN;
	time = last->time / last->n - first->time / first->n;
	earlier = last->earlier[lane] / last->n - first->earlier[lane] / first->n;
	return time > 0 ? fmin(earlier / time, MOST_GAIN) : NAN;
}

static bool is_known(const struct visitor *x)
{
	return x->first.n >= LEAST_OWN && x->last.n >= LEAST_OWN;
}

/* Those that come seldom, or not all the time, are taken for one. */
static void add_others(const struct visitor *x, size_t lane, struct visitor *others)
{
	others->n += x->n;
	others->first.n += x->first.n;
	others->first.time += x->first.time;
	others->first.earlier[0] += x->first.n ? x->first.earlier[lane] : 0;
	others->last.n += x->last.n;
	others->last.time += x->last.time;
	others->last.earlier[0] += x->last.n ? x->last.earlier[lane] : 0;
}

/*
 * Threads that wait for one another gain alike in the long run. Of those that do not each comes so
 * much more often as it itself gains, and how often they come adds up.
 */
double visits_gain(const struct visits *v, size_t lane)
{
	double earlier[2] = {}, earlier_of_all[2] = {}, before = 0, after = 0, gain;
	struct visitor others = { { &earlier[0], 0, 0 }, { &earlier[1], 0, 0 }, 0 };
	struct visitor all = { { &earlier_of_all[0], 0, 0 }, { &earlier_of_all[1], 0, 0 }, 0 };

	for (size_t i = 0; i < v->n_threads; i++) {
		const struct visitor *x = v->threads[i];

		if (!x)
			continue;
		add_others(x, lane, &all);
		gain = is_known(x) ? share(&x->first, &x->last, lane) : NAN;
		if (isnan(gain)) {
			add_others(x, lane, &others);
			continue;
		}
		before += x->n;
		after += x->n / (1 - gain);
	}
	gain = share(&others.first, &others.last, 0);
	if (isnan(gain))
		gain = share(&all.first, &all.last, 0);
	if (v->n < LEAST_VISIT || isnan(gain))
		return NAN;
	before += others.n;
	after += others.n / (1 - gain);
	return after > 0 ? 100 * (1 - before / after) : NAN;
}
