/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording in memory, its totals, and its exports. */
#ifndef TEST_RECORD_EXPORT_H
#define TEST_RECORD_EXPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "tools/scoz/export/record_export.c"
#include "tools/scoz/export/record_firefox.c"
#include "tools/scoz/export/record_folded.c"
#include "tools/scoz/export/record_pprof.c"
#include "tools/scoz/export/record_speedscope.c"
#include "tools/scoz/recording/record_filter.c"
#include "tools/scoz/text.c"
#include "tools/scoz/wrong_file.c"

#define MS NSEC_PER_MSEC
#define NO RECORDING_NONE

static struct record_frame frames[] = {
	{ "_start", "/bin/gzip", NULL, 0, 0x10, FRAME_USER },
	{ "main", "/bin/gzip", "gzip.c", 20, 0x20, FRAME_USER },
	{ "read", "/lib/libc.so.6", NULL, 0, 0x30, FRAME_USER },
	{ "vfs_read", "[kernel]", NULL, 0, 0, FRAME_KERNEL },
	{ "inner", "/bin/gzip", "inner.h", 7, 0x20, FRAME_INLINED },
	{ "a;b c\nd\xff\"\\\033", "", NULL, 0, 0, FRAME_USER },
	{ "[unknown]", "/lib/libz.so.1", NULL, 0, 0x40, FRAME_USER },
	{ "[unknown]", "", NULL, 0, 0, FRAME_MISSING },
	{ "main", "/bin/gzip", "gzip.c", 18, 0x28, FRAME_USER },
	{ "innermost", "/bin/gzip", "inner.h", 3, 0x20, FRAME_INLINED },
};
static struct record_stack stacks[] = {
	{ 0, NO }, { 1, 0 }, /* 1: main */
	{ 2, 1 },  { 3, 2 }, /* 3: main read vfs_read */
	{ 4, 1 },  { 9, 4 }, /* 5: main (inner (innermost)) */
	{ 7, NO }, { 5, 6 }, /* 7: ... a;b */
	{ 6, 7 },	     /* 8: ... a;b [libz.so.1] */
	{ 8, 0 },	     /* 9: main, another line */
};
static struct record_thread threads[] = {
	{ .id = 0, .tid = 100, .pid = 100, .comm = "sh" },
	{ .id = 1, .tid = 101, .pid = 100, .comm = "wor ker;1", .start = 2 * MS },
	{ .id = 2, .tid = 200, .pid = 200, .comm = "idle" }, /* has no samples */
	{ .id = 3,
	  .tid = 300,
	  .pid = 300,
	  .comm = "kworker",
	  .has_times = true,
	  .exited = true,
	  .to = 90 * MS },
};
#define SAMPLE(t, d, n, th, st, cl) \
	.time = (t)*MS, .duration = (d)*MS, .points = n, .thread = th, .stack = st, .class = cl, \
	.waker = NO, .holder = NO
static struct record_sample samples[] = {
	{ SAMPLE(1, 0, 1, 0, 1, RECORD_ON), .comm = "sh" },
	{ SAMPLE(2, 0, 1, 0, 9, RECORD_ON), .comm = "gzip" },
	{ SAMPLE(3, 0, 1, 1, 5, RECORD_ON) },
	{ SAMPLE(3, 0, 1, 0, 3, RECORD_ON), .comm = "gzip", .kernel = true },
	{ SAMPLE(14, 10, 10, 0, 3, RECORD_IO), .comm = "gzip", .kind = "disk", .event = "sda" },
	{ SAMPLE(15, 0, 1, 0, 3, RECORD_IO), .comm = "gzip", .kind = "disk", .event = "sda" },
	/* Handed over before what ended later, but began earlier. */
	{ SAMPLE(20, 2, 2, 1, 8, RECORD_SCHED) },
	{ SAMPLE(21, 17, 15, 1, 3, RECORD_LOCK), .kind = "futex" },
	{ SAMPLE(30, 5, 5, 1, NO, RECORD_OTHER), .kind = "sleep", .event = "timer" },
	{ SAMPLE(31, 0, 1, 1, NO, RECORD_ON), .kernel = true },
	{ SAMPLE(40, 100, 3, 3, 1, RECORD_OTHER), .unfinished = true },
	{ SAMPLE(80, 0, 1, 3, 4, RECORD_ON) },
};
static struct recording recording;
static struct export_options options;

