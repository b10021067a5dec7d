// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/visits.h"

#include <math.h>

#define WARM_UP	    0.1	 /* of the visits, left out */
#define WINDOW	    0.05 /* of the visits at the beginning and at the end, which are compared */
#define LEAST_VISIT 20

struct window {
	double *earlier; /* sums, by lane */
	double time;
	uint64_t n;
};

struct visits {
	size_t n_lanes;
	uint64_t n, seen;
	struct window first, last;
};

struct visits *visits_create(size_t n_lanes, uint64_t n)
{
	struct visits *v = xcalloc(1, sizeof(*v));

	v->n_lanes = n_lanes;
	v->n = n;
	v->first.earlier = xcalloc(n_lanes + 1, sizeof(double));
	v->last.earlier = xcalloc(n_lanes + 1, sizeof(double));
	return v;
}

void visits_free(struct visits *v)
{
	if (!v)
		return;
	free(v->first.earlier);
	free(v->last.earlier);
	free(v);
}

void visits_add(struct visits *v, uint64_t time, const double *earlier)
{
	uint64_t i = v->seen++, from = WARM_UP * v->n, length = WINDOW * v->n;
	struct window *w;

	length = length ? length : 1;
	if (i >= from && i < from + length)
		w = &v->first;
	else if (i + length >= v->n)
		w = &v->last;
	else
		return;
	w->n++;
	w->time += time;
	for (size_t l = 0; l < v->n_lanes; l++)
		w->earlier[l] += earlier[l];
}

double visits_gain(const struct visits *v, size_t lane)
{
	const struct window *a = &v->first, *b = &v->last;
	double time, earlier;

	if (v->n < LEAST_VISIT || !a->n || !b->n)
		return NAN;
	time = b->time / b->n - a->time / a->n;
	earlier = b->earlier[lane] / b->n - a->earlier[lane] / a->n;
	return time > 0 ? 100 * earlier / time : NAN;
}
