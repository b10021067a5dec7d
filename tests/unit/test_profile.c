// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what was written, cut off at every byte, damaged, or never a profile at all. */
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/profile.h"

static char path[64];

#define HEADER "{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":1,\"run\":0}\n"
#define POINT  "{\"type\":\"progress\",\"id\":0,\"name\":\"p\",\"kind\":\"throughput\"}\n"
#define TARGET "{\"type\":\"target\",\"id\":0,\"name\":\"a.c:1\",\"kind\":\"line\"}\n"
#define WINDOW \
	"{\"type\":\"window\",\"run\":0,\"seq\":1,\"target\":0,\"speedup\":0.5,\"progress\":[{}]}" \
	"\n"
#define START HEADER POINT TARGET

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

static struct profile_header header = {
	.engine = "bpf",
	.model = "wait",
	.frequency_hz = 4000,
	.seed = 0xffffffffffffffffULL,
	.command = "./bar \"x\"\t\xff\xc3\xa9 \\",
	.host = "host",
	.kernel = "6.1",
	.started = "2025-01-01T00:00:00Z",
	.mode = "windows",
	.cpus = 96,
	.period_s = 0.00025,
};
static const struct profile_progress progress[] = {
	{ 0, "iter", PROGRESS_THROUGHPUT, "bar:main" },
	{ 1, "req", PROGRESS_LATENCY, "req=bar:a,bar:b" },
};

static void write_profile(void)
{
	static const char *const reasons[] = { "because" }, *const warnings[] = { "w1", "w2" };
	struct window_progress wp[2] = { { 10, 0.123456789012, 0 }, { 3, 1e-9, 2.5 } };
	struct profile_window win = { .seq = 4,
				      .speedup = 0.35,
				      .start_s = 1000.125,
				      .wall_s = 0.1,
				      .inserted_s = 0.0025,
				      .hits = 12345678901ULL,
				      .n_progress = 2,
				      .progress = wp };
	struct profile_target t = { 0, "func:f@bar", "function", "bar.c:8" };
	struct profile_target t2 = { 0, "class:io", "class", "" };
	struct profile_sample s[] = { { "x.c:1", "x.c:1", "bar", 1, 2, 1, 0, 0 },
				      { "func:f@bar", "bar.c:8", "bar", 5, 9, 0, 3, 4 },
				      { "x.c:1", "x.c:1", "bar", 10, 20, 4, 0, 7 } };
	struct profile_place places[] = { { 2, 3, 4, 1 }, { 1, 5, 9, 0 } };
	struct profile_core cores[] = { { 1, 0.5, 1, 0.125, 1000 }, { 3, 0.25, 2, 0, 1500 } };
	struct profile_machine machine = { 0, 3e-5, 4000, cores, 2 };
	struct profile_process copy = { .pid = 4711,
					.name = "bar",
					.rank = 1,
					.rank_from = "PMI_RANK",
					.samples = 13,
					.left_out = 6,
					.places = places,
					.n_places = 2 };
	struct profile_process group = { .members = 73, .name = "cc1", .rank = -1, .samples = 90 };
	struct profile_seen seen = { .target = 1, .samples = 5, .all = 50 };
	static const char *const functions[] = { "func:f@bar", "func:main@bar" };
	struct profile_path call_path = {
		.target = 1, .samples = 4, .functions = functions, .n_functions = 2
	};
	struct profile_footer f = { .duration_s = 2,
				    .samples_total = 100,
				    .samples_lost = 1,
				    .samples_unnamed = 7,
				    .inserted_s = 1,
				    .stopped_s = 2,
				    .own_s = 3,
				    .excused_s = 4,
				    .overhead_s = 7,
				    .waived_s = 5,
				    .owed_s = 6,
				    .command_status = 256,
				    .end = "done",
				    .reasons = reasons,
				    .n_reasons = 1,
				    .warnings = warnings,
				    .n_warnings = 2 };
	struct profile_writer *w;
	struct error err;
	uint32_t id;

	unlink(path);
	assert_int_equal(profile_writer_open(path, &header, progress, 2, &w, &err), 0);
	assert_int_equal(profile_writer_run(w), 0);
	assert_int_equal(profile_writer_target(w, &t, &id, &err), 0);
	assert_int_equal(id, 0);
	assert_int_equal(profile_writer_target(w, &t2, &id, &err), 0);
	assert_int_equal(id, 1);
	assert_int_equal(profile_writer_target(w, &t, &id, &err), 0);
	assert_int_equal(id, 0);
	assert_int_equal(profile_writer_window(w, &win, &err), 0);
	win.real = true;
	win.external_s = 0.75;
	win.external_waits = 12;
	win.ran_s = 0.25;
	win.stolen_s = 0.125;
	win.busy_s = 0.5;
	win.stopped_s = 0.0625;
	win.ticks = 400;
	win.work_ns = 1234.5;
	win.syncs = 7;
	win.expected_pp = 0.375;
	win.seq = 5;
	assert_int_equal(profile_writer_window(w, &win, &err), 0);
	win.real = false;
	win.seq = 6;
	win.target = 1;
	win.speedup = 0;
	win.discard = DISCARD_STEAL;
	wp[0].virtual_s = 1.0 / 0.0;
	assert_int_equal(profile_writer_window(w, &win, &err), 0);
	win.target = 2;
	assert_int_equal(profile_writer_window(w, &win, &err), -EINVAL);
	assert_int_equal(profile_writer_samples(w, s, 3, &err), 0);
	assert_int_equal(profile_writer_seen(w, &seen, &err), 0);
	assert_int_equal(profile_writer_path(w, &call_path, &err), 0);
	assert_int_equal(profile_writer_machine(w, &machine, &err), 0);
	assert_int_equal(profile_writer_process(w, &copy, &err), 0);
	assert_int_equal(profile_writer_process(w, &group, &err), 0);
	assert_int_equal(profile_writer_finish(w, &f, &err), 0);
	profile_writer_close(w);
}

