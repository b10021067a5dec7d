// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/format.h"
#include "stats/describe.h"
#include "tests/unit/test_report_sample.h"

static const json_t *get(const json_t *o, const char *key, int type)
{
	const json_t *v = json_object_get(o, key);

	if (!v || (type == JSON_REAL ? !json_is_number(v) : (int)json_typeof(v) != type))
		fail_msg("key %s is missing or of another type", key);
	return v;
}

static double number_at(const json_t *o, const char *key)
{
	return json_number_value(get(o, key, JSON_REAL));
}

static const char *text_at(const json_t *o, const char *key)
{
	return json_string_value(get(o, key, JSON_STRING));
}

static void check_point(const json_t *p)
{
	const json_t *ci = json_object_get(p, "ci95");
	double v = number_at(p, "program_speedup_pct");

	number_at(p, "speedup_pct");
	get(p, "windows", JSON_INTEGER);
	assert_non_null(ci);
	if (json_is_null(ci))
		return;
	assert_int_equal(json_array_size(ci), 2);
	assert_true(json_number_value(json_array_get(ci, 0)) <= v);
	assert_true(json_number_value(json_array_get(ci, 1)) >= v);
}

/* One number with its interval, which is one of the points', or none. */
static void check_best(const json_t *t)
{
	const json_t *v = json_object_get(t, "best_pct"), *p;
	const char *known = text_at(t, "best_known");
	bool found = false;
	size_t i;

	if (strcmp(known, "value")) {
		assert_true(json_is_null(v));
		return;
	}
	json_array_foreach (get(t, "points", JSON_ARRAY), i, p) {
		if (number_at(p, "speedup_pct") != number_at(t, "best_at_pct"))
			continue;
		found = true;
		assert_true(
			json_equal(json_object_get(p, "ci95"), json_object_get(t, "best_ci95")));
		assert_true(number_at(p, "program_speedup_pct") == json_number_value(v));
	}
	assert_true(found);
}

/* The keys of docs/file-format.md, in this order, with their types. */
static void check_schema(const json_t *o)
{
	static const char *const order[] = { "schema",
					     "profile",
					     "engine",
					     "model",
					     "mode",
					     "frequency_hz",
					     "seed",
					     "command",
					     "command_status",
					     "host",
					     "kernel",
					     "runs",
					     "complete",
					     "duration_s",
					     "inserted_delay_s",
					     "owed_delay_s",
					     "windows",
					     "samples",
					     "progress",
					     "targets",
					     "reasons",
					     "warnings",
					     "notes",
					     "machine",
					     "processes",
					     "chosen_samples",
					     "choices",
					     "replay",
					     "next" };
	const json_t *w, *v;
	const char *key;
	size_t i = 0;

	json_object_foreach ((json_t *)o, key, v)
		assert_string_equal(key, order[i++]);
	assert_int_equal(i, ARRAY_SIZE(order));
	assert_string_equal(text_at(o, "schema"), "scoz-report/1");
	text_at(o, "profile");
	text_at(o, "engine");
	text_at(o, "model");
	number_at(o, "frequency_hz");
	get(o, "seed", JSON_INTEGER);
	number_at(o, "duration_s");
	number_at(o, "inserted_delay_s");
	w = get(o, "windows", JSON_OBJECT);
	get(w, "kept", JSON_INTEGER);
	w = get(w, "discarded", JSON_OBJECT);
	get(w, "steal", JSON_INTEGER);
	get(w, "lost", JSON_INTEGER);
	get(w, "few_visits", JSON_INTEGER);
	w = get(o, "samples", JSON_OBJECT);
	get(w, "total", JSON_INTEGER);
	get(w, "lost", JSON_INTEGER);
	json_array_foreach (get(o, "progress", JSON_ARRAY), i, v) {
		text_at(v, "name");
		number_at(v, "visits");
		number_at(v, "rate_per_s");
	}
	json_array_foreach (get(o, "targets", JSON_ARRAY), i, v) {
		const json_t *points = get(v, "points", JSON_ARRAY), *p;
		size_t k;

		text_at(v, "target");
		text_at(v, "kind");
		text_at(v, "location");
		get(v, "samples", JSON_INTEGER);
		text_at(v, "progress");
		check_best(v);
		assert_non_null(json_object_get(v, "precision_s"));
		text_at(v, "verdict");
		assert_non_null(json_object_get(v, "warning"));
		assert_true(json_array_size(points) > 1);
		assert_true(number_at(json_array_get(points, 0), "speedup_pct") == 0);
		json_array_foreach (points, k, p)
			check_point(p);
	}
}

