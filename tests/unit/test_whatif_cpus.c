// SPDX-License-Identifier: GPL-2.0-or-later
/* What more CPUs bring: work from events, run again, and simulated programs with more cores. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/sim/replay.h"
#include "whatif/cpus.h"
#include "whatif/rerun.h"

#define SECONDS 3
#define MS	1000000ULL

static struct work_builder *builder;

static void event(uint64_t ms, enum trace_type type, uint32_t thread, int cpu, enum trace_why why,
		  enum trace_wait wait)
{
	work_event(builder,
		   &(struct trace_event){ .time = ms * MS,
					  .type = type,
					  .thread = thread,
					  .cpu = cpu,
					  .why = why,
					  .wait = wait,
					  .other = TRACE_NONE },
		   TRACE_NONE);
}

static void follow(uint32_t thread)
{
	event(0, TRACE_FOLLOW, thread, 0, TRACE_QUEUED, 0);
}

static void turn(uint32_t thread, uint64_t from, uint64_t to)
{
	event(from, TRACE_ENTER, thread, 0, 0, 0);
	event(to, TRACE_LEAVE, thread, 0, TRACE_QUEUED, 0);
}

static void wakes(uint64_t ms, uint32_t waker, uint32_t thread)
{
	work_event(
		builder,
		&(struct trace_event){ .time = ms * MS,
				       .type = TRACE_WAKE,
				       .thread = thread,
				       .by = waker == TRACE_NONE ? TRACE_BY_TIMER : TRACE_BY_THREAD,
				       .other = waker },
		TRACE_NONE);
}

static void ends(uint64_t ms, uint32_t thread)
{
	event(ms, TRACE_LEAVE, thread, 0, TRACE_BLOCKED, TRACE_WAIT_OTHER);
	event(ms, TRACE_EXIT, thread, 0, 0, 0);
}

/* When the first thread has ended, ms; and its work is freed. */
static double root_ends(struct work *w, uint32_t cpus, const struct rerun_rules *rules)
{
	struct rerun r;
	double ret;

	rerun(w, cpus, rules, &r);
	ret = r.root_end / 1e6;
	rerun_free(&r);
	return ret;
}

/* Two that compute for 20 ms each, in turns of 10 ms. */
static void test_independent(void **state)
{
	const struct rerun_rules usual = { .meets = RERUN_USUAL };
	struct bounds_answer a, more, alone;
	struct cpus_now *now;
	struct work w;

	(void)state;
	builder = work_begin(2);
	follow(0);
	follow(1);
	turn(0, 0, 10);
	turn(1, 10, 20);
	turn(0, 20, 30);
	ends(30, 0);
	turn(1, 30, 40);
	ends(40, 1);
	work_end(builder, &w);
	assert_int_equal(w.cpus, 1);
	assert_int_equal(w.threads[0].ran, 20 * MS);
	/* One CPU: turns of 3 ms, so it ends a bit earlier or later; two: it has one of its own. */
	assert_true(root_ends(&w, 2, &usual) == 20);
	assert_true(root_ends(&w, 1, &usual) > 30 && root_ends(&w, 1, &usual) <= 40);
	assert_true(root_ends(&w, 1, &(struct rerun_rules){ .in_turn = true }) == 20);
	now = cpus_now_create(&w, 1);
	cpus_answer(now, 2, &(struct cpus_options){}, &a);
	assert_true(a.low <= a.middle && a.middle <= a.high && a.high <= 51);
	cpus_answer(now, 3, &(struct cpus_options){}, &more);
	cpus_answer(now, 1, &(struct cpus_options){}, &a);
	assert_true(a.low == 0 && a.middle == 0 && a.high == 0);
	cpus_now_free(now);
	/* Whatever has been asked before. */
	now = cpus_now_create(&w, 1);
	cpus_answer(now, 3, &(struct cpus_options){}, &alone);
	assert_true(alone.middle == more.middle && alone.low == more.low &&
		    alone.high == more.high);
	/* Nobody waits: neither for locks nor together with others. */
	w.waits = 100;
	cpus_answer(now, 3, &(struct cpus_options){}, &a);
	assert_true(a.low == alone.low && a.middle == alone.middle && a.high == alone.high);
	cpus_now_free(now);
	work_free(&w);
}

/* By run time: what passed before the command is none of it. */
static void test_begins_late(void **state)
{
	struct bounds_answer answer[2];

	(void)state;
	for (int late = 0; late < 2; late++) {
		uint64_t at = late ? 1000 : 0;
		struct cpus_now *now;
		struct work w;

		builder = work_begin(2);
		event(at, TRACE_FOLLOW, 0, 0, TRACE_QUEUED, 0);
		event(at, TRACE_FOLLOW, 1, 0, TRACE_QUEUED, 0);
		turn(0, at, at + 10);
		turn(1, at + 10, at + 20);
		turn(0, at + 20, at + 30);
		turn(1, at + 30, at + 40);
		ends(at + 40, 0);
		ends(at + 40, 1);
		work_end(builder, &w);
		now = cpus_now_create(&w, 1);
		cpus_answer(now, 2, &(struct cpus_options){}, &answer[late]);
		cpus_now_free(now);
		work_free(&w);
	}
	assert_true(answer[0].middle > 20);
	assert_float_equal(answer[1].middle, answer[0].middle, 1);
	assert_float_equal(answer[1].high, answer[0].high, 1);
}

