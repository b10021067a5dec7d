// SPDX-License-Identifier: GPL-2.0-or-later
/* Extending a profile, and what happens when it cannot be written. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/file_identity.h"
#include "profile/builds.h"

static char path[64];

static const struct profile_header header = {
	.engine = "bpf",
	.model = "wait",
	.frequency_hz = 1000,
	.command = "",
	.host = "h",
	.kernel = "6",
	.started = "",
	.mode = "windows",
};
static const struct profile_progress progress[] = {
	{ 0, "iter", PROGRESS_THROUGHPUT, "bar:main" },
	{ 1, "req", PROGRESS_LATENCY, "req=bar:a,bar:b" },
};

static struct profile_writer *open_writer(void)
{
	struct profile_writer *w;
	struct error err = { 0 };

	if (profile_writer_open(path, &header, progress, 2, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static int write_window(struct profile_writer *w, uint32_t target, uint32_t seq, struct error *err)
{
	struct window_progress wp[2] = { { 1, 1, 0 }, { 0, 0, 0 } };
	struct profile_window win = {
		.seq = seq, .target = target, .n_progress = 2, .progress = wp
	};

	return profile_writer_window(w, &win, err);
}

static uint32_t target(struct profile_writer *w, const char *name)
{
	struct profile_target t = { 0, name, "line", "" };
	struct error err;
	uint32_t id = 99;

	assert_int_equal(profile_writer_target(w, &t, &id, &err), 0);
	return id;
}

/* One run with the targets a, b (run 0) or b, c (later); @finish: with a footer. */
static void record(uint32_t run, bool finish)
{
	struct profile_footer f = { .duration_s = 1, .command_status = -1, .end = "done" };
	struct profile_sample s = { .target = "b",
				    .location = "",
				    .binary = "bar",
				    .self = 3,
				    .total = 4,
				    .credit = 2,
				    .unnamed = 1 };
	struct profile_writer *w = open_writer();
	struct error err;

	assert_int_equal(profile_writer_run(w), run);
	if (!run)
		assert_int_equal(target(w, "a"), 0);
	assert_int_equal(target(w, "b"), 1);
	if (run)
		assert_int_equal(target(w, "c"), 2);
	assert_int_equal(write_window(w, 1, 0, &err), 0);
	assert_int_equal(profile_writer_samples(w, &s, 1, &err), 0);
	if (finish)
		assert_int_equal(profile_writer_finish(w, &f, &err), 0);
	profile_writer_close(w);
}

static struct profile *read_back(void)
{
	struct profile *p;
	struct error err = { 0 };

	if (profile_read(path, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void test_extend(void **state)
{
	struct profile *p;

	(void)state;
	unlink(path);
	record(0, true);
	record(1, true);
	record(2, true);
	p = read_back();
	assert_int_equal(p->n_runs, 3);
	assert_int_equal(p->n_targets, 3);
	assert_int_equal(p->n_progress, 2);
	assert_int_equal(p->n_windows, 3);
	assert_int_equal(p->windows[2].run, 2);
	assert_int_equal(p->windows[2].target, 1);
	assert_int_equal(p->n_samples, 1);
	assert_int_equal(p->samples[0].self, 9);
	assert_int_equal(p->samples[0].total, 12);
	assert_int_equal(p->samples[0].credit, 6);
	assert_int_equal(p->samples[0].unnamed, 3);
	assert_int_equal(p->skipped_lines, 0);
	profile_free(p);
}

static void test_extend_cut(void **state)
{
	size_t len, targets, reread;
	char *data, *more;

	(void)state;
	unlink(path);
	record(0, true);
	data = read_file(path, &len);
	/* Also cut before the first line is whole, and within the progress points. */
	for (size_t n = 0; n <= len; n++) {
		struct profile_writer *w;
		struct profile *p;
		struct error err;
		uint32_t runs, id;
		int fd;

		unlink(path); /* truncating makes file systems flush */
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_int_equal(write(fd, data, n), n);
		close(fd);
		p = NULL;
		runs = profile_read(path, &p, &err) ? 0 : p->n_runs;
		targets = p ? p->n_targets : 0;
		profile_free(p);
		w = open_writer();
		assert_int_equal(profile_writer_run(w), runs);
		id = target(w, "new");
		assert_int_equal(id, targets);
		assert_int_equal(write_window(w, id, 7, &err), 0);
		profile_writer_close(w);
		/* What was there has not been touched. */
		more = read_file(path, &reread);
		assert_true(reread > n);
		assert_memory_equal(data, more, n);
		free(more);
		p = read_back();
		assert_int_equal(p->n_runs, runs + 1);
		assert_int_equal(p->n_progress, 2);
		assert_string_equal(p->targets[id].name, "new");
		assert_int_equal(p->windows[p->n_windows - 1].seq, 7);
		assert_true(p->truncated); /* no footer */
		assert_int_equal(p->skipped_lines,
				 n && n < len && data[n - 1] != '\n' && data[n] != '\n');
		profile_free(p);
	}
	free(data);
}

static void refused(const struct profile_header *h, const struct profile_progress *p, size_t n,
		    const char *text)
{
	struct profile_writer *w;
	struct error err = { 0 };

	assert_int_equal(profile_writer_open(path, h, p, n, &w, &err), -EEXIST);
	assert_int_equal(err.code, -EEXIST);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, err.text);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "another file with -o"));
}

