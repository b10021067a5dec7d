// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of windows: what may follow what, and that it is the same every time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/plan.h"
#include "stats/resample.h"

#define MAX_WINDOWS 4000

static const double speedups[] = { 0.25, 0.5, 0.75, 1 };

struct run {
	struct plan *p;
	struct plan_window asked[MAX_WINDOWS];
	bool discarded[MAX_WINDOWS];
	size_t n;
	uint32_t seq;
};

static double uniform(struct rng *r)
{
	return ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

static struct plan *create(bool truth, double precision)
{
	struct plan_options opt = { .speedups = speedups,
				    .n_speedups = ARRAY_SIZE(speedups),
				    .n_progress = 1,
				    .truth = truth,
				    .precision = precision,
				    .seed = 1 };

	return plan_create(&opt);
}

/* Measures one window with the given log period. False when there was none to measure. */
static bool step(struct run *r, double log_period, const char *discard)
{
	struct window_progress p = { .visits = 100, .virtual_s = exp(log_period) };
	struct profile_window w = { .n_progress = 1, .progress = &p, .discard = discard };
	struct plan_window a;

	if (plan_next(r->p, &a) != PLAN_MEASURE)
		return false;
	w.seq = r->seq++;
	w.target = a.target;
	w.speedup = a.speedup;
	w.real = a.real;
	r->discarded[r->n] = discard != NULL;
	r->asked[r->n++] = a;
	plan_record(r->p, a.target, &w);
	return true;
}

static void check_round(const struct plan_window *w, size_t treated, bool truth)
{
	size_t virtual[4] = { 0 }, real[4] = { 0 };

	for (size_t i = 0; i < treated; i++) {
		assert_true(w[2 * i].speedup > 0);
		assert_true(w[2 * i + 1].speedup == 0);
		assert_false(w[2 * i + 1].real);
		for (size_t k = 0; k < 4; k++) {
			if (w[2 * i].speedup == speedups[k])
				(w[2 * i].real ? real : virtual)[k]++;
		}
	}
	for (size_t k = 0; k < 4; k++) {
		assert_int_equal(virtual[k], 1);
		assert_int_equal(real[k], truth ? 1 : 0);
	}
}

static void test_rounds(void **state)
{
	static struct run r;

	(void)state;
	for (int truth = 0; truth < 2; truth++) {
		size_t treated = truth ? 8 : 4;
		bool differ = false;

		r = (struct run){ .p = create(truth, 0) };
		plan_add_target(r.p, "a", 1);
		for (size_t i = 0; i < 1 + 6 * treated; i++)
			assert_true(step(&r, 0, NULL));
		assert_true(r.asked[0].speedup == 0);
		for (int round = 0; round < 3; round++) {
			check_round(&r.asked[1 + 2 * treated * round], treated, truth);
			for (size_t i = 0; i < treated; i++)
				differ |= r.asked[1 + 2 * i].speedup !=
					  r.asked[1 + 2 * treated * round + 2 * i].speedup;
		}
		assert_true(differ);
		plan_free(r.p);
	}
}

/* plan_next() only tells; what changes the plan is what was recorded. */
static void test_idempotent(void **state)
{
	struct plan *p = create(false, 0);
	struct plan_window a, b;

	(void)state;
	assert_int_equal(plan_next(p, &a), PLAN_WAIT);
	plan_add_target(p, "a", 1);
	assert_int_equal(plan_next(p, &a), PLAN_MEASURE);
	assert_int_equal(plan_next(p, &b), PLAN_MEASURE);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(plan_state(p, 0).rounds, 1);
	plan_free(p);
}

static void test_discarded_zero(void **state)
{
	static struct run r;

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_add_target(r.p, "a", 1);
	step(&r, 0, "steal");
	step(&r, 0, NULL); /* again */
	step(&r, 0, NULL);
	step(&r, 0, "steal");
	step(&r, 0, "steal"); /* again, but only once */
	step(&r, 0, NULL);
	assert_true(r.asked[1].speedup == 0 && r.asked[2].speedup > 0);
	assert_true(r.asked[3].speedup == 0 && r.asked[4].speedup == 0);
	assert_true(r.asked[5].speedup > 0);
	plan_free(r.p);
}

/* After an interruption nothing is a neighbour of what was before: a 0 % window comes first. */
static void test_interrupt(void **state)
{
	static struct run r;

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_add_target(r.p, "a", 1);
	for (int i = 0; i < 3; i++)
		step(&r, 0, NULL);
	plan_interrupt(r.p);
	step(&r, 0, NULL);
	assert_true(r.asked[3].speedup == 0);
	step(&r, 0, NULL);
	plan_interrupt(r.p);
	step(&r, 0, NULL);
	assert_true(r.asked[5].speedup == 0);
	plan_free(r.p);
}

static size_t count(const struct run *r, int target)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->asked[i].target == target;
	return n;
}

