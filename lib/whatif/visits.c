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

/* The same of one lane: of a visitor, or summed up. */
struct part {
	double earlier, time;
	uint64_t n;
};
struct sum {
	struct part first, last;
	uint64_t n;
};

/* All visitors, those that go with others like them, and what the rest gains. */
struct sums {
	struct sum all, others;
	double before, after;
};

struct visits {
	size_t n_lanes;
	uint64_t n, seen;
	size_t n_rows;
	struct visitor **threads; /* of those that came to the point and have not ended */
	size_t n_threads;
	struct sums *ended; /* by lane */
};

struct visits *visits_create(size_t n_lanes, uint64_t n, size_t threads)
{
	struct visits *v = xcalloc(1, sizeof(*v));

	v->n_lanes = n_lanes;
	v->n = n;
	v->threads = xcalloc(threads + 1, sizeof(struct visitor *));
	v->n_threads = threads;
	v->ended = xcalloc(n_lanes + 1, sizeof(*v->ended));
	return v;
}

static void forget(struct visits *v, uint32_t thread)
{
	struct visitor *x = v->threads[thread];

	if (!x)
		return;
	v->n_rows -= !!x->first.earlier + !!x->last.earlier;
	free(x->first.earlier);
	free(x->last.earlier);
	free(x);
	v->threads[thread] = NULL;
}

void visits_free(struct visits *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_threads; i++)
		forget(v, i);
	free(v->threads);
	free(v->ended);
	free(v);
}

static void add(struct visits *v, struct window *w, double time, uint64_t n, const double *earlier)
{
	if (!w->earlier) {
		w->earlier = xcalloc(v->n_lanes + 1, sizeof(double));
		v->n_rows++;
	}
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

size_t visits_rows(const struct visits *v)
{
	return v->n_rows;
}

/* How much of its time between two visits is gained; NAN: not known. */
static double share(const struct sum *x)
{
	double time, earlier;

	if (!x->first.n || !x->last.n)
		return NAN;
	time = x->last.time / x->last.n - x->first.time / x->first.n;
	earlier = x->last.earlier / x->last.n - x->first.earlier / x->first.n;
	return time > 0 ? fmin(earlier / time, MOST_GAIN) : NAN;
}

static struct part part_of(const struct window *w, size_t lane)
{
	return (struct part){ w->n ? w->earlier[lane] : 0, w->time, w->n };
}

static void add_part(struct part *to, const struct part *x)
{
	to->earlier += x->earlier;
	to->time += x->time;
	to->n += x->n;
}

static void add_sum(struct sum *to, const struct sum *x)
{
	add_part(&to->first, &x->first);
	add_part(&to->last, &x->last);
	to->n += x->n;
}

/* Those that come seldom, or not all the time, are taken for one. */
static void add_visitor(struct sums *to, const struct visitor *v, size_t lane)
{
	const struct sum x = { part_of(&v->first, lane), part_of(&v->last, lane), v->n };
	double gain = x.first.n >= LEAST_OWN && x.last.n >= LEAST_OWN ? share(&x) : NAN;

	add_sum(&to->all, &x);
	if (isnan(gain)) {
		add_sum(&to->others, &x);
		return;
	}
	to->before += x.n;
	to->after += x.n / (1 - gain);
}

void visits_ended(struct visits *v, uint32_t thread)
{
	if (thread >= v->n_threads || !v->threads[thread])
		return;
	for (size_t l = 0; l < v->n_lanes; l++)
		add_visitor(&v->ended[l], v->threads[thread], l);
	forget(v, thread);
}

/*
 * Threads that wait for one another gain alike in the long run. Of those that do not each comes so
 * much more often as it itself gains, and how often they come adds up.
 */
double visits_gain(const struct visits *v, size_t lane)
{
	struct sums s = v->ended[lane];
	double gain;

	for (size_t i = 0; i < v->n_threads; i++) {
		if (v->threads[i])
			add_visitor(&s, v->threads[i], lane);
	}
	gain = share(&s.others);
	if (isnan(gain))
		gain = share(&s.all);
	if (v->n < LEAST_VISIT || isnan(gain))
		return NAN;
	s.before += s.others.n;
	s.after += s.others.n / (1 - gain);
	return s.after > 0 ? 100 * (1 - s.before / s.after) : NAN;
}
