// SPDX-License-Identifier: GPL-2.0-or-later
/* Joints: when the best target is tried together with others, with which, and at what price. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/plan.h"
#include "stats/resample.h"

#define SETTLE_S    0.1
#define WALL_S	    0.1
#define NOISE	    0.01
#define MOST	    8 /* targets and joints */
#define MOST_SHARE  0.15
#define MOST_JOINTS 3

static const double speedups[] = { 0.25, 0.5, 0.75, 1 };

struct run {
	struct plan *p;
	double gain[MOST]; /* at 100 % */
	int first[MOST], second[MOST];
	size_t n, n_targets;		    /* the latter without joints */
	uint32_t windows, of_joints, began; /* the last: windows by the first joint */
	double clock_s;
	double sleeps; /* until points in time, for each visit */
	struct rng rng;
	plan_worth *worth;
	struct plan_window last;
};

static double normal(struct rng *r)
{
	double u = ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
	double v = ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static struct run begin(const double *gain, size_t n, struct plan_options opt)
{
	static const char *const names[] = { "func:a", "func:b", "func:c", "func:d", "func:e" };
	struct run r = { .n = n, .n_targets = n, .rng = { 5 } };

	opt.speedups = speedups;
	opt.n_speedups = ARRAY_SIZE(speedups);
	opt.n_progress = 1;
	opt.seed = 1;
	r.p = plan_create(&opt);
	for (size_t i = 0; i < n; i++) {
		r.gain[i] = gain[i];
		assert_int_equal(plan_add_target(r.p, names[i], 100 - i), i);
	}
	return r;
}

static bool is_joint(const struct run *r, int target)
{
	return target >= (int)r->n_targets;
}

/* Both gain, but the second one half of what it does alone. */
static void want_joint(struct run *r)
{
	int second, first = plan_wants_joint(r->p, r->worth, r, &second);
	char name[32];

	if (first < 0)
		return;
	assert_true(r->n < MOST);
	snprintf(name, sizeof(name), "%d + %d", first, second);
	if (r->n == r->n_targets)
		r->began = r->windows;
	r->first[r->n] = first;
	r->second[r->n] = second;
	r->gain[r->n] = r->gain[first] + r->gain[second] / 2;
	assert_int_equal(plan_add_joint(r->p, name, first, second), r->n);
	r->n++;
}

static enum plan_answer step(struct run *r)
{
	struct window_progress p = { .visits = 100 };
	struct profile_window w = { .n_progress = 1, .progress = &p, .hits = 10 };
	struct plan_window a;
	enum plan_answer answer;

	want_joint(r);
	answer = plan_next(r->p, &a);
	if (answer != PLAN_MEASURE)
		return answer;
	p.virtual_s = (1 - r->gain[a.target] * a.speedup) * exp(NOISE * normal(&r->rng));
	w.absolute_waits = r->sleeps * p.visits;
	w.seq = r->windows;
	w.speedup = a.speedup;
	w.real = a.real;
	w.start_s = r->clock_s + SETTLE_S;
	w.wall_s = WALL_S;
	r->clock_s += SETTLE_S + WALL_S;
	plan_record(r->p, a.target, &w);
	r->windows++;
	r->of_joints += is_joint(r, a.target);
	r->last = a;
	return answer;
}

static void go_on(struct run *r, uint32_t windows)
{
	while (r->windows < windows)
		assert_int_equal(step(r), PLAN_MEASURE);
}

/* Never more than their share, at any time; one speedup, beside its own baselines. */
static void bounded(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0, 0.1, 0.05 };
	struct run r = begin(gain, 5, (struct plan_options){ .next = true });
	bool zero = false;

	(void)state;
	while (r.windows < 2000) {
		struct plan_window before = r.last;

		assert_int_equal(step(&r), PLAN_MEASURE);
		assert_true(r.of_joints <= MOST_SHARE * r.windows + 9);
		if (!is_joint(&r, r.last.target))
			continue;
		if (r.last.speedup > 0) {
			assert_float_equal(r.last.speedup, 0.5, 1e-9);
			assert_int_equal(before.target, r.last.target);
			assert_float_equal(before.speedup, 0, 1e-9);
		}
		zero |= r.last.speedup == 0;
	}
	assert_true(zero);
	assert_true(r.of_joints >= 0.1 * r.windows);
	assert_int_equal(r.n, r.n_targets + MOST_JOINTS);
	for (size_t i = r.n_targets; i < r.n; i++)
		assert_int_equal(r.first[i], 0);
	/* Without expectations in the order of the ranking. */
	assert_int_equal(r.second[r.n_targets], 1);
	assert_int_equal(r.second[r.n_targets + 1], 3);
	plan_free(r.p);
}

static void only_when_sure(void **state)
{
	static const double nothing[] = { 0, 0, 0 }, harm[] = { -0.3, -0.2, 0 };
	static const double *const gains[] = { nothing, harm };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(gains); i++) {
		struct run r = begin(gains[i], 3, (struct plan_options){ .next = true });

		go_on(&r, 600);
		assert_int_equal(r.n, r.n_targets);
		plan_free(r.p);
	}
}