static void test_refused(void **state)
{
	struct profile_progress other[3] = { progress[0], progress[1], { 2, "x", 0, "y" } };
	struct profile_header h = header;
	int fd;

	(void)state;
	unlink(path);
	record(0, true);
	h.engine = "kernel";
	refused(&h, progress, 2, "engine is \"bpf\", now it is \"kernel\"");
	h = header;
	h.model = "core";
	refused(&h, progress, 2, "model");
	h = header;
	h.mode = "end-to-end";
	refused(&h, progress, 2, "mode");
	h = header;
	h.waits = true;
	refused(&h, progress, 2, "--waits is \"off\", now it is \"on\"");
	refused(&header, progress, 1, "2 progress points");
	refused(&header, other, 3, "2 progress points");
	other[0].name = "loop";
	refused(&header, other, 2, "\"iter\", now it is \"loop\"");
	other[0] = progress[0];
	other[1].spec = "req=bar:a,bar:c";
	refused(&header, other, 2, "progress point");
	other[1] = progress[1];
	other[0].kind = PROGRESS_LATENCY;
	refused(&header, other, 2, "throughput");

	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "precious\n", 9), 9);
	close(fd);
	refused(&header, progress, 2, "not a scoz profile");
	fd = open(path, O_RDONLY);
	assert_int_equal(lseek(fd, 0, SEEK_END), 9);
	close(fd);
}

static int extend(const char *spec, const char *const *command)
{
	struct profile_progress p = { 0, "work", PROGRESS_THROUGHPUT, spec };
	const char *arguments[] = { "--progress=x", "--", command[0], command[1] };
	_cleanup_free_ char *text = xasprintf("%s %s", command[0], command[1]);
	struct profile_header h = header;
	struct profile_writer *w;
	struct error err = { 0 };
	int ret;

	h.command = text;
	h.arguments = arguments;
	h.n_arguments = ARRAY_SIZE(arguments);
	ret = profile_writer_open(path, &h, &p, 1, &w, &err);
	if (ret)
		assert_non_null(strstr(err.text, "its program is \"./loop\", now it is \"/x/wr\""));
	else
		profile_writer_close(w);
	return ret;
}

/* Where what is counted names no program, another one's is other work. */
static void test_another_program(void **state)
{
	static const struct {
		const char *spec;
		bool refused;
	} points[] = {
		{ "end-to-end", true },
		{ "syscall:write", true },
		{ "syscall:write:wr", false },
		{ "tracepoint:sched:sched_switch", true },
		{ "tracepoint:a:b:wr", false },
		{ "loop:done_one", false },
		{ "mark:x", false },
	};
	static const char *const loop[] = { "./loop", "40" }, *const more[] = { "/bin/loop", "60" };
	static const char *const other[] = { "/x/wr", "40" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		unlink(path);
		assert_int_equal(extend(points[i].spec, loop), 0);
		assert_int_equal(extend(points[i].spec, more), 0);
		assert_int_equal(extend(points[i].spec, other), points[i].refused ? -EEXIST : 0);
	}
}

static void test_bad_paths(void **state)
{
	struct profile_writer *w, *second;
	struct error err;

	(void)state;
	assert_int_equal(profile_writer_open("/tmp", &header, progress, 2, &w, &err), -EISDIR);
	assert_int_equal(profile_writer_open("/tmp/no/such/dir", &header, progress, 2, &w, &err),
			 -ENOENT);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(profile_writer_open(path, &header, progress, 2, &w, &err), -EINVAL);
	unlink(path);

	w = open_writer();
	assert_int_equal(profile_writer_open(path, &header, progress, 2, &second, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another run is writing"));
	profile_writer_close(w);
	profile_writer_close(open_writer());
}

static void test_full_device(void **state)
{
	struct profile_writer *w;
	struct error err;

	(void)state;
	assert_int_equal(profile_writer_open("/dev/full", &header, progress, 2, &w, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "/dev/full: no space left on device"));
	assert_int_equal(profile_writer_open("/dev/null", &header, progress, 2, &w, &err), 0);
	assert_int_equal(write_window(w, target(w, "a"), 0, &err), 0);
	profile_writer_close(w);
}

/* A start that fails leaves the file, or that there was none, as it was. */
static void test_abandon(void **state)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct profile_writer *w;
	struct stat st;

	(void)state;
	unlink(path);
	w = open_writer();
	profile_writer_abandon(w);
	profile_writer_close(w);
	assert_int_equal(stat(path, &st), -1);

	close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)); /* somebody else's: mktemp(1) */
	w = open_writer();
	profile_writer_abandon(w);
	profile_writer_close(w);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);

	w = open_writer();
	assert_int_equal(target(w, "a"), 0);
	profile_writer_close(w);
	before = read_file(path, NULL);
	w = open_writer();
	assert_int_equal(target(w, "b"), 1);
	profile_writer_abandon(w);
	profile_writer_close(w);
	after = read_file(path, NULL);
	assert_string_equal(before, after);

	w = open_writer();
	assert_int_equal(write_window(w, target(w, "b"), 0, NULL), 0);
	profile_writer_abandon(w);
	profile_writer_close(w);
	free(after);
	after = read_file(path, NULL);
	assert_true(strlen(after) > strlen(before));
}