static void test_round_trip(void **state)
{
	struct profile *p;
	struct error err;

	(void)state;
	write_profile();
	assert_int_equal(profile_read(path, &p, &err), 0);
	assert_int_equal(p->n_runs, 1);
	assert_true(p->runs[0].complete);
	assert_false(p->truncated);
	assert_int_equal(p->skipped_lines + p->unknown_lines, 0);
	assert_string_equal(p->path, path);

	assert_string_equal(p->runs[0].header.engine, "bpf");
	assert_string_equal(p->runs[0].header.model, "wait");
	assert_string_equal(p->runs[0].header.mode, "windows");
	assert_string_equal(p->runs[0].header.host, "host");
	assert_string_equal(p->runs[0].header.kernel, "6.1");
	assert_string_equal(p->runs[0].header.started, header.started);
	/* Not UTF-8: a replacement character; everything else as it was. */
	assert_string_equal(p->runs[0].header.command, "./bar \"x\"\t\xef\xbf\xbd\xc3\xa9 \\");
	assert_true(p->runs[0].header.seed == header.seed);
	assert_true(p->runs[0].header.frequency_hz == 4000);
	assert_true(p->runs[0].header.period_s == 0.00025);
	assert_int_equal(p->runs[0].header.cpus, 96);

	assert_int_equal(p->n_progress, 2);
	assert_string_equal(p->progress[1].name, "req");
	assert_string_equal(p->progress[1].spec, "req=bar:a,bar:b");
	assert_int_equal(p->progress[1].kind, PROGRESS_LATENCY);
	assert_int_equal(p->n_targets, 2);
	assert_string_equal(p->targets[0].name, "func:f@bar");
	assert_string_equal(p->targets[0].kind, "function");
	assert_string_equal(p->targets[0].location, "bar.c:8");
	assert_string_equal(p->targets[1].location, "");

	assert_int_equal(p->n_windows, 3);
	assert_int_equal(p->windows[0].seq, 4);
	assert_true(p->windows[0].speedup == 0.35);
	assert_true(p->windows[0].start_s == 1000.125);
	assert_true(p->windows[0].hits == 12345678901ULL);
	assert_int_equal(p->windows[0].discard, KEPT);
	assert_int_equal(p->windows[0].n_progress, 2);
	assert_float_equal(p->windows[0].progress[0].virtual_s, 0.123456789012, 1e-13);
	assert_true(p->windows[0].progress[1].virtual_s == 1e-9);
	assert_true(p->windows[0].progress[1].inflight == 2.5);
	assert_false(p->windows[0].real);
	assert_true(p->windows[0].external_s == 0);
	assert_true(p->windows[1].real);
	assert_true(p->windows[1].external_s == 0.75);
	assert_true(p->windows[1].external_waits == 12);
	assert_true(p->windows[1].ran_s == 0.25 && p->windows[1].stolen_s == 0.125);
	assert_true(p->windows[1].syncs == 7 && p->windows[1].expected_pp == 0.375);
	assert_true(p->windows[1].busy_s == 0.5 && p->windows[1].stopped_s == 0.0625);
	assert_true(p->windows[1].ticks == 400 && p->windows[1].work_ns == 1234.5);
	assert_int_equal(p->n_machines, 1);
	assert_true(p->machines[0].tick_cost_s == 3e-5);
	assert_int_equal(p->machines[0].ticks, 4000);
	assert_int_equal(p->machines[0].n_cores, 2);
	assert_int_equal(p->machines[0].cores[1].cpu, 3);
	assert_true(p->machines[0].cores[1].stolen_s == 0.25);
	assert_true(p->machines[0].cores[1].work_ns == 1500);
	assert_false(p->windows[2].real);
	assert_int_equal(p->windows[2].discard, DISCARD_STEAL);
	assert_true(p->windows[2].progress[0].virtual_s == 0); /* was infinite */

	assert_int_equal(p->n_samples, 2);
	assert_string_equal(p->samples[0].target, "x.c:1");
	assert_int_equal(p->samples[0].self, 11);
	assert_int_equal(p->samples[0].total, 22);
	assert_int_equal(p->samples[0].credit, 5);
	assert_int_equal(p->samples[0].polled, 7);
	assert_int_equal(p->samples[1].unnamed, 3);
	assert_int_equal(p->samples[1].polled, 4);
	assert_int_equal(p->runs[0].footer.samples_unnamed, 7);

	assert_int_equal(p->n_seen, 1);
	assert_int_equal(p->seen[0].target, 1);
	assert_int_equal(p->seen[0].samples, 5);
	assert_int_equal(p->seen[0].all, 50);
	assert_int_equal(p->n_paths, 1);
	assert_int_equal(p->paths[0].target, 1);
	assert_int_equal(p->paths[0].samples, 4);
	assert_int_equal(p->paths[0].n_functions, 2);
	assert_string_equal(p->paths[0].functions[1], "func:main@bar");

	/* Places follow their samples when these are summed and sorted. */
	assert_int_equal(p->n_processes, 2);
	assert_int_equal(p->processes[0].pid, 4711);
	assert_int_equal(p->processes[0].members, 1);
	assert_int_equal(p->processes[0].rank, 1);
	assert_string_equal(p->processes[0].rank_from, "PMI_RANK");
	assert_int_equal(p->processes[0].samples, 13);
	assert_int_equal(p->processes[0].left_out, 6);
	assert_int_equal(p->processes[0].n_places, 2);
	assert_int_equal(p->processes[0].places[0].sample, 0);
	assert_int_equal(p->processes[0].places[0].self, 3);
	assert_int_equal(p->processes[0].places[1].sample, 1);
	assert_int_equal(p->processes[0].places[1].total, 9);
	assert_int_equal(p->processes[1].pid, 0);
	assert_int_equal(p->processes[1].members, 73);
	assert_int_equal(p->processes[1].rank, -1);

	assert_true(p->runs[0].footer.overhead_s == 7);
	assert_true(p->runs[0].footer.owed_s == 6 && p->runs[0].footer.waived_s == 5);
	assert_int_equal(p->runs[0].footer.command_status, 256);
	assert_string_equal(p->runs[0].footer.end, "done");
	assert_int_equal(p->runs[0].footer.n_reasons, 1);
	assert_string_equal(p->runs[0].footer.warnings[1], "w2");
	profile_free(p);
}