static void test_json(void **state)
{
	const json_t *list, *t;
	json_t *o;

	(void)state;
	make(&fixture);
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
	assert_string_equal(err_text, "");
	o = parse_report();
	check_schema(o);
	assert_int_equal(json_array_size(get(o, "reasons", JSON_ARRAY)), 0);
	assert_true(number_at(o, "duration_s") == 61.2);
	assert_true(number_at(o, "frequency_hz") == 4000);
	assert_true(json_is_true(json_object_get(o, "complete")));
	list = get(o, "targets", JSON_ARRAY);
	assert_int_equal(json_array_size(list), 8); /* (target, progress) */
	for (size_t i = 6; i < 8; i++) {
		t = json_array_get(list, i);
		assert_string_equal(text_at(t, "target"), "func:rare@bar");
		assert_string_equal(text_at(t, "best_known"), "nothing");
	}
	t = json_array_get(list, 0);
	assert_string_equal(text_at(t, "target"), "func:work_f@bar");
	assert_string_equal(text_at(t, "verdict"), "optimize");
	assert_true(json_is_null(json_object_get(t, "doubt")));
	assert_int_equal(number_at(t, "samples"), 61022);
	assert_float_equal(number_at(t, "best_pct"), 20, 1.5);
	assert_true(number_at(t, "best_at_pct") >= 50);
	t = json_array_get(list, 5); /* what is not known stands last */
	assert_string_equal(text_at(t, "verdict"), "contention");
	assert_float_equal(number_at(t, "best_pct"), -15, 2); /* the loss */
	assert_true(number_at(t, "best_at_pct") == 100);
	/* Unaltered: programs know how to deal with control characters. */
	assert_string_equal(text_at(t, "target"), "kernel:lock,\"it\"\033[31m\n");
	for (size_t i = 0; i < 8; i++) {
		t = json_array_get(list, i);
		if (strcmp(text_at(t, "target"), "func:rare@bar"))
			continue;
		assert_string_equal(text_at(t, "verdict"), "undecided");
		assert_string_equal(text_at(t, "doubt"), "few windows");
		assert_true(json_is_null(
			json_object_get(json_array_get(json_object_get(t, "points"), 1), "ci95")));
		assert_non_null(strstr(text_at(t, "warning"), "too few windows"));
	}
	json_decref(o);
}

static double window_sum(void)
{
	struct profile *p;
	double sum = 0;

	assert_int_equal(profile_read(path, &p, NULL), 0);
	for (size_t i = 0; i < p->n_windows; i++)
		sum += p->windows[i].discard ? 0 : p->windows[i].inserted_s;
	profile_free(p);
	return sum;
}

static size_t count_lines(const char *start)
{
	size_t n = 0;

	for (const char *s = out_text; (s = strstr(s, start)); s++)
		n += s == out_text || s[-1] == '\n';
	return n;
}

static size_t count_in(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *s = text; (s = strstr(s, what)); s++)
		n++;
	return n;
}

static size_t kept_windows(void)
{
	struct profile *p;
	size_t n = 0;

	assert_int_equal(profile_read(path, &p, NULL), 0);
	for (size_t i = 0; i < p->n_windows; i++)
		n += !p->windows[i].discard && !p->windows[i].real;
	profile_free(p);
	return n;
}

static void test_inserted_delay(void **state)
{
	json_t *o;

	(void)state;
	make(&fixture);
	run(cmd_report, "--json", path, NULL);
	o = parse_report();
	assert_float_equal(number_at(o, "inserted_delay_s"), window_sum(), 1e-6);
	json_decref(o);
}

