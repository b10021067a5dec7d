// SPDX-License-Identifier: GPL-2.0-or-later
/* Speeds that change by themselves, and programs that are paced from outside. Seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "stats/phases.h"
#include "stats/resample.h"
#include "stats/stats.h"

#define MAX_WINDOWS 512
#define WINDOW_S    0.5

struct windows {
	struct profile_window w[MAX_WINDOWS];
	struct window_progress p[MAX_WINDOWS];
	size_t n;
};

static double uniform(struct rng *r)
{
	return ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

static struct profile_window *add(struct windows *s, uint32_t target, double speedup, double rate)
{
	struct profile_window *w = &s->w[s->n];

	s->p[s->n] = (struct window_progress){ .visits = rate * WINDOW_S, .virtual_s = WINDOW_S };
	*w = (struct profile_window){ .seq = s->n,
				      .target = target,
				      .speedup = speedup,
				      .start_s = WINDOW_S * s->n,
				      .wall_s = WINDOW_S,
				      .hits = 10,
				      .n_progress = 1,
				      .progress = &s->p[s->n] };
	s->n++;
	return w;
}

/* 0 s 0 s 0; @rate[i] for the i-th third of the windows. */
static void add_thirds(struct windows *s, const double *rate, size_t units, double noise,
		       struct rng *r)
{
	for (size_t i = 0; i < 2 * units + 1; i++)
		add(s, 0, i % 2 ? 0.5 : 0, rate[3 * i / (2 * units + 1)] * exp(noise * normal(r)));
}

static size_t count_phases(const struct windows *s)
{
	struct phases p;
	size_t n;

	phases_find(s->w, s->n, 0, 1, &p);
	n = p.n;
	phases_free(&p);
	return n;
}

static void test_change(void **state)
{
	static const double once[] = { 811, 811, 420 }, back[] = { 100, 150, 100 };
	static const double small[] = { 100, 102, 100 };
	static struct windows s;
	struct rng r = { 1 };
	struct phases p;
	char *text;

	(void)state;
	s.n = 0;
	add_thirds(&s, once, 60, 0.02, &r);
	phases_find(s.w, s.n, 0, 1, &p);
	assert_int_equal(p.n, 2);
	assert_float_equal(p.p[0].end_s, 2 * 121 / 3 * WINDOW_S, 2 * WINDOW_S);
	assert_float_equal(p.p[0].rate_per_s, 811, 8);
	assert_float_equal(p.p[1].rate_per_s, 420, 5);
	text = phases_describe(&p, "iter");
	assert_non_null(strstr(text, "iter: 81"));
	assert_non_null(strstr(text, "/s until 4"));
	assert_non_null(strstr(text, " s, then 4"));
	free(text);
	phases_free(&p);

	s.n = 0;
	add_thirds(&s, back, 60, 0.02, &r);
	assert_int_equal(count_phases(&s), 3);
	s.n = 0;
	add_thirds(&s, small, 60, 0.001, &r); /* sure, but of no importance */
	assert_int_equal(count_phases(&s), 0);
	s.n = 0;
	add_thirds(&s, back, 2, 0.02, &r);
	assert_int_equal(count_phases(&s), 0);
}

/* The runs of a file come one after the other, whatever their own clocks say. */
static void test_runs(void **state)
{
	static const double slow[] = { 100, 100, 100 }, fast[] = { 200, 200, 200 };
	static struct windows s;
	struct rng r = { 2 };
	struct phases p;

	(void)state;
	s.n = 0;
	add_thirds(&s, slow, 20, 0.02, &r);
	add_thirds(&s, fast, 20, 0.02, &r);
	for (size_t i = s.n / 2; i < s.n; i++) {
		s.w[i].run = 1;
		s.w[i].start_s -= s.w[s.n / 2 - 1].start_s + 0.25;
	}
	phases_find(s.w, s.n, 0, 1, &p);
	assert_int_equal(p.n, 2);
	assert_float_equal(p.p[0].end_s, 40.5 * WINDOW_S + 0.25, WINDOW_S);
	phases_free(&p);
}

