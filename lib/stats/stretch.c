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
#define NEARLY	     0.85 /* all of it: what engines are off by (docs/accuracy/clocks.md) is less */
#define MORE	     1.1  /* likewise */
#define LEAST_DELAY  0.001
#define SURE	     2	  /* control windows, before a clock is believed in without another one */
#define LEAST_SLACK  0.03 /* of the time: less than NEARLY of a fifth of it would tell */
#define MAX_DISTANCE 6	  /* of windows that are neighbours */

/* One window, in virtual time: per unit of work (latency: of a request). */
struct pace_of {
	double time, visits; /* visits 0: it says nothing */
	double inserted;     /* in that time */
	double ran;	     /* CPU time */
};

/* Logarithm of what a unit of work takes: time, or CPU time. */
typedef double unit_fn(const struct pace_of *p);

static double unit_time(const struct pace_of *p)
{
	return log(p->time / p->visits);
}

static double unit_cpu(const struct pace_of *p)
{
	return log(p->ran / p->visits);
}

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
	ret.ran = w->ran_s;
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
 * @unit of the nearest 0 % window in direction @step that is @least away or more; NAN: there is
 * none.
 */
static double nearest(const struct series *s, unit_fn *unit, size_t from, int step, uint32_t least)
{
	for (size_t i = from + step; i < s->n; i += step) {
		uint32_t a = s->w[from]->seq, b = s->w[i]->seq, away = a > b ? a - b : b - a;

		if (s->w[i]->run != s->w[from]->run || away > MAX_DISTANCE)
			return NAN;
		if (away >= least && is_base(s, i))
			return unit(&s->pace[i]);
	}
	return NAN;
}

/*
 * Variance of @unit of a 0 % window, by those that follow each other, of which there are @ret. A
 * control window has others between it and its neighbours, so theirs must have, too, unless there
 * are none.
 */
static double variance(const struct series *s, unit_fn *unit, double *ret)
{
	for (uint32_t least = 2; least > 0; least--) {
		double sum = 0;
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++) {
			double next = is_base(s, i) ? nearest(s, unit, i, 1, least) : NAN, x;

			if (isnan(next))
				continue;
			x = next - unit(&s->pace[i]);
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

/* What became of a unit of work when all was stopped. */
struct change {
	size_t windows;
	double time, inserted; /* in them */
	double log, half;      /* mean by time, and half its 95 % interval: infinite, not known */
};

/*
 * The mean of logarithms: where speed varies by a tenth, the mean of the times of units would be
 * more by a hundredth than what belongs to the mean of what was done, and that is a twentieth of
 * what was inserted.
 */
static struct change change_of(const struct series *s, unit_fn *unit)
{
	struct change ret = { .half = INFINITY };
	double sum = 0, squares = 0, differences, var;

	for (size_t i = 0; i < s->n; i++) {
		const struct pace_of *c = &s->pace[i];
		double before, after, base;

		if (!is_control(s->w[i]) || !(c->visits > 0))
			continue;
		before = nearest(s, unit, i, -1, 1);
		after = nearest(s, unit, i, 1, 1);
		if (isnan(before) && isnan(after))
			continue;
		base = isnan(before) ? after : isnan(after) ? before : (before + after) / 2;
		sum += c->time * (unit(c) - base);
		ret.time += c->time;
		ret.inserted += c->inserted;
		squares += c->time * c->time * (isnan(before) || isnan(after) ? 2 : 1.5);
		ret.windows++;
	}
	if (!ret.windows)
		return ret;
	ret.log = sum / ret.time;
	var = variance(s, unit, &differences);
	if (differences > 0)
		ret.half = sqrt(var * squares) / ret.time * student_quantile(0.975, differences);
	return ret;
}

/*
 * The share of the time at 0 % in which it may have waited for a clock: its tasks for timers,
 * devices and other machines, or none of them for a CPU.
 */
static double find_slack(const struct series *s)
{
	double wall = 0, external = 0, runnable = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (!is_base(s, i))
			continue;
		wall += s->w[i]->wall_s;
		external += s->w[i]->external_s;
		runnable += s->w[i]->ran_s + s->w[i]->queued_s;
	}
	return wall > 0 ? fmax(external, wall - runnable) / wall : 1;
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
	struct stretch ret = { .lo = -INFINITY, .hi = INFINITY, .cpu_lo = -INFINITY };
	struct series s = series_of(windows, n, progress);
	struct change time = change_of(&s, unit_time), cpu = change_of(&s, unit_cpu);
	double base = time.time * exp(-time.log), scale = base / time.inserted;

	for (size_t i = 0; i < n; i++) {
		ret.moves |= is_base(&s, i);
		ret.tried |= is_control(s.w[i]);
	}
	ret.slack = find_slack(&s);
	free(s.w);
	free(s.pace);
	ret.windows = time.windows;
	if (!ret.windows)
		return ret;
	ret.part = (time.time + time.inserted - base) / time.inserted;
	if (!isfinite(time.half))
		return ret;
	ret.lo = ret.part - time.half * scale;
	ret.hi = ret.part + time.half * scale;
	if (isfinite(cpu.log) && isfinite(cpu.half))
		ret.cpu_lo = 1 + (exp(cpu.log - cpu.half) - 1) * scale;
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

/*
 * Nobody waits for a clock, and who works until one says that it is time does less for each unit
 * when he is stopped. Beside strangers, and where speed varies, CPU time is what tells.
 */
static bool has_no_clock(const struct stretch *s)
{
	return s->slack < LEAST_SLACK && s->cpu_lo > STRETCH_MOSTLY && s->part > PROBABLY;
}

bool stretch_is_unjudged(const struct stretch *s)
{
	return s->tried && !stretch_by_clock(s) && stretch_is_open(s, STRETCH_MOSTLY) &&
	       !has_no_clock(s);
}

double stretch_missing(const struct stretch *s)
{
	double half = (s->hi - s->lo) / 2, most = fmax(s->part - STRETCH_MOSTLY, NEARLY - s->part);

	if (s->windows < SURE || !isfinite(half))
		return NAN;
	return fmax(half * half / (most * most) - 1, 1.0 / s->windows);
}