static void test_table(void **state)
{
	const char *work, *lock, *none;

	(void)state;
	make(&fixture);
	setenv("COLUMNS", "250", 1);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "./bar --fast"));
	assert_non_null(strstr(out_text, "61.2 s in 1 run"));
	assert_non_null(strstr(out_text, "steal"));
	assert_non_null(strstr(out_text, "0.02 s unpaid"));
	assert_non_null(strstr(out_text, "request (latency)"));
	work = strstr(out_text, "\n  work_f ");
	none = strstr(out_text, "\n  bar.c:8 ");
	lock = strstr(out_text, "\n  kernel:lock,\"it\"?[31m? ");
	assert_true(work && none && lock && work < lock && lock < none);
	assert_null(strchr(out_text, '\033'));
	/* Of what nothing is known there are no numbers. */
	assert_non_null(strstr(out_text, "\n  rare "));
	assert_null(strstr(out_text, "[?]"));
	assert_non_null(strstr(out_text, "Warnings\n"));
	unsetenv("COLUMNS");
}

static void expect_nothing(const char *reason)
{
	json_t *o;

	assert_int_equal(run(cmd_report, path, NULL), EXIT_NOTHING);
	if (!strstr(err_text, reason))
		fail_msg("\"%s\" is not in \"%s\"", reason, err_text);
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, reason));
	o = parse_report();
	check_schema(o);
	assert_int_equal(json_array_size(json_object_get(o, "targets")), 0);
	assert_true(json_array_size(json_object_get(o, "reasons")) > 0);
	assert_non_null(strstr(out_text, reason));
	json_decref(o);
	assert_int_equal(run(cmd_export, "-f", "csv", path, NULL), EXIT_NOTHING);
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), EXIT_NOTHING);
	assert_non_null(strstr(out_text, "Nothing can be concluded"));
}

static size_t measured_circles(void)
{
	char *svg = NULL;
	size_t len, n = 0;
	FILE *out = open_memstream(&svg, &len);
	struct model *m;

	assert_int_equal(model_load(path, &m, NULL), 0);
	plot_write_svg(m, out);
	fclose(out);
	for (const char *s = svg; (s = strstr(s, "class=\"measured\"")); s++)
		n++;
	free(svg);
	model_free(m);
	return n;
}

/* What was measured stands beside what was predicted, and only where there is any. */
static void test_measured(void **state)
{
	struct fixture truth = fixture;
	const json_t *p, *m;
	json_t *o;

	(void)state;
	make(&fixture);
	run(cmd_report, "--json", path, NULL);
	assert_null(strstr(out_text, "measured"));
	run(cmd_export, "-f", "csv", path, NULL);
	assert_null(strstr(out_text, "measured"));
	assert_int_equal(measured_circles(), 0);

	truth.truth = true;
	truth.n_targets = 2;
	make(&truth);
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
	o = parse_report();
	check_schema(o);
	p = get(json_array_get(get(o, "targets", JSON_ARRAY), 0), "points", JSON_ARRAY);
	assert_null(json_object_get(json_array_get(p, 0), "measured"));
	m = get(json_array_get(p, 2), "measured", JSON_OBJECT);
	assert_float_equal(number_at(m, "program_speedup_pct"), 20, 1.5);
	assert_in_range(number_at(m, "windows"), 10, 12);
	assert_int_equal(json_array_size(get(m, "ci95", JSON_ARRAY)), 2);
	json_decref(o);

	setenv("COLUMNS", "100", 1);
	run(cmd_report, path, NULL);
	assert_non_null(strstr(out_text, "\n    measured at 100 %: 20."));
	run(cmd_report, path, "work_f", NULL);
	assert_int_equal(count_in(out_text, "  MEASURED\n"), 2);
	assert_int_equal(count_in(out_text, "]\n"), 2 * 3); /* at the end of each line */
	unsetenv("COLUMNS");

	run(cmd_export, "-f", "csv", path, NULL);
	assert_non_null(strstr(out_text, "verdict,measured_pct,measured_low,measured_high,"
					 "measured_windows,doubt\n"));
	assert_non_null(strstr(out_text, ",optimize,,,,0,\n"));
	assert_int_equal(measured_circles(), 2 * 2 * 3);
	/* The viewer of COZ would take them for predictions. */
	run(cmd_export, "-f", "coz", path, NULL);
	assert_int_equal(count_lines("experiment\t"), 2 * kept_windows());
}

