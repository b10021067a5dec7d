// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A control run is compared with the nearest 0 % runs before and after it, so that a machine that
 * changes cancels out. How much runs differ by themselves is told by 0 % runs that follow each
 * other.
 */
#include "stats/stretch.h"

#include <math.h>

#include "stats/discard.h"
#include "stats/resample.h"
#include "stats/units.h"

#define BY_WORK	    0.5 /* of what was inserted */
#define LEAST_DELAY 0.001
#define WIDEST	    2.0 /* an interval that says anything at all */
#define SURE	    2	/* control runs, before a clock is believed in without another one */

static bool is_control(const struct profile_window *w)
{
	return w->discard && !strcmp(w->discard, discard_name(DISCARD_CONTROL)) &&
	       w->inserted_s > LEAST_DELAY * w->wall_s;
}

static bool is_base(const struct profile_window *w)
{
	return !w->discard && w->speedup < 1e-9;
}

/* The nearest 0 % run in direction @step, of the same run of the file; NULL: none. */
static const struct profile_window *nearest(const struct profile_window *const *w, size_t n,
					    size_t from, int step)
{
	for (size_t i = from + step; i < n; i += step) {
		if (w[i]->run != w[from]->run)
			return NULL;
		if (is_base(w[i]))
			return w[i];
	}
	return NULL;
}

/* Variance of the wall time of a 0 % run, by differences of neighbours, of which there are @ret. */
static double variance(const struct profile_window *const *w, size_t n, size_t *ret)
{
	double sum = 0;

	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		const struct profile_window *next = is_base(w[i]) ? nearest(w, n, i, 1) : NULL;

		if (!next)
			continue;
		sum += (next->wall_s - w[i]->wall_s) * (next->wall_s - w[i]->wall_s) / 2;
		++*ret;
	}
	return *ret ? sum / *ret : 0;
}

struct stretch stretch_estimate(const struct profile_window *windows, size_t n)
{
	_cleanup_free_ const struct profile_window **w = xcalloc(n, sizeof(*w));
	struct stretch s = { .lo = -INFINITY, .hi = INFINITY };
	double longer = 0, inserted = 0, shares = 0, half;
	size_t differences;

	for (size_t i = 0; i < n; i++)
		w[i] = &windows[i];
	qsort(w, n, sizeof(*w), compare_order);
	for (size_t i = 0; i < n; i++) {
		const struct profile_window *before, *after;
		double base;

		if (!is_control(w[i]))
			continue;
		before = nearest(w, n, i, -1);
		after = nearest(w, n, i, 1);
		if (!before && !after)
			continue;
		base = before && after ? (before->wall_s + after->wall_s) / 2
				       : (before ? before : after)->wall_s;
		longer += w[i]->wall_s - base;
		inserted += w[i]->inserted_s;
		shares += before && after ? 1.5 : 2;
		s.runs++;
	}
	if (!s.runs)
		return s;
	s.part = longer / inserted;
	half = sqrt(variance(w, n, &differences) * shares) / inserted;
	if (!differences)
		return s;
	half *= student_quantile(0.975, differences);
	s.lo = s.part - half;
	s.hi = s.part + half;
	return s;
}

bool stretch_is_open(const struct stretch *s)
{
	if (!s->runs || !(s->lo > BY_WORK || s->hi < BY_WORK))
		return true;
	return s->hi < BY_WORK && s->runs < SURE;
}

bool stretch_by_clock(const struct stretch *s)
{
	return s->runs && s->part < BY_WORK && s->hi - s->lo < WIDEST;
}
