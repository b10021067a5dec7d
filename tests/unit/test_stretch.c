// SPDX-License-Identifier: GPL-2.0-or-later
/* Does a program go by the delays or by a clock (lib/stats/stretch.h)? Here windows are runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "stats/discard.h"
#include "stats/describe.h"
#include "stats/stretch.h"
#include "test_stats_windows.h"

#define SPEEDUP 0.5

struct series {
	struct windows w;
	struct rng rng;
	double noise; /* of a run of 1 s */
	uint32_t run;
};

static struct profile_window *add_run(struct series *s, double wall_s, double inserted_s)
{
	struct profile_window *w = &s->w.w[s->w.n];

	wall_s += s->noise * ((rng_next(&s->rng) >> 40) / 16777216.0 - 0.5);
	add(&s->w, 0, 1);
	w->run = s->run;
	w->wall_s = wall_s;
	w->inserted_s = inserted_s;
	w->n_progress = 1;
	w->progress[0] = (struct window_progress){ .visits = 1, .virtual_s = wall_s - inserted_s };
	return w;
}

static void add_control(struct series *s, double longer)
{
	struct profile_window *w = add_run(s, 1 + longer * 0.25, 0.25);

	w->discard = DISCARD_CONTROL;
	w->hits = 0;
}

/* @n runs with a speedup, as one thread has them that is all of the target: never any longer. */
static void add_rounds(struct series *s, int n)
{
	for (int i = 0; i < n; i++) {
		add_run(s, 1, 0);
		add_run(s, 1, SPEEDUP)->speedup = SPEEDUP;
	}
	add_run(s, 1, 0);
}

static struct stretch stretch(const struct series *s)
{
	return stretch_estimate(s->w.w, s->w.n, 0);
}

static void test_work_ends_it(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.02 };
	struct stretch r;

	(void)state;
	add_rounds(&s, 2);
	r = stretch(&s);
	assert_int_equal(r.windows, 0);
	assert_true(stretch_is_open(&r, STRETCH_MOSTLY));
	assert_false(stretch_by_clock(&r));
	add_control(&s, 1);
	add_rounds(&s, 3);
	r = stretch(&s);
	assert_int_equal(r.windows, 1);
	assert_true(r.part > 0.9 && r.part < 1.1 && r.lo < 1 && r.hi > 1);
	assert_false(stretch_is_open(&r, STRETCH_MOSTLY));
	assert_false(stretch_by_clock(&r));
}

static void test_a_clock_ends_it(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.002 };
	struct stretch r;

	(void)state;
	add_rounds(&s, 3);
	add_control(&s, 0);
	add_rounds(&s, 3);
	r = stretch(&s);
	assert_true(fabs(r.part) < 0.05);
	assert_false(stretch_by_clock(&r)); /* by one run alone nobody is accused */
	assert_true(stretch_is_open(&r, STRETCH_MOSTLY));
	add_control(&s, 0);
	r = stretch(&s);
	assert_false(stretch_is_open(&r, STRETCH_MOSTLY));
	assert_true(stretch_by_clock(&r));
}

/* The interval of one such run, with few others: nothing is known, and it is looked again. */
static void test_noise(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.8 };
	struct stretch r;
	int held = 0, accused = 0;

	(void)state;
	add_run(&s, 1, 0);
	add_control(&s, 1);
	r = stretch(&s);
	assert_int_equal(r.windows, 1);
	assert_true(isinf(r.lo) && isinf(r.hi));
	assert_true(stretch_is_open(&r, STRETCH_MOSTLY) && !stretch_by_clock(&r));
	add_rounds(&s, 2);
	r = stretch(&s);
	assert_true(r.hi - r.lo > 2);
	assert_true(stretch_is_open(&r, STRETCH_MOSTLY) && !stretch_by_clock(&r));
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct series t = { .rng = { seed }, .noise = 0.1 };

		add_rounds(&t, 5);
		add_control(&t, 1);
		add_rounds(&t, 5);
		r = stretch(&t);
		held += r.lo < 1 && r.hi > 1;
		add_control(&t, 1);
		add_run(&t, 1, 0);
		r = stretch(&t);
		accused += stretch_by_clock(&r);
	}
	assert_in_range(held, 180, 200);
	assert_in_range(accused, 0, 6);
}