/*
 * What replay expected stands beside what experiments say, with its bounds; where the two lie apart
 * that is said; and it changes no verdict.
 */
static void test_replay(void **state)
{
	static struct profile_expectation agrees[] = { { 0.5, 20, 15, 25 }, { 1, 21, 15, 30 } };
	static struct profile_expectation more[] = { { 0.5, 30, 25, 35 }, { 1, 60, 50, 70 } };
	static struct profile_expectation other[] = { { 0.25, 4, 2, 8 }, { 0.5, 8, 4, 16 } };
	static struct profile_expectation line[] = { { 0.5, 3, 1, 5 } };
	static struct profile_expectation none[] = { { 0.5, 0, -1, 1 } };
	const struct profile_expected expected[] = {
		{ .target = "func:work_f@bar",
		  .kind = "function",
		  .location = "bar.c:20",
		  .share = 0.4,
		  .samples = 1200,
		  .at = agrees,
		  .n_at = 2 },
		{ .target = "bar.c:8",
		  .kind = "line",
		  .location = "bar.c:8",
		  .share = 0.2,
		  .at = more,
		  .n_at = 2 },
		{ .target = "func:other@bar",
		  .kind = "function",
		  .location = "",
		  .share = 0.1,
		  .at = other,
		  .n_at = 2 },
		{ .target = "func:all_other@bar",
		  .kind = "function",
		  .location = "",
		  .at = line,
		  .n_at = 1 },
		{ .target = "bar.c:9",
		  .kind = "line",
		  .location = "bar.c:9",
		  .function = "func:work_f@bar",
		  .at = more,
		  .n_at = 2 },
		{ .target = "bar.c:30",
		  .kind = "line",
		  .location = "bar.c:30",
		  .at = line,
		  .n_at = 1 },
		{ .target = "func:idle@bar",
		  .kind = "function",
		  .location = "",
		  .at = none,
		  .n_at = 1 },
	};
	struct fixture_target lines[] = { targets[0], targets[1] };
	struct fixture f = fixture;
	char *verdicts[2] = { xstrdup(""), xstrdup("") };
	const json_t *o, *row;
	json_t *all;

	(void)state;
	f.n_targets = 2;
	for (int with = 0; with < 2; with++) {
		f.expected = expected;
		f.n_expected = with ? ARRAY_SIZE(expected) : 0;
		make(&f);
		assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
		all = parse_report();
		for (size_t i = 0; i < json_array_size(get(all, "targets", JSON_ARRAY)); i++) {
			row = json_array_get(get(all, "targets", JSON_ARRAY), i);
			text_add(&verdicts[with], "%s %s %g;", text_at(row, "target"),
				 text_at(row, "verdict"),
				 json_number_value(json_object_get(row, "best_pct")));
		}
		if (!with) {
			assert_true(json_is_null(json_object_get(all, "replay")));
			json_decref(all);
		}
	}
	assert_string_equal(verdicts[0], verdicts[1]);
	free(verdicts[0]);
	free(verdicts[1]);
	o = get(all, "replay", JSON_OBJECT);
	assert_true(number_at(o, "seconds") == 3);
	assert_int_equal(json_array_size(get(o, "targets", JSON_ARRAY)), 7);
	row = json_array_get(get(all, "targets", JSON_ARRAY), 0);
	assert_string_equal(text_at(row, "target"), "func:work_f@bar");
	o = get(row, "replay", JSON_OBJECT);
	assert_string_equal(text_at(o, "beside"), "agrees");
	assert_int_equal(json_array_size(get(o, "points", JSON_ARRAY)), 2);
	json_decref(all);

	setenv("COLUMNS", "100", 1);
	run(cmd_report, path, NULL);
	assert_non_null(strstr(out_text, "\n    replay expected 2"));
	assert_non_null(strstr(out_text, "not what experiments say"));
	assert_non_null(
		strstr(out_text,
		       "Not measured (2): only estimated, from a recording of the first 3.0 s\n"));
	assert_non_null(strstr(out_text, "\n  func:other@bar: 8.0, between 4.0 and 16.0 at 50 %"));
	assert_non_null(strstr(out_text, "\n  bar.c:30: 3.0, between 1.0 and 5.0 at 50 %"));
	assert_null(strstr(out_text, "all_other")); /* that is the line */
	assert_null(strstr(out_text, "bar.c:9"));   /* in work_f, which was measured */
	assert_null(strstr(out_text, "func:idle"));
	assert_non_null(strstr(out_text, "Notes\n  bar.c:8: experiments say"));
	assert_non_null(strstr(out_text, "less than was expected is usually due to"));
	assert_null(strstr(out_text, "--per process"));
	run(cmd_report, path, "work_f", NULL);
	/* Between two speedups, too. */
	assert_non_null(strstr(out_text, "  REPLAY (BOUNDS)\n"));
	assert_non_null(strstr(out_text, "  10.0 [7.5, 12.5]\n"));
	unsetenv("COLUMNS");
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text,
			       "<summary>Not measured (2): only estimated, from a recording of "));
	assert_non_null(strstr(out_text, "<tr><td>func:other@bar</td><td>8.0 [4.0, 16.0]</td>"
					 "<td>50 % less time</td></tr>"));

	/* For whom is waited while a disk is busy: by name. */
	assert_null(strstr(out_text, "tasks waited for disks"));
	f.through = "jbd2/loop0-8";
	make(&f);
	setenv("COLUMNS", "300", 1);
	run(cmd_report, path, NULL);
	assert_non_null(strstr(
		out_text, "in the first 3.0 s 1.7 tasks waited for disks at a time: 93 % of "
			  "that until jbd2/loop0-8 was done, which is not profiled (the thread "
			  "of the kernel that commits the journal of a file system)"));
	unsetenv("COLUMNS");
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
	all = parse_report();
	o = get(get(all, "replay", JSON_OBJECT), "through", JSON_OBJECT);
	assert_string_equal(text_at(o, "name"), "jbd2/loop0-8");
	assert_true(number_at(o, "share_pct") == 93);
	json_decref(all);
	f.through = NULL;

	/* Of several lines that were measured as one, none is left. */
	lines[0].t.name = "bar.c:28-31";
	f.targets = lines;
	make(&f);
	run(cmd_report, path, NULL);
	assert_null(strstr(out_text, "\n  bar.c:30: 3.0"));
	assert_non_null(strstr(out_text, "\n  func:other@bar: 8.0"));
	f.targets = fixture.targets;

	/* Before the first window it is all there is, and concludes nothing. */
	f.n_targets = 0;
	make(&f);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_NOTHING);
	assert_ptr_equal(strstr(out_text, "Nothing is known about the time per \""), out_text);
	assert_non_null(strstr(out_text, "Not measured (5)"));
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), EXIT_NOTHING);
	assert_non_null(strstr(out_text, "<h1 class=\"headline\">Nothing is known about the "));
	assert_non_null(strstr(out_text, "<summary>Not measured (5): "));
}

