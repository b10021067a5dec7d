// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay: each rule by itself, and simulated programs whose truth is known. */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sim/replay.h"
#include "tests/unit/test_whatif_rules.h"
#include "whatif/bounds.h"
#include "whatif/predict.h"
#include "whatif/turns.h"

#define SECONDS 3

/* ---- rules ---- */

static void test_woken_by_thread(void **state)
{
	struct replay *r = begin(REPLAY_USUAL);

	(void)state;
	/* 1 is 40 earlier: who waited 100 for it is, too; who waited 10 is by 10. */
	blocks(r, 0, 0, TRACE_WAIT_CHILD);
	ran(r, 1, 80);
	wakes(r, 100, 0, TRACE_BY_THREAD, 1);
	assert_earlier(r, 0, 40);
	blocks(r, 90, 2, TRACE_WAIT_CHILD);
	wakes(r, 100, 2, TRACE_BY_THREAD, 1);
	assert_earlier(r, 2, 10);
	assert_earlier(r, 1, 40);
	/* A device takes as long as it took. */
	blocks(r, 200, 1, TRACE_WAIT_IO);
	wakes(r, 300, 1, TRACE_BY_DEVICE, 0);
	assert_earlier(r, 1, 40);
	replay_free(r);
}

/* The last at a barrier cannot go on before those have come whom it wakes. */
static void test_barrier(void **state)
{
	struct replay *r = begin(REPLAY_USUAL), *free_ = begin(REPLAY_FREE);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct replay *x = i ? free_ : r;

		blocks(x, 50, 0, TRACE_WAIT_FUTEX);
		blocks(x, 80, 2, TRACE_WAIT_FUTEX);
		ran(x, 1, 200);
		wakes(x, 100, 0, TRACE_BY_THREAD, 1);
		wakes(x, 101, 2, TRACE_BY_THREAD, 1);
	}
	assert_earlier(r, 1, 21);
	assert_earlier(r, 0, 21);
	assert_earlier(r, 2, 21);
	assert_earlier(free_, 1, 100);
	assert_earlier(free_, 0, 50);
	replay_free(r);
	replay_free(free_);
}

static void test_cpu(void **state)
{
	enum replay_rules rules[] = { REPLAY_USUAL, REPLAY_ORDERED, REPLAY_UNQUEUED };
	const double stranger[] = { 30, 0, 30 }, helped[] = { 60, 60, 30 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct replay *r = begin(rules[i]);

		/* 0 is 30 earlier, and wants the CPU from 100 to 200, when 1 has it. */
		ran(r, 0, 60);
		event(r, 90, TRACE_ENTER, 1, 0);
		event(r, 100, TRACE_LEAVE, 0, 1);
		event(r, 200, TRACE_LEAVE, 1, 0);
		event(r, 200, TRACE_ENTER, 0, 0);
		assert_earlier(r, 0, stranger[i]);
		replay_free(r);
		/* The same, when who has it is 60 earlier. */
		r = begin(rules[i]);
		ran(r, 0, 60);
		event(r, 90, TRACE_ENTER, 1, 0);
		ran(r, 1, 120);
		event(r, 100, TRACE_LEAVE, 0, 1);
		event(r, 200, TRACE_LEAVE, 1, 0);
		event(r, 200, TRACE_ENTER, 0, 0);
		assert_earlier(r, 0, helped[i]);
		replay_free(r);
	}
}

static void waits_for_lock(struct replay *r, uint64_t from, uint64_t to, uint32_t thread,
			   uint32_t holder)
{
	blocks(r, from, thread, TRACE_WAIT_LOCK);
	wakes(r, to, thread, TRACE_BY_THREAD, holder);
}

/* Who would come before the holder had the lock gets it first. */
static void test_lock(void **state)
{
	struct replay *r = begin(REPLAY_USUAL);

	(void)state;
	ran(r, 1, 0);
	ran(r, 2, 0);
	waits_for_lock(r, 50000, 100000, 1, 2);
	ran(r, 0, 60);
	/* 30 earlier, but the holder has had it for 50 us by then. */
	waits_for_lock(r, 150000, 200000, 0, 1);
	assert_earlier(r, 0, 0);
	/* It freed it then. When it took it again is not known, for it did not wait. */
	ran(r, 0, 60);
	waits_for_lock(r, 299000, 300000, 0, 1);
	assert_earlier(r, 0, 30);
	/* It waits once more. What is so much longer than 100 us was freed, and taken again. */
	waits_for_lock(r, 1900000, 2000000, 1, 2);
	waits_for_lock(r, 2900000, 3000000, 0, 1);
	assert_earlier(r, 0, 30);
	replay_free(r);
}

