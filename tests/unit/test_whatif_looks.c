// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that look now and then whether others have done something, and sleep in between. */
#include <math.h>
#include <unistd.h>

#include "tests/unit/test_whatif_rules.h"
#include "whatif/looks.h"
#include "whatif/predict.h"

#define US	1000
#define MS	(1000 * US)
#define ITEMS	100
#define LOOK	(260 * US)
#define CONSUME (500 * US)

enum { PRODUCER, CONSUMER };
enum { PRODUCE, OTHER, CONSUMES, FUNCTIONS };

static void looks_at(struct looks *l, uint64_t time, enum trace_type type, uint64_t how)
{
	looks_event(
		l,
		&(struct trace_event){
			.time = time, .type = type, .why = TRACE_BLOCKED, .wait = how, .by = how });
}

/* It sleeps for 100 us, and finds something each time in so many that takes @found. */
static uint64_t who_finds(int times, uint64_t found, uint64_t sleep)
{
	struct looks *l = looks_create(1);
	uint64_t now = 0, ret;

	for (int i = 0; i < 400; i++) {
		looks_at(l, now, TRACE_LEAVE, TRACE_WAIT_SLEEP);
		looks_at(l, now + sleep, TRACE_WAKE, TRACE_BY_TIMER);
		looks_at(l, now + sleep + US, TRACE_ENTER, 0);
		now += sleep + US + (i % times ? US : found);
	}
	ret = looks_of(l, 0);
	looks_free(l);
	return ret;
}

static void test_looks(void **state)
{
	(void)state;
	assert_true(who_finds(10, 50 * US, 100 * US) > 350);
	/* Something each time, never anything, or for a long time: those are clocks. */
	assert_int_equal(who_finds(1, 50 * US, 100 * US), 0);
	assert_int_equal(who_finds(10, US, 100 * US), 0);
	assert_int_equal(who_finds(10, 50 * MS, 100 * MS), 0);
}

static void test_rules(void **state)
{
	const double slower[] = { 20, 30, 20, 20, 20 }, faster[] = { 60, 60, 20, 60, 60 };

	(void)state;
	for (int k = 0; k < REPLAY_RULES; k++) {
		struct replay *r = begin(k);

		/* 0 has gained 30, and 1, who has a CPU, 20: it looks for longer. */
		replay_looks(r, 0);
		event(r, 0, TRACE_ENTER, 1, 1);
		ran(r, 0, 60);
		ran(r, 1, 40);
		blocks(r, 1000, 0, TRACE_WAIT_SLEEP);
		wakes(r, 1100, 0, TRACE_BY_TIMER, 0);
		assert_earlier(r, 0, slower[k]);
		/* Then 1 gains more, and 0 follows it; by the clock it has gained nothing since. */
		ran(r, 0, 60);
		ran(r, 1, 80);
		blocks(r, 2100, 0, TRACE_WAIT_SLEEP);
		wakes(r, 2200, 0, TRACE_BY_TIMER, 0);
		assert_earlier(r, 0, faster[k]);
		replay_free(r);
	}
}

static struct trace_writer *writer;

static void put(struct trace_event e)
{
	assert_int_equal(trace_write_event(writer, &e), 0);
}

static void sampled(uint64_t time, uint32_t thread, uint32_t stack, uint64_t weight)
{
	put((struct trace_event){ .time = time,
				  .type = TRACE_SAMPLE,
				  .thread = thread,
				  .cpu = thread,
				  .stack = stack,
				  .weight = weight });
}

/*
 * An item takes 4 ms of produce() and 1 of other(); the consumer looks for it, and takes half a
 * millisecond.
 */
static void write_recording(const char *path)
{
	static const char *const names[] = { "produce", "other", "consume" };
	const struct trace_header h = { MS, "looks", "command", "h", "k", "now", 2 };
	uint64_t ready = 5 * MS, now = 0;

	assert_int_equal(trace_writer_open(path, &h, &writer, NULL), 0);
	trace_write_point(writer, "item");
	trace_write_process(writer, 0, 100, "looks");
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		trace_write_frame(
			writer, &(struct record_frame){ .symbol = names[i], .object = "/h/looks" });
		trace_write_stack(writer, &(struct record_stack){ i, TRACE_NONE });
	}
	trace_write_thread(writer, &(struct trace_thread){ 100, 100, 0, "producer" });
	trace_write_thread(writer, &(struct trace_thread){ 101, 100, 0, "consumer" });
	put((struct trace_event){ .type = TRACE_FOLLOW, .why = TRACE_RUNS });
	put((struct trace_event){ .type = TRACE_FOLLOW,
				  .thread = CONSUMER,
				  .cpu = 1,
				  .why = TRACE_BLOCKED,
				  .wait = TRACE_WAIT_SLEEP });
	for (uint64_t i = 0; i < 5 * ITEMS; i++)
		sampled(i * MS + MS / 2, PRODUCER, i % 5 < 4 ? PRODUCE : OTHER, MS);
	for (int items = 0; items < ITEMS;) {
		struct trace_event e = { .thread = CONSUMER, .other = TRACE_NONE, .cpu = 1 };

		now += LOOK;
		e.time = now;
		e.type = TRACE_WAKE;
		e.by = TRACE_BY_TIMER;
		put(e);
		e.type = TRACE_ENTER;
		put(e);
		now += 3 * US;
		if (now >= ready) {
			sampled(now + CONSUME / 2, CONSUMER, CONSUMES, CONSUME);
			e.time = now += CONSUME;
			e.type = TRACE_PROGRESS;
			e.other = 0;
			put(e);
			ready += 5 * MS;
			items++;
		}
		e.time = now;
		e.type = TRACE_LEAVE;
		e.why = TRACE_BLOCKED;
		e.wait = TRACE_WAIT_SLEEP;
		put(e);
	}
	put((struct trace_event){ .time = now, .type = TRACE_LEAVE, .why = TRACE_QUEUED });
	assert_int_equal(
		trace_writer_close(writer, &(struct trace_footer){ .duration = now, .end = "done" },
				   NULL),
		0);
}

/* What the producer gains, the consumer does; what it gains itself, it looks for longer. */
static void test_recording(void **state)
{
	const double gains[] = { 40, 10, 0 };
	char path[] = "/tmp/test_whatif_looks-XXXXXX";
	struct error err = {};
	struct predict ret;
	struct trace *t;
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	close(file);
	unlink(path);
	write_recording(path);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(predict(t, &predict_usual, &ret, &err), 0);
	assert_string_equal(ret.looks, "consumer");
	assert_true(ret.outside == 0);
	assert_int_equal(ret.n_targets, FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++) {
		const struct predict_target *x = &ret.targets[i];
		const struct bounds_answer *a = &x->at[1];
		double gain = gains[*x->symbol == 'p'	? PRODUCE
				    : *x->symbol == 'o' ? OTHER
							: CONSUMES];

		if (fabs(a->middle - gain) > 1 || a->low > 10 || a->high < gain + 1)
			fail_msg("%s: %.1f [%.1f, %.1f], really %.0f", x->symbol, a->middle, a->low,
				 a->high, gain);
	}
	predict_free(&ret);
	trace_free(t);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
