// SPDX-License-Identifier: GPL-2.0-or-later
/* What strangers leave of the cores: what it does to times is taken off, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/strangers.h"
#include "test_stats_windows.h"

#include <math.h>

#define PAIRS  30
#define REPEAT 200
#define TRUTH  30.0 /* percent less time per unit of work, at 50 % */
#define WALL_S 0.2
#define CORES  2

static double uniform(struct rng *r)
{
	return ((rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

struct weather {
	double least, most;  /* share of the cores that strangers take */
	double slope;	     /* log time over the log of what is left */
	double noise;	     /* of the time for a unit, besides */
	double inserted;     /* of the time of treated windows */
	double moved;	     /* share of theirs that strangers take more of the time of stops */
	double speeds, tied; /* of the log of CPU time per unit: by itself, and over what is left */
	bool urgent, unknown, real, runs, cpu_times;
};

static void add_window(struct windows *s, const struct weather *c, double speedup, struct rng *r)
{
	double taken = c->least + (c->most - c->least) * uniform(r);
	double inserted = speedup > 0 && !c->real ? c->inserted : 0, period, left, cpu;
	struct profile_window *w;

	left = 1 - taken;
	cpu = exp(c->speeds * normal(r) + c->tied * log(left));
	period = 0.001 * cpu * (speedup > 0 ? 1 - TRUTH / 100 : 1) * pow(left, -c->slope) *
		 exp(c->noise * normal(r));
	add(s, speedup, period);
	w = &s->w[s->n - 1];
	w->start_s = 1.5 * WALL_S * s->n;
	w->progress->virtual_s = c->runs ? 200 * period : WALL_S * (1 - inserted);
	w->progress->visits = c->runs ? 1 : w->progress->virtual_s / period;
	w->wall_s = w->progress->virtual_s / (1 - inserted);
	w->inserted_s = inserted * w->wall_s;
	w->real = c->real && speedup > 0;
	w->n_progress = c->runs ? 1 : 2;
	w->cores = c->unknown ? 0 : CORES;
	w->ran_s = c->cpu_times ? 0.9e-3 * cpu * w->progress->visits : 0;
	left = 1 - taken * (1 + c->moved * inserted); /* with all others stopped, so nobody waits */
	w->busy_s = w->ran_s + 1e-9 + (1 - left) * w->wall_s * CORES;
	w->urgent_s = c->urgent ? (1 - left) * w->wall_s * CORES : 0;
}

static void measure(struct windows *s, const struct weather *c, uint64_t seed)
{
	struct rng r = { rng_mix(7, seed) };

	s->n = 0;
	add_window(s, c, 0, &r);
	for (int i = 0; i < PAIRS; i++) {
		add_window(s, c, 0.5, &r);
		add_window(s, c, 0, &r);
		if (c->real) {
			s->w[s->n - 2].real = true;
			add_window(s,
				   &(struct weather){ .least = c->least,
						      .most = c->most,
						      .slope = c->slope,
						      .noise = c->noise,
						      .urgent = c->urgent },
				   0.5, &r);
			add_window(s, c, 0, &r);
		}
	}
}

struct result {
	double holds, half, error; /* share of intervals with the truth; means */
	double slope;
};

/* @at: the point's estimate, or, where the target really was cheaper, what was measured. */
static struct result repeat(const struct weather *c)
{
	static struct windows s;
	struct result ret = { 0 };

	for (int i = 0; i < REPEAT; i++) {
		struct stats_options opt = { .seed = i, .exact = true, .bare = true };
		const struct estimate_point *p;
		double lo, hi, value;
		struct estimates e;

		measure(&s, c, i);
		assert_int_equal(stats_estimate(s.w, s.n, c->runs ? 1 : 2, &opt, &e), 0);
		p = &e.e[0].points[1];
		lo = c->real ? p->measured_lo : p->ci_lo;
		hi = c->real ? p->measured_hi : p->ci_hi;
		value = c->real ? p->measured_pct : p->program_speedup_pct;
		ret.holds += (lo <= TRUTH && TRUTH <= hi) / (double)REPEAT;
		ret.half += (hi - lo) / 2 / REPEAT;
		ret.error += (value - TRUTH) / REPEAT;
		ret.slope += e.e[0].control.strangers.slope / REPEAT;
		estimates_free(&e);
	}
	print_message("slope %.2f: %.1f %% hold, half width %.2f, error %+.2f\n", ret.slope,
		      100 * ret.holds, ret.half, ret.error);
	return ret;
}

static void test_left(void **state)
{
	struct profile_window w = {
		.cores = 4, .wall_s = 1, .busy_s = 2.5, .ran_s = 1, .stopped_s = 0.5
	};

	(void)state;
	assert_float_equal(strangers_ran(&w), 1, 1e-9);
	assert_float_equal(strangers_left(&w), 0.75, 1e-9);
	w.cores = 0;
	assert_true(isnan(strangers_left(&w)));
	w.cores = 4;
	w.busy_s = 0; /* an old profile */
	assert_true(isnan(strangers_left(&w)));
	w.busy_s = 100;
	assert_true(strangers_left(&w) > 0);
}

/* Real-time tasks that take between nothing and two thirds: most of the noise. */
static const struct weather hogs = {
	.most = 0.66, .slope = 1, .noise = 0.05, .inserted = 0.2, .urgent = true
};

static void check_narrower(const struct weather *known, double part)
{
	struct weather unknown = *known;
	struct result with, without;

	unknown.unknown = true;
	with = repeat(known);
	without = repeat(&unknown);
	assert_float_equal(without.slope, 0, 1e-9);
	assert_true(with.half < part * without.half);
	assert_true(with.holds > 0.92 && without.holds > 0.92);
	assert_true(fabs(with.error) < 0.3);
}

static void test_hogs(void **state)
{
	struct weather c = hogs;

	(void)state;
	check_narrower(&c, 0.4);
	assert_float_equal(repeat(&c).slope, 1, 0.15);
	c.slope = 0.6; /* not all cores are needed at any time */
	check_narrower(&c, 0.5);
	c.cpu_times = true;
	check_narrower(&c, 0.5);
}

/* Slow memory and hogs at once, of which one hides a part of the other. */
static void test_beside_cpu_times(void **state)
{
	struct weather c = hogs;
	struct result r;

	(void)state;
	c.cpu_times = true;
	c.speeds = 0.2;
	c.tied = 0.5;
	r = repeat(&c);
	assert_float_equal(r.slope, 1, 0.1);
	assert_true(r.holds > 0.92 && r.half < 3 && fabs(r.error) < 0.3);
}

static void test_runs(void **state)
{
	struct weather c = hogs;

	(void)state;
	c.runs = true;
	check_narrower(&c, 0.4);
}

static void test_really_cheaper(void **state)
{
	struct weather c = hogs;

	(void)state;
	c.real = true;
	check_narrower(&c, 0.4);
}

/*
 * Who runs while the program is stopped, or who is stopped himself, takes more or less for it:
 * that is no noise, and does nothing to times.
 */
static void test_moved_by_stops(void **state)
{
	struct weather c = hogs;

	(void)state;
	c.urgent = false;
	assert_true(repeat(&c).holds > 0.97);
	c.moved = 1;
	assert_true(repeat(&c).holds > 0.9);
	c.moved = -1;
	assert_true(repeat(&c).holds > 0.9);
}

/* A busy loop that is always there tells nothing; nor does one that the program sets to work. */
static void test_nothing_to_take_off(void **state)
{
	struct weather c = hogs;

	(void)state;
	c.least = c.most = 0.5;
	assert_true(fabs(repeat(&c).error) < 0.3);
	c = hogs;
	c.slope = -0.5;
	assert_float_equal(repeat(&c).slope, 0, 1e-9);
	c.slope = 0;
	c.noise = 0.2;
	assert_true(repeat(&c).holds > 0.92);
}

/* A profile that another machine went on with: what a share of the cores is is not known. */
static void test_cores_that_change(void **state)
{
	static struct windows s;
	struct estimates e;

	(void)state;
	measure(&s, &hogs, 1);
	for (size_t i = s.n / 2; i < s.n; i++) {
		s.w[i].run = 1;
		s.w[i].cores = 2 * CORES;
	}
	e = run(&s);
	assert_float_equal(e.e[0].control.strangers.slope, 0, 1e-9);
	assert_true(isfinite(e.e[0].points[1].ci_lo) && isfinite(e.e[0].points[1].ci_hi));
	estimates_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_hogs),
		cmocka_unit_test(test_beside_cpu_times),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_really_cheaper),
		cmocka_unit_test(test_moved_by_stops),
		cmocka_unit_test(test_nothing_to_take_off),
		cmocka_unit_test(test_cores_that_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