/*
 * Where what is done in a window varies by a fifth, a mean of the times of units is more than what
 * belongs to the mean of what is done; that is none of a clock.
 */
static void test_uneven(void **state)
{
	double sum = 0;
	int accused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		static struct series s;
		struct stretch r;

		s.w.n = 0;
		s.rng = (struct rng){ seed };
		for (int i = 0; i < 150; i++) {
			bool control = i % 5 == 2;
			struct profile_window *w = add_run(&s, 1, control ? 0.2 : 0);
			double u = (rng_next(&s.rng) >> 40) / 16777216.0 - 0.5;

			w->progress[0].visits = 100 * exp(0.87 * u) * (control ? 0.8 : 1);
			if (control)
				w->discard = DISCARD_CONTROL;
		}
		r = stretch(&s);
		sum += r.part / 100;
		accused += stretch_by_clock(&r);
	}
	assert_float_equal(sum, 1, 0.12);
	assert_in_range(accused, 0, 6);
}

/*
 * Strangers take 0 to 60 % of both cores, of which so much of what stops leave: @taken of it. What
 * is stopped costs @longer of itself. What they took is @known, in control windows @known_stopped.
 */
static struct stretch beside_strangers(uint64_t seed, double longer, double taken, bool known,
				       bool known_stopped)
{
	static struct series s;

	s = (struct series){ .rng = { seed }, .noise = 0.02 };
	for (int i = 0; i < 100; i++) {
		bool control = i % 5 == 2;
		double stopped = control ? 0.2 : 0;
		double share = 0.6 * (rng_next(&s.rng) >> 40) / 16777216.0;
		struct profile_window *w = add_run(&s, 1, stopped);

		w->progress[0].visits = 100 * (1 - longer * stopped) * (1 - share);
		w->cores = (control ? known_stopped : known) ? 2 : 0;
		w->ran_s = 2 * (1 - stopped) * (1 - share);
		w->stopped_s = 2 * stopped * (1 - share);
		w->urgent_s = taken > 0 ? 0 : 2 * share;
		w->busy_s = w->ran_s + w->stopped_s + 2 * share + taken * w->stopped_s;
		if (control)
			w->discard = DISCARD_CONTROL;
	}
	return stretch(&s);
}

static void test_beside_strangers(void **state)
{
	double known_half = 0, half = 0, unknown_half = 0;
	int held = 0, accused = 0, clocks = 0, sated = 0, sated_accused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct stretch r = beside_strangers(seed, 1, 0, true, true);

		held += r.lo < 1 && r.hi > 1;
		accused += stretch_by_clock(&r);
		known_half += (r.hi - r.lo) / 200;
		r = beside_strangers(seed, 1, 0, false, false);
		half += (r.hi - r.lo) / 200;
		r = beside_strangers(seed, 1, 0, true, false);
		unknown_half += (r.hi - r.lo) / 200;
		r = beside_strangers(seed, 0, 0, true, true);
		clocks += r.lo < 0 && r.hi > 0 && stretch_by_clock(&r);
		/* Those who get their share of it: more of them is no noise. */
		r = beside_strangers(seed, 1, 0.4, true, true);
		sated += r.lo < 1 && r.hi > 1;
		sated_accused += stretch_by_clock(&r);
	}
	assert_true(known_half < 0.25 * half);
	assert_float_equal(unknown_half, half, 0.05 * half);
	assert_in_range(held, 90, 100);
	assert_in_range(accused, 0, 2);
	assert_in_range(clocks, 90, 100);
	assert_in_range(sated, 90, 100);
	assert_in_range(sated_accused, 0, 2);
}

