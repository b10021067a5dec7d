// SPDX-License-Identifier: GPL-2.0-or-later
/* What a replay is asked for: which code a recording's samples are credited to, and whose visits
 * count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "whatif/alike.h"
#include "whatif/candidates.h"
#include "whatif/predict.h"
#include "whatif/strangers.h"

/* Of three arrays. */
#define TRACE_OF(frame, stack, sample) \
	{ \
		.frames = (frame), .n_frames = ARRAY_SIZE(frame), .stacks = (stack), \
		.n_stacks = ARRAY_SIZE(stack), .samples = (sample), \
		.n_samples = ARRAY_SIZE(sample) \
	}

static bool is_swap(const struct predict_target *t, void *arg)
{
	(void)arg;
	return !strcmp(t->symbol, "swap");
}

/* main (a.c:9) calls work (a.c:3), which calls an inlined function of the system's header. */
static void test_candidates(void **state)
{
	struct record_frame frames[] = {
		{ .symbol = "main", .object = "/h/a", .file = "/h/a.c", .line = 9 },
		{ .symbol = "work", .object = "/h/a", .file = "/h/a.c", .line = 3 },
		{ .symbol = "swap",
		  .object = "/h/a",
		  .file = "/usr/include/c++/12/swap.h",
		  .line = 7,
		  .kind = FRAME_INLINED },
		{ .symbol = "[unknown]", .object = "/h/a" },
	};
	struct record_stack stacks[] = { { 0, TRACE_NONE }, { 1, 0 }, { 2, 1 }, { 3, 0 } };
	struct trace_event samples[] = { { .stack = 2, .weight = 60 },
					 { .stack = 1, .weight = 30 },
					 { .stack = 3, .weight = 10 } };
	struct trace t = TRACE_OF(frames, stacks, samples);
	struct candidates c;

	(void)state;
	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_LINES }, &c);
	assert_int_equal(c.n,
			 1); /* a caller stands neither for what it calls nor for what is unknown */
	assert_int_equal(c.list[0].line, 3);
	assert_string_equal(c.list[0].symbol, "work");
	assert_true(c.list[0].share == 0.9);
	assert_int_equal(c.masks[2], 1); /* what it calls is sped up with it */
	assert_int_equal(c.masks[3], 0);
	candidates_free(&c);

	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_FUNCTIONS }, &c);
	assert_int_equal(c.n, 3);
	assert_string_equal(c.list[0].symbol, "main");
	assert_int_equal(c.list[0].samples, 3);
	assert_string_equal(c.list[2].symbol, "swap");
	candidates_free(&c);

	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_BOTH }, &c);
	assert_int_equal(c.n, 2); /* neither main nor swap, of the system */
	assert_true(c.list[0].own == 0.9);
	candidates_free(&c);

	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_BOTH, .wanted = is_swap },
			&c);
	assert_int_equal(c.n, 4);
	assert_string_equal(c.list[0].symbol, "swap");
	candidates_free(&c);
}

/*
 * A library whose source is known by relative paths, as those of debug packages are, calls a
 * stripped one, which asks for the time: that is what ran, and nobody's line is.
 */
static void test_candidates_of_system(void **state)
{
	struct record_frame frames[] = {
		{ .symbol = "start_thread",
		  .object = "/usr/lib/libc.so.6",
		  .file = "./nptl/pthread_create.c",
		  .line = 442 },
		{ .symbol = "0x9a90", .object = "/usr/lib/liblzma.so.5" },
		{ .symbol = "[unknown]", .object = "[vdso]" },
	};
	struct record_stack stacks[] = { { 0, TRACE_NONE }, { 1, 0 }, { 2, 1 } };
	struct trace_event samples[] = { { .stack = 1, .weight = 60 },
					 { .stack = 2, .weight = 40 } };
	struct trace t = TRACE_OF(frames, stacks, samples);
	struct candidates c;

	(void)state;
	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_BOTH }, &c);
	assert_int_equal(c.n, 1);
	assert_string_equal(c.list[0].symbol, "0x9a90");
	assert_true(c.list[0].own == 1);
	candidates_free(&c);
}

