// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accounting header in simulated machines (tests/sim): its ledger is exact, its predictions are
 * those of programs whose truth is known by really shortening the target. Seeds are fixed; nothing
 * here depends on the speed of this machine. `make bench-sim` does the same at length.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/sim/experiment.h"
#include "tests/sim/machine_internal.h"
#include "tests/sim/shrink.h"

#define SECONDS 6

static struct sim_config config(const char *text)
{
	struct sim_config c;

	assert_true(config_parse(text, &c));
	return c;
}

static struct sim_program *model(const char *name)
{
	struct sim_program *p = model_named(name);

	if (!p)
		fail_msg("no model \"%s\"", name);
	return p;
}

static void check_for(const struct sim_program *p, const char *how, double speedup, double limit,
		      double seconds)
{
	struct sim_config c = config(how);
	struct sim_result r = study(p, &c, speedup, seconds);
	struct sim_program *small;

	if (!r.stuck && fabs(r.predicted - r.truth) <= limit)
		return;
	small = r.stuck ? NULL : shrink(p, &c, speedup, seconds, limit);
	program_print(small ? small : p);
	fail_msg("%s at %.0f %% (%s): predicted %.2f, really %.2f", p->name, 100 * speedup, how,
		 r.predicted, r.truth);
}

static void check(const struct sim_program *p, const char *how, double speedup, double limit)
{
	check_for(p, how, speedup, limit, SECONDS);
}

static void test_ledger(void **state)
{
	struct sim_config c = config("wait period=250");

	(void)state;
	for (int i = 0;; i++) {
		struct sim_program *p = model_create(i, 1);
		struct sim_ledger l;
		struct sim *s;
		int64_t own = 0;

		if (!p)
			break;
		s = sim_create(p, &c.o);
		sim_set_speedup(s, 0.5, 0);
		sim_run(s, SIM_S);
		for (int k = 0; k < s->n_cores; k++) {
			const struct scoz_core *a = &s->core[k].account;

			assert_int_equal(a->absorbed,
					 a->own + a->stopped + a->excused + a->overhead);
			own += a->own;
		}
		sim_read_ledger(s, &l);
		assert_int_equal(l.delay + l.waived, own);
		assert_false(sim_deadlocked(s));
		sim_free(s);
		program_free(p);
	}
}

static void test_equal_seeds_equal_runs(void **state)
{
	struct sim_config c = config("wait period=250");
	struct sim_program *p = model("mutex4");
	double a = study_unit_ns(p, &c.o, 0.5, 0, 1), b = study_unit_ns(p, &c.o, 0.5, 0, 1);

	(void)state;
	assert_true(a == b);
	c.o.seed = 2;
	assert_true(a != study_unit_ns(p, &c.o, 0.5, 0, 1));
	program_free(p);
}