enum slack { SLACK_LIMIT, SLACK_DISK, SLACK_SELDOM };

/*
 * Its speed varies by a half, and what a stop costs it is half as much again, as strangers have the
 * cores meanwhile. It may do 100 units a second; or waits for a disk in each, or in one window of
 * ten.
 */
static struct stretch with_slack(uint64_t seed, enum slack slack)
{
	static struct series s;

	s = (struct series){ .rng = { seed }, .noise = 0.02 };
	for (int i = 0; i < 90; i++) {
		bool control = i % 6 == 2;
		double inserted = control ? 0.2 : 0, u = (rng_next(&s.rng) >> 40) / 16777216.0;
		double most = 100 * exp(0.9 * (u - 0.4)) * (1 - 1.5 * inserted);
		struct profile_window *w = add_run(&s, 1, inserted);
		double visits = slack == SLACK_LIMIT ? fmin(most, 100) : most;

		w->progress[0].visits = visits;
		if (slack == SLACK_LIMIT)
			w->external_s = 1 - visits / most;
		else if (slack == SLACK_DISK)
			w->external_s = 0.2 * (rng_next(&s.rng) >> 40) / 16777216.0 * visits / 100;
		else if (rng_next(&s.rng) % 10 == 0)
			w->external_s = 0.1 * visits / 100;
		w->external_waits = w->external_s > 0 ? visits / 2 : 0;
		w->ran_s = 1 - w->external_s - inserted;
		if (control)
			w->discard = DISCARD_CONTROL;
	}
	return stretch(&s);
}

/* A limit that is reached at times only: stops cost all that they last, and more. */
static void test_slack_is_used_up(void **state)
{
	int clocks = 0, by_time = 0, disk = 0, disk_open = 0, seldom = 0, seldom_open = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct stretch r = with_slack(seed, SLACK_LIMIT);

		clocks += stretch_by_clock(&r);
		by_time += r.hi < 1;
		assert_false(stretch_by_clock(&r) && stretch_is_open(&r, STRETCH_MOSTLY));
		assert_true(stretch_by_clock(&r) || stretch_is_unjudged(&r));
		r = with_slack(seed, SLACK_DISK);
		disk += stretch_uses_slack(&r);
		disk_open += stretch_slack_is_open(&r);
		r = with_slack(seed, SLACK_SELDOM);
		seldom += stretch_uses_slack(&r);
		seldom_open += stretch_slack_is_open(&r);
	}
	assert_in_range(clocks, 80, 100);
	assert_in_range(by_time, 0, 30);
	assert_in_range(disk, 0, 0);
	assert_in_range(disk_open, 0, 0);
	assert_in_range(seldom, 0, 5);
	assert_in_range(seldom_open, 0, 35); /* it takes more than 15 to tell */
}

/* A machine that gets slower and slower: the neighbours of a control run tell. */
static void test_drift(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.002 };
	struct stretch r;

	(void)state;
	for (int i = 0; i < 10; i++) {
		add_run(&s, 1 + 0.1 * i, 0);
		if (i == 4)
			add_run(&s, 1.45, 0.25)->discard = DISCARD_CONTROL;
	}
	r = stretch(&s);
	assert_true(fabs(r.part) < 0.05);
}

/* Runs of the file are series of their own, and what was discarded for another reason says nothing.
 */
static void test_others_do_not_count(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.002 };
	struct stretch r;

	(void)state;
	add_rounds(&s, 3);
	s.run = 1;
	add_control(&s, 0);
	r = stretch(&s);
	assert_int_equal(r.windows, 0);
	add_run(&s, 1, 0)->discard = DISCARD_COMMAND;
	r = stretch(&s);
	assert_int_equal(r.windows, 0);
	add_run(&s, 1, 0);
	r = stretch(&s);
	assert_int_equal(r.windows, 1);
}

