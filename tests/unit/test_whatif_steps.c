// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of programs that run and end: the time until then, one step after the other; and what a
 * loop waits for, by its name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording.h"
#include "whatif/predict.h"

#define MS    1000000ull
#define TURNS 100

static char path[64];
static struct trace_writer *writer;

static void put(struct trace_event e)
{
	assert_int_equal(trace_write_event(writer, &e), 0);
}

static void sampled(uint64_t at, uint32_t thread, uint32_t stack, bool spins)
{
	put((struct trace_event){ .type = TRACE_SAMPLE,
				  .time = at,
				  .thread = thread,
				  .cpu = thread,
				  .stack = stack,
				  .weight = MS,
				  .spins = spins });
}

static void begin(const char *const *names, uint32_t n, uint32_t threads)
{
	const struct trace_header h = { MS, "steps", "command", "h", "k", "now", 2 };

	assert_int_equal(trace_writer_open(path, &h, &writer, NULL), 0);
	trace_write_process(writer, 0, 100, "steps");
	for (uint32_t i = 0; i < n; i++) {
		trace_write_frame(
			writer, &(struct record_frame){ .symbol = names[i], .object = "/h/steps" });
		trace_write_stack(writer, &(struct record_stack){ i, TRACE_NONE });
	}
	for (uint32_t i = 0; i < threads; i++) {
		trace_write_thread(writer, &(struct trace_thread){ 100 + i, 100, 0, "steps" });
		put((struct trace_event){
			.type = TRACE_FOLLOW, .thread = i, .cpu = i, .why = TRACE_RUNS });
	}
}

static struct trace *end(uint64_t now)
{
	const struct trace_footer f = { .duration = now, .end = "done" };
	struct error err = {};
	struct trace *t;