static void test_cut_at_every_byte(void **state)
{
	size_t len, first, windows = 0;
	char *data;

	(void)state;
	write_profile();
	data = read_file(path, &len);
	first = strchr(data, '\n') - data;
	for (size_t n = 0; n <= len; n++) {
		struct profile *p;
		struct error err;
		int r;

		put(data, n);
		r = profile_read(path, &p, &err);
		if (n < first) {
			assert_int_equal(r, -ENODATA);
			continue;
		}
		assert_int_equal(r, 0);
		assert_true(p->n_windows >= windows);
		windows = p->n_windows;
		/* Whole also without the newline of its last line. */
		assert_int_equal(p->truncated, n < len - 1);
		assert_int_equal(p->skipped_lines,
				 n < len - 1 && data[n - 1] != '\n' && data[n] != '\n');
		profile_free(p);
	}
	assert_int_equal(windows, 3);
	free(data);
}

static void expect_error(int code, const char *text)
{
	struct profile *p;
	struct error err;

	assert_int_equal(profile_read(path, &p, &err), code);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, err.text);
	assert_non_null(strstr(err.text, path));
	assert_null(strpbrk(err.text, "\n\t\033"));
}

static void test_damaged(void **state)
{
	(void)state;
	put_text(HEADER "{\"type\":\"process\",\"pid\":1,\"places\":[[0,1,1,1]]}\n");
	expect_error(-EINVAL, "names a sample that is in no line before");
	put_text(HEADER "{\"type\":\"process\",\"pid\":1,\"places\":[[0,-1,1,1]]}\n");
	expect_error(-EINVAL, "something else than [sample");
	put_text(HEADER "{\"type\":\"process\",\"pid\":1,\"places\":[[0,1,1]]}\n");
	expect_error(-EINVAL, "something else than [sample");
	put_text(START "gar\033bage\n" WINDOW);
	expect_error(-EINVAL, "line 4: not a JSON object");
	put_text(START "{\"type\":\"window\",\n" WINDOW HEADER);
	expect_error(-EINVAL, "line 4");
	put_text(START "[1]\n" WINDOW);
	expect_error(-EINVAL, "line 4");
	put_text(START "{\"a\":1}\n" WINDOW);
	expect_error(-EINVAL, "line 4");
	put_text(START "\n" WINDOW);
	expect_error(-EINVAL, "line 4");
	put(START "\0\0\0\n" WINDOW, sizeof(START "\0\0\0\n" WINDOW) - 1);
	expect_error(-EINVAL, "line 4");
	put_text(START WINDOW "{\"type\":\"target\",\"id\":2,\"name\":\"x\"}\n");
	expect_error(-EINVAL, "line 5");
	put_text(HEADER POINT WINDOW);
	expect_error(-EINVAL, "\"target\" is not described");
	put_text(START "{\"type\":\"window\",\"run\":0,\"seq\":-1,\"target\":0}\n");
	expect_error(-EINVAL, "\"seq\"");
	put_text(START "{\"type\":\"window\",\"run\":1,\"seq\":1,\"target\":0,\"progress\":[]}\n");
	expect_error(-EINVAL, "\"run\"");
	put_text(START "{\"type\":\"window\",\"run\":0,\"seq\":1,\"target\":0,\"speedup\":7}\n");
	expect_error(-EINVAL, "\"speedup\"");
	put_text(START
		 "{\"type\":\"window\",\"run\":0,\"seq\":1,\"target\":0,\"progress\":[{},{}]}\n");
	expect_error(-EINVAL, "\"progress\"");
	put_text(START "{\"type\":\"window\",\"run\":0,\"seq\":1,\"target\":0,"
		       "\"progress\":[{\"visits\":-1}]}\n");
	expect_error(-EINVAL, "negative");
	put_text(START "{\"type\":\"footer\",\"reasons\":[1]}\n");
	expect_error(-EINVAL, "\"reasons\"");
	put_text(START WINDOW "{\"type\":\"progress\",\"id\":1,\"kind\":\"latency\"}\n");
	expect_error(-EINVAL, "after the first window");
	put_text(HEADER HEADER);
	expect_error(-EINVAL, "does not follow");
	put_text(START "{\"type\":\"window\",\"run\":0,\"target\":0,\"progress\":[]}\n");
	expect_error(-EINVAL, "\"seq\" is missing");
	put_text(START "{\"type\":\"window\",\"run\":0,\"seq\":1,\"target\":0,\"progress\":7}\n");
	expect_error(-EINVAL, "\"progress\" is not a list");
	put_text(HEADER "{\"type\":\"machine\",\"cores\":[{\"cpu\":1},{}]}\n");
	expect_error(-EINVAL, "\"cpu\" is missing");
	put_text(HEADER "{\"type\":\"sample\",\"self\":-1}\n");
	expect_error(-EINVAL, "\"self\" is negative");
}

