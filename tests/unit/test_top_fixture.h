/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of scoz top that is told samples by the test instead of a recorder. */
#ifndef TEST_TOP_FIXTURE_H
#define TEST_TOP_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/scoz/recording/record_filter.c"
#include "tools/scoz/text.c"
#include "tools/scoz/wrong_file.c"
#include "tools/scoz/top/top_pool.c"
#include "tools/scoz/top/top_model.c"
#include "tools/scoz/top/top_query.c"
#include "tools/scoz/top/top_keys.c"
#include "tools/scoz/top/top_proc.c"
#include "tools/scoz/top/top_text.c"
#include "tools/scoz/top/top_view.c"

#define MS     NSEC_PER_MSEC
#define SEC    NSEC_PER_SEC
#define PERIOD (5 * MS)
#define WINDOW (10 * SEC)
/* One slice more may be in the window. */
#define WINDOW_MAX (WINDOW + WINDOW / 20)

enum { FN_WORK, FN_MAIN, FN_READ, FN_LIBC_READ, FN_FUTEX, FN_LOCK, FN_INNER, FN_MISSING };

static const struct record_frame frames[] = {
	[FN_WORK] = { .symbol = "work", .object = "/bin/prog", .kind = FRAME_USER },
	[FN_MAIN] = { .symbol = "main", .object = "/bin/prog", .kind = FRAME_USER },
	[FN_READ] = { .symbol = "vfs_read", .object = "[kernel]", .kind = FRAME_KERNEL },
	[FN_LIBC_READ] = { .symbol = "read", .object = "/lib/libc.so.6", .kind = FRAME_USER },
	[FN_FUTEX] = { .symbol = "futex_wait", .object = "[kernel]", .kind = FRAME_KERNEL },
	[FN_LOCK] = { .symbol = "take_lock", .object = "/bin/prog", .kind = FRAME_USER },
	[FN_INNER] = { .symbol = "inner",
		       .object = "/bin/prog",
		       .file = "prog.c",
		       .line = 7,
		       .kind = FRAME_INLINED },
	[FN_MISSING] = { .symbol = "[missing frames]", .object = "", .kind = FRAME_MISSING },
};

#define NO_PARENT RECORDING_NONE
enum { S_MAIN, S_WORK, S_LIBC_READ, S_READ, S_LOCK, S_FUTEX, S_INNER, S_LIBC_ONLY, S_KERNEL };

static const struct record_stack stacks[] = {
	[S_MAIN] = { FN_MAIN, NO_PARENT },	  [S_WORK] = { FN_WORK, S_MAIN },
	[S_LIBC_READ] = { FN_LIBC_READ, S_WORK }, [S_READ] = { FN_READ, S_LIBC_READ },
	[S_LOCK] = { FN_LOCK, S_MAIN },		  [S_FUTEX] = { FN_FUTEX, S_LOCK },
	[S_INNER] = { FN_INNER, S_WORK },	  [S_LIBC_ONLY] = { FN_LIBC_READ, NO_PARENT },
	[S_KERNEL] = { FN_READ, S_LIBC_ONLY },
};

static inline const struct record_frame *frame(uint32_t id, void *arg)
{
	(void)arg;
	return id < ARRAY_SIZE(frames) ? &frames[id] : NULL;
}

static inline const struct record_stack *stack(uint32_t id, void *arg)
{
	(void)arg;
	return id < ARRAY_SIZE(stacks) ? &stacks[id] : NULL;
}

static int dead_tid;

static inline bool is_alive(int pid, int tid, void *arg)
{
	(void)pid;
	(void)arg;
	return tid != dead_tid;
}

static struct top_model *model;
static struct recorder_sink sink;
static struct top_result *result;
static uint32_t n_ids;

static inline void create(size_t max_entries)
{
	const struct top_model_options o = { .period_ns = PERIOD,
					     .window_ns = WINDOW,
					     .max_entries = max_entries,
					     .frame = frame,
					     .stack = stack,
					     .alive = is_alive };

	model = top_model_create(&o);
	sink = top_model_sink(model);
	n_ids = 0;
	dead_tid = 0;
}