/* What was chosen from, in its order; of two runs that of the last one. */
static void test_choices(void **state)
{
	static const struct profile_choice all[] = { { 0, "bar.c:684-687", 500 },
						     { 0, "class:io", 70 } };
	struct fixture f = fixture;
	const json_t *list;
	json_t *report;

	(void)state;
	f.choices = all;
	for (f.n_choices = 0; f.n_choices <= 2; f.n_choices += 2) {
		make(&f);
		assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
		report = parse_report();
		list = get(report, "choices", JSON_ARRAY);
		assert_int_equal(json_array_size(list), f.n_choices);
		if (f.n_choices) {
			assert_string_equal(text_at(json_array_get(list, 0), "target"),
					    "bar.c:684-687");
			assert_true(number_at(json_array_get(list, 0), "samples") == 500);
			assert_string_equal(text_at(json_array_get(list, 1), "target"), "class:io");
		}
		json_decref(report);
	}
}

static void test_phases(void **state)
{
	struct fixture two = fixture;
	struct fixture_target t[] = { targets[0], targets[0] };

	(void)state;
	make(&fixture);
	run(cmd_report, path, NULL);
	assert_null(strstr(out_text, "changed its speed by itself"));
	t[1].t.name = "bar.c:9";
	t[1].shift = 0.5;
	two.targets = t;
	two.n_targets = 2;
	make(&two);
	run(cmd_report, path, NULL);
	assert_non_null(strstr(out_text, "changed its speed by itself: iter: "));
	assert_non_null(strstr(out_text, "all its windows lie after "));
}