/*
 * Whoever runs away from another meets it at the lock as often as before. Where it is known that it
 * is held for half of the time, that is half as often, and for half as long.
 */
static void test_lock_far(void **state)
{
	const double ahead[] = { 500, 50000 }, gained[] = { 100, 0 };
	struct replay *r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ahead); i++) {
		r = begin(REPLAY_USUAL);
		ran(r, 1, 2 * ahead[i]);
		waits_for_lock(r, 1000, 1100, 0, 1);
		assert_earlier(r, 0, gained[i]);
		replay_free(r);
	}
	r = begin(REPLAY_USUAL);
	ran(r, 1, 100000);
	ran(r, 2, 0);
	waits_for_lock(r, 900, 1000, 1, 2);
	ran(r, 1, 100);
	waits_for_lock(r, 1000, 1100, 0, 1);
	assert_earlier(r, 0, 75);
	replay_free(r);
}

/* One comes twice as often, the other one as before: together three times where it was twice. */
static void test_visits(void **state)
{
	const struct replay_lane lanes[] = { { 0, 0.5, REPLAY_USUAL, 0 },
					     { 0, 0, REPLAY_USUAL, 0 } };
	struct replay *r = replay_create(2, 2, lanes, 2, 2000);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		ran(r, 0, 100);
		event(r, 100 * i + 99, TRACE_PROGRESS, 0, 0);
		event(r, 100 * i + 99, TRACE_PROGRESS, 1, 1);
	}
	assert_true(fabs(replay_gain(r, 0) - 100 / 3.0) < 0.01);
	assert_true(replay_gain(r, 1) == 0);
	replay_free(r);
}

static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/*
 * One after the other, each made by 0, which waits for it: it runs for 100 ns, comes to the point
 * and ends. What is held of those that have ended would be 8 MB here.
 */
static void test_ended(void **state)
{
	enum { THREADS = 20000, LANES = 100 };
	struct replay_lane lanes[LANES];
	struct turns *turns = turns_create(1, THREADS + 1, 100);
	struct replay *r;
	size_t before;

	(void)state;
	for (int l = 0; l < LANES; l++)
		lanes[l] = (struct replay_lane){ 0, l % 2 ? 0 : 0.5, REPLAY_USUAL, 0 };
	r = replay_create(THREADS + 1, 1, lanes, LANES, THREADS);
	before = memory();
	for (uint32_t i = 1; i <= THREADS; i++) {
		const struct trace_event exits = { .time = 100 * i,
						   .type = TRACE_EXIT,
						   .thread = i };

		replay_event(r, &(struct trace_event){
					.time = 100 * (i - 1), .type = TRACE_FORK, .thread = i });
		blocks(r, 100 * (i - 1), 0, TRACE_WAIT_CHILD);
		event(r, 100 * (i - 1), TRACE_ENTER, i, 0);
		ran(r, i, 100);
		turns_sample(turns,
			     &(struct turns_sample){
				     .time = 100 * i, .mask = 1, .thread = i, .weight = 100 });
		event(r, 100 * i, TRACE_PROGRESS, i, 0);
		wakes(r, 100 * i, 0, TRACE_BY_THREAD, i);
		replay_event(r, &exits);
		turns_event(turns, &exits);
	}
	assert_true(memory() < before + (256 << 10));
	assert_true(fabs(replay_gain(r, 0) - 50) < 0.01);
	assert_true(replay_gain(r, 1) == 0);
	replay_free(r);
	turns_free(turns);
}