/* A FIFO that somebody put there is not waited for; a pipe that we were given is read. */
static void test_pipes(void **state)
{
	struct profile *p;
	char given[32];
	int ends[2];

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	expect_error(-EINVAL, "is not a regular file");
	alarm(0);
	unlink(path);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], START WINDOW, strlen(START WINDOW)), strlen(START WINDOW));
	close(ends[1]);
	snprintf(given, sizeof(given), "/dev/fd/%d", ends[0]);
	assert_int_equal(profile_read(given, &p, NULL), 0);
	assert_int_equal(p->n_windows, 1);
	profile_free(p);
	close(ends[0]);
}

static void test_not_a_profile(void **state)
{
	char *long_line = xmalloc(20 << 20);

	(void)state;
	put_text("");
	expect_error(-ENODATA, "is empty");
	put_text("{\"type\":\"header\",\"form");
	expect_error(-ENODATA, "cut off within its first line");
	put_text("hello\n");
	expect_error(-EINVAL, "not a scoz profile");
	put_text("{\"type\":\"experiment\"}\n" HEADER);
	expect_error(-EINVAL, "not a scoz profile");
	put_text("{\"type\":\"header\",\"version\":1}\n");
	expect_error(-EINVAL, "not a scoz profile");
	put_text(START WINDOW + 1);
	expect_error(-EINVAL, "not a scoz profile");
	put("\0\0\0\0\n", 5);
	expect_error(-EINVAL, "not a scoz profile");
	put_text("{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":2,\"run\":0}\n");
	expect_error(-ENOTSUP, "written by a newer scoz");
	put_text("{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":2,\"run\":\"x\"}\n");
	expect_error(-ENOTSUP, "written by a newer scoz");
	put_text("{\"type\":\"header\",\"run\":[],\"format\":\"scoz-profile\",\"version\":2}\n");
	expect_error(-ENOTSUP, "written by a newer scoz");
	put_text("{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":\"1\",\"run\":0}\n");
	expect_error(-EINVAL, "\"version\"");

	memset(long_line, 'x', 20 << 20);
	put(long_line, 20 << 20);
	expect_error(-EINVAL, "longer than 16 MiB");
	free(long_line);

	unlink(path);
	expect_error(-ENOENT, "no such file");
	assert_int_equal(mkdir(path, 0700), 0);
	expect_error(-EISDIR, "is a directory");
	rmdir(path);
}