/* Far away the machine, or the program, was another one. */
static void test_neighbours(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.002 };

	(void)state;
	add_rounds(&s, 3);
	add_control(&s, 0);
	s.w.w[s.w.n - 1].seq += 10;
	assert_int_equal(stretch(&s).windows, 0);
	s.w.w[s.w.n - 1].seq -= 10;
	assert_int_equal(stretch(&s).windows, 1);
}

/* A limit that is near: there is little slack, but there is some, and more without the target. */
static void test_little_slack(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0.02 };
	struct stretch r;

	(void)state;
	for (int i = 0; i < 10; i++) {
		add_rounds(&s, 2);
		add_control(&s, 0.75);
	}
	r = stretch(&s);
	assert_true(r.lo > STRETCH_MOSTLY && r.hi < 0.85);
	assert_true(stretch_by_clock(&r));
}

/* Of several points each has its own, and of a latency it is the time of a request. */
static void test_points(void **state)
{
	struct series s = { .rng = { 1 }, .noise = 0 };
	struct stretch r;

	(void)state;
	for (int i = 0; i < 24; i++) {
		struct profile_window *w = add_run(&s, 1, 0);

		w->external_waits = 10;
		w->external_s = i % 4 == 2 ? 0 : 0.1 + 0.01 * (i % 3);
		if (i % 4 == 2) { /* as many visits a second as before, twice as many under way */
			w->inserted_s = 0.2;
			w->discard = DISCARD_CONTROL;
			w->progress[0] = (struct window_progress){ 100, 0.8, 0 };
			w->progress[1] = (struct window_progress){ 100, 0.8, 4 };
		} else {
			w->progress[0] = (struct window_progress){ 100, 1, 0 };
			w->progress[1] = (struct window_progress){ 100, 1, 2 };
		}
		w->n_progress = 2;
	}
	r = stretch(&s);
	assert_float_equal(r.part, 0, 1e-6);
	assert_float_equal(r.shorter, 1, 1e-6);
	assert_float_equal(r.gone, 0.11, 0.005);
	r = stretch_estimate(s.w.w, s.w.n, 1);
	assert_float_equal(r.part, (4 * 1.0 - 2) / (4 * 0.2), 1e-6);
	assert_true(isnan(r.shorter));
	r = stretch_estimate(s.w.w, s.w.n, 2);
	assert_int_equal(r.windows, 0);
	for (size_t i = 0; i < s.w.n; i++)
		s.w.w[i].external_waits = 0.5; /* three in as many windows */
	r = stretch(&s);
	assert_true(isnan(r.shorter));
}

/*
 * By a clock all that was credited may be wrong, but gains do not become losses. Where stops cost
 * more, more is to be gained; not beside strangers, nor where waits are shorter then.
 */
static void test_interval(void **state)
{
	struct stats_options opt = { .seed = 1 };

	(void)state;
	for (int k = 0; k < 5; k++) {
		struct series s = { .rng = { 1 }, .noise = 0.02 };
		bool slack = k == 4, clock = k == 1 || slack;
		struct estimates e;
		const struct estimate_point *p;

		for (int i = 0; i < 8; i++) {
			add_rounds(&s, 2);
			add_control(&s, k == 1 ? 0.6 : k >= 2 ? 1.6 : 1);
		}
		for (size_t i = 0; i < s.w.n; i++) {
			s.w.w[i].ran_s = 0.5 * s.w.w[i].wall_s;
			s.w.w[i].busy_s = (k == 3 ? 1 : 0.5) * s.w.w[i].wall_s; /* strangers */
			if (slack && s.w.w[i].discard != DISCARD_CONTROL) {
				s.w.w[i].external_s = 0.1 + 0.01 * (i % 3);
				s.w.w[i].external_waits = 5;
			}
		}
		assert_int_equal(stats_estimate(s.w.w, s.w.n, 1, &opt, &e), 0);
		p = estimate_point_at(&e.e[0], 100 * SPEEDUP);
		assert_true(p->ci_hi > 50);
		if (k == 2) {
			assert_float_equal(p->program_speedup_pct, 50, 4);
			assert_true(p->ci_hi > 50 + 0.6 * 50 && p->ci_lo > 40);
			assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
		} else if (clock) {
			assert_float_equal(p->ci_lo, -METHOD_PP, 1e-9);
			assert_float_equal(p->program_speedup_pct, slack ? 50 : 50 - 0.4 * 50, 3);
			assert_int_equal(e.e[0].verdict, VERDICT_UNDECIDED);
			assert_non_null(strstr(p->fixed_cause, "clock"));
			assert_non_null(strstr(e.e[0].warning,
					       slack ? "its waits for devices" : "it took longer"));
		} else {
			assert_true(p->ci_lo > 45);
			assert_int_equal(e.e[0].verdict, VERDICT_OPTIMIZE);
		}
		estimates_free(&e);
	}
}