/* One that comes twice as often ends before another that comes as before. */
static void test_ended_visitor(void **state)
{
	const struct replay_lane lane = { 0, 0.5, REPLAY_USUAL, 0 };
	double gain[2];

	(void)state;
	for (int ends = 0; ends < 2; ends++) {
		struct replay *r = replay_create(2, 2, &lane, 1, 2000);

		for (uint64_t i = 0; i < 1000; i++) {
			ran(r, 0, 100);
			event(r, 100 * i + 99, TRACE_PROGRESS, 0, 0);
			event(r, 100 * i + 99, TRACE_PROGRESS, 1, 1);
		}
		if (ends)
			event(r, 100000, TRACE_EXIT, 0, 0);
		gain[ends] = replay_gain(r, 0);
		replay_free(r);
	}
	assert_true(fabs(gain[0] - gain[1]) < 1e-9);
}

static void spins(struct replay *r, uint32_t thread, double ns, enum replay_spin kind)
{
	double spun[REPLAY_SPINS] = {};

	spun[kind] = ns;
	replay_ran(r, thread, ns, (const float[]){ 0 }, spun);
	replay_follow(r, thread);
}

/* 0 spins for 100, and 1 is 40 earlier meanwhile; then for 10, and 1 is 100 earlier. */
static void test_spin(void **state)
{
	enum replay_rules rules[] = { REPLAY_USUAL, REPLAY_FREE, REPLAY_BOUND };
	const double waits[] = { 50, 50, 50 }, makes_wait[] = { 50, 140, 50 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct replay *r = begin(rules[i]);

		event(r, 0, TRACE_ENTER, 0, 0);
		event(r, 0, TRACE_ENTER, 1, 1);
		ran(r, 1, 80);
		spins(r, 0, 100, REPLAY_SPIN_MEETS);
		assert_earlier(r, 0, 40);
		ran(r, 1, 200);
		spins(r, 0, 10, REPLAY_SPIN_MEETS);
		assert_earlier(r, 0, waits[i]);
		assert_earlier(r, 1, makes_wait[i]);
		replay_free(r);
	}
}

/* One that spins, too, has not followed anybody for that yet: as early as whom it meets, at most.
 */
static void test_spin_both(void **state)
{
	enum replay_rules rules[] = { REPLAY_USUAL, REPLAY_FREE, REPLAY_BOUND };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const double spun[REPLAY_SPINS] = { [REPLAY_SPIN_MEETS] = 60 };
		struct replay *r = begin(rules[i]);

		event(r, 0, TRACE_ENTER, 0, 0);
		event(r, 0, TRACE_ENTER, 1, 1);
		ran(r, 0, 80);
		replay_ran(r, 1, 60, (const float[]){ 0 }, spun);
		spins(r, 0, 100, REPLAY_SPIN_MEETS);
		/* By itself 40; that 1 could be 60 earlier is not what it would be. */
		assert_earlier(r, 0, rules[i] == REPLAY_BOUND ? 0 : 40);
		replay_free(r);
	}
}

/* Who frees a lock waits for nobody; who spins for one may only spin for longer. */
static void test_spin_lock(void **state)
{
	enum replay_rules rules[] = { REPLAY_USUAL, REPLAY_BOUND };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct replay *r = begin(rules[i]);

		event(r, 0, TRACE_ENTER, 0, 0);
		event(r, 0, TRACE_ENTER, 1, 1);
		ran(r, 1, 200);
		spins(r, 0, 10, REPLAY_SPIN_LOCK);
		assert_earlier(r, 0, 10);
		assert_earlier(r, 1, 100);
		ran(r, 0, 20);
		assert_earlier(r, 0, i ? 10 : 20);
		replay_free(r);
	}
}

/* Who spins for others of its family does not follow those of another one. */
static void test_spin_family(void **state)
{
	struct replay *r = begin(REPLAY_USUAL);

	(void)state;
	replay_family(r, 1, 1);
	event(r, 0, TRACE_ENTER, 0, 0);
	event(r, 0, TRACE_ENTER, 1, 1);
	ran(r, 1, 200);
	spins(r, 0, 10, REPLAY_SPIN_MEETS);
	assert_earlier(r, 0, 0);
	replay_free(r);
}

/*
 * Two threads on two CPUs: 4 ms of which each spends @in in function 1, the second one @later than
 * the first, and the rest in function 0.
 */