static inline int set_up(void **state)
{
	(void)state;
	create(0);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	top_result_free(result);
	result = NULL;
	top_model_destroy(model);
	model = NULL;
	return 0;
}

static inline uint32_t thread(int pid, int tid, const char *comm, uint64_t start)
{
	const struct record_thread t = {
		.id = n_ids++, .pid = pid, .tid = tid, .comm = comm, .start = start
	};

	sink.thread(&t, sink.arg);
	return t.id;
}

/* From @from to @to; on a CPU a sample for each period. */
static inline void on(uint32_t id, uint64_t from, uint64_t to, uint32_t stack_id, bool kernel)
{
	for (uint64_t t = from + PERIOD; t <= to; t += PERIOD) {
		const struct record_sample s = { .time = t,
						 .points = 1,
						 .thread = id,
						 .stack = stack_id,
						 .kernel = kernel,
						 .waker = RECORDING_NONE,
						 .holder = RECORDING_NONE,
						 .class = RECORD_ON };

		sink.sample(&s, sink.arg);
	}
}

static inline void off(uint32_t id, uint64_t from, uint64_t to, enum record_class class,
		       const char *kind, uint32_t stack_id, uint32_t waker, const char *event)
{
	const struct record_sample s = { .time = to,
					 .duration = to - from,
					 .points = (to - from) / PERIOD,
					 .thread = id,
					 .stack = stack_id,
					 .kind = kind,
					 .waker = waker,
					 .holder = RECORDING_NONE,
					 .event = event,
					 .class = class };

	sink.sample(&s, sink.arg);
}

static inline void end(uint32_t id, uint64_t when)
{
	const struct record_thread t = { .id = id, .exited = true, .has_times = true, .to = when };

	sink.times(&t, sink.arg);
}

static const struct top_query everything = { .classes = TOP_ALL_CLASSES };

static inline const struct top_result *ask(struct top_query q)
{
	top_result_free(result);
	result = top_model_query(model, &q);
	return result;
}

static inline const struct top_result *ask_by(enum top_by by)
{
	struct top_query q = everything;

	q.by = by;
	return ask(q);
}

static inline const struct top_row *row_of(const char *name)
{
	for (size_t i = 0; i < result->n_rows; i++) {
		const struct top_row *r = &result->rows[i];

		if (!strcmp(r->symbol ? r->symbol : r->comm, name))
			return r;
	}
	fail_msg("no row %s", name);
	return NULL;
}

static inline uint64_t sum(const uint64_t *time)
{
	uint64_t n = 0;

	for (int c = 0; c < TOP_CLASSES; c++)
		n += time[c];
	return n;
}

static inline void near(double got, double wanted, double tolerance)
{
	if (fabs(got - wanted) > tolerance)
		fail_msg("%g instead of %g", got, wanted);
}

static inline void fill(void)
{
	uint32_t burn = thread(10, 10, "burn", 0), io = thread(20, 20, "io", 0);
	uint32_t lock = thread(30, 30, "lock", 0), idle = thread(40, 40, "idle", 0);
	uint32_t pool = thread(50, 50, "pool", 0);

	on(burn, 0, 10 * SEC, S_WORK, false);
	for (int i = 0; i < 100; i++) {
		uint64_t t = i * 100 * MS;

		off(io, t, t + 50 * MS, RECORD_IO, "disk", S_READ, RECORDING_NONE, "sda");
		on(io, t + 50 * MS, t + 70 * MS, S_WORK, true);
		off(io, t + 70 * MS, t + 100 * MS, RECORD_OTHER, "sleep", S_MAIN, RECORDING_NONE,
		    "timer");
		off(lock, t, t + 60 * MS, RECORD_LOCK, "futex", S_FUTEX, burn, NULL);
		off(lock, t + 60 * MS, t + 100 * MS, RECORD_SCHED, NULL, S_FUTEX, RECORDING_NONE,
		    NULL);
		off(pool, t, t + 100 * MS, RECORD_LOCK, "futex", S_FUTEX, RECORDING_NONE, "timer");
	}
	off(idle, 0, 10 * SEC, RECORD_OTHER, "poll", S_MAIN, RECORDING_NONE, "network");
	top_model_advance(model, 10 * SEC);
}

#endif
