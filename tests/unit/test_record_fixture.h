/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording of which everything is known, and looks at what scoz report makes of it. */
#ifndef TEST_RECORD_FIXTURE_H
#define TEST_RECORD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_report_tool.h"

static char path[64];

enum { START, MAIN, PREAD, IO_SCHEDULE, LIGHT, COND_WAIT, FUTEX, HEAVY, EVIL, TINY, MISSING, LOCK };

static const struct record_frame frames[] = {
	[START] = { .symbol = "_start", .object = "/bin/a.out" },
	[MAIN] = { .symbol = "main", .object = "/bin/a.out", .file = "a.c", .line = 10 },
	[PREAD] = { .symbol = "__libc_pread64", .object = "/lib/libc.so.6" },
	[IO_SCHEDULE] = { .symbol = "io_schedule", .object = "[kernel]", .kind = FRAME_KERNEL },
	[LIGHT] = { .symbol = "light", .object = "/bin/a.out", .file = "a.c", .line = 20 },
	[COND_WAIT] = { .symbol = "__pthread_cond_wait", .object = "/lib/libc.so.6" },
	[FUTEX] = { .symbol = "futex_wait", .object = "[kernel]", .kind = FRAME_KERNEL },
	[HEAVY] = { .symbol = "heavy", .object = "/bin/a.out", .file = "a.c", .line = 30 },
	[EVIL] = { .symbol = "e\033[31mvil\n", .object = "/bin/\033]0;x\a" },
	[TINY] = { .symbol = "tiny", .object = "[kernel]", .kind = FRAME_INLINED },
	[MISSING] = { .symbol = "[missing frames]", .object = "", .kind = FRAME_MISSING },
	[LOCK] = { .symbol = "__lll_lock_wait", .object = "/lib/libc.so.6" },
};

/* Named by their innermost frame. */
enum {
	S_START,
	S_MAIN,
	S_PREAD,
	S_IO,
	S_LIGHT,
	S_COND,
	S_FUTEX,
	S_HEAVY,
	S_HEAVY2,
	S_EVIL,
	S_TINY,
	S_BROKEN,
	S_LIGHT_BROKEN,
	S_LOCK,
	S_BELOW_EVIL
};

static const struct record_stack stacks[] = {
	[S_START] = { START, RECORDING_NONE },
	[S_MAIN] = { MAIN, S_START },
	[S_PREAD] = { PREAD, S_MAIN },
	[S_IO] = { IO_SCHEDULE, S_PREAD },
	[S_LIGHT] = { LIGHT, S_MAIN },
	[S_COND] = { COND_WAIT, S_MAIN },
	[S_FUTEX] = { FUTEX, S_COND },
	[S_HEAVY] = { HEAVY, S_START },
	[S_HEAVY2] = { HEAVY, S_HEAVY },
	[S_EVIL] = { EVIL, S_MAIN },
	[S_TINY] = { TINY, S_IO },
	[S_BROKEN] = { MISSING, RECORDING_NONE },
	[S_LIGHT_BROKEN] = { LIGHT, S_BROKEN },
	[S_LOCK] = { LOCK, S_MAIN },
	[S_BELOW_EVIL] = { LIGHT, S_EVIL },
};

static const struct record_thread threads[] = {
	{ .id = 0, .tid = 100, .pid = 100, .comm = "a.out", .process = RECORDING_NONE },
	{ .id = 1, .tid = 101, .pid = 100, .comm = "early", .process = RECORDING_NONE },
	{ .id = 2, .tid = 200, .pid = 200, .comm = "b", .process = RECORDING_NONE },
};

#define NOBODY .waker = RECORDING_NONE, .holder = RECORDING_NONE
#define MS     1000000

static const struct record_sample usual[] = {
	/* thread 0: 700 points */
	{ .time = 1,
	  .points = 400,
	  .duration = 400 * MS,
	  .thread = 0,
	  .stack = S_IO,
	  .class = RECORD_IO,
	  .kind = "disk",
	  .event = "nvme0n1",
	  NOBODY },
	{ .time = 2,
	  .points = 100,
	  .duration = 100 * MS,
	  .thread = 0,
	  .stack = S_IO,
	  .class = RECORD_IO,
	  .kind = "disk",
	  .event = "vda",
	  NOBODY },
	{ .time = 3,
	  .points = 101,
	  .duration = 101 * MS,
	  .thread = 0,
	  .stack = S_FUTEX,
	  .cpu = 1,
	  .class = RECORD_LOCK,
	  .kind = "futex",
	  .waker = 1,
	  .holder = RECORDING_NONE },
	{ .time = 4,
	  .points = 47,
	  .duration = 50 * MS,
	  .thread = 0,
	  .stack = S_IO,
	  .class = RECORD_SCHED,
	  NOBODY },
	{ .time = 5, .points = 1, .thread = 0, .stack = S_IO, .kernel = true, NOBODY },
	{ .time = 6, .points = 1, .thread = 0, .stack = S_TINY, .kernel = true, NOBODY },
	{ .time = 7, .points = 50, .thread = 0, .stack = S_LIGHT, NOBODY },
	/* thread 1: 299 points */
	{ .time = 8, .points = 200, .thread = 1, .stack = S_HEAVY, NOBODY },
	{ .time = 9, .points = 99, .thread = 1, .stack = S_HEAVY2, .cpu = 1, NOBODY },
	/* thread 2: 1 point */
	{ .time = 10,
	  .points = 1,
	  .duration = MS,
	  .thread = 2,
	  .stack = RECORDING_NONE,
	  .class = RECORD_OTHER,
	  .kind = "poll",
	  NOBODY },
};

