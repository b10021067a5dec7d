// SPDX-License-Identifier: GPL-2.0-or-later
/* Which file commands are about, which targets, and which files they do not write to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jsonl/format.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

static char dir[] = "/tmp/test_report_files-XXXXXX";
static char profile[64], recording[64], other[64];

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_error(const char *text)
{
	if (!strstr(err_text, text))
		fail_msg("\"%s\" is not in:\n%s", text, err_text);
}

static int set_up(void **state)
{
	const struct fixture f = { .command = "./bar",
				   .speedups = fixture_speedups,
				   .n_speedups = 2,
				   .targets = fixture_two,
				   .n_targets = 2,
				   .footer = true };
	struct error err = {};

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	snprintf(profile, sizeof(profile), "%s/a.scoz", dir);
	snprintf(recording, sizeof(recording), "%s/b.scoz", dir);
	snprintf(other, sizeof(other), "%s/c", dir);
	if (fixture_write(profile, &f, &err))
		fail_msg("%s", err.text);
	put_text(recording, JSONL_START("scoz-record") ",\"version\":1,\"period_ns\":1000000}\n");
	return 0;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *remove = xasprintf("rm -rf %s", dir);

	(void)state;
	return system(remove);
}

/* What took minutes to measure does not go for a mistyped -o. */
static void profiles_are_kept(void **state)
{
	_cleanup_free_ char *before = read_file(profile, NULL), *after = NULL;

	(void)state;
	assert_int_equal(run(cmd_export, "-f", "csv", "-o", profile, profile, NULL), EXIT_FAILED);
	expect_error(" exists and is a causal profile: it is not replaced; remove it, or choose");
	after = read_file(profile, NULL);
	assert_string_equal(before, after);
	assert_int_equal(run(cmd_export, "-f", "csv", "-o", recording, profile, NULL), EXIT_FAILED);
	expect_error("is a recording: it is not replaced");
	put_text(other, "scoz-causal 1\n");
	assert_int_equal(run(cmd_export, "-f", "csv", "-o", other, profile, NULL), EXIT_FAILED);
	expect_error("is a causal recording: it is not replaced");
	put_text(other, "what was exported before\n");
	assert_int_equal(run(cmd_export, "-f", "csv", "-o", other, profile, NULL), EXIT_DONE);
}

/* The names in "targets" of what was printed, in their order. */
static void expect_targets(const char *wanted)
{
	json_t *o = json_loads(out_text, 0, NULL);
	const json_t *list = json_object_get(o, "targets");
	_cleanup_free_ char *got = xstrdup("");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *name = json_object_get(json_array_get(list, i), "target");

		text_add(&got, "%s%s", i ? " " : "", json_string_value(name));
	}
	json_decref(o);
	assert_string_equal(got, wanted);
}

static void json_of_what_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(run(cmd_report, "--json", profile, NULL), EXIT_DONE);
	expect_targets("func:work@bar func:rest@bar");
	assert_int_equal(run(cmd_report, "--json", "rest", profile, NULL), EXIT_DONE);
	expect_targets("func:rest@bar");
	assert_int_equal(run(cmd_report, "--json", "nosuch_target", profile, NULL), EXIT_FAILED);
	assert_string_equal(out_text, "");
	expect_error("no target of ");
	assert_int_equal(run(cmd_report, "--json", "--filter", "*:90", profile, NULL), EXIT_DONE);
	expect_targets("func:rest@bar");
	assert_int_equal(run(cmd_report, "--json", "--filter", "none", profile, NULL), EXIT_DONE);
	expect_targets("");
	assert_int_equal(run(cmd_report, "--json", "--sort", "name", profile, NULL), EXIT_DONE);
	expect_targets("func:rest@bar func:work@bar");
	assert_int_equal(run(cmd_report, "--json", "--sort", "name", "--limit", "1", profile, NULL),
			 EXIT_DONE);
	expect_targets("func:rest@bar");
	assert_int_equal(run(cmd_report, "--json", "--limit", "0", profile, NULL), EXIT_DONE);
	expect_targets("func:work@bar func:rest@bar");
}

