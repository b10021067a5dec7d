// SPDX-License-Identifier: GPL-2.0-or-later
/* How long until a prediction is precise, and the command that gets there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/format.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

static char path[64];

static const double speedups[] = { 0.25, 0.5 };
static const struct fixture_target noisy[] = {
	{ { 0, "func:work<a, b>@it's", "function", "bar.c:20" },
	  .gain = 0.6,
	  .bend = 1,
	  .noise = 0.15,
	  .units = 40,
	  .samples = 1000 },
};
static const struct fixture_target quiet[] = {
	{ { 0, "func:work@bar", "function", "bar.c:20" },
	  .gain = 0.4,
	  .bend = 1,
	  .noise = 0.003,
	  .units = 60,
	  .samples = 1000 },
};
static const char *const arguments[] = { "./build/scozd",
					 "--progress=iter=bar:main.c:8",
					 "--duration=20",
					 "--target=func:other",
					 "--speedup=10,20",
					 "--output=x.scoz",
					 "--json",
					 "--precision=1.5",
					 "--frequency=4000",
					 "--",
					 "./bar",
					 "--duration=5",
					 "two words" };

static void make(struct fixture f)
{
	struct error err = { 0 };

	f.speedups = speedups;
	f.n_speedups = 2;
	f.n_targets = 1;
	f.footer = true;
	unlink(path);
	assert_int_equal(fixture_write(path, &f, &err), 0);
}

static const json_t *trust_of_first(json_t **o)
{
	json_error_t why;

	assert_int_equal(run(cmd_report, "--json", path, NULL), 0);
	*o = json_loads(out_text, 0, &why);
	return json_object_get(json_array_get(json_object_get(*o, "targets"), 0), "trust");
}

static double number_of(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* What scozd was told, but for what is to be different, and so that a shell understands it. */
static void more_time(void **state)
{
	struct fixture f = { .command = "./bar", .targets = noisy, .end = "duration" };
	const json_t *t;
	const char *command;
	double now, more;
	json_t *o;

	(void)state;
	f.arguments = arguments;
	f.n_arguments = ARRAY_SIZE(arguments);
	make(f);
	t = trust_of_first(&o);
	now = number_of(t, "half_width_pp");
	more = number_of(t, "more_s");
	assert_string_equal(text_of(t, "answer"), "more");
	assert_true(number_of(t, "goal_pp") == 1.5);
	assert_true(now > 2 && now < 20);
	/* 40 windows of 0.15 s and their baselines, a quarter of a second apart: 20 s. */
	assert_true(more > 20 * (now * now / 2.25 - 1) / 2);
	assert_true(more < 20 * (now * now / 2.25 - 1) * 2);
	command = text_of(t, "command");
	expect_in(command, "./build/scozd --progress=iter=bar:main.c:8 --frequency=4000 "
			   "'--target=func:work<a, b>@it'\\''s' --speedup=");
	expect_in(command, " -- ./bar --duration=5 'two words'");
	assert_null(strstr(command, "--precision"));
	assert_null(strstr(command, "func:other"));
	assert_null(strstr(command, "x.scoz"));
	expect_in(command, path);
	json_decref(o);
	assert_int_equal(run(cmd_report, path, NULL), 0);
	expect_in(out_text, "now; +-1.5 needs about ");
	expect_in(out_text, "    ./build/scozd --progress=iter=bar:main.c:8 ");
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), 0);
	expect_in(out_text, "now; \xc2\xb1"
			    "1.5 needs about ");
	expect_in(out_text, "--target=func:work&lt;a, b&gt;@it");
}

static unsigned long runs_of(const char *command)
{
	const char *at = strstr(command, " --runs=");

	assert_non_null(at);
	return strtoul(at + strlen(" --runs="), NULL, 10);
}

