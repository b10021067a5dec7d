// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A control window (in end-to-end mode: run) is compared with the nearest 0 % windows before and
 * after it, of whatever target, so that a machine that changes cancels out. How much windows differ
 * by themselves is told by 0 % windows that follow each other, and so is how much of that is due to
 * what strangers leave of the cores (strangers.h), which is taken off.
 */
#include "stats/stretch.h"

#include <math.h>

#include "stats/holds.h"
#include "stats/resample.h"
#include "stats/stats.h"
#include "stats/strangers.h"
#include "stats/units.h"

#define PROBABLY     0.5  /* of the delay: less than that, and a clock is the better guess */
#define NEARLY	     0.85 /* all of it: what engines are off by (docs/accuracy/clocks.md) is less */
#define MORE	     1.1  /* likewise */
#define LEAST_DELAY  0.001
#define SURE	     2	    /* control windows, before a clock is believed in without another one */
#define LEAST_WAITED 0.0005 /* of the time, for devices and timers */
#define LEAST_WAITS  5	    /* in as many windows at 0 %: fewer come and go by themselves */
#define MUCH_SHORTER 0.5    /* of that waiting: naps and disks are far from it */
#define SURE_SHORTER 4	    /* control windows: windows at 0 % may be alike by chance */
#define LEAST_SLACK  0.03   /* of the time: less than NEARLY of a fifth of it would tell */
#define MAX_DISTANCE 6	    /* of windows that are neighbours */
#define MOST_SLOPE   2.0    /* of time over what strangers leave: 1 where all wait for each other */
#define LEAST_SLOPE  10	    /* differences of neighbours to tell it by */
#define LEAST_TAKEN  0.1    /* of the variance: less is not worth the trouble */

/* One window, in virtual time: per unit of work (latency: of a request). */
struct pace_of {
	double time, visits; /* visits 0: it says nothing */
	double inserted;     /* in that time */
	double ran;	     /* CPU time */
	double waited;	     /* for devices and timers, of all tasks */
	double left;	     /* logarithm of what strangers leave of the cores; NAN: not known */
};

/* What a unit of work takes: the logarithm of time, or of CPU time; or waiting, which may be 0. */
typedef double unit_fn(const struct pace_of *p);

static double unit_time(const struct pace_of *p)
{
	return log(p->time / p->visits);
}

static double unit_cpu(const struct pace_of *p)
{
	return log(p->ran / p->visits);
}

static double unit_waited(const struct pace_of *p)
{
	return p->waited / p->visits;
}

static struct pace_of pace_of(const struct profile_window *w, uint32_t progress)
{
	struct pace_of ret = { 0 };
	const struct window_progress *p;
	double many, part;

	if (progress >= w->n_progress || !(w->wall_s > w->inserted_s))
		return ret;
	p = &w->progress[progress];
	many = p->inflight > 0 ? p->inflight : 1;
	ret.time = many * (p->virtual_s - fmin(CROWDED_SHARE * w->crowded_s, p->virtual_s / 2));
	if (ret.time > 0)
		ret.visits = p->visits;
	ret.ran = w->ran_s;
	part = p->virtual_s / (w->wall_s - w->inserted_s);
	ret.waited = part * w->external_s;
	ret.inserted = many * part * w->inserted_s;
	ret.left = log(strangers_left(w));
	return ret;
}

static bool is_control(const struct profile_window *w)
{
	return w->discard == DISCARD_CONTROL && w->inserted_s > LEAST_DELAY * w->wall_s;
}

struct series {
	const struct profile_window **w; /* in order */
	struct pace_of *pace;
	size_t n;
	struct hold zero; /* sums of 0 % windows, but for their progress */
};

static void add_window(struct hold *to, const struct profile_window *w)
{
	hold_add(to, w, &(struct window_progress){ .virtual_s = w->wall_s });
}

static bool is_base(const struct series *s, size_t i)
{
	return !s->w[i]->discard && s->w[i]->speedup < 1e-9 && s->pace[i].visits > 0;
}

#define NONE SIZE_MAX

/* The nearest 0 % window in direction @step that is @least away or more. */
static size_t nearest(const struct series *s, size_t from, int step, uint32_t least)
{
	for (size_t i = from + step; i < s->n; i += step) {
		uint32_t a = s->w[from]->seq, b = s->w[i]->seq, away = a > b ? a - b : b - a;

		if (s->w[i]->run != s->w[from]->run || away > MAX_DISTANCE)
			return NONE;
		if (away >= least && is_base(s, i))
			return i;
	}
	return NONE;
}

/* What a 0 % window and the next one differ by: sums of squares and products, of @n of them. */
struct differences {
	double unit, left, product;
	size_t n;
};

static struct differences differences_at(const struct series *s, unit_fn *unit, uint32_t least)
{
	struct differences d = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		size_t next = is_base(s, i) ? nearest(s, i, 1, least) : NONE;
		double x, y;

		if (next == NONE)
			continue;
		x = unit(&s->pace[next]) - unit(&s->pace[i]);
		y = s->pace[next].left - s->pace[i].left;
		d.unit += x * x;
		d.left += y * y;
		d.product += x * y;
		d.n++;
	}
	return d;
}