/* The thread that ends a run at once may be faster than the one that was writing. */
static void test_nothing_after_the_end(void **state)
{
	struct profile_footer f = { .end = "signal" };
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct profile_writer *w;
	struct error err = {};

	(void)state;
	unlink(path);
	w = open_writer();
	assert_int_equal(target(w, "a"), 0);
	assert_int_equal(profile_writer_finish(w, &f, &err), 0);
	before = read_file(path, NULL);
	assert_int_equal(write_window(w, 0, 0, &err), 0);
	assert_int_equal(profile_writer_finish(w, &f, &err), 0);
	profile_writer_close(w);
	after = read_file(path, NULL);
	assert_string_equal(before, after);
}

/* Wherever the limit falls: whole lines only, and the next one can be tried. */
static void test_short_writes(void **state)
{
	struct rlimit old, now;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	for (int room = 0; room < 400; room += 13) {
		struct profile_writer *w;
		struct profile *p;
		struct stat st;
		struct error err;
		size_t written = 0;
		int r = 0;

		unlink(path);
		w = open_writer();
		assert_int_equal(target(w, "a"), 0);
		stat(path, &st);
		now = old;
		now.rlim_cur = st.st_size + room;
		setrlimit(RLIMIT_FSIZE, &now);
		for (uint32_t i = 0; i < 10 && !r; i++) {
			r = write_window(w, 0, i, &err);
			written += !r;
		}
		setrlimit(RLIMIT_FSIZE, &old);
		assert_int_equal(r, -EFBIG);
		assert_non_null(strstr(err.text, "readable up to here"));
		p = read_back();
		assert_int_equal(p->n_windows, written);
		assert_int_equal(p->skipped_lines, 0);
		profile_free(p);

		assert_int_equal(write_window(w, 0, 99, &err), 0);
		profile_writer_close(w);
		p = read_back();
		assert_int_equal(p->n_windows, written + 1);
		profile_free(p);
	}
}

static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/test_profile_extend-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* It is what is in a file that counts, not when it was written. */
static void test_identity(void **state)
{
	_cleanup_free_ char *file = xasprintf("%s.bin", path), *fifo = xasprintf("%s.fifo", path);
	char *id[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		unlink(file);
		put(file, i < 2 ? "one" : "two");
		id[i] = file_identity(file);
		assert_non_null(id[i]);
	}
	assert_string_equal(id[0], id[1]);
	assert_string_not_equal(id[1], id[2]);
	for (int i = 0; i < 3; i++)
		free(id[i]);
	unlink(file);
	assert_null(file_identity(file));
	assert_int_equal(mkfifo(fifo, 0600), 0); /* must not wait for a writer */
	assert_null(file_identity(fifo));
	unlink(fifo);
}

/* Which runs of a profile were of another build; what is not known is not said to differ. */
static void test_other_builds(void **state)
{
	static const char *const builds[] = { "1", "1", "2", "1", NULL };
	static const struct {
		const char *path, *build, *runs;
	} now[] = {
		{ "./bar", "1", "run 3" },	 { "./bar", "2", "3 of 5 runs" },
		{ "./bar", "3", "runs 1 to 4" }, { "./bar", "", NULL },
		{ "./foo", "3", NULL },
	};
	struct profile *p;

	(void)state;
	unlink(path);
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		struct profile_binary b = { "./bar", builds[i] };
		struct profile_header h = header;
		struct profile_writer *w;
		struct error err = { 0 };

		h.binaries = &b;
		h.n_binaries = 1;
		assert_int_equal(profile_writer_open(path, &h, progress, 2, &w, &err), 0);
		profile_writer_close(w);
	}
	p = read_back();
	for (size_t i = 0; i < ARRAY_SIZE(now); i++) {
		struct profile_binary b = { now[i].path, now[i].build };
		_cleanup_free_ char *runs = NULL;

		assert_int_equal(!profile_other_builds(p, &b, &runs), !now[i].runs);
		assert_int_equal(!runs, !now[i].runs);
		if (runs)
			assert_string_equal(runs, now[i].runs);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extend),	     cmocka_unit_test(test_extend_cut),
		cmocka_unit_test(test_refused),	     cmocka_unit_test(test_another_program),
		cmocka_unit_test(test_bad_paths),    cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_abandon),	     cmocka_unit_test(test_nothing_after_the_end),
		cmocka_unit_test(test_short_writes), cmocka_unit_test(test_identity),
		cmocka_unit_test(test_other_builds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