/* Windows that were for something else are neither kept nor discarded, as in the text. */
static void page_counts_windows(void **state)
{
	_cleanup_free_ char *text = read_file(profile, NULL), *wanted = NULL;
	const char *rest = strstr(text, "\"few_visits\""), *told;
	FILE *f = fopen(other, "w");

	(void)state;
	assert_non_null(rest);
	fprintf(f, "%.*s\"control\"%s", (int)(rest - text), text, rest + strlen("\"few_visits\""));
	fclose(f);
	assert_int_equal(run(cmd_report, other, NULL), EXIT_DONE);
	told = strstr(out_text, "kept, ");
	assert_non_null(told);
	wanted = xasprintf("windows kept, %d discarded: ", atoi(told + strlen("kept, ")));
	assert_int_equal(run(cmd_plot, "-o", "-", other, NULL), EXIT_DONE);
	if (!strstr(out_text, wanted))
		fail_msg("no \"%s\" in the page", wanted);
}

/* Windows that a later version discarded stay so, and why is said in its words. */
static void unknown_discard(void **state)
{
	_cleanup_free_ char *text = read_file(profile, NULL);
	const json_t *windows, *before, *after;
	json_t *known, *o;
	char *at = text;
	FILE *f;

	(void)state;
	assert_int_equal(run(cmd_report, "--json", profile, NULL), EXIT_DONE);
	known = json_loads(out_text, 0, NULL);
	/* As long as it is, so that it can be written over it. */
	while ((at = strstr(at, "\"few_visits\"")))
		memcpy(at, "\"eclipsed!!\"", strlen("\"few_visits\""));
	f = fopen(other, "w");
	fputs(text, f);
	fclose(f);
	assert_int_equal(run(cmd_report, "--json", other, NULL), EXIT_DONE);
	o = json_loads(out_text, 0, NULL);
	before = json_object_get(known, "windows");
	windows = json_object_get(o, "windows");
	assert_true(json_equal(json_object_get(before, "kept"), json_object_get(windows, "kept")));
	before = json_object_get(json_object_get(before, "discarded"), "few_visits");
	after = json_object_get(json_object_get(windows, "discarded"), "eclipsed!!");
	assert_true(json_integer_value(before) > 0 && json_equal(before, after));
	assert_true(json_equal(json_object_get(known, "targets"), json_object_get(o, "targets")));
	json_decref(o);
	json_decref(known);
	assert_int_equal(run(cmd_report, other, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, " eclipsed!!"));
}

/* Whoever reads JSON gets some, and the reason in it. */
static void json_of_nobody(void **state)
{
	const json_t *why, *target;
	json_t *o;

	(void)state;
	assert_int_equal(run(cmd_report, "--json", "--pid", "7", profile, NULL), EXIT_NOTHING);
	expect_error("does not tell processes apart");
	o = json_loads(out_text, 0, NULL);
	why = json_array_get(json_object_get(o, "reasons"), 0);
	assert_non_null(why);
	assert_non_null(strstr(json_string_value(why), "does not tell processes apart"));
	target = json_array_get(json_object_get(o, "targets"), 0);
	assert_true(json_is_null(json_object_get(target, "samples")));
	json_decref(o);
	assert_int_equal(run(cmd_report, "--pid", "7", profile, NULL), EXIT_NOTHING);
	assert_string_equal(out_text, "");
}

/* Time grows with the rows, not with their square: lines of large programs are many. */
static void many_places(void **state)
{
	_cleanup_free_ char *text = read_file(profile, NULL);
	FILE *f = fopen(other, "w");
	clock_t begin;

	(void)state;
	fputs(text, f);
	for (int i = 0; i < 20000; i++)
		fprintf(f,
			"{\"type\":\"sample\",\"run\":0,\"target\":\"big.c:%d\",\"location\":\"big."
			"c:"
			"%d\",\"binary\":\"/usr/bin/big\",\"self\":1,\"total\":2}\n",
			i, i);
	fprintf(f, "{\"type\":\"sample\",\"run\":0,\"target\":\"b\xc3\xa4r.c:1\",\"location\":\"\","
		   "\"binary\":\"/bar\",\"self\":1,\"total\":1}\n");
	fclose(f);
	begin = clock();
	assert_int_equal(run(cmd_targets, other, NULL), EXIT_DONE);
	assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
	assert_non_null(strstr(out_text, "  big.c:19999  "));
	assert_non_null(strstr(out_text, "  b?r.c:1  ")); /* as the locale can show it */
}