/* A profile to which thousands of runs were added: windows are not looked through for each. */
static void test_many_runs(void **state)
{
	static struct profile_window w[10000];
	static struct window_progress p[ARRAY_SIZE(w)];
	clock_t begun = clock();
	struct rng r = { 3 };
	struct phases found;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		p[i] = (struct window_progress){ 50 * exp(0.02 * normal(&r)), WINDOW_S, 0 };
		w[i] = (struct profile_window){ .run = i / 5,
						.seq = i % 5,
						.speedup = i % 2 ? 0.5 : 0,
						.start_s = WINDOW_S * (i % 5),
						.wall_s = WINDOW_S,
						.n_progress = 1,
						.progress = &p[i] };
	}
	phases_find(w, ARRAY_SIZE(w), 0, 1, &found);
	assert_int_equal(found.n, 0);
	phases_free(&found);
	if (clock() - begun > 4 * CLOCKS_PER_SEC) /* 0.05 s; by all windows for each run, 20 s */
		fail_msg("%.1f s", (double)(clock() - begun) / CLOCKS_PER_SEC);
}

/* How often is a phase seen where there is none? */
static void test_alarms(void **state)
{
	static const size_t lengths[] = { 12, 16, 30, 60, 200 };
	static struct windows s;

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
		size_t white = 0, correlated = 0, jumps = 0;
		struct rng r = { 3 };

		for (int i = 0; i < 500; i++) {
			double level = 0, machine = 1;
			int left = 0;

			s.n = 0;
			for (size_t j = 0; j < 2 * lengths[k]; j++)
				add(&s, 0, j % 2 ? 0.5 : 0, 100 * exp(0.3 * normal(&r)));
			white += count_phases(&s) > 0;
			for (size_t j = 0; j < s.n; j++) {
				level = 0.6 * level + 0.8 * normal(&r);
				s.p[j].visits = 50 * exp(0.3 * level);
			}
			correlated += count_phases(&s) > 0;
			for (size_t j = 0; j < s.n; j++) {
				if (left-- <= 0) {
					machine = 1 + 2 * uniform(&r);
					left = 4 + uniform(&r) * 8;
				}
				s.p[j].visits = 50 / machine;
			}
			jumps += count_phases(&s) > 0;
		}
		print_message(
			"%3zu windows of 0 %%: phases seen in white noise %.1f %%, in correlated "
			"noise %.1f %%, where the machine jumps every few seconds %.1f %%\n",
			lengths[k], white / 5.0, correlated / 5.0, jumps / 5.0);
		assert_true(white <= 15); /* of 500: 3 % */
		assert_true(correlated <= 40);
		assert_true(jumps <= 25);
	}
}

static void test_one_phase_only(void **state)
{
	static struct windows s;
	struct rng r = { 4 };
	struct estimates e;

	(void)state;
	s.n = 0;
	for (int half = 0; half < 2; half++) {
		for (int i = 0; i < 41; i++)
			add(&s, half, i % 2 ? 0.5 : 0,
			    (half ? 500 : 1000) * exp(0.01 * normal(&r)));
	}
	stats_estimate(s.w, s.n, 1, NULL, &e);
	assert_int_equal(e.n, 2);
	assert_int_equal(e.n_phases, 1);
	assert_int_equal(e.phases[0].n, 2);
	assert_non_null(strstr(e.e[0].warning, "all its windows lie between 0.0 s and 20."));
	assert_non_null(strstr(e.e[1].warning, "all its windows lie after 20."));
	estimates_free(&e);

	/* Seen in both: nothing to say about the target. */
	for (size_t i = 0; i < s.n; i++)
		s.w[i].target = 0;
	stats_estimate(s.w, s.n, 1, NULL, &e);
	assert_true(!e.e[0].warning || !strstr(e.e[0].warning, "all its windows"));
	estimates_free(&e);
}

/* ---- paced from outside ---- */

enum pacing { RELATIVE_SLEEP, ABSOLUTE_TIMER, TWO_TIMERS };

/*
 * A visit takes 6 ms of work and 4 ms of waiting outside. Delay comes on top of a relative sleep;
 * of a wait for an absolute time it takes up its length, so that in real time nothing happens, and
 * in virtual time the program has become faster by what was inserted.
 */