/* Who waits in a loop of a library's makes nobody faster by waiting less; his own loop is his. */
static void test_candidates_of_waits(void **state)
{
	struct record_frame frames[] = {
		{ .symbol = "spin", .object = "/h/a", .file = "/h/a.c", .line = 3 },
		{ .symbol = "0x1f780", .object = "/usr/lib/libgomp.so.1" },
		{ .symbol = "PMPI_Recv", .object = "/usr/lib/libmpi.so.40" },
		{ .symbol = "opal_progress", .object = "/usr/lib/libopen-pal.so.40" },
		{ .symbol = "sched_yield", .object = "/usr/lib/libc.so.6" },
	};
	struct record_stack stacks[] = { { 0, TRACE_NONE }, { 1, TRACE_NONE }, { 2, 0 }, { 3, 2 },
					 { 1, 0 },	    { 4, 0 },	       { 4, 4 } };
	struct trace_event samples[] = { { .stack = 0, .weight = 10, .spins = true },
					 { .stack = 5, .weight = 10, .spins = true },
					 { .stack = 6, .weight = 1, .spins = true },
					 { .stack = 1, .weight = 50, .spins = true },
					 { .stack = 4, .weight = 9, .spins = true },
					 { .stack = 3, .weight = 20 } };
	struct trace t = TRACE_OF(frames, stacks, samples);
	struct candidates c;

	(void)state;
	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_BOTH }, &c);
	assert_int_equal(c.n, 2); /* a function, and its line */
	for (size_t i = 0; i < c.n; i++) {
		assert_string_equal(c.list[i].symbol, "spin");
		assert_true(c.list[i].own == 0.2);
	}
	assert_int_equal(c.masks[0], 3);
	assert_int_equal(c.masks[3], 0); /* nor is it sped up with the line that waits */
	candidates_free(&c);

	candidates_find(&t, &(struct predict_options){ .grain = PREDICT_FUNCTIONS }, &c);
	assert_int_equal(c.n, 1);
	assert_string_equal(c.list[0].symbol, "spin");
	candidates_free(&c);
}

static void visits_by(struct strangers *s, uint32_t thread, uint32_t point, bool others)
{
	const struct trace_event e = { .type = TRACE_PROGRESS, .thread = thread, .other = point };

	assert_int_equal(strangers_visit(s, &e), others);
}

/* Thread 0 is followed, 1 is not, and interrupts are nobody. */
static void test_strangers(void **state)
{
	const struct trace t = { .n_threads = 2 };
	struct strangers s;

	(void)state;
	strangers_begin(&s, &t, 3);
	visits_by(&s, 1, 3, true);
	assert_true(strangers_share(&s) == 0);
	assert_false(strangers_visit(&s, &(struct trace_event){ .type = TRACE_FORK, .thread = 0 }));
	visits_by(&s, 0, 3, false);
	visits_by(&s, 1, 3, true);
	visits_by(&s, 1, 2, false); /* another point */
	visits_by(&s, TRACE_NONE, 3, true);
	visits_by(&s, 0, 3, false);
	assert_true(strangers_share(&s) == 0.5);
	strangers_end(&s);
}

/*
 * Threads of one name, most of whose chains begin with start(): the odd ones go on with hot(), the
 * even ones with cold(), and the last one is sampled too seldom to tell. One has enough by itself,
 * one another name.
 */
static void test_alike(void **state)
{
	enum { BRIEF = 6, KNOWN = BRIEF, OTHER, SELDOM, THREADS };
	static const uint32_t kinds[THREADS] = { 0, 1, 0, 1, 0, 1, KNOWN, OTHER, SELDOM };
	struct record_stack stacks[] = { { 0, TRACE_NONE }, { 1, 0 }, { 2, 0 }, { 3, 1 },
					 { 4, 1 },	    { 3, 2 }, { 4, 2 } };
	struct trace_process process = { .name = "program" };
	struct trace_thread threads[THREADS];
	struct trace_event samples[BRIEF * 6 + ALIKE_ENOUGH + 6 + 1];
	struct trace t = { .stacks = stacks,
			   .n_stacks = ARRAY_SIZE(stacks),
			   .processes = &process,
			   .n_processes = 1,
			   .threads = threads,
			   .n_threads = THREADS,
			   .samples = samples };
	struct alike a;

	(void)state;
	for (uint32_t i = 0; i < THREADS; i++) {
		int n = i < BRIEF || i == OTHER ? 6 : i == KNOWN ? ALIKE_ENOUGH : 1;

		threads[i] = (struct trace_thread){ .comm = i == OTHER ? "other" : "worker" };
		for (int k = 0; k < n; k++)
			samples[t.n_samples++] = (struct trace_event){
				.thread = i, .weight = 1, .stack = (i % 2 ? 3 : 5) + k % 2
			};
	}
	assert_int_equal(t.n_samples, ARRAY_SIZE(samples));
	alike_find(&t, &a);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(a.kind[i], kinds[i]);
		assert_int_equal(a.name[i], i == OTHER ? OTHER : 0);
	}
	alike_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_candidates_of_system),
		cmocka_unit_test(test_candidates_of_waits),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
