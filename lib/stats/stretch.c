// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A control window (in end-to-end mode: run) is compared with the nearest 0 % windows before and
 * after it, of whatever target, so that a machine that changes cancels out. How much windows differ
 * by themselves is told by 0 % windows that follow each other.
 */
#include "stats/stretch.h"

#include <math.h>

#include "stats/discard.h"
#include "stats/resample.h"
#include "stats/stats.h"
#include "stats/units.h"

#define PROBABLY     0.5  /* of the delay: less than that, and a clock is the better guess */
#define NEARLY	     0.85 /* all of it: what engines are off by (docs/accuracy.md) is less */
#define MORE	     1.1  /* likewise */
#define LEAST_DELAY  0.001
#define SURE	     2 /* control windows, before a clock is believed in without another one */
#define MAX_DISTANCE 6 /* of windows that are neighbours */

/* One window, in virtual time: per unit of work (latency: of a request). */
struct pace_of {
	double time, visits; /* visits 0: it says nothing */
	double inserted;     /* in that time */
};

static struct pace_of pace_of(const struct profile_window *w, uint32_t progress)
{
	struct pace_of ret = { 0 };
	const struct window_progress *p;
	double many;

	if (progress >= w->n_progress || !(w->wall_s > w->inserted_s))
		return ret;
	p = &w->progress[progress];
	many = p->inflight > 0 ? p->inflight : 1;
	ret.time = many * (p->virtual_s - fmin(CROWDED_SHARE * w->crowded_s, p->virtual_s / 2));
	if (ret.time > 0)
		ret.visits = p->visits;
	ret.inserted = many * w->inserted_s * p->virtual_s / (w->wall_s - w->inserted_s);
	return ret;
}

static bool is_control(const struct profile_window *w)
{
	return w->discard && !strcmp(w->discard, discard_name(DISCARD_CONTROL)) &&
	       w->inserted_s > LEAST_DELAY * w->wall_s;
}

struct series {
	const struct profile_window **w; /* in order */
	struct pace_of *pace;
	size_t n;
};

static bool is_base(const struct series *s, size_t i)
{
	return !s->w[i]->discard && s->w[i]->speedup < 1e-9 && s->pace[i].visits > 0;
}

/*
 * Time for a unit in the nearest 0 % window in direction @step that is @least away or more; NAN:
 * there is none.
 */
static double nearest(const struct series *s, size_t from, int step, uint32_t least)
{
	for (size_t i = from + step; i < s->n; i += step) {
		uint32_t a = s->w[from]->seq, b = s->w[i]->seq, away = a > b ? a - b : b - a;

		if (s->w[i]->run != s->w[from]->run || away > MAX_DISTANCE)
			return NAN;
		if (away >= least && is_base(s, i))
			return s->pace[i].time / s->pace[i].visits;
	}
	return NAN;
}

/*
 * Variance of a 0 % window's time for a unit, to itself, by those that follow each other, of which
 * there are @ret. A control window has others between it and its neighbours, so theirs must have,
 * too, unless there are none.
 */
static double variance(const struct series *s, double *ret)
{
	for (uint32_t least = 2; least > 0; least--) {
		double sum = 0;
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++) {
			double next = is_base(s, i) ? nearest(s, i, 1, least) : NAN, x;

			if (isnan(next))
				continue;
			x = log(next * s->pace[i].visits / s->pace[i].time);
			sum += x * x / 2;
			n++;
		}
		/* Of two differences that share a window, each is worth two thirds. */
		*ret = fmax(n * 2.0 / 3, n > 0);
		if (n)
			return sum / n;
	}
	return 0;
}

static struct series series_of(const struct profile_window *windows, size_t n, uint32_t progress)
{
	struct series s = { xcalloc(n, sizeof(*s.w)), xcalloc(n, sizeof(*s.pace)), n };

	for (size_t i = 0; i < n; i++)
		s.w[i] = &windows[i];
	qsort(s.w, n, sizeof(*s.w), compare_order);
	for (size_t i = 0; i < n; i++)
		s.pace[i] = pace_of(s.w[i], progress);
	return s;
}

struct stretch stretch_estimate(const struct profile_window *windows, size_t n, uint32_t progress)
{
	struct stretch ret = { .lo = -INFINITY, .hi = INFINITY };
	struct series s = series_of(windows, n, progress);
	double longer = 0, inserted = 0, squares = 0, half, differences;

	for (size_t i = 0; i < n; i++) {
		const struct pace_of *c = &s.pace[i];
		double before, after, base;

		ret.moves |= is_base(&s, i);
		if (!is_control(s.w[i]) || !(c->visits > 0))
			continue;
		before = nearest(&s, i, -1, 1);
		after = nearest(&s, i, 1, 1);
		if (isnan(before) && isnan(after))
			continue;
		base = isnan(before) ? after : isnan(after) ? before : (before + after) / 2;
		base *= c->visits;
		longer += c->time + c->inserted - base;
		inserted += c->inserted;
		squares += base * base * (isnan(before) || isnan(after) ? 2 : 1.5);
		ret.windows++;
	}
	half = sqrt(variance(&s, &differences) * squares) / inserted;
	free(s.w);
	free(s.pace);
	if (!ret.windows)
		return ret;
	ret.part = longer / inserted;
	if (!(differences > 0))
		return ret;
	half *= student_quantile(0.975, differences);
	ret.lo = ret.part - half;
	ret.hi = ret.part + half;
	return ret;
}

bool stretch_is_open(const struct stretch *s, double part)
{
	if (!s->windows || !(s->lo > part || s->hi < NEARLY))
		return true;
	return s->hi < NEARLY && s->windows < SURE;
}

bool stretch_by_clock(const struct stretch *s)
{
	return s->windows >= SURE && (s->hi < NEARLY || (s->part < PROBABLY && s->hi < 1));
}

bool stretch_costs_more(const struct stretch *s)
{
	return s->windows && s->lo > MORE;
}