/* How windows at 0 % scatter by themselves. */
struct scatter {
	double var, df;		/* of a unit in one of them */
	double slope, slope_se; /* over what strangers leave; 0: that tells nothing */
	double rest_var;	/* without what they do */
	double left_var;	/* of what they leave */
};

/*
 * A control window has others between it and its neighbours, so theirs must have, too, unless there
 * are none.
 */
static struct scatter scatter_of(const struct series *s, unit_fn *unit)
{
	struct differences d = differences_at(s, unit, 2);
	struct scatter ret = { 0 };
	double explained;

	if (!d.n)
		d = differences_at(s, unit, 1);
	if (!d.n)
		return ret;
	ret.var = d.unit / d.n / 2;
	/* Of two differences that share a window, each is worth two thirds. */
	ret.df = fmax(d.n * 2.0 / 3, 1);
	if (!(d.left > 0) || !(d.unit > 0) || !(d.product < 0) || ret.df < LEAST_SLOPE)
		return ret;
	ret.slope = fmax(d.product / d.left, -MOST_SLOPE);
	explained = ret.slope * (2 * d.product - ret.slope * d.left) / d.unit;
	if (explained < LEAST_TAKEN) {
		ret.slope = 0;
		return ret;
	}
	ret.df--;
	ret.rest_var = ret.var * fmax(1 - explained, 0) * (ret.df + 1) / ret.df;
	ret.slope_se = sqrt(fmax(1 - explained, 0) * d.unit / d.left / ret.df);
	ret.left_var = d.left / d.n / 2;
	return ret;
}

/* What became of a unit of work when all was stopped. */
struct change {
	size_t windows;
	double time, inserted; /* in them */
	double base;	       /* mean by time of what it was beside them */
	double by, half;       /* and of its change; half its 95 % interval: infinite, not known */
};

/* Sums over control windows, by their time. */
struct control_sums {
	double unit, left, squares;
	struct hold stopped; /* as series.zero */
};

/* Takes what strangers left more or less in control windows off @ret->by; its variance. */
static double take_strangers_off(const struct series *s, const struct scatter *by,
				 const struct control_sums *c, struct change *ret)
{
	double weight = c->squares / (ret->time * ret->time);
	struct strangers_noise noise;

	if (by->slope == 0 || isnan(c->left) || isnan(strangers_left(&s->zero.w)))
		return by->var * weight;
	noise = strangers_noise_in(c->left / ret->time, by->left_var * weight, &s->zero.w,
				   &c->stopped.w, ret->by);
	ret->by -= by->slope * noise.mean;
	return by->rest_var * weight + by->slope_se * by->slope_se * noise.mean * noise.mean +
	       by->slope * by->slope * noise.variance;
}

/*
 * Of times the mean of logarithms: where speed varies by a tenth, the mean of the times of units
 * would be more by a hundredth than what belongs to the mean of what was done, and that is a
 * twentieth of what was inserted.
 */
static struct change change_of(const struct series *s, unit_fn *unit)
{
	struct change ret = { .half = INFINITY };
	struct control_sums c = { 0 };
	struct scatter by;
	double var;

	for (size_t i = 0; i < s->n; i++) {
		const struct pace_of *p = &s->pace[i], *a, *b;
		size_t before, after;

		if (!is_control(s->w[i]) || !(p->visits > 0))
			continue;
		before = nearest(s, i, -1, 1);
		after = nearest(s, i, 1, 1);
		if (before == NONE && after == NONE)
			continue;
		a = &s->pace[before == NONE ? after : before];
		b = &s->pace[after == NONE ? before : after];
		add_window(&c.stopped, s->w[i]);
		c.unit += p->time * (unit(p) - (unit(a) + unit(b)) / 2);
		ret.base += p->time * (unit(a) + unit(b)) / 2;
		c.left += p->time * (p->left - (a->left + b->left) / 2);
		c.squares += p->time * p->time * (a == b ? 2 : 1.5);
		ret.time += p->time;
		ret.inserted += p->inserted;
		ret.windows++;
	}
	if (!ret.windows)
		return ret;
	ret.by = c.unit / ret.time;
	ret.base /= ret.time;
	by = scatter_of(s, unit);
	if (unit == unit_waited) /* strangers leave less slack, but none of it is by the stops */
		by.slope = 0;
	var = take_strangers_off(s, &by, &c, &ret);
	if (by.df > 0)
		ret.half = sqrt(var) * student_quantile(0.975, by.df);
	return ret;
}

/*
 * The share of the time at 0 % in which it may have waited for a clock: its tasks for timers,
 * devices and other machines, or none of them for a CPU.
 */
static double find_slack(const struct series *s)
{
	const struct profile_window *w = &s->zero.w;

	return w->wall_s > 0 ? fmax(w->external_s, w->wall_s - w->ran_s - w->queued_s) / w->wall_s
			     : 1;
}

static struct series series_of(const struct profile_window *windows, size_t n, uint32_t progress)
{
	struct series s = { .w = xcalloc(n, sizeof(*s.w)),
			    .pace = xcalloc(n, sizeof(*s.pace)),
			    .n = n };

