// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose units of work are more and less in a fixed order, a few of them in a second:
 * windows must not keep step with it, or it is told an effect that it has not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/plan.h"
#include "plan/window_length.h"
#include "stats/resample.h"
#include "stats/stats.h"

#define SPEEDUP	    0.75
#define SHARE	    0.3 /* of its time it runs the target, for which nobody waits: nothing is gained */
#define UNITS	    1500
#define SEEDS	    30
#define MOST_WRONG  0.002 /* by chance */
#define MAX_WINDOWS 4096

struct program {
	struct rng rng;
	double unit_s; /* on average */
	int cycle;     /* units */
	uint64_t unit;
	double left_s; /* of the unit under way */
	double now_s, inserted_s, speedup;
	uint64_t visits;
	double visited_s; /* the last time, in virtual time */
};

static double uniform(struct rng *r)
{
	return (rng_next(r) >> 11) * 0x1p-53;
}

static double unit_s(struct program *p)
{
	double more = 0.3 * sin(2 * M_PI * p->unit / p->cycle);

	return p->unit_s * (1 + more) * (0.99 + 0.02 * uniform(&p->rng));
}

static void run_for(struct program *p, double seconds)
{
	double end_s = p->now_s + seconds, slowed = 1 + SHARE * p->speedup;

	while (p->now_s < end_s) {
		double step_s = fmin(p->left_s * slowed, end_s - p->now_s);

		p->now_s += step_s;
		p->inserted_s += step_s * (1 - 1 / slowed);
		p->left_s -= step_s / slowed;
		if (p->left_s > 1e-9)
			continue;
		p->visits++;
		p->visited_s = p->now_s - p->inserted_s;
		p->unit++;
		p->left_s = unit_s(p);
	}
}

static struct profile_window measure(struct program *p, double length_s,
				     struct window_progress *progress)
{
	struct profile_window w = { .start_s = p->now_s, .hits = 100, .n_progress = 1 };
	double before_s = p->inserted_s, visited_s = p->visited_s;
	uint64_t visits = p->visits;

	run_for(p, length_s);
	progress->visits = p->visits - visits;
	progress->virtual_s = p->visited_s - visited_s;
	w.speedup = p->speedup;
	w.wall_s = length_s;
	w.inserted_s = p->inserted_s - before_s;
	w.progress = progress;
	return w;
}

/* As scozd does, but that nothing else is going on. */
static enum verdict profile(double unit, int cycle, uint64_t seed)
{
	static const double speedups[] = { SPEEDUP };
	static struct profile_window w[MAX_WINDOWS];
	static struct window_progress progress[MAX_WINDOWS];
	struct plan *plan = plan_create(&(struct plan_options){
		.speedups = speedups, .n_speedups = 1, .n_progress = 1, .seed = seed });
	struct program p = { .rng = { seed }, .unit_s = unit, .cycle = cycle };
	struct window_tuner *tuner = window_tuner_create();
	struct stats_options opt = { .seed = seed };
	struct plan_window next;
	struct estimates e;
	enum verdict ret;
	size_t n = 0;

	p.unit = rng_next(&p.rng) % cycle;
	p.left_s = unit_s(&p);
	plan_add_target(plan, "target", 1);
	run_for(&p, fmax(1, 5 * unit));
	while (p.now_s < UNITS * unit && plan_next(plan, &next) == PLAN_MEASURE) {
		struct window_length length = window_tuner_next(tuner, p.visits / p.now_s, unit);

		p.speedup = next.speedup;
		run_for(&p, length.settle_s);
		for (uint32_t i = 0; i < length.hold; i++, n++) {
			assert_true(n < MAX_WINDOWS);
			w[n] = measure(&p, length.length_s, &progress[n]);
			w[n].seq = n;
			(i ? plan_record_more : plan_record)(plan, next.target, &w[n]);
		}
	}
	assert_int_equal(stats_estimate(w, n, 1, &opt, &e), 0);
	ret = e.e[0].verdict;
	estimates_free(&e);
	plan_free(plan);
	window_tuner_free(tuner);
	return ret;
}

static void test_nothing_keeps_step(void **state)
{
	static const double units_s[] = { 0.02, 0.1, 0.2, 0.5, 1, 2, 5 };
	static const int cycles[] = { 4, 14, 20, 28, 56 };
	size_t wrong = 0, all = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(units_s); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(cycles); k++) {
			size_t before = wrong;

			for (uint64_t seed = 1; seed <= SEEDS; seed++, all++) {
				enum verdict v = profile(units_s[i], cycles[k], seed);

				wrong += v == VERDICT_OPTIMIZE || v == VERDICT_CONTENTION;
			}
			if (wrong > before)
				print_message("units of %g s, %d of them by turns: %zu wrong\n",
					      units_s[i], cycles[k], wrong - before);
		}
	}
	print_message("%zu of %zu wrong\n", wrong, all);
	assert_true(wrong <= MOST_WRONG * all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_keeps_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