/* However narrow the interval is: the program follows a clock that is not delayed. */
static void not_when_withheld(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0.1 };
	struct run r = begin(gain, 3, (struct plan_options){ .next = true });

	(void)state;
	r.sleeps = 1;
	go_on(&r, 600);
	assert_int_equal(r.n, 3);
	plan_free(r.p);
}

/* With what surely harms alone nothing is tried; with what is worth nothing alone, it is. */
static void with_whom(void **state)
{
	static const double gain[] = { 0.3, -0.3, 0 };
	struct run r = begin(gain, 3, (struct plan_options){ .next = true });

	(void)state;
	go_on(&r, 600);
	assert_int_equal(r.n, r.n_targets + 1);
	assert_int_equal(r.second[3], 2);
	plan_free(r.p);
}

static double expects_third(int first, int second, void *arg)
{
	(void)arg;
	assert_int_equal(first, 0);
	return second == 2 ? 30 : second == 3 ? 20 : NAN;
}

static void expectation_first(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0, 0.1 };
	struct run r = begin(gain, 4, (struct plan_options){ .next = true });

	(void)state;
	r.worth = expects_third;
	go_on(&r, 1000);
	assert_int_equal(r.second[4], 2);
	assert_int_equal(r.second[5], 3);
	assert_int_equal(r.second[6], 1);
	plan_free(r.p);
}

static void not_wanted(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0.1 };
	struct run off = begin(gain, 3, (struct plan_options){ .next = false });
	struct run truth = begin(gain, 3, (struct plan_options){ .next = true, .truth = true });
	struct run single = begin(gain, 3, (struct plan_options){ .next = true });
	struct run alone = begin(gain, 1, (struct plan_options){ .next = true });

	(void)state;
	plan_set_single(single.p, 0);
	go_on(&off, 600);
	go_on(&truth, 600);
	go_on(&single, 600);
	go_on(&alone, 600);
	assert_int_equal(off.n, 3);
	assert_int_equal(truth.n, 3);
	assert_int_equal(single.n, 3);
	assert_int_equal(alone.n, 1);
	plan_free(off.p);
	plan_free(truth.p);
	plan_free(single.p);
	plan_free(alone.p);
}

/* A part of a short run does not suffice; of a longer one it does. */
static void short_runs(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0.1 };
	struct run r = begin(gain, 3, (struct plan_options){ .next = true, .seconds = 20 });
	struct run longer = begin(gain, 3, (struct plan_options){ .next = true, .seconds = 60 });
	struct run few = begin(gain, 3, (struct plan_options){ .next = true, .windows = 80 });

	(void)state;
	go_on(&r, 20 / (SETTLE_S + WALL_S));
	go_on(&longer, 60 / (SETTLE_S + WALL_S));
	go_on(&few, 80);
	assert_int_equal(r.n, 3);
	assert_true(longer.n > 3);
	assert_int_equal(few.n, 3);
	plan_free(r.p);
	plan_free(longer.p);
	plan_free(few.p);
}

/* Joints keep no run from its end, and decide nothing about their parts. */
static void precise(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0.1 };
	struct plan_options opt = { .precision = 1.5, .exact = true };
	struct run without = begin(gain, 3, opt), with;

	(void)state;
	while (step(&without) == PLAN_MEASURE)
		assert_true(without.windows < 5000);
	opt.next = true;
	with = begin(gain, 3, opt);
	while (step(&with) == PLAN_MEASURE)
		assert_true(with.windows < 5000);
	assert_true(with.n > 3);
	/* Noise differs, so looks do. */
	assert_true(with.windows - with.of_joints < 1.5 * without.windows);
	for (int i = 0; i < 3; i++)
		assert_true(plan_state(with.p, i).precise);
	plan_free(without.p);
	plan_free(with.p);
}

/* What cannot be measured is not tried again, and no joint of it either. */
static void broken(void **state)
{
	static const double gain[] = { 0.4, 0.2, 0.1 };
	struct run r = begin(gain, 3, (struct plan_options){ .next = true });
	uint32_t before;

	(void)state;
	while (r.n == 3)
		assert_int_equal(step(&r), PLAN_MEASURE);
	plan_set_broken(r.p, 3);
	go_on(&r, r.windows + 300);
	assert_true(r.n > 4);
	assert_int_not_equal(r.second[4], r.second[3]);
	plan_set_broken(r.p, r.second[4]);
	before = plan_state(r.p, 4).rounds;
	go_on(&r, r.windows + 300);
	assert_in_range(plan_state(r.p, 4).rounds, before, before + 1);
	plan_free(r.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded),
		cmocka_unit_test(only_when_sure),
		cmocka_unit_test(with_whom),
		cmocka_unit_test(not_when_withheld),
		cmocka_unit_test(expectation_first),
		cmocka_unit_test(not_wanted),
		cmocka_unit_test(short_runs),
		cmocka_unit_test(precise),
		cmocka_unit_test(broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