static void test_nothing(void **state)
{
	(void)state;
	put_text(HEADER FOOTER);
	expect_nothing("no window was recorded");
	put_text(HEADER);
	expect_nothing("cut off");
	put_text(HEADER
		 "{\"type\":\"footer\",\"run\":0,\"reasons\":[\"no target was seen: x\"]}\n");
	expect_nothing("no target was seen: x");
	put_text(HEADER WINDOW("0", "0", "\"steal\"", "1") WINDOW("1", "0.5", "\"steal\"", "1")
			 FOOTER);
	expect_nothing("2 of 2 windows were discarded as ");
	run(cmd_report, path, NULL);
	assert_non_null(strstr(err_text, "\"steal\": the host took the CPU away"));
}

static void test_nothing_more(void **state)
{
	(void)state;
	put_text(HEADER WINDOW("0", "0", "null", "0") WINDOW("1", "0.5", "null", "0") FOOTER);
	expect_nothing("no progress point was reached: ");
	put_text(HEADER WINDOW("0", "0", "null", "1") FOOTER);
	expect_nothing("no window with a speedup was kept");
	put_text(HEADER WINDOW("0", "0.5", "null", "1") FOOTER);
	expect_nothing("no 0 % window was kept");
	put_text(HEADER WINDOW("0", "0.5", "null", "1") WINDOW("9", "0", "null", "1") FOOTER);
	expect_nothing("no window with a speedup has a 0 % window beside it");
}

static void test_cut_off(void **state)
{
	struct fixture f = fixture;
	json_t *o;

	(void)state;
	f.footer = false;
	make(&f);
	assert_int_equal(truncate(path, 20000), 0);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "1 of 1 runs is cut off"));
	assert_non_null(strstr(out_text, "1 line of the file is cut off"));
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_DONE);
	o = parse_report();
	check_schema(o);
	assert_true(json_is_false(json_object_get(o, "complete")));
	assert_true(number_at(o, "duration_s") > 1); /* from the windows */
	json_decref(o);
}

static void test_errors(void **state)
{
	(void)state;
	put_text("hello\n");
	assert_int_equal(run(cmd_report, path, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "not a scoz profile"));
	assert_int_equal(run(cmd_report, "/no/such/file", NULL), EXIT_FAILED);
	assert_int_equal(run(cmd_export, "-fcsv", "/no/such/file", NULL), EXIT_FAILED);
	assert_int_equal(run(cmd_plot, "/no/such/file", NULL), EXIT_FAILED);
	assert_int_equal(run(cmd_targets, "/no/such/file", NULL), EXIT_FAILED);
	assert_int_equal(run(cmd_targets, "2147483646", NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "no such process"));

	/* the other kind of file: what it is, who reads it, and the same exit code from everybody
	 */
	put_text(JSONL_START("scoz-record") ",\"version\":1}\n");
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), EXIT_FAILED); /* no period */
	assert_int_equal(run(cmd_plot, "-o", "a.svg", path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_targets, path, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "a recording (of scoz record)"));
	assert_non_null(strstr(err_text, "`scoz report` and `scoz plot` read it"));
	assert_int_equal(run(cmd_diff, path, path, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "a recording (of scoz record)"));
	assert_int_equal(run(cmd_export, "-fcsv", path, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "a recording (of scoz record)"));

	assert_int_equal(run(cmd_report, "--nonsense", NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_report, "a", "b", NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_export, path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_export, "--format", "xls", path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_plot, "-o", "a.gif", path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_targets, "-n", "0", path, NULL), EXIT_USAGE);

	assert_int_equal(run(cmd_report, "--help", NULL), EXIT_DONE);
	assert_int_equal(run(cmd_plot, "--help", NULL), EXIT_DONE);
	assert_int_equal(run(cmd_export, "--help", NULL), EXIT_DONE);
	assert_int_equal(run(cmd_targets, "--help", NULL), EXIT_DONE);

	make(&fixture);
	assert_int_equal(run(cmd_export, "-f", "coz", "-o", "/dev/full", path, NULL), EXIT_FAILED);
	assert_int_equal(run(cmd_export, "-f", "coz", "-o", "/no/dir/x", path, NULL), EXIT_FAILED);
}