static struct turns *two_threads(double in, double later, double waits)
{
	struct turns *t = turns_create(2, 2, 1000000);

	for (int i = 0; i < 8000; i++) {
		uint32_t cpu = i % 2;
		double ms = i / 2 + 0.3 * cpu + 0.137 * (i / 8), /* the clock and the work drift */
			at = fmod(ms - later * cpu + 400, 4);

		turns_sample(t, &(struct turns_sample){ .time = 1e6 * (i / 2 + 0.3 * cpu),
							.mask = at < in ? 2 : 1,
							.thread = cpu,
							.cpu = cpu,
							.weight = 1e6 });
	}
	for (uint32_t thread = 0; thread < 2; thread++) {
		const struct trace_event leave = { .type = TRACE_LEAVE,
						   .thread = thread,
						   .why = TRACE_BLOCKED,
						   .wait = TRACE_WAIT_LOCK },
					 wake = { .type = TRACE_WAKE,
						  .thread = thread,
						  .time = 1e6 * waits };

		turns_event(t, &leave);
		turns_event(t, &wake);
	}
	return t;
}

/*
 * Thread 0 has a CPU for itself, and is the target; so many others take turns on the second one,
 * 6 of 10 ms, and wait for nobody; these are the last two of @cpus, and @there are so many.
 * @queued: ns that these want theirs before they have it.
 */
static struct bounds_answer beside_others(uint32_t others, uint16_t cpus, uint32_t there,
					  uint64_t queued)
{
	const double speedup = 1;
	struct bounds *b = bounds_create(1 + others, cpus, 1, NULL, &speedup, 1, 100);
	struct bounds_answer ret;
	const float target = 1, other = 0;

	bounds_cpus(b, there);
	bounds_event(b, &(struct trace_event){ .type = TRACE_ENTER, .cpu = cpus - 2 });
	for (uint32_t i = 0; i < 100; i++) {
		struct trace_event e = { .time = 1e7 * i,
					 .thread = 1 + i % others,
					 .cpu = cpus - 1,
					 .type = TRACE_WAKE,
					 .by = TRACE_BY_OTHER };

		bounds_event(b, &e);
		e.type = TRACE_ENTER;
		e.time += queued;
		bounds_event(b, &e);
		bounds_ran(b, e.thread, 6e6, &other, NULL);
		e.time += 6e6;
		/* It wakes somebody who is awake: it is waited for. */
		bounds_event(b, &(struct trace_event){ .type = TRACE_WAKE,
						       .time = e.time,
						       .by = TRACE_BY_THREAD,
						       .other = e.thread });
		e.type = TRACE_LEAVE;
		e.why = TRACE_BLOCKED;
		e.wait = TRACE_WAIT_SLEEP;
		bounds_event(b, &e);
		bounds_ran(b, 0, 5e6, &target, NULL);
		bounds_ran(b, 0, 5e6, &other, NULL);
		bounds_event(b, &(struct trace_event){ .type = TRACE_PROGRESS,
						       .time = 1e7 * (i + 1) - 1 });
	}
	bounds_event(b, &(struct trace_event){ .type = TRACE_LEAVE, .time = 1e9 });
	bounds_read(b, 0, 0, &ret);
	bounds_free(b);
	return ret;
}

/* 0.5 and 0.6 CPUs' work in half the time: more threads than CPUs will not keep both busy. */
static void test_bounds_with_few_cpus(void **state)
{
	struct bounds_answer two = beside_others(1, 2, 2, 0), three = beside_others(2, 2, 2, 0),
			     of_many = beside_others(2, 64, 64, 0),
			     numbered = beside_others(2, 2, 64, 0),
			     bound = beside_others(2, 64, 64, 1e6);

	(void)state;
	assert_true(two.middle > 49.5 && two.low > 49);
	assert_true(three.high > 49 && three.middle < 40 && three.middle > 38);
	assert_true(three.low < 32 && three.low > 30);
	/* There may be others, unless somebody has wanted one, and they may be of another cpuset.
	 */
	assert_true(of_many.middle > 49.5 && of_many.low == three.low);
	assert_memory_equal(&numbered, &of_many, sizeof(of_many));
	assert_true(bound.middle < 40 && bound.low < 32);
}

