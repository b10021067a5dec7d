// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions of latencies: bins, the way through the file, quantiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/span_bins.h"
#include "tools/scoz/causal/latency.c"

static void bins_cover_everything(void **state)
{
	(void)state;
	for (uint32_t bin = 0; bin < SPAN_BINS; bin++) {
		uint64_t start = span_bin_start(bin), next = span_bin_start(bin + 1);

		assert_true(next > start);
		assert_int_equal(span_bin(start), bin);
		assert_int_equal(span_bin(next - 1), bin);
		if (start >= SPAN_SUB_BINS)
			assert_true(next - start <= start / SPAN_SUB_BINS);
	}
	assert_int_equal(span_bin(UINT64_MAX), SPAN_BINS - 1);
	assert_true(SPAN_BINS <= SPAN_ELSEWHERE && SPAN_ELSEWHERE < SPAN_SLOT);
}

static const struct profile_progress progress[] = {
	{ 0, "iter", PROGRESS_THROUGHPUT, "bar:main" },
	{ 1, "req", PROGRESS_LATENCY, "req=bar:a,bar:b" },
	{ 2, "mark", PROGRESS_LATENCY, "mark=mark:a,mark:a" },
};

static void write_run(const char *path, const struct profile_latency *l, size_t n)
{
	const struct profile_header h = { .engine = "bpf",
					  .model = "wait",
					  .command = "",
					  .host = "h",
					  .kernel = "6",
					  .started = "",
					  .mode = "windows" };
	const struct profile_footer f = { .end = "done" };
	struct profile_writer *w;
	struct error err = {};

	assert_int_equal(profile_writer_open(path, &h, progress, 3, &w, &err), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(profile_writer_latency(w, &l[i], &err), 0);
	assert_int_equal(profile_writer_finish(w, &f, &err), 0);
	profile_writer_close(w);
}

/* 100 evenly from 1 to 2 ms in the one run; 100 at 8 ms in the other. */
static void runs_are_joined(void **state)
{
	struct profile_latency_bin short_ones = { 0.001, 0.002, 100 },
				   long_ones = { 0.008, 0.0085, 100 };
	const struct profile_latency first[] = {
		{ .progress = 1,
		  .measured = 100,
		  .elsewhere = 3,
		  .why = "",
		  .bins = &short_ones,
		  .n_bins = 1 },
		{ .progress = 2, .why = "marks are counted, not timed" },
	};
	const struct profile_latency second = {
		.progress = 1, .measured = 100, .why = "", .bins = &long_ones, .n_bins = 1
	};
	char path[] = "/tmp/test_latency-XXXXXX";
	_cleanup_free_ char *text = NULL, *none = NULL;
	struct model_latency *l;
	struct model m = {};
	struct error err = {};

	(void)state;
	close(mkstemp(path));
	write_run(path, first, 2);
	write_run(path, &second, 1);
	assert_int_equal(profile_read(path, &m.profile, &err), 0);
	assert_int_equal(m.profile->n_latencies, 3);
	l = m.latency = latency_of(m.profile);
	assert_int_equal(l[0].measured, 0);
	assert_int_equal(l[1].measured, 200);
	assert_int_equal(l[1].elsewhere, 3);
	assert_null(l[1].why);
	assert_float_equal(l[1].p50_s, 0.002, 1e-9);
	assert_float_equal(l[1].p90_s, 0.0084, 1e-9);
	assert_float_equal(l[1].max_s, 0.0085, 1e-9);
	assert_string_equal(l[2].why, "marks are counted, not timed");
	assert_null(model_latency_text(&m, 0));
	text = model_latency_text(&m, 1);
	assert_string_equal(text,
			    "p50 2 ms, p90 8.4 ms, p99 8.49 ms, max 8.5 ms (200 measured at 0 %, "
			    "3 ended in another thread than they began in)");
	none = model_latency_text(&m, 2);
	assert_string_equal(none, "no distribution: marks are counted, not timed");
	free(m.latency);
	profile_free(m.profile);
	unlink(path);
}

static void damage_is_found(void **state)
{
	static const char *const bad[] = {
		"\"progress\":7,\"bins\":[]",	     "\"progress\":1,\"bins\":[[1,2]]",
		"\"progress\":1,\"bins\":[[2,1,3]]", "\"progress\":1,\"bins\":[[1,2,-3]]",
		"\"progress\":1,\"bins\":[7]",
	};
	char path[] = "/tmp/test_latency-XXXXXX";

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = {};
		struct profile *p;
		FILE *f;

		assert_int_equal(truncate(path, 0), 0);
		write_run(path, NULL, 0);
		f = fopen(path, "a");
		fprintf(f, "{\"type\":\"latency\",\"run\":0,%s}\n{\"type\":\"target\",\"id\":0}\n",
			bad[i]);
		fclose(f);
		if (profile_read(path, &p, &err) != -EINVAL)
			fail_msg("read: %s", bad[i]);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_cover_everything),
		cmocka_unit_test(runs_are_joined),
		cmocka_unit_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