static void add_paced(struct windows *s, enum pacing kind, double gain, int units, struct rng *r)
{
	for (int i = 0; i < 2 * units + 1; i++) {
		double speedup = i % 2 ? 0.5 : 0, inserted = i % 2 ? 0.002 : 0, wait = 0.004;
		double work = 0.006, visits, period;
		struct profile_window *w;

		if (kind != RELATIVE_SLEEP)
			wait -= inserted;
		else
			work *= 1 - gain * speedup;
		period = (work + wait) * exp(0.02 * normal(r)); /* inserted delay apart */
		visits = WINDOW_S / period;
		w = add(s, 0, speedup, 1 / period);
		w->inserted_s = inserted * visits;
		w->wall_s = WINDOW_S + w->inserted_s;
		w->external_waits = (kind == TWO_TIMERS ? 2 : 1) * visits;
		w->external_s =
			(kind == TWO_TIMERS ? 2 : 1) * wait * visits * exp(0.03 * normal(r));
	}
}

static struct estimates run_paced(enum pacing kind, double gain, int units)
{
	static struct windows s;
	struct rng r = { 5 };
	struct estimates e;

	s.n = 0;
	add_paced(&s, kind, gain, units, &r);
	stats_estimate(s.w, s.n, 1, NULL, &e);
	return e;
}

static void test_paced(void **state)
{
	struct estimates e = run_paced(ABSOLUTE_TIMER, 0, 15);

	(void)state;
	assert_float_equal(e.e[0].points[1].program_speedup_pct, 20, 2);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_non_null(strstr(e.e[0].warning, "paced from outside: waits"));
	estimates_free(&e);

	e = run_paced(TWO_TIMERS, 0, 15);
	assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
	assert_non_null(strstr(e.e[0].warning, "paced from outside: waits"));
	estimates_free(&e);

	e = run_paced(RELATIVE_SLEEP, 0.5, 15);
	assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
	assert_null(e.e[0].warning);
	estimates_free(&e);

	e = run_paced(RELATIVE_SLEEP, 0, 15);
	assert_int_equal(e.e[0].verdict, VERDICT_NO_EFFECT);
	assert_null(e.e[0].warning);
	estimates_free(&e);
}

/*
 * In one phase the target runs for half of the time of a thread for which nobody waits, in the
 * other one, where units are longer, it does not run: there is nothing to be gained in either.
 */
static void test_phases_of_different_shares(void **state)
{
	static const double longer[] = { 0.5, 2, 10 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(longer); k++) {
		static struct windows s;
		struct rng r = { 5 };
		struct estimates e;

		s.n = 0;
		for (size_t i = 0; i < 161; i++) {
			double speedup = i % 2 ? 0.25 * (1 + i / 2 % 4) : 0, unit = 0.001;
			double delay = i < 80 ? 0.5 * speedup : 0; /* for each second of work */
			struct profile_window *w;
			double ran_s;

			unit *= i < 80 ? 1 : longer[k];
			w = add(&s, 0, speedup, exp(0.01 * normal(&r)) / unit);
			ran_s = w->wall_s / (1 + delay);
			w->inserted_s = w->wall_s - ran_s;
			w->progress[0].visits *= ran_s / w->wall_s;
			w->progress[0].virtual_s = ran_s;
		}
		stats_estimate(s.w, s.n, 1, NULL, &e);
		for (size_t i = 1; i < e.e[0].n_points; i++) {
			const struct estimate_point *p = &e.e[0].points[i];

			assert_float_equal(p->program_speedup_pct, 0, 5);
			assert_true(p->ci_lo < 1 && p->ci_hi > -1);
		}
		assert_int_not_equal(e.e[0].verdict, VERDICT_CONTENTION);
		assert_int_not_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
		estimates_free(&e);
	}
}

/* A program of two phases, of which the first runs the target. */
struct turns {
	double hot_s, cold_s; /* how long they take, on average */
	double longer;	      /* units of work of the second one, than those of the first */
	double waited;	      /* how much of what the target takes everybody waits for */
	double share;	      /* of the first phase's time that is the target's */
	double hot, cold;     /* of a unit, what a latency is of, with the target; 0: none */
};