/*
 * Every 10 ms two threads are made, on two CPUs: one is in function 1, the other in 0. No two that
 * are in 1 live at the same time: whether they would take turns is not known.
 */
static void test_turns_of_the_short_lived(void **state)
{
	struct turns *t = turns_create(2, 800, 1000000);

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			struct trace_event e = { .type = TRACE_FORK,
						 .time = 1e7 * i,
						 .thread = 2 * i + k };

			turns_event(t, &e);
		}
		for (uint32_t ms = 0; ms < 10; ms++) {
			for (uint32_t k = 0; k < 2; k++)
				turns_sample(t, &(struct turns_sample){ .time = 1e7 * i + 1e6 * ms +
										1e5 * k,
									.mask = k ? 1 : 2,
									.thread = 2 * i + k,
									.cpu = k,
									.weight = 1e6 });
		}
		for (uint32_t k = 0; k < 2; k++) {
			struct trace_event e = { .type = TRACE_EXIT,
						 .time = 1e7 * (i + 1) - 1,
						 .thread = 2 * i + k };

			turns_event(t, &e);
		}
	}
	assert_false(turns_taken(t, 0));
	assert_false(turns_taken(t, 1));
	turns_free(t);
}

static void test_turns(void **state)
{
	struct turns *t = two_threads(1.5, 2, 0), *overlap = two_threads(1.5, 0.5, 0),
		     *waits = two_threads(1.5, 2, 400);
	struct bounds_answer a = { 30, 28, 32 }, same = a, none = {};

	(void)state;
	assert_true(turns_taken(t, 1));
	assert_false(turns_taken(overlap, 1));
	/* What a lock does that is waited for, the recording shows. */
	assert_false(turns_taken(waits, 1));
	/* 0 is met on both: they are 2.5 of 4 ms in it. */
	assert_false(turns_taken(t, 0));
	/* 25 % of the time are left where nobody is in 1. */
	turns_widen(t, 0, 0.5, 4e9, &a);
	assert_true(a.low < -45 && a.middle < 26 && a.middle > 24 && a.high == 32);
	turns_widen(overlap, 0, 0.5, 4e9, &same);
	assert_true(same.low == 28 && same.middle == 30);
	turns_widen(t, 0, 0, 4e9, &none);
	assert_true(none.low == 0 && none.middle == 0 && none.high == 0);
	/* Who makes 1 itself faster comes to it no more often. */
	same = (struct bounds_answer){ 15, 15, 15 };
	turns_widen(t, 1, 0.5, 4e9, &same);
	assert_true(same.low == 15 && same.middle == 15);
	turns_free(t);
	turns_free(overlap);
	turns_free(waits);
}

static void test_fork(void **state)
{
	struct replay *r = begin(REPLAY_USUAL);
	const struct trace_event e = { .time = 10, .type = TRACE_FORK, .thread = 3, .other = 0 };

	(void)state;
	ran(r, 3, 1000);
	ran(r, 0, 20);
	replay_event(r, &e);
	assert_earlier(r, 3, 10);
	assert_true(isnan(replay_gain(r, 0)));
	replay_free(r);
}

/* ---- programs ---- */

static struct sim_program *model(const char *name)
{
	struct sim_program *p = model_named(name);

	if (!p)
		fail_msg("no model \"%s\"", name);
	return p;
}

static void test_models(void **state)
{
	static const struct {
		const char *name;
		double limit;
	} models[] = {
		{ "barrier2", 1 },
		{ "barrier4 all hot", 1 },
		{ "pipeline4 slowest", 1 },
		{ "pingpong", 1 },
		{ "mutex4", 1 },
		{ "mutex4 outside", 1 },
		{ "rwlock4", 2.5 },
		{ "forkjoin 0.6 ms", 1 },
		{ "io + barrier", 1 },
		{ "io worker", 1 },
		{ "sleep + barrier", 1 },
		{ "independent4", 1 },
		{ "no effect", 0.1 },
		{ "independent8 on 2", 2 },
		{ "churn2", 1 },
		{ "build -j2", 1 },
		{ "client/server", 1 },
		{ "spin pingpong", 1 },
	};
	struct sim_config c;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		struct sim_program *p = model(models[i].name);

		for (int half = 1; half <= 2; half++) {
			struct sim_replay r = replay_study(p, &c, half / 2.0, SECONDS, SIM_NAMED);

			if (r.zero != 0 || fabs(r.middle - r.truth) > models[i].limit ||
			    r.truth < r.low - 1 || r.truth > r.high + 1)
				fail_msg("%s at %d %%: %.2f [%.2f, %.2f], really %.2f; at zero %g",
					 p->name, 50 * half, r.middle, r.low, r.high, r.truth,
					 r.zero);
		}
		program_free(p);
	}
}