	for (size_t i = 0; i < n; i++)
		s.w[i] = &windows[i];
	qsort(s.w, n, sizeof(*s.w), compare_order);
	for (size_t i = 0; i < n; i++) {
		s.pace[i] = pace_of(s.w[i], progress);
		if (is_base(&s, i))
			add_window(&s.zero, s.w[i]);
	}
	return s;
}

/* Where requests keep coming there is less slack, and each takes longer all the same. */
static bool is_latency(const struct series *s, uint32_t progress)
{
	for (size_t i = 0; i < s->n; i++) {
		if (is_base(s, i) && s->w[i]->progress[progress].inflight > 0)
			return true;
	}
	return false;
}

static void find_shorter(const struct series *s, struct stretch *ret)
{
	const struct profile_window *zero = &s->zero.w;
	struct change waited = change_of(s, unit_waited);
	double waits = waited.windows * zero->external_waits / s->zero.windows;

	if (waited.windows < SURE_SHORTER || !(waits >= LEAST_WAITS) ||
	    !(zero->external_s > LEAST_WAITED * zero->wall_s) || !(waited.base > 0) ||
	    !(waited.half > 0) || !isfinite(waited.half))
		return;
	ret->shorter = -waited.by / waited.base;
	ret->shorter_lo = ret->shorter - waited.half / waited.base;
	ret->shorter_hi = fmin(ret->shorter + waited.half / waited.base, 1);
	ret->gone = ret->shorter * zero->external_s / zero->wall_s;
}

struct stretch stretch_estimate(const struct profile_window *windows, size_t n, uint32_t progress)
{
	struct stretch ret = { .lo = -INFINITY,
			       .hi = INFINITY,
			       .cpu_lo = -INFINITY,
			       .shorter = NAN,
			       .shorter_lo = NAN,
			       .shorter_hi = NAN };
	struct series s = series_of(windows, n, progress);
	struct change time = change_of(&s, unit_time), cpu = change_of(&s, unit_cpu);
	double base = time.time * exp(-time.by), scale = base / time.inserted;

	for (size_t i = 0; i < n; i++) {
		ret.moves |= is_base(&s, i);
		ret.tried |= is_control(s.w[i]);
	}
	ret.slack = find_slack(&s);
	if (!is_latency(&s, progress))
		find_shorter(&s, &ret);
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
	if (isfinite(cpu.by) && isfinite(cpu.half))
		ret.cpu_lo = 1 + (exp(cpu.by - cpu.half) - 1) * scale;
	return ret;
}

bool stretch_uses_slack(const struct stretch *s)
{
	return s->shorter > MUCH_SHORTER && s->shorter_lo > 0;
}

bool stretch_falls_short(const struct stretch *s)
{
	return s->windows >= SURE && s->hi < 1;
}

bool stretch_takes_less(const struct stretch *s)
{
	return stretch_falls_short(s) && (s->hi < NEARLY || s->part < PROBABLY);
}

bool stretch_by_clock(const struct stretch *s)
{
	return stretch_takes_less(s) || stretch_uses_slack(s);
}

bool stretch_slack_is_open(const struct stretch *s)
{
	return s->shorter > MUCH_SHORTER && !stretch_uses_slack(s);
}

char *stretch_shorter_text(const struct stretch *s)
{
	if (!(s->shorter > MUCH_SHORTER))
		return NULL;
	return xasprintf("waits for devices and timers were shorter by %.0f %% [%.0f, %.0f]",
			 100 * s->shorter, 100 * s->shorter_lo, 100 * s->shorter_hi);
}

static bool time_is_open(const struct stretch *s, double part)
{
	return !s->windows || s->hi < NEARLY || !(s->lo > part);
}

bool stretch_is_open(const struct stretch *s, double part)
{
	if (stretch_uses_slack(s) || (s->hi < NEARLY && s->windows >= SURE))
		return false;
	return time_is_open(s, part) || stretch_slack_is_open(s);
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
	return !stretch_slack_is_open(s) && s->slack < LEAST_SLACK && s->cpu_lo > STRETCH_MOSTLY &&
	       s->part > PROBABLY;
}

bool stretch_is_unjudged(const struct stretch *s)
{
	return s->tried && !stretch_by_clock(s) && stretch_is_open(s, STRETCH_MOSTLY) &&
	       !has_no_clock(s);
}

/* With so many times as many windows half an interval, @half now, is no more than @apart. */
static double times_as_many(double half, double apart)
{
	return half * half / (apart * apart);
}

double stretch_missing(const struct stretch *s)
{
	double half = (s->hi - s->lo) / 2, times = INFINITY;

	if (s->windows < SURE || !isfinite(half))
		return NAN;
	if (time_is_open(s, STRETCH_MOSTLY))
		times = times_as_many(half, fmax(s->part - STRETCH_MOSTLY, NEARLY - s->part));
	if (stretch_slack_is_open(s))
		times = fmin(times, times_as_many(s->shorter - s->shorter_lo, s->shorter));
	return isfinite(times) ? fmax(times - 1, 1.0 / s->windows) : NAN;
}