static void other_lengths(void **state)
{
	static const char *const endless[] = { "scozd", "--progress=mark:x" };
	static const char *const whole[] = { "scozd", "--end-to-end", "--runs=40", "--", "./bar" };
	static const char *const ends[] = { "scozd", "--progress=mark:x", "--runs=6", "--",
					    "./bar" };
	static const char *const others[] = { "scozd", "--progress=mark:x", "--", "./bar",
					      "--runs=6" };
	static const char *const none[] = { "scozd", "--progress=mark:x", "--runs=0", "--",
					    "./bar" };
	struct fixture f = { .command = "", .targets = noisy, .end = "signal" };
	unsigned long runs, once;
	const char *command;
	json_t *o;

	(void)state;
	f.arguments = endless;
	f.n_arguments = ARRAY_SIZE(endless);
	make(f);
	expect_in(text_of(trust_of_first(&o), "command"), " --duration=");
	json_decref(o);
	/* A command that ends by itself, after 10 s each time. */
	f = (struct fixture){ .command = "./bar", .targets = noisy, .arguments = ends };
	f.n_arguments = ARRAY_SIZE(ends);
	make(f);
	expect_in(text_of(trust_of_first(&o), "command"), " --runs=");
	json_decref(o);
	/* What the command itself is told is not for scozd. */
	f = (struct fixture){ .command = "./bar", .targets = noisy, .arguments = ends };
	f.n_arguments = ARRAY_SIZE(ends);
	make(f);
	runs = runs_of(text_of(trust_of_first(&o), "command"));
	json_decref(o);
	f.arguments = others;
	f.n_arguments = ARRAY_SIZE(others);
	make(f);
	once = runs_of(text_of(trust_of_first(&o), "command"));
	json_decref(o);
	assert_true(once <= runs / 6 + 1);
	f.arguments = none;
	f.n_arguments = ARRAY_SIZE(none);
	make(f);
	assert_int_equal(runs_of(text_of(trust_of_first(&o), "command")), once);
	json_decref(o);
	f = (struct fixture){ .command = "./bar", .targets = noisy, .arguments = whole };
	f.n_arguments = ARRAY_SIZE(whole);
	f.mode = "end-to-end";
	make(f);
	command = text_of(trust_of_first(&o), "command");
	expect_in(command, "scozd --end-to-end ");
	expect_in(command, " --runs=");
	json_decref(o);
}

/* Nobody is told to wait for a month. */
static void too_long(void **state)
{
	static const struct fixture_target wild[] = {
		{ { 0, "func:work@bar", "function", "bar.c:20" },
		  .gain = 0.4,
		  .bend = 1,
		  .noise = 3,
		  .units = 40,
		  .samples = 1000 },
	};
	struct fixture f = { .command = "./bar", .targets = wild, .arguments = arguments };
	const json_t *t;
	json_t *o;

	(void)state;
	f.n_arguments = ARRAY_SIZE(arguments);
	make(f);
	t = trust_of_first(&o);
	assert_string_equal(text_of(t, "answer"), "far");
	assert_true(json_is_null(json_object_get(t, "more_s")));
	assert_true(json_is_null(json_object_get(t, "command")));
	json_decref(o);
	assert_int_equal(run(cmd_report, path, NULL), 0);
	expect_in(out_text, " is out of reach: it would take more than a day");
}

static void enough(void **state)
{
	struct fixture f = { .command = "./bar", .targets = quiet, .arguments = arguments };
	const json_t *t;
	json_t *o;

	(void)state;
	f.n_arguments = ARRAY_SIZE(arguments);
	make(f);
	t = trust_of_first(&o);
	assert_string_equal(text_of(t, "answer"), "reached");
	assert_true(json_is_null(json_object_get(t, "command")));
	assert_true(json_is_null(json_object_get(t, "more_s")));
	json_decref(o);
	/* By an older scozd: the time is known, the command is not. */
	f = (struct fixture){ .command = "./bar", .targets = noisy };
	make(f);
	t = trust_of_first(&o);
	assert_string_equal(text_of(t, "answer"), "more");
	assert_true(json_is_null(json_object_get(t, "command")));
	json_decref(o);
}