/* At 100 %; a phase is over when its work is done. A latency has all of the target in it. */
static void add_turns(struct windows *s, const struct turns *t, struct rng *r)
{
	double left = t->hot_s * uniform(r);
	bool hot = true;

	for (size_t i = 0; i < 241; i++) {
		double settle = WINDOW_S, rest = settle + WINDOW_S * (1 + 0.3 * uniform(r));
		double noise = exp(0.03 * normal(r)), visits = 0, virtual_s = 0, wall_s = 0;
		double inflight = 0;
		struct profile_window *w;

		while (rest > 1e-9) {
			double off = i % 2 && hot ? t->share : 0; /* of the time, is delay */
			double speed = (1 - off) / (1 - off * t->waited);
			double step = fmin(settle > 1e-9 ? settle : rest, left / speed);
			double done = step * speed, unit = 0.001 * (hot ? 1 : t->longer);

			if (settle > 1e-9) {
				settle -= step;
			} else {
				visits += done / unit / noise;
				inflight += done * ((hot ? t->hot : t->cold) - off);
				virtual_s += step * (1 - off);
				wall_s += step;
			}
			rest -= step;
			left -= done;
			if (left < 1e-9) {
				hot = !hot;
				left = (hot ? t->hot_s : t->cold_s) * 2 * uniform(r);
			}
		}
		w = add(s, 0, i % 2, 1);
		w->start_s = 2.15 * WINDOW_S * i;
		w->wall_s = wall_s;
		w->inserted_s = wall_s - virtual_s;
		*w->progress = (struct window_progress){ visits, virtual_s, 0 };
		if (t->hot > 0)
			w->progress->inflight = inflight / virtual_s;
	}
}

/* Mean of what is predicted, less the truth; how many of ten intervals hold it. */
static double turns_bias(const struct turns *t, size_t *held)
{
	double hot = t->hot > 0 ? t->hot : 1, cold = t->hot > 0 ? t->cold : 1, sum = 0;
	double all_s = t->hot_s * hot + t->cold_s * cold;
	double truth = 100 * t->hot_s * t->share * t->waited / all_s;
	struct rng r = { 6 };

	*held = 0;
	for (int i = 0; i < 10; i++) {
		static struct windows s;
		struct estimates e;

		s.n = 0;
		add_turns(&s, t, &r);
		stats_estimate(s.w, s.n, 1, NULL, &e);
		sum += e.e[0].points[1].program_speedup_pct - truth;
		*held += e.e[0].points[1].ci_lo <= truth && e.e[0].points[1].ci_hi >= truth;
		estimates_free(&e);
	}
	return sum / 10;
}

/*
 * Phases may be as short as windows, so that the windows before and after are of others. A target
 * that everybody waits for saves as much of its phase as it takes, one that nobody waits for
 * nothing, whatever the phases are like.
 */
static void test_phases_that_take_turns(void **state)
{
	static const struct turns all[] = {
		{ 0.5, 0.5, 1, 1, 0.9, 0, 0 },	    { 1, 1, 1, 1, 0.9, 0, 0 },
		{ 2, 2, 1, 1, 0.9, 0, 0 },	    { 4, 4, 1, 1, 0.9, 0, 0 },
		{ 1, 1, 2, 1, 0.9, 0, 0 },	    { 4, 4, 2, 1, 0.9, 0, 0 },
		{ 4, 4, 0.5, 1, 0.9, 0, 0 },	    { 1, 8, 1, 1, 0.9, 0, 0 },
		{ 2, 2, 1, 0.5, 0.9, 0, 0 },	    { 4, 4, 2, 0.5, 0.9, 0, 0 },
		{ 2, 2, 1, 0, 0.9, 0, 0 },	    { 4, 4, 2, 0, 0.9, 0, 0 },
		{ 4, 4, 0.5, 0, 0.9, 0, 0 },	    { 1, 1, 1, 1, 0.25, 0.5, 0.125 },
		{ 40, 40, 1, 1, 0.25, 0.5, 0.125 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct turns *t = &all[i];
		size_t held;
		double bias = turns_bias(t, &held);

		print_message("%s, phases of %g and %g s, units %g times longer, %.0f %% waited "
			      "for: bias %+.1f, %zu of 10 intervals hold\n",
			      t->hot > 0 ? "latency" : "throughput", t->hot_s, t->cold_s, t->longer,
			      100 * t->waited, bias, held);
		assert_true(fabs(bias) < 5);
		assert_true(held >= 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_many_runs),
		cmocka_unit_test(test_alarms),
		cmocka_unit_test(test_one_phase_only),
		cmocka_unit_test(test_paced),
		cmocka_unit_test(test_phases_of_different_shares),
		cmocka_unit_test(test_phases_that_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
