// SPDX-License-Identifier: GPL-2.0-or-later
/* How long until an interval is as narrow as asked for: what was promised comes true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/resample.h"
#include "stats/trust.h"

#include <math.h>

#define LENGTH 0.25

static double normal(struct rng *r)
{
	double u = ((rng_next(r) >> 11) + 0.5) * 0x1p-53, v = (rng_next(r) >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* @pairs of 0 % and 50 %: 30 % are to be gained, each window is off by @noise. */
static struct estimate_point measure(size_t pairs, double noise, double crowded, uint64_t seed,
				     struct estimates *e)
{
	size_t n = 2 * pairs + 1;
	_cleanup_free_ struct profile_window *w = xcalloc(n, sizeof(*w));
	_cleanup_free_ struct window_progress *p = xcalloc(n, sizeof(*p));
	struct stats_options opt = { .seed = 1 };
	struct rng rng = { seed };

	for (size_t i = 0; i < n; i++) {
		bool treated = i % 2;
		double period = 1e-3 * (treated ? 0.7 : 1) * exp(noise * normal(&rng));

		p[i] = (struct window_progress){ .visits = 0.2 / period, .virtual_s = 0.2 };
		w[i] = (struct profile_window){ .seq = i,
						.speedup = treated ? 0.5 : 0,
						.start_s = i * LENGTH,
						.wall_s = 0.2,
						.inserted_s = treated ? 0.01 : 0,
						.crowded_s = treated ? crowded * 0.2 : 0,
						.hits = 5,
						.n_progress = 1,
						.progress = &p[i] };
	}
	assert_int_equal(stats_estimate(w, n, 1, &opt, e), 0);
	assert_int_equal(e->n, 1);
	assert_int_equal(e->e[0].n_points, 2);
	return e->e[0].points[1];
}

static struct trust look(size_t pairs, double noise, double crowded, uint64_t seed, double goal,
			 double *spent)
{
	struct estimates e;
	struct estimate_point p = measure(pairs, noise, crowded, seed, &e);
	struct trust t = trust_of_point(&p, goal);

	*spent = p.spent_s;
	estimates_free(&e);
	return t;
}

/* The time that was promised is enough, and not much more than that, whatever the noise. */
static void comes_true(void **state)
{
	static const double noises[] = { 0.05, 0.2, 0.4 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(noises); k++) {
		double noise = noises[k], sum = 0;
		int n = 40;

		for (int seed = 1; seed <= n; seed++) {
			double spent, all, goal = 25 * noise;
			struct trust now = look(20, noise, 0, seed, goal, &spent), then;

			if (now.answer == TRUST_REACHED)
				sum += 1;
			if (now.answer == TRUST_REACHED)
				continue;
			assert_int_equal(now.answer, TRUST_MORE);
			assert_float_equal(spent, 20 * 2 * LENGTH, 1);
			then = look(20 + ceil(20 * now.more), noise, 0, seed, goal, &all);
			sum += then.now_pp / goal;
		}
		if (!(sum / n > 0.9 && sum / n < 1.15))
			fail_msg("noise %g: %g times what was promised", noise, sum / n);
	}
}

/* By three windows it is hardly known how noisy they are, but never that no more are missing. */
static void by_few(void **state)
{
	double before = INFINITY;

	(void)state;
	for (double goal = 0.5; goal < 3.4; goal += 0.25) {
		struct estimate_point p = { .ci_lo = -3.4, .ci_hi = 3.4, .noise_df = 2 };
		struct trust t;

		p.alone_lo = p.ci_lo, p.alone_hi = p.ci_hi;
		t = trust_of_point(&p, goal);
		assert_int_equal(t.answer, TRUST_MORE);
		assert_true(t.more > 0.01 && t.more < before);
		/* Twice as many have a quantile of 2.8 instead of 4.3, and half of the variance. */
		if (goal <= 1.5)
			assert_true(t.more > 1);
		before = t.more;
	}
}

/* What does not shrink is not promised away. */
static void out_of_reach(void **state)
{
	double spent;
	struct trust t = look(200, 0.02, 0.2, 1, 2, &spent);
	_cleanup_free_ char *text = trust_text(&t, 0);

	(void)state;
	assert_int_equal(t.answer, TRUST_NEVER);
	assert_true(t.fixed_pp > 6 && t.fixed_pp < 11);
	assert_true(t.now_pp > t.fixed_pp);
	assert_non_null(strstr(text, "\xc2\xb1"
				     "2 is out of reach: \xc2\xb1"));
	assert_non_null(strstr(text, "(more tasks than cores)"));
	t = look(200, 0.02, 0.2, 1, 10, &spent);
	assert_int_equal(t.answer, TRUST_REACHED);
	/* No goal can be below what the method itself is off by. */
	t = look(200, 0.02, 0, 1, METHOD_PP, &spent);
	assert_int_equal(t.answer, TRUST_NEVER);
}

static void nothing_known(void **state)
{
	double spent;
	struct trust t = look(2, 0.02, 0, 1, 0, &spent);

	(void)state;
	assert_int_equal(t.answer, TRUST_UNKNOWN);
}

static void expect_text(enum trust_answer answer, double now, double goal, double more_s,
			const char *golden)
{
	struct trust t = { .answer = answer, .now_pp = now, .goal_pp = goal };
	_cleanup_free_ char *text = NULL;

	trust_limit(&t, more_s);
	text = trust_text(&t, more_s);
	assert_string_equal(text, golden);
}

static void words(void **state)
{
	char *time = trust_time_text(137 * 3600.0);

	(void)state;
	assert_string_equal(time, "140 more hours"); /* no more than two figures */
	free(time);
	expect_text(TRUST_MORE, 7.12, 2, 4 * 60, "±7.1 now; ±2 needs about 4 more minutes");
	expect_text(TRUST_MORE, 23.4, 2, 48, "±23 now; ±2 needs about 48 more seconds");
	expect_text(TRUST_MORE, 1.4, 1, 100, "±1.4 now; ±1 needs about 1.5 more minutes");
	expect_text(TRUST_MORE, 30, 0.5, 80000, "±30 now; ±0.5 needs about 22 more hours");
	expect_text(TRUST_MORE, 546, 2, 3e6,
		    "±546 now; ±2 is out of reach: it would take more than a day");
	expect_text(TRUST_MORE, 546, 2, INFINITY,
		    "±546 now; ±2 is out of reach: it would take more than a day");
	expect_text(TRUST_MORE, 2.01, 2, 0.2, "±2.0 now; ±2 needs about 1 more second");
	expect_text(TRUST_REACHED, 0.8, 0, 0, "±0.8 now");
	assert_true(trust_goal(7, 0.5) == 2);
	assert_true(trust_goal(1.5, 0.5) == 1);
	assert_true(trust_goal(0.7, 0.5) == 0);
	/* Among strangers: what can be had. */
	assert_true(trust_goal(14, 3.1) == 4);
	assert_true(trust_goal(3.9, 3.1) == 2);
	/* Nobody waits for what is hardly better. */
	assert_true(trust_goal(48, 37.5) == 2);
	assert_true(trust_goal(60, 37.5) == 47);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_true),	cmocka_unit_test(by_few),
		cmocka_unit_test(out_of_reach), cmocka_unit_test(nothing_known),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