/* Nothing but bounds is known of most that spin, but these hold, whether it is known for what or
 * not.
 */
static void test_spinning_models(void **state)
{
	int seen = 0;
	struct sim_config c;
	struct sim_program *p;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (int i = 0; (p = model_create(i, 1)); i++) {
		for (int k = 0; k < 6 && !strncmp(p->name, "spin", 4); k++) {
			double speedup = (double[]){ 0.25, 0.5, 1 }[k / 2];
			struct sim_replay r =
				replay_study(p, &c, speedup, SECONDS, k % 2 ? SIM_NAMED : 0);

			seen++;
			if (r.zero != 0 || r.truth < r.low - 1 || r.truth > r.high + 1)
				fail_msg("%s at %.2f, %s: %.2f [%.2f, %.2f], really %.2f; at zero "
					 "%g",
					 p->name, speedup, k % 2 ? "named" : "unnamed", r.middle,
					 r.low, r.high, r.truth, r.zero);
		}
		program_free(p);
	}
	assert_int_equal(seen, 60);
}

/* A lock that is free in the recording: nothing but bounds is known. */
static void test_free_locks(void **state)
{
	static const char *const names[] = { "turns2", "convoy2" };
	struct sim_config c;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (size_t i = 0; i < 6; i++) {
		struct sim_program *p = model(names[i / 3]);
		double speedup = (double[]){ 0.25, 0.5, 1 }[i % 3];
		struct sim_replay r = replay_study(p, &c, speedup, SECONDS, SIM_NAMED);

		if (r.zero != 0 || r.truth < r.low - 1 || r.truth > r.high + 1)
			fail_msg("%s at %.2f: %.2f [%.2f, %.2f], really %.2f; at zero %g", p->name,
				 speedup, r.middle, r.low, r.high, r.truth, r.zero);
		program_free(p);
	}
}

static void test_graphs(void **state)
{
	int n = 60, inside = 0;
	struct sim_config c;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (int i = 0; i < n; i++) {
		struct sim_program *p = graph_create(1 + i, false, 1);
		struct sim_replay r = replay_study(p, &c, 0.5, SECONDS, SIM_NAMED);

		assert_true(r.zero == 0);
		inside += r.truth > r.low - 1 && r.truth < r.high + 1;
		program_free(p);
	}
	if (inside < n * 0.9)
		fail_msg("the truth of %d of %d graphs is within the bounds", inside, n);
}

/* ---- threads that live for some milliseconds ---- */

enum { START, HOT, COLD, WORK, OTHER, FUNCTIONS };

static void put(struct trace_writer *w, struct trace_event e)
{
	assert_int_equal(trace_write_event(w, &e), 0);
}

/* It runs for @ms in @stack, and is sampled each time. */
static void lives(struct trace_writer *w, uint32_t thread, uint16_t cpu, double begin, int ms,
		  uint32_t stack)
{
	put(w, (struct trace_event){
		       .type = TRACE_FORK, .time = begin, .thread = thread, .other = 0 });
	put(w, (struct trace_event){
		       .type = TRACE_ENTER, .time = begin, .thread = thread, .cpu = cpu });
	for (int i = 0; i < ms; i++)
		put(w, (struct trace_event){ .type = TRACE_SAMPLE,
					     .time = begin + (i + 0.5) * 1e6,
					     .thread = thread,
					     .cpu = cpu,
					     .stack = stack,
					     .weight = 1000000 });
}