/* Turns that are full of visits, that do not end, CPUs of any number, and a thread that never runs.
 */
static void test_what_was_there(void **state)
{
	struct work w;

	(void)state;
	builder = work_begin(3);
	for (uint32_t i = 0; i < 3; i++)
		follow(i);
	event(0, TRACE_ENTER, 0, 0, 0, 0);
	event(0, TRACE_ENTER, 1, 70, 0, 0);
	for (uint64_t ms = 1; ms < 100; ms++)
		work_event(
			builder,
			&(struct trace_event){
				.time = ms * MS, .type = TRACE_PROGRESS, .thread = 1, .cpu = 70 },
			0);
	event(100, TRACE_LEAVE, 1, 70, TRACE_QUEUED, 0);
	work_end(builder, &w);
	assert_int_equal(w.cpus, 2);
	assert_int_equal(w.ran, 200 * MS);
	assert_int_equal(w.crowded, 100 * MS);
	work_free(&w);
}

/*
 * 0 waits for what 1 does for 10 ms, while 2 has the CPU first. Waits for threads end when these
 * have come so far, waits for timers last as long as they did.
 */
static void test_waits(void **state)
{
	const struct rerun_rules usual = { .meets = RERUN_USUAL }, clock = { .clock = true };
	struct work w;

	(void)state;
	builder = work_begin(3);
	for (int i = 0; i < 3; i++)
		follow(i);
	event(0, TRACE_ENTER, 0, 0, 0, 0);
	event(0, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, TRACE_WAIT_READ);
	turn(2, 0, 10);
	event(10, TRACE_ENTER, 1, 0, 0, 0);
	wakes(20, 1, 0);
	ends(20, 1);
	event(20, TRACE_ENTER, 0, 0, 0, 0);
	event(25, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, TRACE_WAIT_SLEEP);
	wakes(32, TRACE_NONE, 0);
	event(32, TRACE_ENTER, 0, 0, 0, 0);
	ends(33, 0);
	work_end(builder, &w);
	assert_int_equal(w.waits, 1);
	/* 10 ms of 1, 5 of its own, a sleep of 7, and 1 more; by the clock it sleeps until 32. */
	assert_true(root_ends(&w, 2, &usual) == 23);
	assert_true(root_ends(&w, 2, &clock) == 33);
	work_free(&w);
}

/* Who has slept for long does not have the CPU for as long as others had it meanwhile. */
static void test_sleeper(void **state)
{
	const struct rerun_rules usual = { .meets = RERUN_USUAL };
	struct work w;

	(void)state;
	builder = work_begin(2);
	event(0, TRACE_FOLLOW, 0, 0, TRACE_BLOCKED, TRACE_WAIT_SLEEP);
	follow(1);
	turn(1, 0, 100);
	wakes(100, TRACE_NONE, 0);
	event(100, TRACE_ENTER, 0, 0, 0, 0);
	ends(110, 0);
	turn(1, 110, 130);
	ends(130, 1);
	work_end(builder, &w);
	assert_true(root_ends(&w, 1, &usual) > 111 && root_ends(&w, 1, &usual) < 125);
	assert_true(root_ends(&w, 2, &usual) == 110);
	work_free(&w);
}

/* Who wakes waits for whom it wakes where they meet: 1 is there first if it has a CPU. */
static void test_meeting(void **state)
{
	static const enum rerun_meets meets[] = { RERUN_USUAL, RERUN_NOBODY };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct work w;

		builder = work_begin(2);
		follow(1);
		follow(0);
		event(0, TRACE_ENTER, 0, 0, 0, 0);
		event(30, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, TRACE_WAIT_FUTEX);
		event(30, TRACE_ENTER, 1, 0, 0, 0);
		wakes(40, 1, 0);
		event(45, TRACE_LEAVE, 1, 0, TRACE_QUEUED, 0);
		event(45, TRACE_ENTER, 1, 0, 0, 0);
		ends(45, 1);
		work_end(builder, &w);
		assert_true(root_ends(&w, 2, &(struct rerun_rules){ .meets = meets[i] }) ==
			    (i ? 15 : 35));
		work_free(&w);
	}
}