static void test_known_answers(void **state)
{
	static const struct {
		const char *name;
		double speedup, truth, limit;
	} known[] = {
		{ "barrier2", 1, 20, 0.5 },	      { "barrier2 slack", 0.5, 0, 0.5 },
		{ "spin barrier4", 0.25, 15, 0.5 },   { "pipeline4 slowest", 0.5, 25, 0.5 },
		{ "pingpong", 0.5, 25, 0.5 },	      { "churn2", 1, 50, 0.5 },
		{ "overlapped timer 20", 1, 0, 0.5 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct sim_program *p = model(known[i].name);
		struct sim_config c = config("wait period=auto");
		struct sim_result r = study(p, &c, known[i].speedup, SECONDS);

		if (fabs(r.truth - known[i].truth) > known[i].limit ||
		    fabs(r.predicted - known[i].truth) > known[i].limit)
			fail_msg("%s: predicted %.2f, shortened %.2f, should be %.2f",
				 known[i].name, r.predicted, r.truth, known[i].truth);
		program_free(p);
	}
}

/*
 * Beside tasks that have nothing to do with the program, what it waits for them counts: without
 * that, these are 6 to 25 points wrong.
 */
static void test_strangers(void **state)
{
	static const struct {
		const char *name;
		double speedup, limit;
	} programs[] = {
		{ "barrier2", 0.5, 4 },		 { "churn2", 0.5, 4 },
		{ "forkjoin 6 ms", 0.5, 4 },	 { "independent4", 0.5, 4 },
		{ "pipeline4 slowest", 0.5, 6 }, { "aside2", 0.25, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct sim_program *p = model(programs[i].name);

		program_add_strangers(p, 4, 2 * SIM_MS, 5 * SIM_MS);
		check(p, "wait", programs[i].speedup, programs[i].limit);
		program_free(p);
	}
}

/*
 * Timer threads for which nobody waits change nothing, and what they slept through is not paid each
 * time they wake up.
 */
static void test_timers(void **state)
{
	static const struct {
		const char *name;
		double limit;
	} programs[] = {
		{ "turns, timer 20 on 2", 1 },	{ "turns, 4 timers on 2", 1 },
		{ "barrier, timer 5 on 2", 1 }, { "mutex, timer 20 on 2", 1 },
		{ "pipe3, timer 20 on 4", 1 },	{ "turns, timer working", 3 },
		{ "sleeper: slow feeder", 1 },	{ "sleeper: two feeders", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct sim_program *p = model(programs[i].name);
		struct sim_config c = config("wait period=auto cost=0"); /* the rules, not ticks */
		struct sim_result r = study(p, &c, 0.5, SECONDS);

		check(p, c.text, 0.5, programs[i].limit);
		assert_true(r.ledger.stopped <= 2 * p->cores * r.ledger.own);
		program_free(p);
	}
}

/* What the published way gets wrong (docs/accounting.md sections 3a and 4) must be wrong here, too.
 */
static void test_published_way_is_seen_to_fail(void **state)
{
	struct sim_config coarse = config("wait period=1000 batch=10");
	struct sim_config core = config("core exclude period=1000 batch=10");
	struct sim_program *p = model("mutex4 short");
	struct sim_result r = study(p, &coarse, 0.5, SECONDS);

	(void)state;
	assert_true(fabs(r.predicted - r.truth) > 10);
	program_free(p);
	p = model("pipeline4 balanced");
	r = study(p, &core, 0.5, SECONDS);
	assert_true(fabs(r.predicted - r.truth) > 10);
	program_free(p);
}

/* Who spins for a lock waits. A period as long as the work under the lock tells the difference. */
static void test_spins_are_waits(void **state)
{
	struct sim_config unknown = config("wait period=1000 blind"),
			  known = config("wait period=1000 spins");
	struct sim_program *p = model("spinlock4");
	struct sim_result without = study(p, &unknown, 1, SECONDS),
			  with = study(p, &known, 1, SECONDS);

	(void)state;
	assert_true(without.predicted < without.truth - 15);
	assert_true(fabs(with.predicted - with.truth) < 5);
	check(p, "wait period=auto spins", 0.5, 0.5);
	program_free(p);
}

/* Spins of programs are only seen by ticks: better than not at all. */
static void test_seen_spins_are_waits(void **state)
{
	struct sim_config blind = config("wait period=500 blind"), seen = config("wait period=500");
	struct sim_program *p = model("spinlock2 aside");
	struct sim_result without = study(p, &blind, 0.5, SECONDS),
			  with = study(p, &seen, 0.5, SECONDS);

	(void)state;
	assert_true(without.predicted < without.truth - 12);
	assert_true(fabs(with.predicted - with.truth) < 8);
	program_free(p);
	p = model("spin pingpong");
	check(p, "wait period=auto", 0.5, 1);
	program_free(p);
	p = model("spin pingpong beside");
	check(p, "wait period=auto", 0.5, 2);
	program_free(p);
}

/* A system call that spins for a lock of the kernel's: what it spins is no part of what it runs. */
static void test_spins_in_seen_calls(void **state)
{
	static const char *const names[] = { "spinlock2", "spinlock4", "spinlock4 outside" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct sim_program *p = model(names[i]);

		program_target_calls(p);
		check(p, "wait period=500 spins seen", 1, 2);
		program_free(p);
	}
}

/* Sinks that take the core of whoever runs in a target that is seen do not pay for that. */
static void test_seen_beside_timers(void **state)
{
	static const struct {
		const char *name;
		double limit;
	} programs[] = { { "barrier, timer 1 on 2", 1 },
			 { "barrier, timer 5 on 2", 1 },
			 { "mutex, timer 5 on 2", 2 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct sim_program *p = model(programs[i].name);

		check(p, "wait period=860 cost=14000 seen", 1, programs[i].limit);
		program_free(p);
	}
}

static void test_graphs(void **state)
{
	(void)state;
	for (int seed = 1; seed <= 40; seed++) {
		struct sim_program *p = graph_create(seed, false, 1);

		check(p, "wait period=auto", seed % 2 ? 0.5 : 1, 1);
		program_free(p);
	}
}

/*
 * Waits for devices and timers as the target (account/wait.h), alone, behind each other, beside
 * work and across tasks.
 */
static void test_waits(void **state)
{
	static const struct {
		const char *name;
		double limit;
	} programs[] = {
		{ "wait: alone", 0.5 },
		{ "wait: alone, and code", 0.5 },
		{ "wait: sleep + barrier", 0.5 },
		{ "wait: slack", 0.5 },
		{ "wait: io + barrier", 0.5 },
		{ "wait: beside work", 0.5 },
		{ "wait: overlapped", 0.5 },
		{ "wait: pipe, slowest", 0.5 },
		{ "wait: pipe, not slowest", .5 },
		{ "wait: under a lock", 0.5 },
		{ "wait: server", 0.5 },
		{ "wait: full core", 0.5 },
		{ "disk: 2 saturate", 0.5 },
		{ "disk: 4 saturate", 0.5 },
		{ "disk: barrier", 0.5 },
		{ "sync: alone", 0.7 },
		{ "sync: 2", 0.7 },
		{ "sync: data, 1", 0.7 },
		{ "sync: loop, 2", 0.8 },
		{ "sync: barrier", 0.5 },
		{ "sync: slack", 0.5 },
		{ "sync: under a lock", 0.7 },
		{ "sync: server", 0.5 },
		{ "sync: beside work", 0.5 },
		{ "sync: handed on", 0.5 },
		{ "writer: 3 users on 4", 1.5 },
		{ "writer: sessions, parallel", 3.5 },
		{ "writer: log", 7 },
		{ "wait: 50 ms + barrier", 3 },
		{ "wait: 4 on 2, barrier", 5 },
	};
	struct sim_config without = config("wait period=250 cost=0 no-devices");
	double sum = 0;
	int n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct sim_program *p = model(programs[i].name);
		struct sim_config c = config("wait period=250 cost=0"); /* the rules, not ticks */

		for (double speedup = 0.5; speedup <= 1; speedup *= 2, n++) {
			struct sim_result r = study(p, &c, speedup, SECONDS);

			sum += fabs(r.predicted - r.truth);
			check(p, c.text, speedup, programs[i].limit);
			if (programs[i].limit < 1)
				assert_true(r.ledger.stopped <= 2 * p->cores * r.ledger.own);
		}
		program_free(p);
	}
	if (sum / n > 0.5)
		fail_msg("the mean error is %.2f points", sum / n);
	/* Who could have run instead of strangers saves as much as in place of idling. */
	struct sim_program *beside = model("wait: alone");

	program_add_strangers(beside, 1, SIM_MS / 2, 3 * SIM_MS);
	check(beside, "wait period=250 cost=0", 1, 4);
	program_free(beside);
	/* What the account of a device is for. */
	struct sim_program *p = model("disk: 2 saturate");
	struct sim_result r = study(p, &without, 0.5, SECONDS);

	assert_true(r.predicted > r.truth + 10);
	program_free(p);
}

static void test_graphs_with_waits(void **state)
{
	(void)state;
	for (int seed = 1; seed <= 40; seed++) {
		struct sim_program *p = graph_create(seed, false, 1);

		program_target_waits(p);
		check(p, "wait period=auto", seed % 2 ? 0.5 : 1, 1.5);
		program_free(p);
	}
}

/* More tasks than cores: only an engine that can hold tasks back gets these right. */
static void test_crowded_graphs(void **state)
{
	(void)state;
	for (int seed = 1; seed <= 20; seed++) {
		struct sim_program *p = graph_create(seed, true, 1);

		/* Some have two regimes, and chance decides for long which it is. */
		check_for(p, "wait period=auto engine=kernel", 0.5, 2, 3 * SECONDS);
		program_free(p);
	}
}

/* Queues take longer to refill than a window lasts: that must be found out. */
static void test_slow_queues(void **state)
{
	struct sim_config c = config("wait period=250");
	struct sim_program *p = model("pipeline4 balanced");
	const double speedup = 0.5;
	struct sim_experiment x = { .speedups = &speedup, .n_speedups = 1, .seconds = 60 };
	struct sim_estimate e;

	(void)state;
	experiment(p, &c.o, &x, &e);
	assert_int_equal(e.e.n, 1);
	assert_true(e.lengthened > 0);
	assert_true(fabs(e.e.e[0].points[1].program_speedup_pct - 6.3) < 1);
	estimates_free(&e.e);
	x.settle_s = 0.05;
	x.length_s = 0.1;
	experiment(p, &c.o, &x, &e);
	assert_true(fabs(e.e.e[0].points[1].program_speedup_pct - 6.3) > 3);
	estimates_free(&e.e);
	program_free(p);
}

/*
 * Visits of 30 at a time each quarter of a second, or of 100 each second: windows by the number of
 * visits alone are 21 and 87 points wrong on average.
 */
static void test_bursts(void **state)
{
	static const struct {
		const char *name;
		double seconds, truth, limit;
	} known[] = { { "bursts2", 200, 30, 2 },
		      { "bursts2 seldom", 400, 30, 4 },
		      { "bursts aside", 200, 0, 2 } };
	struct sim_config c = config("wait period=250");
	const double speedup = 0.5;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct sim_program *p = model(known[i].name);
		struct sim_experiment x = { .speedups = &speedup,
					    .n_speedups = 1,
					    .seconds = known[i].seconds };
		struct sim_estimate e;
		double predicted;

		experiment(p, &c.o, &x, &e);
		assert_int_equal(e.e.n, 1);
		assert_true(e.lengthened > 0);
		predicted = e.e.e[0].points[1].program_speedup_pct;
		print_message("%s: %.1f for %.1f\n", p->name, predicted, known[i].truth);
		assert_true(fabs(predicted - known[i].truth) < known[i].limit);
		estimates_free(&e.e);
		program_free(p);
	}
}

/* A host takes 30 % of each core's time: in stops, too, and beside a timer. */
static void test_stolen_time(void **state)
{
	static const struct {
		const char *name, *how;
		double limit;
	} programs[] = {
		{ "churn2", "wait period=250 cost=0 steal=30 common=0", 6 },
		{ "churn2", "wait period=250 cost=0 steal=30 common=0 heartbeat=10", 9 },
		{ "sleep + barrier", "wait period=250 cost=0 steal=30 common=0", 6 },
		{ "mutex4 outside", "wait period=250 cost=0 steal=30 common=0", 6 },
		{ "client/server", "wait period=250 cost=0 steal=30 common=0", 6 },
		{ "barrier2", "wait period=250 cost=0 steal=30 late=10 common=0", 6 },
		{ "spin barrier4", "wait period=250 cost=0 steal=30", 6 },	 /* -22 */
		{ "spin pingpong aside", "wait period=250 cost=0 steal=30", 6 }, /* -18 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct sim_program *p = model(programs[i].name);

		check_for(p, programs[i].how, 1, programs[i].limit, 60);
		program_free(p);
	}
}

/* Real-time strangers come by the clock: what they interrupt is what they make longer. */
static void test_real_time_strangers(void **state)
{
	static const struct {
		const char *name, *how;
		double speedup, limit; /* without the rules */
	} programs[] = {
		{ "mutex4", "wait period=250 cost=0 hogs=30", 1, 3.5 },		   /* -7.7 */
		{ "spinlock2", "wait period=250 cost=0 hogs=30", 0.5, 4 },	   /* -10.1 */
		{ "wait: alone", "wait period=250 cost=0 hogs=30", 1, 4 },	   /* -15.8 */
		{ "wait: pipe, slowest", "wait period=250 cost=0 hogs=30", 1, 5 }, /* -11.5 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct sim_program *p = model(programs[i].name);

		check_for(p, programs[i].how, programs[i].speedup, programs[i].limit, 60);
		program_free(p);
	}
}

/* Of each configuration its own neighbours, and a copy has all of a program. */
static void test_neighbours(void **state)
{
	struct sim_program *p = model("pingpong"), *beside, *copy;
	struct sim_result r;
	struct sim_config alone = config("wait"), timer = config("wait heartbeat=20"),
			  strangers = config("wait strangers"), hogs = config("wait hogs=30");

	(void)state;
	beside = study_beside(p, &timer);
	assert_int_equal(beside->n_tasks, p->n_tasks + 1);
	program_free(beside);
	beside = study_beside(p, &strangers);
	copy = program_copy(beside);
	assert_int_equal(copy->n_tasks, p->n_tasks + 3);
	for (int i = 0; i < copy->n_tasks; i++)
		assert_int_equal(copy->task[i].stranger, i >= p->n_tasks);
	assert_true(study(p, &timer, 0.5, 1).ledger.ran > study(p, &alone, 0.5, 1).ledger.ran);
	assert_true(study(p, &strangers, 0.5, 1).ledger.shared > 0);
	program_free(copy);
	program_free(beside);
	beside = study_beside(p, &hogs);
	assert_int_equal(beside->n_tasks, p->n_tasks + 2 * p->cores); /* own bursts, common ones */
	copy = program_copy(beside);
	assert_true(copy->task[p->n_tasks].urgent && copy->task[p->n_tasks].stranger);
	r = study(p, &hogs, 0.5, 39); /* of three seeds, one is given */
	assert_in_range(r.ledger.urgent, 0.2 * 13e9 * p->cores, 0.4 * 13e9 * p->cores);
	program_free(copy);
	program_free(beside);
	program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ledger),
		cmocka_unit_test(test_equal_seeds_equal_runs),
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_timers),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_published_way_is_seen_to_fail),
		cmocka_unit_test(test_spins_are_waits),
		cmocka_unit_test(test_seen_spins_are_waits),
		cmocka_unit_test(test_spins_in_seen_calls),
		cmocka_unit_test(test_seen_beside_timers),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_graphs_with_waits),
		cmocka_unit_test(test_crowded_graphs),
		cmocka_unit_test(test_slow_queues),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_stolen_time),
		cmocka_unit_test(test_real_time_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