static int setup(void **state)
{
	(void)state;
	samples[7].waker = 0;
	recording = (struct recording){
		.path = (char *)"record.scoz",
		.header = { .engine = "bpf",
			    .period_ns = MS,
			    .command = "gzip \"it\"",
			    .host = "h",
			    .kernel = "6.1",
			    .started = "2025-01-01T12:00:00Z",
			    .cpus = 4 },
		.footer = { .duration = 100 * MS },
		.complete = true,
		.frames = frames,
		.n_frames = ARRAY_SIZE(frames),
		.stacks = stacks,
		.n_stacks = ARRAY_SIZE(stacks),
		.threads = threads,
		.n_threads = ARRAY_SIZE(threads),
		.samples = samples,
		.n_samples = ARRAY_SIZE(samples),
	};
	options = (struct export_options){ 0 };
	return 0;
}

/* The whole export; @len may be NULL. */
static __attribute__((noinline)) char *export_of(export_fn *fn, size_t *len)
{
	struct record_view v;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	record_view_init(&v, &recording, &options);
	fn(&v, out);
	record_view_deinit(&v);
	fclose(out);
	if (len)
		*len = n;
	return text;
}

/* ---- totals ---- */

/* In points: by class, and by thread. */
struct totals {
	uint64_t all, class[RECORD_CLASSES], tid[512];
};

static struct totals expected(void)
{
	struct totals t = { 0 };

	for (size_t i = 0; i < recording.n_samples; i++) {
		const struct record_sample *s = &recording.samples[i];

		t.all += s->points;
		t.class[s->class] += s->points;
		t.tid[recording.threads[s->thread].tid] += s->points;
	}
	return t;
}

static void count(struct totals *t, int class, int tid, uint64_t points)
{
	t->all += points;
	t->class[class] += points;
	t->tid[tid] += points;
}

static void assert_totals(const struct totals *got)
{
	struct totals want = expected();

	assert_int_equal(got->all, want.all);
	for (size_t i = 0; i < RECORD_CLASSES; i++)
		assert_int_equal(got->class[i], want.class[i]);
	for (size_t i = 0; i < ARRAY_SIZE(want.tid); i++)
		assert_int_equal(got->tid[i], want.tid[i]);
}

/* The class that the innermost frame tells. */
static int class_of(const char *leaf)
{
	static const char letters[] = { [RECORD_ON] = 'O',
					[RECORD_IO] = 'I',
					[RECORD_LOCK] = 'L',
					[RECORD_SCHED] = 'S',
					[RECORD_OTHER] = 'B' };
	const char *at = leaf[0] == '[' && leaf[1] && leaf[2] == ']' && leaf[3] == ' '
				 ? memchr(letters, leaf[1], sizeof(letters))
				 : NULL;

	return at ? at - letters : RECORD_ON;
}

/* ---- JSON ---- */

static json_t *json_of(export_fn *fn)
{
	json_error_t e;
	size_t len;
	char *text = export_of(fn, &len);
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);

	if (!j)
		fail_msg("line %d: %s", e.line, e.text);
	free(text);
	return j;
}

static json_t *at(const json_t *j, const char *key)
{
	json_t *v = json_object_get(j, key);

	if (!v)
		fail_msg("no %s", key);
	return v;
}

static json_t *item(const json_t *j, size_t i)
{
	json_t *v = json_array_get(j, i);

	if (!v)
		fail_msg("no element %zu", i);
	return v;
}

static const char *text_at(const json_t *j, const char *key)
{
	return json_string_value(at(j, key));
}

static long long number_at(const json_t *j, const char *key)
{
	return json_integer_value(at(j, key));
}

#endif