/* The last of three runs is of a program that was built anew. */
static void other_build(void **state)
{
	struct profile_binary b = { "./bar", "100:1" };
	struct fixture f = { .command = "./bar",
			     .speedups = fixture_speedups,
			     .n_speedups = ARRAY_SIZE(fixture_speedups),
			     .targets = fixture_two,
			     .n_targets = ARRAY_SIZE(fixture_two),
			     .binaries = &b,
			     .n_binaries = 1,
			     .footer = true };
	struct error err = { 0 };

	(void)state;
	unlink(path);
	setenv("COLUMNS", "1000", 1);
	for (int i = 0; i < 3; i++) {
		b.build = i < 2 ? "100:1" : "100:2";
		if (fixture_write(path, &f, &err))
			fail_msg("%s", err.text);
		assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
		assert_int_equal(!!strstr(out_text, "another build"), i == 2);
	}
	assert_non_null(strstr(out_text, "runs 1 to 2 in the file were of another build of ./bar"));
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "runs 1 to 2 in the file were of another build of ./bar"));
	unsetenv("COLUMNS");
}

/* Precise, but of too few windows: what the answer names is told of, not what else is open. */
static void verdict_missing(void **state)
{
	struct fixture_target few[] = {
		{ { 0, "func:other@bar", "function", "bar.c:30" },
		  .gain = 0.1,
		  .bend = 1,
		  .noise = 0.2,
		  .units = 2,
		  .samples = 5000 },
		{ { 1, "func:work@bar", "function", "bar.c:20" },
		  .gain = 0.8,
		  .bend = 1,
		  .noise = 0.0001,
		  .units = 4,
		  .samples = 1000 },
	};
	static const double half[] = { 0.5 };
	struct fixture f = { .command = "./bar", .targets = few, .arguments = arguments };
	const json_t *t;
	json_t *o;

	(void)state;
	unlink(path);
	f.n_arguments = ARRAY_SIZE(arguments);
	f.n_targets = ARRAY_SIZE(few);
	f.speedups = half;
	f.n_speedups = 1;
	f.footer = true;
	assert_int_equal(fixture_write(path, &f, &(struct error){ 0 }), 0);
	assert_int_equal(run(cmd_report, path, NULL), 0);
	expect_in(out_text, "Nothing is surely worth it yet; what may save most is work");
	expect_in(out_text, "Precision (percentage points, 95 %)\n  func:work@bar at 50 %: +-");
	expect_in(out_text, " now; a verdict takes more windows:\n    ./build/scozd ");
	expect_in(out_text, "--target=func:work@bar ");
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), 0);
	expect_in(out_text, " now; a verdict takes more windows");
	t = trust_of_first(&o);
	assert_string_equal(text_of(t, "answer"), "reached");
	assert_true(json_is_true(json_object_get(t, "for_verdict")));
	expect_in(text_of(t, "command"), "--speedup=50 ");
	json_decref(o);
	/* It is not always the first one: of what is open that which may be most. */
	few[0].gain = 0.74;
	few[0].noise = 0.06;
	few[0].units = 4;
	unlink(path);
	assert_int_equal(fixture_write(path, &f, &(struct error){ 0 }), 0);
	assert_int_equal(run(cmd_report, path, NULL), 0);
	expect_in(out_text, "what may save most is other");
	expect_in(out_text, "Precision (percentage points, 95 %)\n  func:other@bar at 50 %: +-");
	expect_in(out_text, "--target=func:other@bar ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_time),   cmocka_unit_test(other_lengths),
		cmocka_unit_test(too_long),    cmocka_unit_test(enough),
		cmocka_unit_test(other_build), cmocka_unit_test(verdict_missing),
	};
	int ret;

	snprintf(path, sizeof(path), "/tmp/test_report_trust-%d.scoz", getpid());
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	free(out_text);
	free(err_text);
	return ret;
}