static void check_verdict(const struct series *s, enum verdict verdict, const char *says)
{
	struct estimates e = run(&s->w);

	assert_int_equal(e.n, 1);
	assert_int_equal(e.e[0].verdict, verdict);
	assert_int_equal(estimate_is_withheld(&e.e[0]), verdict == VERDICT_UNDECIDED);
	assert_true(!says == !(e.e[0].warning && strstr(e.e[0].warning, "a clock has a say")));
	if (says)
		assert_non_null(strstr(e.e[0].warning, says));
	estimates_free(&e);
}

static void test_verdict(void **state)
{
	(void)state;
	for (int clock = 0; clock < 2; clock++) {
		struct series s = { .rng = { 1 }, .noise = 0.002 };

		add_rounds(&s, 8);
		check_verdict(&s, VERDICT_OPTIMIZE, NULL);
		add_control(&s, !clock);
		add_run(&s, 1, 0);
		add_control(&s, !clock);
		add_run(&s, 1, 0);
		check_verdict(&s, clock ? VERDICT_UNDECIDED : VERDICT_OPTIMIZE,
			      clock ? "it took longer by" : NULL);
	}
}

/*
 * What waits for a disk may go by that disk, and is asked about; but not where it hardly ever waits
 * for it, or other waits get shorter as well: there it is another clock.
 */
static void test_waiting_target(void **state)
{
	static const struct {
		double waited, longer, waits;
		bool clock;
	} as[] = {
		{ 1.5, 0, 0, false },
		{ 0.06, 0, 0, true },
		{ 0.2, 1.1, 0.2, false },
		{ 0.2, 1.1, 0.4, true },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(as); k++) {
		struct series s = { .rng = { 11 }, .noise = 0.01 };
		struct estimates e;
		bool says;

		for (int i = 0; i < 4; i++) {
			add_rounds(&s, 5);
			add_control(&s, as[k].longer);
		}
		add_rounds(&s, 5);
		for (size_t i = 0; i < s.w.n; i++) {
			struct profile_window *w = &s.w.w[i];

			w->waits_sped = true;
			w->target_ran_s = 0.01 * w->wall_s;
			w->target_waited_s = as[k].waited * w->wall_s;
			if (w->discard != DISCARD_CONTROL) {
				w->external_s = as[k].waits * (0.9 + 0.01 * (i % 3));
				w->external_waits = 10;
			}
		}
		e = run(&s.w);
		says = e.e[0].warning && strstr(e.e[0].warning, "a clock has a say");
		assert_int_equal(says, as[k].clock);
		assert_int_equal(e.e[0].doubt == DOUBT_PACED, as[k].clock);
		estimates_free(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_ends_it),
		cmocka_unit_test(test_a_clock_ends_it),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_beside_strangers),
		cmocka_unit_test(test_slack_is_used_up),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_others_do_not_count),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_little_slack),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_waiting_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
