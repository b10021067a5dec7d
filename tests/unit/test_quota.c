// SPDX-License-Identifier: GPL-2.0-or-later
/* What windows say of programs that a CPU quota keeps from running. */
#include "stats/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define N 8

/* One unit of work a window: 0 %, then 100 %, by turns. */
struct windows {
	struct profile_window w[N];
	const struct profile_window *p[N];
	double work[N], scale[N], time[N];
	struct quota_effect effect;
};

static void correct(struct windows *m, bool latency)
{
	for (int i = 0; i < N; i++) {
		m->p[i] = &m->w[i];
		m->work[i] = m->scale[i] = 1;
		m->time[i] = m->w[i].wall_s - m->w[i].inserted_s;
	}
	quota_correct(m->p, N, m->work, m->scale, latency, m->time, &m->effect);
}

/*
 * Two tasks that take turns, 1 s in the target and 1 s beside it, and may have @cpus: measured with
 * 0.6, where stops were none.
 */
static void fill_turns(struct windows *m, double cpus)
{
	double wall = 2 / cpus;

	for (int i = 0; i < N; i++)
		m->w[i] = (struct profile_window){ .speedup = i % 2,
						   .wall_s = wall,
						   .inserted_s = i % 2,
						   .ran_s = 2,
						   .target_ran_s = 1,
						   .throttled_s = wall - 2,
						   .quota_cpus = cpus };
}

static void check_times(const struct windows *m, double zero, double treated)
{
	for (int i = 0; i < N; i++)
		assert_float_equal(m->time[i], (i % 2 ? treated : zero), 1e-6);
}

static void test_bound(void **state)
{
	struct windows m;

	(void)state;
	fill_turns(&m, 0.5);
	correct(&m, false);
	assert_true(m.effect.known);
	assert_float_equal(m.effect.throttled, 0.5, 1e-9);
	check_times(&m, 4, 2);
	/* So many CPUs that half of the work is never throttled: 1 s is what it takes. */
	fill_turns(&m, 0.8);
	for (int i = 1; i < N; i += 2)
		m.w[i].stopped_s =
			0.5; /* charged to the quota, which does not let it run as long */
	correct(&m, false);
	assert_true(m.effect.known);
	check_times(&m, 2.5, 1.25);
}

/* Both run at a time; what is left of two when the target is gone is bound by the other. */
static void test_no_longer_bound(void **state)
{
	struct windows m;

	(void)state;
	for (int i = 0; i < N; i++)
		m.w[i] = (struct profile_window){ .speedup = i % 2,
						  .wall_s = i % 2 ? 2.1 : 1.25,
						  .inserted_s = i % 2,
						  .stopped_s = i % 2,
						  .ran_s = 2,
						  .target_ran_s = 1,
						  .throttled_s = i % 2 ? 0.2 : 0.5,
						  .quota_cpus = 1.6 };
	correct(&m, false);
	assert_true(m.effect.known);
	/* 0.63 s would be allowed, and 1.1 less pauses are needed: two cores run 3 s in 2 of them.
	 */
	check_times(&m, 1.25, 1.1 - 0.2 * 2.1 / 3.2);
}

static void test_doubted(void **state)
{
	struct windows m;

	(void)state;
	/* Others in the group have half of what it allows. */
	fill_turns(&m, 0.5);
	for (int i = 0; i < N; i++)
		m.w[i].quota_cpus = 1;
	correct(&m, false);
	assert_false(m.effect.known);
	assert_float_equal(m.effect.throttled, 0.5, 1e-9);
	check_times(&m, 4, 3);
	/* Several groups. */
	for (int i = 0; i < N; i++)
		m.w[i].quota_cpus = 0;
	correct(&m, false);
	assert_false(m.effect.known);
	assert_float_equal(m.effect.throttled, 0.5, 1e-9);
	/* Latencies; another quota from some moment on; tasks that spin. */
	fill_turns(&m, 0.5);
	correct(&m, true);
	assert_false(m.effect.known);
	m.w[N - 1].quota_cpus = 0.6;
	correct(&m, false);
	assert_false(m.effect.known);
	fill_turns(&m, 0.5);
	for (int i = 0; i < N; i++)
		m.w[i].spun_s = 0.5;
	correct(&m, false);
	assert_false(m.effect.known);
	check_times(&m, 4, 3);
}

static void test_not_bound(void **state)
{
	struct windows m;

	(void)state;
	fill_turns(&m, 1);
	correct(&m, false);
	assert_float_equal(m.effect.throttled, 0, 0);
	check_times(&m, 2, 1);
	for (int i = 0; i < N; i++)
		m.w[i].quota_cpus = 0;
	correct(&m, false);
	assert_float_equal(m.effect.throttled, 0, 0);
	/* It waits 2 s that the target has to do with: without them it would hit the quota. */
	for (int i = 0; i < N; i++)
		m.w[i] = (struct profile_window){ .speedup = i % 2,
						  .wall_s = 4,
						  .inserted_s = 3 * (i % 2),
						  .ran_s = 2,
						  .target_waited_s = 3,
						  .quota_cpus = 1 };
	correct(&m, false);
	assert_false(m.effect.known);
	assert_float_equal(m.effect.throttled, 0.5, 1e-9);
	check_times(&m, 4, 1);
	/* Most of it runs outside of the group. */
	for (int i = 0; i < N; i++)
		m.w[i].quota_cpus = 0.2;
	correct(&m, false);
	assert_float_equal(m.effect.throttled, 0, 0);
	check_times(&m, 4, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_no_longer_bound),
		cmocka_unit_test(test_doubted),
		cmocka_unit_test(test_not_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