static const struct record_footer usual_footer = {
	.duration = NSEC_PER_SEC,
	.samples = 10,
	.points = 1000,
	.command_status = 0,
	.end = "done",
};

static uint32_t fixture_cpus = 2;

static inline void make(const struct record_sample *samples, size_t n,
			const struct record_footer *footer)
{
	const struct record_header header = { .engine = "bpf",
					      .period_ns = MS,
					      .command = "./a.out\033[2J",
					      .scope = "command",
					      .host = "host",
					      .kernel = "6.1",
					      .started = "2025-01-01T00:00:00Z",
					      .cpus = fixture_cpus };
	struct record_thread times = { .id = 0,
				       .from = 0,
				       .to = 1000 * MS,
				       .on = 100 * MS,
				       .sched = 50 * MS,
				       .io = 700 * MS,
				       .other = 150 * MS };
	struct recording_writer *w;
	struct error err = { 0 };

	unlink(path);
	if (recording_writer_open(path, &header, &w, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		recording_write_frame(w, i, &frames[i]);
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		recording_write_stack(w, i, &stacks[i]);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		recording_write_thread(w, &threads[i]);
	recording_write_comm(w, 1, 5, "a.out");
	for (size_t i = 0; i < n; i++)
		recording_write_sample(w, &samples[i]);
	recording_write_times(w, &times);
	if (recording_writer_close(w, footer, &err))
		fail_msg("%s", err.text);
}

static inline void make_usual(void)
{
	make(usual, ARRAY_SIZE(usual), &usual_footer);
}

static inline void expect(const char *text)
{
	if (!strstr(out_text, text))
		fail_msg("\"%s\" is not in:\n%s", text, out_text);
}

static inline void expect_not(const char *text)
{
	if (strstr(out_text, text))
		fail_msg("\"%s\" is in:\n%s", text, out_text);
}

/* Rows begin with a percentage; -> the sum of column @column, in hundredths. */
static inline long sum_rows(const char *text, int column)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *save, *line;
	long sum = 0;

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		double v[2] = { 0 };

		if (*line != ' ' || sscanf(line, " %lf%% %lf%%", &v[0], &v[1]) < 1)
			continue;
		sum += lround(v[column] * 100);
	}
	return sum;
}

static inline json_t *report_of(const char *option, const char *value)
{
	json_error_t why;
	json_t *o;

	assert_int_equal(run(cmd_report, "--json", path, option, value, NULL), EXIT_DONE);
	o = json_loads(out_text, 0, &why);
	if (!o)
		fail_msg("not JSON: %s", why.text);
	return o;
}

static inline const char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (!s)
		fail_msg("no text at %s", key);
	return s;
}

static inline double number_at(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_number(v))
		fail_msg("no number at %s", key);
	return json_number_value(v);
}

static inline const json_t *list_at(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_array(v))
		fail_msg("no list at %s", key);
	return v;
}

/* Points of the row with that symbol and level, -1: no such row. */
static inline double points_of(const json_t *o, const char *symbol, const char *level,
			       const char *key)
{
	double points = -1;
	const json_t *row;
	size_t i;

	json_array_foreach (list_at(o, "rows"), i, row) {
		if (strcmp(text_at(row, "symbol"), symbol) || strcmp(text_at(row, "level"), level))
			continue;
		assert_true(points == -1); /* once */
		points = number_at(row, key);
	}
	return points;
}

static inline double selected_points(const char *option, const char *value)
{
	json_t *o = report_of(option, value);
	double points = number_at(json_object_get(o, "samples"), "points"), share = 0;
	const json_t *row;
	size_t i;

	json_array_foreach (list_at(o, "rows"), i, row)
		share += number_at(row, "overhead_pct");
	assert_float_equal(share, 100, 1e-6);
	json_decref(o);
	return points;
}

#endif
