// SPDX-License-Identifier: GPL-2.0-or-later
/* record.scoz: written and read, cut off at every byte, damaged, mutated, on a full disk. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording.h"

static char path[64];

#define HEADER "{\"type\":\"header\",\"format\":\"scoz-record\",\"version\":1,\"period_ns\":1000}\n"
#define FRAME \
	"{\"type\":\"frame\",\"id\":0,\"symbol\":\"f\",\"object\":\"a.out\",\"kind\":\"user\"}\n"
#define STACK  "{\"type\":\"stack\",\"id\":0,\"parent\":-1,\"frame\":0}\n"
#define THREAD "{\"type\":\"thread\",\"id\":0,\"tid\":5,\"pid\":4,\"t\":1,\"comm\":\"a\"}\n"
#define SAMPLE \
	"{\"type\":\"sample\",\"t\":9,\"thread\":0,\"cpu\":1,\"class\":\"I\",\"n\":3,\"stack\":0}" \
	"\n"
#define FOOTER "{\"type\":\"footer\",\"duration_ns\":10,\"end\":\"done\"}\n"
#define START  HEADER FRAME STACK THREAD

static void put(const void *data, size_t len)
{
	int fd;

	unlink(path); /* truncating makes file systems flush */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

static const struct record_header header = {
	.engine = "bpf",
	.period_ns = 1000000,
	.command = "./bar \"x\"\t\xff\xc3\xa9 \\",
	.scope = "command",
	.host = "host",
	.kernel = "6.1",
	.started = "2025-01-01T00:00:00Z",
	.cpus = 96,
};

static const struct record_frame frames[] = {
	{ .symbol = "main", .object = "/bin/bar", .file = "bar.c", .line = 8, .address = 0x1139 },
	{ .symbol = "operator\"\"_x", .object = "/bin/bar", .kind = FRAME_INLINED },
	{ .symbol = "io_schedule", .object = "[kernel]", .kind = FRAME_KERNEL },
	{ .symbol = "[unknown]", .object = "", .kind = FRAME_MISSING },
	{ .symbol = "high", .object = "x", .address = UINT64_MAX },
};
static const struct record_stack stacks[] = { { 0, RECORDING_NONE }, { 1, 0 }, { 2, 1 }, { 3, 0 } };
static const struct record_process processes[] = {
	{ .id = 0, .pid = 4709, .start = 10, .name = "sh", .rank = -1 },
	{ .id = 1, .pid = 2, .start = 11, .name = "kthreadd", .rank = -1, .kernel = true },
	/* exec */
	{ .id = 0, .pid = 4709, .start = 20, .name = "gzip", .rank = 3, .rank_from = "PMI_RANK" },
};
static const struct record_thread threads[] = {
	{ .id = 0, .tid = 4711, .pid = 4709, .process = 0, .start = 12, .comm = "gzip" },
	{ .id = 1, .tid = -1, .pid = 0, .process = RECORDING_NONE, .comm = "" },
};
static const struct record_scozd scozd = { .pid = 99, .from = 1, .to = 7 };

static const struct record_sample samples[] = {
	{ .time = 900,
	  .points = 1,
	  .cpu = 1,
	  .stack = 2,
	  .waker = RECORDING_NONE,
	  .holder = RECORDING_NONE,
	  .kernel = true },
	{ .time = 500,
	  .points = 12,
	  .duration = 12034567,
	  .thread = 0,
	  .stack = 2,
	  .class = RECORD_IO,
	  .kind = "disk",
	  .event = "nvme\"0\xff",
	  .waker = RECORDING_NONE,
	  .holder = RECORDING_NONE },
	{ .time = 500,
	  .points = UINT32_MAX,
	  .thread = 1,
	  .stack = RECORDING_NONE,
	  .class = RECORD_LOCK,
	  .kind = "futex",
	  .waker = 0,
	  .holder = 1,
	  .unfinished = true },
	{ .time = 120,
	  .points = 2,
	  .stack = 0,
	  .class = RECORD_SCHED,
	  .waker = RECORDING_NONE,
	  .holder = RECORDING_NONE },
	{ .time = 100,
	  .points = 0,
	  .stack = 3,
	  .class = RECORD_OTHER,
	  .waker = RECORDING_NONE,
	  .holder = RECORDING_NONE },
	{ .time = INT64_MAX,
	  .points = 1,
	  .thread = 1,
	  .stack = 1,
	  .waker = RECORDING_NONE,
	  .holder = RECORDING_NONE },
};