	put((struct trace_event){ .type = TRACE_EXIT, .time = now });
	assert_int_equal(trace_writer_close(writer, &f, NULL), 0);
	if (trace_open(path, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

/* The second thread is preempted, and goes on: it is known how far it is. */
static void look(uint64_t at)
{
	put((struct trace_event){
		.type = TRACE_LEAVE, .time = at, .thread = 1, .cpu = 1, .why = TRACE_QUEUED });
	put((struct trace_event){ .type = TRACE_ENTER, .time = at, .thread = 1, .cpu = 1 });
}

/* Of ten samples five are in hot(), three in warm(), two in cold(). */
static struct trace *by_turns(void)
{
	static const char *const names[] = { "cold", "hot", "warm" };
	static const uint8_t which[] = { 1, 2, 1, 0, 1, 2, 1, 0, 1, 2 };

	begin(names, ARRAY_SIZE(names), 1);
	for (uint64_t i = 0; i < 10 * TURNS; i++)
		sampled(i * MS + MS, 0, which[i % 10], false);
	return end(10 * TURNS * MS);
}

static void test_run_time(void **state)
{
	struct trace *t = by_turns();
	struct error err = {};
	struct predict ret;

	(void)state;
	assert_int_equal(predict(t, &predict_usual, &ret, &err), 0);
	assert_true(ret.by_run_time && ret.concluded);
	assert_int_equal(ret.n_targets, 3);
	for (int i = 0; i < 3; i++) {
		const struct predict_target *x = &ret.targets[i];
		double all = *x->symbol == 'h' ? 50 : *x->symbol == 'w' ? 30 : 20;

		/* What is known, but for chance in so many samples, and a point. */
		double half = 1.96 * sqrt((1 - all / 100) / x->samples) * all + 1;

		assert_int_equal(x->samples, TURNS * all / 10);
		assert_float_equal(x->at[2].high - x->at[2].middle, half, 0.1);
		assert_float_equal(x->at[2].middle - x->at[2].low, half, 0.1);
		for (size_t s = 0; s < predict_usual.n_speedups; s++)
			assert_float_equal(x->at[s].middle, predict_usual.speedups[s] * all, 0.5);
	}
	predict_free(&ret);
	trace_free(t);
}

static void test_steps(void **state)
{
	static const char *const order[] = { "hot", "warm", "cold" };
	static const double all[] = { 25, 40, 50 };
	struct predict_step step[5];
	struct trace *t = by_turns();
	struct error err = {};
	size_t n;

	(void)state;
	assert_int_equal(predict_steps(t, &predict_usual, 5, step, &n, &err), 0);
	assert_int_equal(n, 3); /* there is nothing else */
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(step[i].target.symbol, order[i]);
		assert_float_equal(step[i].all.middle, all[i], 0.5);
		assert_true(step[i].all.low <= all[i] && step[i].all.high >= all[i]);
	}
	assert_int_equal(predict_steps(t, &predict_usual, 2, step, &n, &err), 0);
	assert_int_equal(n, 2);
	trace_free(t);
}

/* One in 200 samples is in rare(): half of that would bring a quarter of a point. */
static void test_least_step(void **state)
{
	static const char *const names[] = { "hot", "rare" };
	struct predict_step step[5];
	struct error err = {};
	struct trace *t;
	size_t n;

	(void)state;
	begin(names, ARRAY_SIZE(names), 1);
	for (uint64_t i = 0; i < 10 * TURNS; i++)
		sampled(i * MS + MS, 0, i % 200 == 100, false);
	t = end(10 * TURNS * MS);
	assert_int_equal(predict_steps(t, &predict_usual, 5, step, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(step[0].target.symbol, "hot");
	trace_free(t);
}

/*
 * Thread @spinner waits a quarter of its time in a loop of that name for the other one, which works
 * all the time: what the first one's run time wins at 100 % of what it does.
 */
static double first_wins(const char *loop, uint32_t spinner)
{
	const char *const names[] = { loop, "first", "second" };
	struct error err = {};
	double ret = NAN;
	struct predict p;
	struct trace *t;

	begin(names, ARRAY_SIZE(names), 2);
	for (uint64_t i = 0; i < 4 * TURNS; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			bool spins = k == spinner && i % 4 == 0;

			sampled(i * MS + MS, k, spins ? 0 : k + 1, spins);
		}
		look(i * MS + MS);
	}
	t = end(4 * TURNS * MS);
	assert_int_equal(predict(t, &predict_usual, &p, &err), 0);
	assert_float_equal(p.spun, 0.125, 0.01);
	for (size_t i = 0; i < p.n_targets; i++) {
		if (!strcmp(p.targets[i].symbol, "first"))
			ret = p.targets[i].at[2].middle;
	}
	predict_free(&p);
	trace_free(t);
	unlink(path);
	return ret;
}

/* Where they meet neither is earlier alone; who frees a lock waits for nobody. */
static void test_names_of_loops(void **state)
{
	static const struct {
		const char *loops[4];
		double spinner, worker;
	} kinds[] = {
		{ { "barrier_wait", "GOMP_Barrier", "team_barrier_lock", "barrier" }, 0, 25 },
		{ { "spin_lock", "lock", "Mutex::Acquire", "get_latch" }, 75, 100 },
		{ { "spin", "read_clock", "next_block", "Unblock" }, 75, 25 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(kinds[i].loops); k++) {
			double spinner = first_wins(kinds[i].loops[k], 0);
			double worker = first_wins(kinds[i].loops[k], 1);

			if (!(fabs(spinner - kinds[i].spinner) < 1) ||
			    !(fabs(worker - kinds[i].worker) < 1))
				fail_msg("%s: %g and %g", kinds[i].loops[k], spinner, worker);
		}
	}
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_run_time, remove_file),
		cmocka_unit_test_teardown(test_steps, remove_file),
		cmocka_unit_test_teardown(test_least_step, remove_file),
		cmocka_unit_test_teardown(test_names_of_loops, remove_file),
	};

	snprintf(path, sizeof(path), "/tmp/test_whatif_steps-%d", getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