/* What power loss and later versions leave behind is no damage. */
static void test_forgiven(void **state)
{
	struct profile *p;
	struct error err;

	(void)state;
	put(START WINDOW "\0\0\0\0\0\0", sizeof(START WINDOW "\0\0\0\0\0\0") - 1);
	assert_int_equal(profile_read(path, &p, &err), 0);
	assert_int_equal(p->n_windows, 1);
	assert_true(p->truncated);
	assert_int_equal(p->skipped_lines, 1);
	profile_free(p);

	put_text(START "{\"type\":\"weather\",\"rain\":true}\n" WINDOW);
	assert_int_equal(profile_read(path, &p, &err), 0);
	assert_int_equal(p->n_windows, 1);
	assert_int_equal(p->unknown_lines, 1);
	profile_free(p);

	put_text(HEADER "{\"type\":\"sample\",\"target\":\"a.c:1\",\"self\":1,\"total\":2}\n"
			"{\"type\":\"process\",\"pid\":1,\"places\":[[0,1,2,3,\"later\",{}]]}\n");
	assert_int_equal(profile_read(path, &p, &err), 0);
	assert_int_equal(p->processes[0].n_places, 1);
	assert_int_equal(p->processes[0].places[0].credit, 3);
	profile_free(p);

	/* A long line below the limit, with escapes. */
	{
		char *s = xmalloc(3 << 20), *line;

		memset(s, 'y', 3 << 20);
		s[(3 << 20) - 1] = '\0';
		line = xasprintf(HEADER "{\"type\":\"target\",\"id\":0,\"name\":\"%s\"}\n", s);
		put_text(line);
		assert_int_equal(profile_read(path, &p, &err), 0);
		assert_int_equal(strlen(p->targets[0].name), (3 << 20) - 1);
		profile_free(p);
		free(line);
		free(s);
	}
}

