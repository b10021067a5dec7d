// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the plan's decisions are worth, by simulation with fixed seeds: how often a useful target is
 * dropped, how much time dropping saves, and how often intervals contain the truth when their
 * width decided that measuring ended.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/plan.h"
#include "stats/resample.h"
#include "stats/stats.h"

#define MAX_WINDOWS  20000
#define ELIMINATIONS 300

static const double speedups[] = { 0.25, 0.5, 0.75, 1 };

struct setup {
	size_t targets, speedups; /* the last ones of the list above */
	double gain[8];		  /* of each target, at 100 % */
	double noise, precision;
	size_t limit; /* of windows */
	bool drift;
};

struct result {
	struct profile_window w[MAX_WINDOWS];
	struct window_progress p[MAX_WINDOWS];
	size_t n;
	bool no_effect[8];
	bool precise;
};

static double uniform(struct rng *r)
{
	return ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

static void simulate(const struct setup *c, struct rng *rng, struct result *r)
{
	struct plan_options opt = { .speedups = speedups + ARRAY_SIZE(speedups) - c->speedups,
				    .n_speedups = c->speedups,
				    .n_progress = 1,
				    .precision = c->precision,
				    .exact = true,
				    .seed = rng_next(rng) };
	struct plan *p = plan_create(&opt);
	double machine = 1;
	struct plan_window a;
	int left = 0;

	r->n = 0;
	for (size_t i = 0; i < c->targets; i++)
		plan_add_target(p, (char[]){ 'a' + i, '\0' }, 1);
	while (r->n < c->limit && plan_next(p, &a) == PLAN_MEASURE) {
		struct window_progress *wp = &r->p[r->n];
		struct profile_window *w = &r->w[r->n];

		if (c->drift && left-- <= 0) {
			machine = 1 + 2 * uniform(rng);
			left = 8 + uniform(rng) * 30;
		}
		*wp = (struct window_progress){
			.visits = 100,
			.virtual_s = machine * (1 - c->gain[a.target] * a.speedup) *
				     exp(c->noise * normal(rng)),
		};
		*w = (struct profile_window){
			.seq = r->n,
			.target = a.target,
			.start_s = 0.2 * r->n,
			.wall_s = wp->virtual_s,
			.speedup = a.speedup,
			/* One task; CPU times tell how fast the machine is. */
			.ran_s = c->drift ? machine : 0,
			.n_progress = 1,
			.progress = wp
		};
		r->n++;
		plan_record(p, a.target, w);
	}
	r->precise = plan_next(p, &a) == PLAN_PRECISE;
	for (size_t i = 0; i < c->targets; i++)
		r->no_effect[i] = plan_state(p, i).no_effect;
	plan_free(p);
}

static struct result result;

/* All targets are useful, but barely, so that each is as likely to be dropped as can be. */
static void test_false_elimination(void **state)
{
	struct setup c = { .targets = 8, .speedups = 1, .noise = 0.01, .limit = 1600 };
	struct rng rng = { 5 };
	size_t wrong = 0;

	(void)state;
	for (int i = 0; i < 8; i++)
		c.gain[i] = i % 2 ? 0.0101 : -0.0101;
	for (int i = 0; i < ELIMINATIONS; i++) {
		bool any = false;

		simulate(&c, &rng, &result);
		for (int k = 0; k < 8; k++)
			any |= result.no_effect[k];
		wrong += any;
	}
	print_message("8 targets of +-1.01 %%: one was wrongly dropped in %.1f %% of runs\n",
		      100.0 * wrong / ELIMINATIONS);
	assert_true(wrong < 0.05 * ELIMINATIONS);
	assert_true(wrong > 0); /* else the simulation is not at the border */
}

/* Seven of eight do nothing: how long until all is decided, with and without dropping them? */
static void test_saving(void **state)
{
	struct setup c = { .targets = 8,
			   .speedups = 4,
			   .gain = { 0.1 },
			   .noise = 0.01,
			   .precision = 0.3,
			   .limit = MAX_WINDOWS };
	struct setup alone = c;
	struct rng rng = { 6 };
	double with = 0, without = 0;
	size_t dropped = 0;

	(void)state;
	alone.targets = 1;
	for (int i = 0; i < 20; i++) {
		simulate(&c, &rng, &result);
		assert_true(result.precise);
		assert_false(result.no_effect[0]);
		with += result.n;
		for (int k = 1; k < 8; k++)
			dropped += result.no_effect[k];
		simulate(&alone, &rng, &result);
		without += 8 * result.n;
	}
	print_message(
		"7 of 8 targets without effect, +-%.1f points wanted: %.0f windows instead of "
		"%.0f; %.1f of 7 dropped\n",
		c.precision, with / 20, without / 20, dropped / 20.0);
	assert_true(with < 0.8 * without);
	assert_true(dropped > 6.5 * 20);
}

static void check_stop(struct setup c, int repetitions, double *low, double *high)
{
	struct rng rng = { rng_mix(7, c.precision * 1e6 + c.speedups) };
	size_t hit = 0, all = 0, windows = 0, wide = 0;

	c.targets = 1;
	c.gain[0] = 0.2;
	c.limit = MAX_WINDOWS;
	for (int i = 0; i < repetitions; i++) {
		struct stats_options opt = { .seed = i, .exact = true, .bare = true };
		struct estimates e;

		simulate(&c, &rng, &result);
		assert_true(result.precise);
		windows += result.n;
		stats_estimate(result.w, result.n, 1, &opt, &e);
		for (size_t k = 1; k < e.e[0].n_points; k++) {
			const struct estimate_point *p = &e.e[0].points[k];
			double truth = 100 * c.gain[0] * p->speedup_pct / 100;

			all++;
			hit += p->ci_lo <= truth && truth <= p->ci_hi;
		}
		wide += estimate_half_width(&e.e[0]) > c.precision;
		estimates_free(&e);
	}
	print_message("%zu speedups, noise %.0f %%%s, stop at +-%.2f: after %4.0f windows, %.1f %% "
		      "of intervals contain the truth, %.1f %% of runs report more\n",
		      c.speedups, 100 * c.noise, c.drift ? ", drift" : "", c.precision,
		      (double)windows / repetitions, 100.0 * hit / all, 100.0 * wide / repetitions);
	*low = fmin(*low, 100.0 * hit / all);
	*high = fmax(*high, 100.0 * hit / all);
}

static void test_stop(void **state)
{
	double low = 100, high = 0;

	(void)state;
	for (int drift = 0; drift < 2; drift++) {
		/* Below half a point it takes long to tell what CPU times may be off by. */
		for (double precision = drift ? 0.8 : 0.4; precision < 1.2; precision *= 1.4)
			check_stop((struct setup){ .speedups = 1,
						   .noise = 0.01,
						   .precision = precision,
						   .drift = drift },
				   400, &low, &high);
		check_stop(
			(struct setup){
				.speedups = 2, .noise = 0.02, .precision = 1, .drift = drift },
			150, &low, &high);
		check_stop((struct setup){ .speedups = 4,
					   .noise = 0.01,
					   .precision = drift ? 1 : 0.6,
					   .drift = drift },
			   150, &low, &high);
		check_stop(
			(struct setup){
				.speedups = 4, .noise = 0.03, .precision = 1, .drift = drift },
			60, &low, &high);
	}
	assert_true(low >= 92);
	assert_true(high <= 99.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_elimination),
		cmocka_unit_test(test_saving),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