static const struct record_footer footer = {
	.duration = 60 * NSEC_PER_SEC,
	.samples = 6,
	.points = 17,
	.lost = 3,
	.broken_chains = 4,
	.without_chain = 5,
	.command_status = 256,
	.end = "done",
};

static struct recording_writer *create(void)
{
	struct recording_writer *w;
	struct error err = { 0 };

	if (recording_writer_open(path, &header, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static void write_all(struct recording_writer *w)
{
	struct record_thread times = { .id = 0,
				       .from = 12,
				       .to = 99,
				       .on = 4,
				       .sched = 3,
				       .io = 2,
				       .other = 1,
				       .exited = true };

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		assert_int_equal(recording_write_frame(w, i, &frames[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		assert_int_equal(recording_write_stack(w, i, &stacks[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
		assert_int_equal(recording_write_process(w, &processes[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(recording_write_thread(w, &threads[i]), 0);
	assert_int_equal(recording_write_scozd(w, &scozd), 0);
	assert_int_equal(recording_write_comm(w, 0, 500, "late"), 0);
	assert_int_equal(recording_write_comm(w, 0, 120, "sh"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		assert_int_equal(recording_write_sample(w, &samples[i]), 0);
	assert_int_equal(recording_write_times(w, &times), 0);
}

static void write_recording(void)
{
	struct recording_writer *w = create();
	struct error err = { 0 };

	write_all(w);
	assert_int_equal(recording_writer_close(w, &footer, &err), 0);
}

static struct recording *read_recording(void)
{
	struct recording *r;
	struct error err = { 0 };

	if (recording_read(path, &r, &err))
		fail_msg("%s", err.text);
	return r;
}

static void check_samples(const struct recording *r)
{
	static const size_t order[] = { 4, 3, 1, 2, 0, 5 };
	static const char *const comms[] = { "gzip", "sh", "late", "", "late", "" };

	assert_int_equal(r->n_samples, ARRAY_SIZE(samples));
	for (size_t i = 0; i < r->n_samples; i++) {
		const struct record_sample *a = &r->samples[i], *b = &samples[order[i]];

		assert_true(a->time == b->time && a->duration == b->duration);
		assert_true(a->points == b->points && a->thread == b->thread && a->cpu == b->cpu);
		assert_true(a->stack == b->stack && a->waker == b->waker);
		assert_true(a->holder == b->holder);
		assert_true(a->class == b->class && a->kernel == b->kernel);
		assert_true(a->unfinished == b->unfinished);
		assert_string_equal(a->comm, comms[i]);
		if (b->kind)
			assert_string_equal(a->kind, b->kind);
		else
			assert_null(a->kind);
	}
	assert_string_equal(r->samples[2].event, "nvme\"0\xef\xbf\xbd");
	assert_null(r->samples[3].event);
}

static void test_round_trip(void **state)
{
	const struct record_thread *t;
	struct recording *r;

	(void)state;
	unlink(path);
	write_recording();
	assert_true(recording_is(path));
	r = read_recording();
	assert_true(r->complete);
	assert_int_equal(r->skipped_lines + r->unknown_lines, 0);
	assert_string_equal(r->path, path);
	assert_string_equal(r->header.engine, "bpf");
	assert_true(r->header.period_ns == 1000000);
	assert_string_equal(r->header.command, "./bar \"x\"\t\xef\xbf\xbd\xc3\xa9 \\");
	assert_string_equal(r->header.scope, "command");
	assert_string_equal(r->header.host, "host");
	assert_string_equal(r->header.kernel, "6.1");
	assert_string_equal(r->header.started, header.started);
	assert_int_equal(r->header.cpus, 96);

	/* The last one is of a thread whose process nothing is said about. */
	assert_int_equal(r->n_processes, 3);
	assert_int_equal(r->processes[0].start, 10);
	assert_string_equal(r->processes[0].name, "gzip");
	assert_int_equal(r->processes[0].rank, 3);
	assert_string_equal(r->processes[0].rank_from, "PMI_RANK");
	assert_int_equal(r->processes[1].rank, -1);
	assert_true(r->processes[1].kernel && !r->processes[0].kernel);
	assert_int_equal(r->threads[0].process, 0);
	assert_int_equal(r->threads[1].process, 2);
	assert_int_equal(r->processes[2].rank, -1);
	assert_int_equal(r->n_scozd, 1);
	assert_true(r->scozd[0].pid == 99 && r->scozd[0].from == 1 && r->scozd[0].to == 7);

	assert_int_equal(r->n_frames, ARRAY_SIZE(frames));
	for (size_t i = 0; i < r->n_frames; i++) {
		assert_string_equal(r->frames[i].symbol, frames[i].symbol);
		assert_string_equal(r->frames[i].object, frames[i].object);
		assert_int_equal(r->frames[i].kind, frames[i].kind);
		assert_int_equal(r->frames[i].line, frames[i].line);
	}
	assert_string_equal(r->frames[0].file, "bar.c");
	assert_null(r->frames[1].file);
	assert_true(r->frames[0].address == 0x1139 && r->frames[4].address == 0);
	assert_int_equal(r->n_stacks, ARRAY_SIZE(stacks));
	for (size_t i = 0; i < r->n_stacks; i++) {
		assert_int_equal(r->stacks[i].frame, stacks[i].frame);
		assert_int_equal(r->stacks[i].parent, stacks[i].parent);
	}
	assert_int_equal(r->n_threads, 2);
	t = r->threads;
	assert_int_equal(t[0].tid, 4711);
	assert_int_equal(t[0].pid, 4709);
	assert_true(t[0].start == 12 && t[0].has_times && t[0].exited);
	assert_true(t[0].from == 12 && t[0].to == 99 && t[0].on == 4 && t[0].sched == 3);
	assert_true(t[0].io == 2 && t[0].other == 1);
	assert_int_equal(t[1].tid, -1);
	assert_false(t[1].has_times || t[1].exited);
	check_samples(r);
	assert_true(!memcmp(&r->footer, &footer, offsetof(struct record_footer, end)));
	assert_string_equal(r->footer.end, "done");
	recording_free(r);
}

static void test_cut_at_every_byte(void **state)
{
	size_t len, first, before = 0;
	char *data;

	(void)state;
	unlink(path);
	write_recording();
	data = read_file(path, &len);
	first = strchr(data, '\n') - data;
	for (size_t n = 0; n <= len; n++) {
		struct error err = { 0 };
		struct recording *r;
		int ret;

		put(data, n);
		ret = recording_read(path, &r, &err);
		if (n < first) {
			assert_int_equal(ret, -ENODATA);
			assert_false(recording_is(path) && n < 20);
			continue;
		}
		assert_int_equal(ret, 0);
		/* Whole also without the newline of its last line. */
		assert_int_equal(r->complete, n >= len - 1);
		assert_int_equal(r->skipped_lines,
				 n < len - 1 && data[n - 1] != '\n' && data[n] != '\n');
		assert_true(r->n_samples >= before);
		before = r->n_samples;
		recording_free(r);
	}
	assert_int_equal(before, ARRAY_SIZE(samples));
	free(data);
}

static void expect_error(int code, const char *text)
{
	struct error err = { 0 };
	struct recording *r;

	assert_int_equal(recording_read(path, &r, &err), code);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, err.text);
	assert_non_null(strstr(err.text, path));
	assert_null(strpbrk(err.text, "\n\t\033"));
	assert_int_equal(recording_read(path, &r, NULL), code);
}

/* Behind START, followed by a good line: which error. */
static void expect_bad(const char *line, const char *text)
{
	_cleanup_free_ char *all = xasprintf(START "%s\n" SAMPLE, line);

	put_text(all);
	expect_error(-EINVAL, "line 5");
	expect_error(-EINVAL, text);
}

static void test_damaged(void **state)
{
	(void)state;
	expect_bad("gar\033bage", "not a JSON object");
	expect_bad("", "not a JSON object");
	expect_bad("[1]", "not a JSON object");
	expect_bad("{\"a\":1}", "not a JSON object");
	expect_bad("{\"type\":\"sample\",", "not a JSON object");
	expect_bad("{\"type\":\"sample\",\"t\":01,\"thread\":0,\"class\":\"I\"}",
		   "not a JSON object");
	expect_bad("{\"type\":\"sample\",\"t\":99999999999999999999}", "not a JSON object");
	put(START "\0\0\0\n" SAMPLE, sizeof(START "\0\0\0\n" SAMPLE) - 1);
	expect_error(-EINVAL, "line 5");
	put(START "{\"type\":\"sam\0le\"}\n" SAMPLE,
	    sizeof(START "{\"type\":\"sam\0le\"}\n" SAMPLE) - 1);
	expect_error(-EINVAL, "line 5");

	expect_bad("{\"type\":\"sample\",\"thread\":1,\"class\":\"I\"}",
		   "\"thread\" is not described");
	expect_bad("{\"type\":\"sample\",\"thread\":-1,\"class\":\"I\"}",
		   "\"thread\" is not described");
	expect_bad("{\"type\":\"sample\",\"thread\":-2,\"class\":\"I\"}",
		   "\"thread\" is not an id");
	expect_bad("{\"type\":\"sample\",\"thread\":4294967295,\"class\":\"I\"}",
		   "\"thread\" is not an id");
	expect_bad("{\"type\":\"sample\",\"class\":\"I\"}", "\"thread\" is not described");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"stack\":1}",
		   "\"stack\" is not described");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"waker\":1}",
		   "\"waker\" is not described");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"X\"}", "\"class\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"\"}", "\"class\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"IL\"}", "\"class\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0}", "\"class\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":1}", "\"class\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"t\":-1}",
		   "\"t\" is negative");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"t\":\"1\"}", "\"t\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"t\":1.5}", "\"t\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"n\":4294967296}", "\"n\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"kind\":[]}", "\"kind\"");
	expect_bad("{\"type\":\"sample\",\"thread\":0,\"class\":\"I\",\"unfinished\":\"\"}",
		   "\"unfinished\"");

	expect_bad("{\"type\":\"stack\",\"id\":1,\"parent\":1,\"frame\":0}",
		   "\"parent\" is not described");
	expect_bad("{\"type\":\"stack\",\"id\":1,\"parent\":2,\"frame\":0}",
		   "\"parent\" is not described");
	expect_bad("{\"type\":\"stack\",\"id\":1,\"parent\":0,\"frame\":1}", "\"frame\"");
	expect_bad("{\"type\":\"stack\",\"id\":1,\"parent\":0}", "\"frame\"");
	expect_bad("{\"type\":\"stack\",\"id\":2,\"parent\":0,\"frame\":0}", "\"id\"");
	expect_bad("{\"type\":\"stack\",\"id\":0,\"parent\":0,\"frame\":0}", "\"id\"");
	expect_bad("{\"type\":\"frame\",\"id\":2000000000}", "\"id\"");
	expect_bad("{\"type\":\"thread\",\"id\":0}", "\"id\"");
	expect_bad("{\"type\":\"thread\",\"id\":1,\"tid\":3000000000}", "\"tid\"");
	expect_bad("{\"type\":\"comm\",\"thread\":1}", "\"thread\"");
	expect_bad("{\"type\":\"times\",\"thread\":7}", "\"thread\"");
	expect_bad("{\"type\":\"header\",\"format\":\"scoz-record\",\"version\":1,\"period_ns\":1}",
		   "stands twice");
	put_text(START FOOTER SAMPLE);
	expect_error(-EINVAL, "behind the footer");
}

/* A chain as long as a file could make it must not cost its square. */
static void test_endless_chain(void **state)
{
	struct recording_writer *w;
	struct error err = { 0 };

	(void)state;
	unlink(path);
	w = create();
	recording_write_frame(w, 0, &frames[0]);
	for (uint32_t i = 0; i < 20000; i++)
		recording_write_stack(w, i, &(struct record_stack){ 0, i - 1 });
	assert_int_equal(recording_writer_close(w, NULL, &err), 0);
	expect_error(-EINVAL, "longer than any real one");
}

static void test_not_a_recording(void **state)
{
	char *long_line = xmalloc(20 << 20);

	(void)state;
	put_text("");
	expect_error(-ENODATA, "is empty");
	assert_false(recording_is(path));
	put_text("{\"type\":\"header\",\"form");
	expect_error(-ENODATA, "cut off within its first line");
	put_text("hello\n");
	expect_error(-EINVAL, "not a scoz recording");
	put_text(SAMPLE START);
	expect_error(-EINVAL, "not a scoz recording");
	put_text("{\"type\":\"header\",\"version\":1,\"period_ns\":1}\n");
	expect_error(-EINVAL, "not a scoz recording");
	put_text("{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":1,\"run\":0}\n");
	expect_error(-EINVAL, "not a scoz recording");
	assert_false(recording_is(path));
	put_text(
		"{\"type\":\"header\",\"format\":\"scoz-record\",\"version\":2,\"period_ns\":1}\n");
	expect_error(-ENOTSUP, "written by a newer scoz");
	put_text("{\"type\":\"header\",\"format\":\"scoz-record\",\"period_ns\":1}\n");
	expect_error(-EINVAL, "\"version\"");
	put_text("{\"type\":\"header\",\"format\":\"scoz-record\",\"version\":1}\n");
	expect_error(-EINVAL, "\"period_ns\"");

	memset(long_line, 'x', 20 << 20);
	put(long_line, 20 << 20);
	expect_error(-EINVAL, "longer than 16 MiB");
	free(long_line);

	unlink(path);
	expect_error(-ENOENT, "no such file");
	assert_false(recording_is(path));
	assert_int_equal(mkdir(path, 0700), 0);
	expect_error(-EISDIR, "is a directory");
	assert_false(recording_is(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10); /* is not waited for */
	expect_error(-EINVAL, "is not a regular file");
	assert_false(recording_is(path));
	alarm(0);
	unlink(path);
}

/* What power loss, other writers and later versions leave behind is no damage. */
static void test_forgiven(void **state)
{
	struct recording *r;

	(void)state;
	put(START SAMPLE "\0\0\0\0\n\0", sizeof(START SAMPLE "\0\0\0\0\n\0") - 1);
	r = read_recording();
	assert_int_equal(r->n_samples, 1);
	assert_false(r->complete);
	assert_int_equal(r->skipped_lines, 2);
	recording_free(r);

	/* Spaces, escapes, nested values, other orders of keys, unknown keys and kinds. */
	put_text(START
		 "{\"type\":\"weather\",\"rain\":{\"a\":[1,2]}}\n"
		 " { \"n\" : 7, \"class\":\"\\u0049\",\"thread\":0,\"kind\":\"d\\u00e9\", \"type\" "
		 ": \"sample\",\"x\":[{}],\"stack\":null,\"waker\":-1 } \r\n" FOOTER);
	r = read_recording();
	assert_true(r->complete);
	assert_int_equal(r->unknown_lines, 1);
	assert_int_equal(r->n_samples, 1);
	assert_int_equal(r->samples[0].points, 7);
	assert_int_equal(r->samples[0].class, RECORD_IO);
	assert_int_equal(r->samples[0].stack, RECORDING_NONE);
	assert_string_equal(r->samples[0].kind, "d\xc3\xa9");
	recording_free(r);

	/* As the writer prints it, but for the escapes. */
	put_text(START
		 "{\"type\":\"sample\",\"thread\":0,\"class\":\"\\u0049\",\"kind\":\"a\\\\\"}\n");
	r = read_recording();
	assert_int_equal(r->samples[0].class, RECORD_IO);
	assert_string_equal(r->samples[0].kind, "a\\");
	recording_free(r);
}

/* What it is is seen without taking it out, however it arrives. */
static void test_pipe(void **state)
{
	_cleanup_free_ char *way = NULL;
	struct recording *r;
	struct error err;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	way = xasprintf("/dev/fd/%d", fds[0]);
	if (!fork()) {
		for (const char *p = START SAMPLE FOOTER; *p;
		     p += strlen(p) < 20 ? strlen(p) : 20) {
			if (write(fds[1], p, strlen(p) < 20 ? strlen(p) : 20) < 0)
				_exit(1);
			usleep(20000);
		}
		_exit(0);
	}
	close(fds[1]);
	assert_true(recording_is(way));
	assert_int_equal(recording_read(way, &r, &err), 0);
	assert_int_equal(r->n_samples, 1);
	assert_true(r->complete);
	recording_free(r);
	assert_false(recording_is(way)); /* nothing is left */
	close(fds[0]);

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], START, 30), 30);
	close(fds[1]);
	free(way);
	way = xasprintf("/dev/fd/%d", fds[0]);
	assert_false(recording_is(way)); /* cut off */
	close(fds[0]);
	while (wait(NULL) > 0)
		;
}

/* Any byte of a small recording changed, and random edits: an error or a recording, no crash. */
static void test_mutations(void **state)
{
	static const char with[] = "\0\"9-}\n,{\\\xff";
	uint64_t seed = 88172645463325252ULL;
	size_t len, readable = 0;
	char *data, *copy;

	(void)state;
	unlink(path);
	write_recording();
	data = read_file(path, &len);
	copy = xmalloc(len);
	for (size_t i = 0; i < 6000; i++) {
		size_t edits = 1 + i % 3;
		struct recording *r;

		memcpy(copy, data, len);
		for (size_t k = 0; k < edits; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			copy[seed % len] = seed >> 40 & 1 ? data[(seed >> 20) % len]
							  : with[(seed >> 41) % (sizeof(with) - 1)];
		}
		put(copy, len);
		if (!recording_read(path, &r, NULL)) {
			readable++;
			recording_free(r);
		}
	}
	assert_true(readable > 100 && readable < 5900);
	free(copy);
	free(data);
}

/* ---- the writer's refusals ---- */

static void test_replaces_only_recordings(void **state)
{
	struct recording_writer *w, *second;
	struct error err = { 0 };
	struct recording *r;

	(void)state;
	put_text("my thesis\n");
	assert_int_equal(recording_writer_open(path, &header, &w, &err), -EEXIST);
	assert_non_null(strstr(err.text, "is not a recording"));
	put_text(START SAMPLE);
	w = create();
	assert_int_equal(recording_writer_open(path, &header, &second, &err), -EBUSY);
	write_all(w);
	assert_int_equal(recording_writer_close(w, &footer, &err), 0);
	r = read_recording();
	check_samples(r);
	recording_free(r);
	assert_int_equal(recording_writer_open("/no/such/dir/x", &header, &w, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/dir/x"));
}

static void test_wrong_calls(void **state)
{
	struct recording_writer *w;
	struct error err = { 0 };
	struct recording *r;

	(void)state;
	unlink(path);
	w = create();
	write_all(w);
	assert_int_equal(recording_write_stack(w, 5, &(struct record_stack){ 0, 1 }), -EINVAL);
	assert_int_equal(recording_write_sample(w, &samples[0]), -EINVAL); /* remembered */
	assert_int_equal(recording_writer_close(w, &footer, &err), -EINVAL);
	assert_non_null(strstr(err.text, "stack out of order"));
	unlink(path);
	w = create();
	assert_int_equal(recording_write_sample(w, &samples[0]), -EINVAL);
	recording_writer_close(w, NULL, NULL);
	r = read_recording();
	assert_false(r->complete);
	recording_free(r);
}

/* The file must stay readable, and hold whole lines only. */
static void test_full_disk(void **state)
{
	struct rlimit old, limit;
	struct recording_writer *w;
	struct error err = { 0 };
	struct recording *r;
	int ret = 0;

	(void)state;
	unlink(path);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = (2 << 20) + 4711;
	w = create();
	write_all(w);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (size_t i = 0; i < 100000 && !ret; i++)
		ret = recording_write_sample(w, &samples[1]);
	assert_int_equal(ret, -EFBIG);
	assert_int_equal(recording_write_sample(w, &samples[1]), -EFBIG);
	assert_int_equal(recording_writer_flush(w, &err), -EFBIG);
	assert_int_equal(recording_writer_close(w, &footer, &err), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_non_null(strstr(err.text, "file size limit reached"));
	assert_non_null(strstr(err.text, "readable up to here"));
	r = read_recording();
	assert_int_equal(r->skipped_lines, 0);
	assert_false(r->complete);
	assert_true(r->n_samples > 10000);
	recording_free(r);
}

static void test_names(void **state)
{
	static const char *const names[] = { "on", "io", "lock", "sched", "other" };
	struct record_sample s = { .kernel = true };

	(void)state;
	for (size_t i = 0; i < RECORD_CLASSES; i++) {
		s.class = i;
		assert_int_equal(record_class_letter(&s), "kILSB"[i]);
		assert_string_equal(record_class_name(i), names[i]);
	}
	s = (struct record_sample){ .class = RECORD_ON };
	assert_int_equal(record_class_letter(&s), '.');
}

static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/test_recording-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_endless_chain),
		cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_forgiven),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_replaces_only_recordings),
		cmocka_unit_test(test_wrong_calls),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
