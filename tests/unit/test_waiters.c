// SPDX-License-Identifier: GPL-2.0-or-later
/* Who waits for a target: of a recording whose every wait is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording.h"
#include "whatif/through.h"
#include "whatif/waiters.h"

#define MS 1000000ull

enum { WORKER, READER, POLLER, IDLER, TWIN, THREADS };

static char path[64];
static struct trace_writer *writer;

static void put(struct trace_event e)
{
	e.time *= MS;
	e.weight *= MS;
	assert_int_equal(trace_write_event(writer, &e), 0);
}

static void follow(uint32_t thread, enum trace_why why)
{
	put((struct trace_event){ .type = TRACE_FOLLOW, .thread = thread, .why = why });
}

static void blocks(uint64_t ms, uint32_t thread, enum trace_wait wait)
{
	put((struct trace_event){ .type = TRACE_LEAVE,
				  .time = ms,
				  .thread = thread,
				  .why = TRACE_BLOCKED,
				  .wait = wait });
}

static void wakes(uint64_t ms, uint32_t thread, enum trace_by by, uint32_t other)
{
	put((struct trace_event){
		.type = TRACE_WAKE, .time = ms, .thread = thread, .by = by, .other = other });
	put((struct trace_event){ .type = TRACE_ENTER, .time = ms, .thread = thread });
}

/*
 * A second in tenths: for 60 ms WORKER is in hot(), for 40 in cold(); READER waits for all of it,
 * TWIN (of the same name) for the last 30 ms of hot() and then cold(), POLLER sleeps until a timer
 * wakes it, and IDLER waits as long as READER, but for POLLER.
 */
static void write_recording(void)
{
	static const struct record_frame frames[] = {
		{ .symbol = "hot", .object = "/a" },
		{ .symbol = "cold", .object = "/a" },
	};
	static const char *const names[THREADS] = { "worker", "reader", "poll", "idle", "reader" };
	const struct trace_header h = { MS, "", "command", "", "", "", 4 };
	const struct trace_footer f = { 1000 * MS, 0, -1, "done" };
	struct error err;

	assert_int_equal(trace_writer_open(path, &h, &writer, &err), 0);
	for (int i = 0; i < 2; i++) {
		trace_write_frame(writer, &frames[i]);
		trace_write_stack(writer, &(struct record_stack){ i, RECORDING_NONE });
	}
	trace_write_process(writer, 0, 70, "program");
	for (uint32_t i = 0; i < THREADS; i++) {
		trace_write_thread(writer, &(struct trace_thread){ 70 + i, 70, 0, names[i] });
		follow(i, TRACE_RUNS);
	}
	for (int turn = 0; turn < 10; turn++) {
		uint64_t t = 100 * turn;

		blocks(t, READER, TRACE_WAIT_READ);
		blocks(t, POLLER, TRACE_WAIT_POLL);
		blocks(t, IDLER, TRACE_WAIT_FUTEX);
		for (int ms = 1; ms <= 100; ms++) {
			if (ms == 31)
				blocks(t + 30, TWIN, TRACE_WAIT_FUTEX);
			put((struct trace_event){ .type = TRACE_SAMPLE,
						  .time = t + ms,
						  .thread = WORKER,
						  .stack = ms > 60,
						  .weight = 1 });
		}
		wakes(t + 100, READER, TRACE_BY_THREAD, WORKER);
		wakes(t + 100, TWIN, TRACE_BY_THREAD, WORKER);
		wakes(t + 100, POLLER, TRACE_BY_TIMER, TRACE_NONE);
		wakes(t + 100, IDLER, TRACE_BY_THREAD, POLLER);
	}
	assert_int_equal(trace_writer_close(writer, &f, &err), 0);
}

static void test_waiters(void **state)
{
	const struct predict_options o = { .grain = PREDICT_OWN, .most_targets = PREDICT_TARGETS };
	struct waiters found[2];
	struct candidates c;
	struct trace *t;
	struct error err;

	(void)state;
	write_recording();
	if (trace_open(path, &t, &err))
		fail_msg("%s", err.text);
	candidates_find(t, &o, &c);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.list[0].symbol, "hot");
	assert_int_equal(waiters_find(t, &c, found, &err), 0);
	for (int i = 0; i < 2; i++) {
		const struct waiter *w = &found[i].list[0];

		/* Neither who waits for somebody else, nor who is woken by nobody. */
		assert_int_equal(found[i].n, 1);
		assert_string_equal(w->thread, "reader");
		assert_string_equal(w->process, "program");
		assert_int_equal(w->threads, 2);
	}
	/* hot(): 600 and 300 of 1000 ms; cold(): 400 twice. */
	assert_float_equal(found[0].list[0].share, 0.9, 0.001);
	assert_int_equal(found[0].list[0].samples, 900);
	assert_int_equal(found[0].list[0].wait, TRACE_WAIT_READ);
	assert_float_equal(found[1].list[0].share, 0.8, 0.001);
	candidates_free(&c);
	trace_free(t);
}