static void which_is_the_file(void **state)
{
	_cleanup_free_ char *text = read_file(profile, NULL);
	int saved = dup(STDIN_FILENO), fd;

	(void)state;
	assert_int_equal(run(cmd_report, "work", "nosuch.scoz", NULL), EXIT_FAILED);
	expect_error("nosuch.scoz: no such file");
	assert_int_equal(run(cmd_report, "nosuch.scoz", "work", NULL), EXIT_FAILED);
	expect_error("nosuch.scoz: no such file");
	/* Files called like targets, and a profile that is called like none. */
	put_text("work", "#!/bin/sh\n");
	put_text(other, text);
	assert_int_equal(run(cmd_report, "work", profile, NULL), EXIT_DONE);
	assert_ptr_equal(strstr(out_text, "func:work@bar\n"), out_text);
	assert_int_equal(run(cmd_report, other, "work", NULL), EXIT_DONE);
	assert_ptr_equal(strstr(out_text, "func:work@bar\n"), out_text);
	assert_int_equal(run(cmd_report, "work", NULL), EXIT_FAILED); /* what else should it be? */
	expect_error("work is not a scoz profile");
	assert_int_equal(rename(other, DEFAULT_PROFILE), 0);
	assert_int_equal(run(cmd_report, "work", NULL), EXIT_DONE);
	assert_ptr_equal(strstr(out_text, "func:work@bar\n"), out_text);
	put_text("nothing_like_it", "");
	assert_int_equal(run(cmd_report, "nothing_like_it", NULL), EXIT_FAILED);
	expect_error("nothing_like_it: no profile or recording, and no target of profile.scoz is");
	unlink(DEFAULT_PROFILE);
	assert_int_equal(run(cmd_report, profile, recording, NULL), EXIT_USAGE);
	expect_error("one FILE and one TARGET at most");
	assert_int_equal(run(cmd_report, profile, "work", "rest", NULL), EXIT_USAGE);

	fd = open(profile, O_RDONLY | O_CLOEXEC);
	dup2(fd, STDIN_FILENO);
	assert_int_equal(run(cmd_report, "-", "work", NULL), EXIT_DONE);
	assert_ptr_equal(strstr(out_text, "func:work@bar\n"), out_text);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd);
}

static void keys_of_both_kinds(void **state)
{
	(void)state;
	assert_int_equal(run(cmd_report, "--sort", "foo", profile, NULL), EXIT_USAGE);
	expect_error("of recordings there are comm, dso,");
	expect_error("of causal profiles bound, estimate, samples, name and doubt");
	assert_int_equal(run(cmd_report, "--sort", "pid", profile, NULL), EXIT_USAGE);
	expect_error(" is none: sort by bound, estimate, samples, name and doubt");
	assert_int_equal(run(cmd_report, "-s", "name", recording, NULL), EXIT_USAGE);
	expect_error(" is a recording: sort by comm, dso, sym,");
}

static void options_of_the_other_kind(void **state)
{
	(void)state;
	assert_int_equal(run(cmd_plot, "--source", ".", "-o", "-", recording, NULL), EXIT_USAGE);
	expect_error("--source is for causal profiles (scozd), and ");
	assert_int_equal(run(cmd_report, "--limit", "3", recording, NULL), EXIT_USAGE);
	expect_error("--limit is for causal profiles (scozd), and ");
	assert_int_equal(run(cmd_plot, "--no-source", "-o", "-", recording, NULL), EXIT_USAGE);
	expect_error("--no-source is for causal profiles (scozd), and ");
	assert_int_equal(run(cmd_plot, "--source", "nosuchdir", "-o", "-", profile, NULL),
			 EXIT_FAILED);
	expect_error("--source: nosuchdir: cannot open this directory: No such file");
	assert_int_equal(run(cmd_targets, "--per", "rank", "1", NULL), EXIT_USAGE);
	expect_error("choose from a profile, and 1 is a running process");
	assert_int_equal(run(cmd_targets, "--pid", "7", "1", NULL), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_is_the_file),
		cmocka_unit_test(keys_of_both_kinds),
		cmocka_unit_test(profiles_are_kept),
		cmocka_unit_test(json_of_what_is_asked_for),
		cmocka_unit_test(json_of_nobody),
		cmocka_unit_test(page_counts_windows),
		cmocka_unit_test(unknown_discard),
		cmocka_unit_test(many_places),
		cmocka_unit_test(options_of_the_other_kind),
	};
	int ret = cmocka_run_group_tests(tests, set_up, tear_down);

	free(out_text);
	free(err_text);
	return ret;
}
