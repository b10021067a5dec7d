// SPDX-License-Identifier: GPL-2.0-or-later
/* What the machine did to an interval: found where it did, and not where it did not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/machine.h"
#include "stats/resample.h"

#include <math.h>

#define PAIRS 40
#define N     (2 * PAIRS + 1)

static double normal(struct rng *r)
{
	double u = ((rng_next(r) >> 11) + 0.5) * 0x1p-53, v = (rng_next(r) >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static double tied; /* speed, to what is stolen beyond the usual */

/* Windows of two cores that differ by @noise, and by so much for each point of steal and speed. */
static void measure(double noise, double by_steal, double by_speed, bool known, uint64_t seed,
		    struct machine_effect *ret)
{
	static struct profile_window w[N];
	static struct window_progress p[N];
	struct stats_options opt = { .seed = 1 };
	struct rng rng = { seed };
	struct estimates e;

	for (size_t i = 0; i < N; i++) {
		double steal = 0.14 + 0.03 * normal(&rng),
		       speed = 0.09 * normal(&rng) + tied * (steal - 0.14);
		double period = 1e-3 * (i % 2 ? 0.7 : 1) *
				exp(noise * normal(&rng) + by_steal * steal + by_speed * speed);

		p[i] = (struct window_progress){ 0.2 / period, 0.2, 0 };
		w[i] = (struct profile_window){ .seq = i,
						.speedup = i % 2 ? 0.5 : 0,
						.start_s = 0.25 * i,
						.wall_s = 0.2,
						.stolen_s = steal * 0.4,
						.n_progress = 1,
						.progress = &p[i] };
		if (!known)
			continue;
		/* What the program needs for a unit stays; others take a fifth of the cores. */
		w[i].ran_s = 0.9e-3 * p[i].visits;
		w[i].busy_s = w[i].ran_s + 0.02 + 0.08 - w[i].stolen_s;
		w[i].stopped_s = 0.02;
		w[i].work_ns = 1000 * exp(speed);
		w[i].ticks = 100;
	}
	assert_int_equal(stats_estimate(w, N, 1, &opt, &e), 0);
	machine_effect(w, N, 2, known ? 1e-4 : 0, &e.e[0], ret);
	estimates_free(&e);
}

static void what_it_was_like(void **state)
{
	struct machine_effect m;
	_cleanup_free_ char *text = NULL;

	(void)state;
	measure(0.05, 0, 0, true, 1, &m);
	assert_float_equal(m.stolen, 0.14, 0.015);
	assert_float_equal(m.stolen_sd, 0.03, 0.01);
	assert_float_equal(m.speed_sd, 0.09, 0.02);
	assert_float_equal(m.others, 0.2, 0.001);
	assert_float_equal(m.stopped, 0.05, 0.001);
	assert_float_equal(m.ticks, 0.01 / (0.18 * 1.21 + 0.1 - 0.14 * 0.4), 0.003);
	assert_int_equal(m.units, PAIRS);
	text = machine_effect_text(&m);
	assert_non_null(strstr(text, "% (±"));
	assert_non_null(
		strstr(text, ", other programs 20 %, held still to measure 5 %, sampling "));
	measure(0.05, 0, 0, false, 1, &m);
	assert_null(machine_effect_text(&m));
}

/* The share of the variance is that which was put in, on average. */
static void explained(void **state)
{
	double noise = 0.05, by_speed = 0.05 / 0.09, by_steal = 0.05 / 0.03;
	double half = 0, most = 0, none = 0;
	int found = 0, n = 60;

	(void)state;
	for (int seed = 1; seed <= n; seed++) {
		struct machine_effect m;

		measure(noise, 0, by_speed, true, seed, &m);
		half += m.explained / n;
		measure(noise, by_steal, 2 * by_speed, true, seed, &m);
		most += m.explained / n;
		measure(noise, 0, 0, true, seed, &m);
		none += m.explained / n;
		found += m.explained > 0;
		assert_true(m.explained >= 0 && m.of_width >= 0 && m.of_width <= m.explained);
	}
	/* Noise 1, speed 1: a half. Steal 1, speed 4: five of six. */
	assert_float_equal(half, 0.5, 0.08);
	assert_float_equal(most, 5.0 / 6, 0.06);
	assert_true(none < 0.04);
	assert_true(found < n / 6);
}

/* Of causes that go together each tells what the other does not. */
static void explained_by_both(void **state)
{
	struct machine_effect m;

	(void)state;
	tied = 2;
	measure(0, 1, 1, true, 1, &m);
	tied = 0;
	assert_true(m.explained > 0.98);
}

/* Of windows at 0 % only, by what a visit took, however many there were. */
static void cpu_time_per_visit(void **state)
{
	static const double cpu[] = { 1e-3, 1.2e-3, 5e-3, 1e-3, 1.2e-3, 5e-3 };
	struct window_progress p[ARRAY_SIZE(cpu)];
	struct profile_window w[ARRAY_SIZE(cpu)];
	_cleanup_free_ char *text = NULL;
	struct machine_effect m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cpu); i++) {
		p[i] = (struct window_progress){ 100 + i, 0.2, 0 };
		w[i] = (struct profile_window){ .seq = i,
						.speedup = i % 3 == 2,
						.wall_s = 0.2,
						.busy_s = 0.3,
						.ran_s = cpu[i] * p[i].visits,
						.n_progress = 1,
						.progress = &p[i] };
	}
	machine_effect(w, ARRAY_SIZE(cpu), 2, 0, NULL, &m);
	assert_float_equal(m.visit_cpu_sd, log(1.2) / sqrt(3), 1e-6);
	text = machine_effect_text(&m);
	assert_non_null(strstr(text, "CPU time per visit by ±11 %"));
}

static void words(void **state)
{
	struct machine_effect m = { .explained = 0.75, .of_width = 0.5 };
	char *half = machine_effect_verdict(&m), *none, *few, *rest;

	(void)state;
	assert_string_equal(half, "it makes about 50 % of the interval's width");
	m.explained = m.of_width = 0;
	none = machine_effect_verdict(&m);
	assert_string_equal(none, "no interval is noticeably wider for it");
	m.explained = NAN;
	few = machine_effect_verdict(&m);
	assert_string_equal(few, "too few windows to tell what that did to the precision");
	m.explained = 0.75;
	m.of_width = 0.5;
	m.taken_off = 0.58;
	rest = machine_effect_verdict(&m);
	assert_string_equal(rest, "what other programs took, 58 % of the noise, is taken off; the "
				  "rest makes about 50 % of the interval's width");
	free(rest);
	free(half);
	free(none);
	free(few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_was_like),
		cmocka_unit_test(explained),
		cmocka_unit_test(explained_by_both),
		cmocka_unit_test(cpu_time_per_visit),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