/* Any byte of a small profile changed: an error or a profile, never a crash. */
static void test_flipped_bytes(void **state)
{
	static const char with[] = { '\0', '"', '9', '-', '}', '\n', (char)0xff };
	char *data;
	size_t len;

	(void)state;
	write_profile();
	data = read_file(path, &len);
	for (size_t i = 0; i < len; i += 3) {
		for (size_t k = 0; k < sizeof(with); k++) {
			char was = data[i];
			struct profile *p;
			struct error err;

			data[i] = with[k];
			put(data, len);
			if (profile_read(path, &p, &err) == 0)
				profile_free(p);
			data[i] = was;
		}
	}
	free(data);
}

static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/test_profile-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* A file of @n such lines behind @points progress points. */
static void put_many(size_t points, size_t n, const char *(*line)(size_t i, char *buf))
{
	FILE *f;
	char buf[256];

	unlink(path);
	f = fopen(path, "wx");
	assert_non_null(f);
	fputs(HEADER, f);
	for (size_t i = 0; i < points; i++)
		fprintf(f,
			"{\"type\":\"progress\",\"id\":%zu,\"name\":\"p%zu\","
			"\"kind\":\"throughput\"}\n",
			i, i);
	fputs(TARGET, f);
	for (size_t i = 0; i < n; i++)
		fputs(line(i, buf), f);
	fclose(f);
}

static const char *empty_window(size_t i, char *buf)
{
	sprintf(buf,
		"{\"type\":\"window\",\"run\":0,\"seq\":%zu,\"target\":0,\"speedup\":0.5,"
		"\"progress\":[]}\n",
		i);
	return buf;
}

/* Twice as many windows and discards, of which none discards anything. */
static const char *window_or_discard(size_t i, char *buf)
{
	if (!(i & 1))
		return empty_window(i + 1, buf);
	return "{\"type\":\"discard\",\"run\":0,\"before_seq\":0,\"why\":\"x\"}\n";
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The least of some tries: what a host takes away is in a thread's time, too. */
static double seconds_to_read(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t start = cpu_ns(), took;
		struct profile *p;

		assert_int_equal(profile_read(path, &p, NULL), 0);
		profile_free(p);
		took = cpu_ns() - start;
		least = took < least ? took : least;
	}
	return least / 1e9;
}