static void request(uint64_t ms, enum trace_type type, uint32_t id)
{
	put((struct trace_event){
		.type = type, .time = ms, .thread = TRACE_NONE, .other = 0, .stack = id });
}

/*
 * A second in tenths: READER waits 100 ms for what commits a journal, while the disk is busy for 70
 * of them; then in the same tenth for the disk itself, 10 ms; POLLER waits for one who is recorded,
 * and IDLER for a worker of the kernel that has nothing to do with the disk. CLIENTS wait meanwhile
 * for one who is not recorded, in ways in which no disk is waited for.
 */
static void write_disk_waits(void)
{
	static const char *const names[] = { "reader",	    "poll",   "idle", "jbd2/loop0-8",
					     "kworker/1:2", "client", "poll", "read",
					     "futex",	    "sleep" };
	static const enum trace_wait clients[] = { TRACE_WAIT_POLL, TRACE_WAIT_READ,
						   TRACE_WAIT_FUTEX, TRACE_WAIT_SLEEP };
	const struct trace_header h = { MS, "", "command", "", "", "", 4 };
	const struct trace_footer f = { 2000 * MS, 0, -1, "done" };
	struct error err;

	assert_int_equal(trace_writer_open(path, &h, &writer, &err), 0);
	trace_write_process(writer, 0, 70, "program");
	trace_write_device(writer, "loop0");
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		trace_write_thread(writer, &(struct trace_thread){ 70 + i, 70, 0, names[i] });
	for (uint32_t i = 0; i < 3; i++)
		follow(i, TRACE_RUNS);
	for (uint32_t i = 0; i < ARRAY_SIZE(clients); i++)
		follow(6 + i, TRACE_RUNS);
	for (uint64_t turn = 0; turn < 10; turn++) {
		uint64_t t = 200 * turn;

		blocks(t, 0, TRACE_WAIT_OTHER);
		blocks(t, 1, TRACE_WAIT_FUTEX);
		for (uint32_t i = 0; i < ARRAY_SIZE(clients); i++)
			blocks(t, 6 + i, clients[i]);
		request(t + 10, TRACE_ISSUE, 1);
		request(t + 20, TRACE_ISSUE, 2);
		request(t + 60, TRACE_COMPLETE, 1);
		request(t + 80, TRACE_COMPLETE, 2);
		wakes(t + 100, 0, TRACE_BY_THREAD, 3);
		wakes(t + 100, 1, TRACE_BY_THREAD, 0);
		for (uint32_t i = 0; i < ARRAY_SIZE(clients); i++)
			wakes(t + 100, 6 + i, TRACE_BY_THREAD, 5);
		blocks(t + 110, 2, TRACE_WAIT_OTHER);
		wakes(t + 150, 2, TRACE_BY_THREAD, 4);
		blocks(t + 160, 0, TRACE_WAIT_IO);
		wakes(t + 170, 0, TRACE_BY_DEVICE, 0);
		wakes(t + 180, 0, TRACE_BY_DEVICE, 0); /* which is awake already */
	}
	assert_int_equal(trace_writer_close(writer, &f, &err), 0);
}

static void test_through(void **state)
{
	struct through found;
	struct error err;
	struct trace *t;

	(void)state;
	write_disk_waits();
	if (trace_open(path, &t, &err))
		fail_msg("%s", err.text);
	assert_int_equal(through_find(t, &found, &err), 0);
	assert_string_equal(found.name, "jbd2/loop0-8");
	assert_float_equal(found.share, 70.0 / 80, 0.001);
	assert_float_equal(found.waited, 0.8 / 1.98, 0.001);
	trace_free(t);

	/* Nobody else, and no disk. */
	write_recording();
	if (trace_open(path, &t, &err))
		fail_msg("%s", err.text);
	assert_int_equal(through_find(t, &found, &err), 0);
	assert_string_equal(found.name, "");
	assert_true(found.share == 0 && found.waited == 0);
	trace_free(t);
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_waiters),
					    cmocka_unit_test(test_through) };

	snprintf(path, sizeof(path), "/tmp/scoz-test-waiters-%d", getpid());
	return cmocka_run_group_tests(tests, NULL, remove_file);
}