static void test_targets(void **state)
{
	const char *a, *b;

	(void)state;
	make(&fixture);
	assert_int_equal(run(cmd_targets, path, NULL), EXIT_DONE);
	a = strstr(out_text, "func:work_f@bar");
	b = strstr(out_text, "bar.c:8");
	assert_true(a && b && a < b);
	assert_non_null(strstr(out_text, "25.4 %"));
	assert_int_equal(run(cmd_targets, "-n", "1", path, NULL), EXIT_DONE);
	assert_null(strstr(out_text, "bar.c:8"));
	put_text(HEADER);
	assert_int_equal(run(cmd_targets, path, NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, "no samples"));
}

static void test_text(void **state)
{
	char *s;

	(void)state;
	s = text_clean("a\xc2\x9b"
		       "b\xe2\x80\xae\xff\xc3\xa9\x7f\xed\xa0\x80\xc0\x80",
		       "?");
	assert_string_equal(s, "a?b??\xc3\xa9??????");
	free(s);
	s = text_shorten(xstrdup("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"), 5, ELLIPSIS);
	assert_int_equal(text_width(s), 5);
	assert_string_equal(s, "\xc3\xa9\xc3\xa9\xe2\x80\xa6\xc3\xa9\xc3\xa9");
	free(s);
	s = percent_text(-0.01);
	assert_string_equal(s, "0.0");
	free(s);
}

/* Ten functions of one template at 80 columns, in a locale without UTF-8. */
static void test_long_names(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, 1);
	table_row(&t)[0] = xstrdup("TARGET");
	for (int i = 0; i < 10; i++)
		table_row(&t)[0] = xasprintf("func:std::map<std::string, Type%d, std::less<"
					     "std::string> >::operator[](std::string const&)"
					     "@server",
					     i);
	table_shorten(&t, 0, 24);
	for (size_t i = 0; i < t.rows; i++) {
		assert_true(strlen(t.cell[i]) <= 24); /* bytes: plain ASCII */
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(t.cell[i], t.cell[j]);
	}
	assert_string_equal(t.cell[1], "func:s~Type0, std~server");
	table_deinit(&t);
}

/* Titles say what was profiled where it was no command: it is not all if processes were chosen. */
static void test_subject(void **state)
{
	static const char *const chosen[] = { "scozd", "--pid=4711", "--duration=60", "--pid=12",
					      "--cgroup=/db" };
	static const char *const all[] = { "scozd", "--duration=60" };
	struct fixture f = fixture;

	(void)state;
	f.command = "";
	f.arguments = all;
	f.n_arguments = ARRAY_SIZE(all);
	make(&f);
	run(cmd_report, path, NULL);
	assert_non_null(strstr(out_text, ": the whole system\n"));
	f.arguments = chosen;
	f.n_arguments = ARRAY_SIZE(chosen);
	make(&f);
	run(cmd_report, path, NULL);
	assert_non_null(strstr(out_text, ": pid 4711, pid 12, cgroup /db\n"));
	assert_int_equal(run(cmd_plot, "-o", "-", path, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "<code>pid 4711, pid 12, cgroup /db</code>"));
	run(cmd_diff, path, path, NULL);
	assert_non_null(strstr(out_text, ": pid 4711, pid 12, cgroup /db, "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_names),     cmocka_unit_test(test_json),
		cmocka_unit_test(test_inserted_delay), cmocka_unit_test(test_table),
		cmocka_unit_test(test_nothing),	       cmocka_unit_test(test_measured),
		cmocka_unit_test(test_replay),	       cmocka_unit_test(test_choices),
		cmocka_unit_test(test_phases),	       cmocka_unit_test(test_nothing_more),
		cmocka_unit_test(test_cut_off),	       cmocka_unit_test(test_errors),
		cmocka_unit_test(test_targets),	       cmocka_unit_test(test_text),
		cmocka_unit_test(test_subject),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