static void test_weights(void **state)
{
	static struct run r;
	struct rng rng = { 1 };

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_add_target(r.p, "much", 3);
	plan_add_target(r.p, "little", 1);
	plan_add_target(r.p, "broken", 9);
	plan_add_target(r.p, "later", 9);
	plan_set_broken(r.p, 2);
	plan_set_waiting(r.p, 3, true);
	while (r.n < 400)
		step(&r, normal(&rng), NULL); /* too much noise for decisions */
	assert_in_range(count(&r, 0), 285, 315);
	assert_in_range(count(&r, 1), 85, 115);
	assert_int_equal(count(&r, 2) + count(&r, 3), 0);
	plan_set_waiting(r.p, 3, false);
	plan_set_broken(r.p, 0);
	while (r.n < 800)
		step(&r, normal(&rng), NULL);
	assert_true(count(&r, 3) > 250);
	assert_true(count(&r, 0) < 325);
	plan_set_broken(r.p, 1);
	plan_set_broken(r.p, 3);
	assert_false(step(&r, 0, NULL));
	plan_free(r.p);
}

/* The noise of a window of @target depends on nothing but how many of its windows there were. */
static double noise_of(const char *name, size_t number, double sigma)
{
	struct rng r = { rng_mix(name[0], number) };

	return sigma * normal(&r);
}

static size_t run_named(const char *const *names, char *order, struct run *r, double precision)
{
	size_t seen[8] = { 0 };
	struct plan_window a;

	*r = (struct run){ .p = create(false, precision) };
	for (size_t i = 0; names[i]; i++)
		plan_add_target(r->p, names[i], names[i][0] == 'c' ? 2 : 1);
	while (r->n < MAX_WINDOWS - 1 && plan_next(r->p, &a) == PLAN_MEASURE) {
		const char *name = names[a.target];
		double effect = name[0] == 'b' ? log(1 - 0.2 * a.speedup) : 0;

		order[r->n] = name[0] + (a.speedup > 0 ? (int)(a.speedup * 4) - 'a' + 'A' : 0);
		step(r, effect + noise_of(name, seen[a.target]++, 0.01), NULL);
	}
	order[r->n] = '\0';
	plan_free(r->p);
	return r->n;
}

static void test_deterministic(void **state)
{
	static const char *const forward[] = { "a", "b", "c", "d", NULL };
	static const char *const other[] = { "c", "a", "d", "b", NULL };
	static char x[MAX_WINDOWS], y[MAX_WINDOWS], z[MAX_WINDOWS];
	static struct run r;

	(void)state;
	assert_true(run_named(forward, x, &r, 0.8) > 300);
	assert_true(r.n < MAX_WINDOWS - 1); /* it ended by itself */
	run_named(forward, y, &r, 0.8);
	assert_string_equal(x, y);
	run_named(other, z, &r, 0.8);
	assert_string_equal(x, z);
}

/* A speedup whose windows vary more gets more of them, and none is forgotten. */
static void test_adaptive(void **state)
{
	static struct run r;
	struct rng rng = { 4 };
	size_t got[4] = { 0 }, treated = 0;
	struct plan_window a;

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_add_target(r.p, "a", 1);
	while (r.n < 1200 && plan_next(r.p, &a) == PLAN_MEASURE)
		step(&r, (a.speedup == 0.75 ? 0.08 : 0.01) * normal(&rng), NULL);
	for (size_t i = 0; i < r.n; i++) {
		treated += r.asked[i].speedup > 0;
		for (size_t k = 0; k < 4; k++)
			got[k] += r.asked[i].speedup == speedups[k];
	}
	print_message("of %zu treated windows: %zu, %zu, %zu (8 times the noise), %zu\n", treated,
		      got[0], got[1], got[2], got[3]);
	assert_true(got[2] > 0.6 * treated);
	for (size_t k = 0; k < 4; k++)
		assert_true(got[k] > 0.07 * treated);
	plan_free(r.p);
}

/* Windows at 100 % are always discarded: that must not keep the rest from being decided. */
static void test_hopeless(void **state)
{
	static struct run r;
	struct rng rng = { 4 };
	struct plan_window a;

	(void)state;
	r = (struct run){ .p = create(false, 1) };
	plan_add_target(r.p, "a", 1);
	while (r.n < MAX_WINDOWS - 1 && plan_next(r.p, &a) == PLAN_MEASURE)
		step(&r, 0.01 * normal(&rng), a.speedup == 1 ? "capped" : NULL);
	assert_true(r.n < 600);
	assert_true(plan_state(r.p, 0).precise);
	plan_free(r.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),	       cmocka_unit_test(test_idempotent),
		cmocka_unit_test(test_discarded_zero), cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_weights),	       cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_adaptive),       cmocka_unit_test(test_hopeless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