/* Who makes others and waits for the end of one waits for all that end meanwhile. */
static void test_joins(void **state)
{
	struct work w;

	(void)state;
	builder = work_begin(3);
	follow(0);
	event(0, TRACE_ENTER, 0, 0, 0, 0);
	for (uint32_t child = 1; child < 3; child++)
		work_event(builder,
			   &(struct trace_event){
				   .time = 0, .type = TRACE_FORK, .thread = child, .other = 0 },
			   TRACE_NONE);
	event(0, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, TRACE_WAIT_CHILD);
	event(0, TRACE_ENTER, 1, 0, 0, 0);
	ends(30, 1); /* for this one it did not wait just then */
	event(30, TRACE_ENTER, 2, 0, 0, 0);
	wakes(35, 2, 0);
	ends(35, 2);
	event(35, TRACE_ENTER, 0, 0, 0, 0);
	ends(36, 0);
	work_end(builder, &w);
	assert_true(root_ends(&w, 2, &(struct rerun_rules){ .meets = RERUN_USUAL }) == 31);
	work_free(&w);
}

/*
 * 0 sets 1 going, which takes its CPU at once and waits again before 0 goes on: does 0 need what
 * that did? It does where it is known to wait for such answers.
 */
static void test_in_step(void **state)
{
	const struct rerun_rules usual = { .meets = RERUN_USUAL }, in_step = { .in_step = true };

	(void)state;
	for (int answers = 0; answers < 2; answers++) {
		struct work w;

		builder = work_begin(2);
		follow(0);
		event(0, TRACE_FOLLOW, 1, 0, TRACE_BLOCKED, TRACE_WAIT_READ);
		event(0, TRACE_ENTER, 0, 0, 0, 0);
		wakes(10, 0, 1);
		event(10, TRACE_LEAVE, 0, 0, TRACE_QUEUED, 0);
		event(10, TRACE_ENTER, 1, 0, 0, 0);
		event(20, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, TRACE_WAIT_READ);
		event(20, TRACE_ENTER, 0, 0, 0, 0);
		if (answers) {
			wakes(30, 0, 1);
			event(30, TRACE_LEAVE, 0, 0, TRACE_BLOCKED, TRACE_WAIT_READ);
			event(30, TRACE_ENTER, 1, 0, 0, 0);
			wakes(40, 1, 0);
			event(40, TRACE_LEAVE, 1, 0, TRACE_BLOCKED, TRACE_WAIT_READ);
			event(40, TRACE_ENTER, 0, 0, 0, 0);
		}
		ends(50, 0);
		work_end(builder, &w);
		assert_int_equal(w.threads[0].afters, 1);
		assert_int_equal(w.threads[0].answers, answers);
		assert_true(root_ends(&w, 2, &usual) == (answers ? 50 : 40));
		assert_true(root_ends(&w, 2, &in_step) == 50);
		work_free(&w);
	}
}

static struct sim_program *model(const char *name)
{
	struct sim_program *p = model_named(name);

	if (!p)
		fail_msg("no model %s", name);
	return p;
}

/* Models on so many cores instead of their own, and on one more. */
static void test_models(void **state)
{
	static const struct {
		const char *name;
		int cores;
		double limit;
	} models[] = {
		{ "independent8 on 2", 2, 1 }, { "barrier8 on 2", 2, 2 },
		{ "barrier8 on 2", 1, 5 },     { "pipeline4 on 2", 2, 2 },
		{ "wait: full core", 1, 5 },   { "io, own devices, on 2", 2, 4 },
		{ "mutex4 on 2", 1, 15 },      { "pingpong", 2, 0.5 },
		{ "pingpong", 1, 2 },	       { "forkjoin 0.6 ms", 2, 20 },
	};
	struct sim_config c;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		struct sim_program *p = model(models[i].name);
		struct sim_replay r;

		p->cores = models[i].cores;
		r = replay_cpus(p, &c, p->cores + 1, SECONDS);
		if (r.stuck || r.zero != 0 || fabs(r.middle - r.truth) > models[i].limit ||
		    r.truth < r.low - 1 || r.truth > r.high + 1)
			fail_msg("%s, %d and one more: %.2f [%.2f, %.2f], really %.2f; at zero %g",
				 p->name, p->cores, r.middle, r.low, r.high, r.truth, r.zero);
		program_free(p);
	}
}

static void test_graphs(void **state)
{
	int n = 60, inside = 0;
	double error = 0;
	struct sim_config c;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (int i = 0; i < n; i++) {
		struct sim_program *p = graph_create(1 + i, true, 1);
		struct sim_replay r = replay_cpus(p, &c, p->cores + 1, SECONDS);

		assert_true(r.zero == 0);
		inside += r.truth > r.low - 1 && r.truth < r.high + 1;
		error += fabs(r.middle - r.truth);
		program_free(p);
	}
	if (inside < n * 0.95 || error / n > 5)
		fail_msg("the truth of %d of %d graphs is within the bounds; mean error %.2f",
			 inside, n, error / n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins_late), cmocka_unit_test(test_what_was_there),
		cmocka_unit_test(test_independent), cmocka_unit_test(test_waits),
		cmocka_unit_test(test_sleeper),	    cmocka_unit_test(test_meeting),
		cmocka_unit_test(test_joins),	    cmocka_unit_test(test_in_step),
		cmocka_unit_test(test_models),	    cmocka_unit_test(test_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
