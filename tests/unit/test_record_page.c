// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of a recording: what is in it, deaf to what names may hold, and bounded. */
#include <sys/stat.h>

#include "tests/unit/test_record_fixture.h"

static char page[80];

static char *plotted(const char *option)
{
	char *html;

	assert_int_equal(run(cmd_plot, "-o", page, path, option, NULL), EXIT_DONE);
	html = read_file(page, NULL);
	assert_non_null(html);
	return html;
}

static void has(const char *html, const char *text)
{
	if (!strstr(html, text))
		fail_msg("\"%s\" is not in the page", text);
}

static void test_content(void **state)
{
	_cleanup_free_ char *html = NULL;

	(void)state;
	make_usual();
	html = plotted(NULL);
	/* The same shares as scoz report tells: 350 points on a CPU, 299 of them in heavy(). */
	has(html, "35 % was spent on a CPU, the most in <code>heavy</code> (30 % of all); 65 % in "
		  "waiting, the most for <code>disk in __libc_pread64</code> (50 % of all).");
	/* A wait is one sample, for as many points as it lasted. */
	has(html, "</code> \xc2\xb7 1.0 s \xc2\xb7 10 samples for 1000 points of 1 ms, 0 lost");
	has(html, "waiting for I/O 50.0 %");
	has(html, "woken by nvme0n1 80 %, vda 20 %");
	has(html, "woken by a.out:101 100 %");
	/* heavy: 299 of 1000 points, 200 of them with nothing below. */
	has(html, "title=\"heavy&#10;29.9 % of the time, 20.0 % itself&#10;a.c\">heavy</div>");
	has(html, "title=\"[I] disk&#10;");
	/* A wait is below the function that waits, both as wide: 400 and 100 of I/O. */
	has(html, "style=\"left:0.000%;width:70.0");
	assert_null(strstr(html, "http"));
	assert_null(strstr(html, "\033"));
}

/* How long it was is not known of what was cut off. */
static void test_cut_off(void **state)
{
	_cleanup_free_ char *html = NULL, *text = NULL;
	char *footer;
	FILE *f;

	(void)state;
	make_usual();
	text = read_file(path, NULL);
	footer = strstr(text, "{\"type\":\"footer\"");
	assert_non_null(footer);
	f = fopen(path, "w");
	fprintf(f, "%.*s", (int)(footer - text), text);
	fclose(f);
	html = plotted(NULL);
	has(html, "</code> \xc2\xb7 10 samples for 1000 points of 1 ms");
}

static void test_hostile(void **state)
{
	static const struct record_sample evil[] = {
		{ .time = 1, .points = 90, .thread = 0, .stack = S_EVIL, NOBODY },
		{ .time = 2, .points = 10, .thread = 0, .stack = S_BELOW_EVIL, NOBODY },
	};
	_cleanup_free_ char *html = NULL;

	(void)state;
	make(evil, ARRAY_SIZE(evil), &usual_footer);
	html = plotted(NULL);
	assert_null(strchr(html, '\033'));
	assert_null(strchr(html, '\a'));
	has(html, "100 % was spent on a CPU");
}

static void test_idle(void **state)
{
	_cleanup_free_ char *html = NULL;

	(void)state;
	make_usual();
	html = plotted("--no-idle");
	has(html, "of the time");
	assert_int_equal(run(cmd_plot, "-o", "x.svg", path, NULL), EXIT_USAGE);
	assert_non_null(strstr(err_text, "let the name end in .html"));
}

static void test_nothing(void **state)
{
	_cleanup_free_ char *html = NULL;

	(void)state;
	make(NULL, 0, &usual_footer);
	assert_int_equal(run(cmd_plot, "-o", page, path, NULL), EXIT_NOTHING);
	html = read_file(page, NULL);
	has(html, "<h1 class=\"headline\">");
}

/* 20,000 different chains of long names, and one that is 1,000 deep. */
static void test_bounded(void **state)
{
	static const struct record_header header = { .engine = "bpf",
						     .period_ns = MS,
						     .command = "./many",
						     .scope = "command",
						     .host = "host",
						     .kernel = "6.1",
						     .started = "2025-01-01T00:00:00Z",
						     .cpus = 2 };
	static const char filler[] = "<Template<Parameter<const std::string &>>>";
	struct recording_writer *w;
	struct error err = { 0 };
	const uint32_t wide = 20000, deep = 1000;
	struct stat st;
	char *html;

	(void)state;
	unlink(path);
	assert_int_equal(recording_writer_open(path, &header, &w, &err), 0);
	for (uint32_t i = 0; i < wide; i++) {
		_cleanup_free_ char *name =
			xasprintf("acme::storage::find%u%s%s", i, filler, filler);
		struct record_frame f = { .symbol = name, .object = "/usr/lib/libacme.so" };

		recording_write_frame(w, i, &f);
	}
	recording_write_thread(w, &threads[0]);
	for (uint32_t i = 0; i < wide + deep; i++) {
		struct record_stack s = { i % wide, i <= wide ? RECORDING_NONE : i - 1 };

		recording_write_stack(w, i, &s);
	}
	for (uint32_t i = 0; i < wide; i++) {
		struct record_sample s = { .time = i, .points = 1 + i % 7, .stack = i, NOBODY };

		recording_write_sample(w, &s);
	}
	struct record_sample last = {
		.time = wide, .points = 5000, .stack = wide + deep - 1, NOBODY
	};
	recording_write_sample(w, &last);
	assert_int_equal(recording_writer_close(w, &usual_footer, &err), 0);
	html = plotted(NULL);
	assert_int_equal(stat(page, &st), 0);
	assert_true(st.st_size < 1000000);
	has(html, "are left out, and call chains end after 120 calls");
	free(html);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_record_page.%d", getpid());
	snprintf(page, sizeof(page), "%s.html", path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	unlink(page);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_off), cmocka_unit_test(test_content),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