/* What a file costs to read is in proportion to its size. */
static void test_amplification(void **state)
{
	struct mallinfo2 before, after;
	double some, many;
	struct profile *p;

	(void)state;
	put_many(4096, 2000, empty_window);
	before = mallinfo2();
	assert_int_equal(profile_read(path, &p, NULL), 0);
	after = mallinfo2();
	assert_int_equal(p->n_windows, 2000);
	assert_true(p->windows[7].n_progress == 4096 && !p->windows[7].progress[4095].visits);
	assert_true(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 4u << 20);
	profile_free(p);

	put_many(1, 20000, window_or_discard);
	some = seconds_to_read();
	put_many(1, 80000, window_or_discard);
	many = seconds_to_read();
	/* Four times the lines: 4 times the time, where it was 16 times. */
	if (many > 10 * some)
		fail_msg("%.3f s for 20000 lines, %.3f s for 80000", some, many);
}

/* What another version gave as the reason is kept, and written again as it was. */
static void test_unknown_discard(void **state)
{
	static const struct profile_target target = { .name = "a.c:1", .kind = "", .location = "" };
	struct profile_writer *w;
	struct profile *p, *again;
	uint32_t id;

	(void)state;
	put_text(START "{\"type\":\"window\",\"run\":0,\"seq\":1,\"target\":0,\"speedup\":0,"
		       "\"discard\":\"eclipse\",\"progress\":[{}]}\n");
	assert_int_equal(profile_read(path, &p, NULL), 0);
	assert_int_equal(p->windows[0].discard, DISCARD_OTHER);
	assert_string_equal(window_why(&p->windows[0]), "eclipse");

	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(profile_writer_open(path, &header, p->progress, p->n_progress, &w, NULL),
			 0);
	assert_int_equal(profile_writer_target(w, &target, &id, NULL), 0);
	assert_int_equal(profile_writer_window(w, &p->windows[0], NULL), 0);
	profile_writer_close(w);
	assert_int_equal(profile_read(path, &again, NULL), 0);
	assert_int_equal(again->windows[0].discard, DISCARD_OTHER);
	assert_string_equal(window_why(&again->windows[0]), "eclipse");
	profile_free(again);
	profile_free(p);
}

/* A discard is for the windows that came before it, of this run, and the first one counts. */
static void test_discards(void **state)
{
#define W(run, seq) \
	"{\"type\":\"window\",\"run\":" #run ",\"seq\":" #seq \
	",\"target\":0,\"speedup\":0,\"progress\":[{}]}\n"
#define D(run, before, why) \
	"{\"type\":\"discard\",\"run\":" #run ",\"before_seq\":" #before ",\"why\":\"" why "\"}\n"
	static const char *const want[] = { "b", "lost", "lost", NULL, "b", NULL, "" };
	struct profile *p;

	(void)state;
	put_text(START W(0, 7) W(0, 1) W(0, 2) W(0, 9) D(0, 3, "lost") W(0, 1) W(0, 8)
			 D(0, 8, "b") "{\"type\":\"header\",\"format\":\"scoz-profile\","
				      "\"version\":1,\"run\":1}\n" W(1, 1) D(1, 100, ""));
	assert_int_equal(profile_read(path, &p, NULL), 0);
	assert_int_equal(p->n_windows, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(p->windows[i].discard, discard_by_name(want[i]));
		if (want[i])
			assert_string_equal(window_why(&p->windows[i]), want[i]);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amplification),	  cmocka_unit_test(test_discards),
		cmocka_unit_test(test_unknown_discard),	  cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut_at_every_byte), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_not_a_profile),	  cmocka_unit_test(test_forgiven),
		cmocka_unit_test(test_flipped_bytes),	  cmocka_unit_test(test_pipes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