static void dies(struct trace_writer *w, uint32_t thread, uint16_t cpu, double end)
{
	put(w, (struct trace_event){ .type = TRACE_LEAVE,
				     .time = end,
				     .thread = thread,
				     .cpu = cpu,
				     .why = TRACE_BLOCKED });
	put(w, (struct trace_event){ .type = TRACE_EXIT, .time = end, .thread = thread });
}

/* Two threads an iteration, which are called alike: 6 ms of work(), and 3 ms of other(). */
static void write_brief(const char *path, int iterations)
{
	static const char *const names[] = { "start", "hot", "cold", "work", "other" };
	static const struct record_stack stacks[] = {
		{ START, TRACE_NONE }, { HOT, 0 }, { COLD, 0 }, { WORK, 1 }, { OTHER, 2 }
	};
	const struct trace_header h = { 1000000, "brief", "command", "h", "k", "now", 2 };
	const struct trace_footer f = { .duration = iterations * 6000000, .end = "done" };
	struct trace_writer *w;

	assert_int_equal(trace_writer_open(path, &h, &w, NULL), 0);
	trace_write_point(w, "iteration");
	trace_write_process(w, 0, 100, "brief");
	for (int i = 0; i < FUNCTIONS; i++) {
		const struct record_frame frame = { .symbol = names[i], .object = "/h/brief" };

		trace_write_frame(w, &frame);
		trace_write_stack(w, &stacks[i]);
	}
	for (int i = 0; i <= 2 * iterations; i++)
		trace_write_thread(w, &(struct trace_thread){ 100 + i, 100, 0, "brief" });
	put(w, (struct trace_event){ .type = TRACE_FOLLOW, .why = TRACE_BLOCKED });
	for (int i = 0; i < iterations; i++) {
		double begin = i * 6e6 + 1, end = begin + 6e6 - 1;
		uint32_t hot = 2 * i + 1, cold = hot + 1;

		lives(w, hot, 0, begin, 6, 3);
		lives(w, cold, 1, begin, 3, 4);
		dies(w, cold, 1, begin + 3e6);
		put(w,
		    (struct trace_event){
			    .type = TRACE_WAKE, .time = end, .by = TRACE_BY_THREAD, .other = hot });
		dies(w, hot, 0, end);
		put(w, (struct trace_event){ .type = TRACE_ENTER, .time = end, .cpu = 1 });
		put(w, (struct trace_event){
			       .type = TRACE_PROGRESS, .time = end, .cpu = 1, .other = 0 });
		put(w, (struct trace_event){ .type = TRACE_LEAVE,
					     .time = end,
					     .cpu = 1,
					     .why = TRACE_BLOCKED,
					     .wait = TRACE_WAIT_FUTEX });
	}
	assert_int_equal(trace_writer_close(w, &f, NULL), 0);
}

/* What a thread with few samples does is told by those that begin in the same function. */
static void test_brief_threads(void **state)
{
	char path[] = "/tmp/test_whatif-XXXXXX";
	struct error err = {};
	struct predict ret;
	struct trace *t;
	int file = mkstemp(path);
	bool seen = false;

	(void)state;
	assert_true(file >= 0);
	close(file);
	unlink(path);
	write_brief(path, 100);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(predict(t, &predict_usual, &ret, &err), 0);
	for (size_t i = 0; i < ret.n_targets; i++) {
		const struct bounds_answer *a = &ret.targets[i].at[1];

		if (strcmp(ret.targets[i].symbol, "work") != 0)
			continue;
		seen = true;
		/* 3 of 6 ms, and the other one has come by then. */
		if (fabs(a->middle - 50) > 1)
			fail_msg("work: %.1f [%.1f, %.1f], really 50", a->middle, a->low, a->high);
	}
	assert_true(seen);
	predict_free(&ret);
	trace_free(t);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brief_threads),
		cmocka_unit_test(test_woken_by_thread),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_lock_far),
		cmocka_unit_test(test_visits),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_ended_visitor),
		cmocka_unit_test(test_spin),
		cmocka_unit_test(test_spin_both),
		cmocka_unit_test(test_spin_lock),
		cmocka_unit_test(test_spin_family),
		cmocka_unit_test(test_bounds_with_few_cpus),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_turns_of_the_short_lived),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_spinning_models),
		cmocka_unit_test(test_free_locks),
		cmocka_unit_test(test_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
