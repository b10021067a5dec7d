// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz diff: changed, the same, cannot be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/format.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

static char old[64], new[64];

static const double speedups[] = { 0.5, 1 };

#define T(i, name, g, noisy, n) \
	{ \
		{ i, name, "function", "bar.c:8" }, .gain = g, .bend = 1, .noise = noisy, \
						    .units = n, .samples = 100 \
	}
static const struct fixture_target before[] = {
	T(0, "func:gone@bar", 0.1, 0.02, 12),	T(1, "func:better@bar", 0.4, 0.02, 20),
	T(2, "func:steady@bar", 0.2, 0.01, 30), T(3, "func:wild@bar", 0.2, 0.4, 6),
	T(4, "func:few@bar", 0.2, 0.02, 1),
};
static const struct fixture_target after[] = {
	T(0, "func:few@bar", 0.2, 0.02, 1),	T(1, "func:wild@bar", 0.1, 0.4, 6),
	T(2, "func:steady@bar", 0.2, 0.01, 30), T(3, "func:better@bar", 0.1, 0.02, 20),
	T(4, "func:come@bar", 0.3, 0.02, 12),
};

static void make(const char *path, const struct fixture_target *t, size_t n)
{
	struct fixture f = { .command = "./bar",
			     .speedups = speedups,
			     .n_speedups = 2,
			     .targets = t,
			     .n_targets = n,
			     .footer = true };
	struct error err = { 0 };

	unlink(path);
	if (fixture_write(path, &f, &err))
		fail_msg("%s", err.text);
}

static size_t at(const char *text)
{
	const char *p = strstr(out_text, text);

	if (!p)
		fail_msg("\"%s\" is not in:\n%s", text, out_text);
	return p - out_text;
}

/* 0 %, and @pct at 50 % and 100 %, with a standard error of @error points at the latter. */
struct example {
	struct estimate_point points[3];
	struct estimate e;
};

static void make_example(struct example *x, double pct, double error)
{
	*x = (struct example){ .e = { .points = x->points, .n_points = 3, .best_at_pct = NAN } };
	for (int i = 1; i <= 2; i++)
		x->points[i] = (struct estimate_point){ .speedup_pct = 50 * i,
							.program_speedup_pct = pct,
							.log_ratio = log(1 - pct / 100),
							.se = error / (3 - i) / (100 - pct),
							.df = 1e6,
							.ci_lo = pct - 2 * error,
							.ci_hi = pct + 2 * error };
}

/* Both errors, and what only one of them may be more or less by. */
static void arithmetic(void **state)
{
	struct difference d, wide;
	struct example a, b;

	(void)state;
	make_example(&a, 10, 0.3);
	make_example(&b, 25, 0.4);
	d = difference_of(&a.points[2], &b.points[2], 1, 1);
	assert_int_equal(d.answer, DIFFERENCE_CHANGED);
	assert_float_equal(d.value, 15, 1e-9);
	assert_float_equal(d.hi, 15 + 1.959964 * 0.5, 1e-4);
	assert_float_equal(d.lo, 15 - 1.959964 * 0.5, 1e-4);
	a.points[2].above_pp = 3;
	b.points[2].above_pp = 1;
	b.points[2].below_pp = 2.5;
	wide = difference_of(&a.points[2], &b.points[2], 1, 1);
	assert_float_equal(wide.lo, d.lo - 4.5, 1e-9);
	assert_float_equal(wide.hi, d.hi, 1e-9);
	wide = difference_of(&b.points[2], &a.points[2], 1, 1);
	assert_float_equal(wide.lo, -d.hi, 1e-9);
	assert_float_equal(wide.hi, -d.lo + 4.5, 1e-9);
}

/* Where the first, else the second, has the number to act on; else where both are known best. */
static void compared_at(void **state)
{
	struct example a, b;

	(void)state;
	make_example(&a, 10, 0.3);
	make_example(&b, 25, 0.4);
	assert_float_equal(difference_at(&a.e, &b.e), 50, 1e-9);
	b.e.best = KNOWN_VALUE;
	b.e.best_at_pct = 100;
	assert_float_equal(difference_at(&a.e, &b.e), 100, 1e-9);
	a.e.best = KNOWN_VALUE;
	a.e.best_at_pct = 50;
	b.e.best_at_pct = 100;
	assert_float_equal(difference_at(&a.e, &b.e), 50, 1e-9);
	b.points[1].ci_hi = INFINITY;
	assert_float_equal(difference_at(&a.e, &b.e), 100, 1e-9);
	b.e.best = KNOWN_NOTHING;
	b.points[2].ci_hi = INFINITY;
	assert_true(isnan(difference_at(&a.e, &b.e)));
}

static void as_text(void **state)
{
	(void)state;
	make(old, before, ARRAY_SIZE(before));
	make(new, after, ARRAY_SIZE(after));
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_DONE);
	assert_int_equal(at("better changed most: if it took no time at all, it would have saved "),
			 0);
	assert_true(at("Changed (1)\nbetter ") < at("The same (1)\nsteady "));
	assert_true(at("The same (1)") < at("Cannot be told (2)"));
	assert_true(at("Cannot be told (2)") < at("\nfew "));
	assert_true(at("Cannot be told (2)") < at("\nwild "));
	at("Only in OLD (1): gone\n");
	at("Only in NEW (1): come\n");
	at("1 changed, 1 the same, 2 cannot be told.\n");
}

/* What is called the same in both is the same. */
static void alike(void **state)
{
	const struct fixture_target one = T(0, "func:work@one", 0.1, 0.02, 12);
	const struct fixture_target two = T(0, "func:work@two", 0.1, 0.02, 12);

	(void)state;
	make(old, &one, 1);
	make(new, &two, 1);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	at("Only in OLD (1): work@one\n");
	at("Only in NEW (1): work@two\n");
}

/* In sentences as wide as the terminal. */
static void narrow(void **state)
{
	(void)state;
	make(old, before, ARRAY_SIZE(before));
	make(new, after, ARRAY_SIZE(after));
	setenv("COLUMNS", "80", 1);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_DONE);
	unsetenv("COLUMNS");
	for (const char *line = out_text; *line; line += strcspn(line, "\n") + 1) {
		_cleanup_free_ char *text = xstrndup(line, strcspn(line, "\n"));

		if (text_width(text) > 80)
			fail_msg("wider than 80:\n%s", out_text);
	}
}

/* The page: slopes of what is known, all of it in a table, nothing loaded, names deafened. */
static void as_page(void **state)
{
	_cleanup_free_ char *page = xasprintf("%s.html", new);
	struct fixture_target foul[2] = { before[1], before[2] };
	char *text;

	(void)state;
	make(old, before, ARRAY_SIZE(before));
	make(new, after, ARRAY_SIZE(after));
	assert_int_equal(run(cmd_diff, "-o", page, old, new, NULL), EXIT_DONE);
	assert_string_equal(out_text, "");
	text = read_file(page, NULL);
	assert_non_null(strstr(
		text, "<h1>better changed most: if it took no time at all, it would have saved "));
	assert_non_null(strstr(text, "<g class=\"changed\">"));
	assert_non_null(strstr(text, "<g class=\"same\">"));
	assert_true(strstr(text, "(1)</caption>") < strstr(text, "Cannot be told (2)</caption>"));
	assert_null(strstr(text, " \xe2\x80\x94 few</text>")); /* nothing is known of it */
	assert_non_null(strstr(text, "\">few</td>"));
	assert_null(strstr(text, "http"));
	assert_null(strstr(strstr(text, "<script") + 1, "<script")); /* but for paint_once.js */
	assert_null(strstr(text, "nan"));
	free(text);
	foul[0].t.name = "</text><script>alert(1)</script>&\033[2J";
	make(old, foul, 2);
	make(new, foul, 2);
	assert_int_equal(run(cmd_diff, "-o", page, old, new, NULL), EXIT_DONE);
	text = read_file(page, NULL);
	assert_null(strstr(strstr(text, "<script") + 1, "<script")); /* but for paint_once.js */
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "&lt;script&gt;alert(1)"));
	free(text);
	assert_int_equal(run(cmd_diff, "-o", "/tmp/page.png", old, new, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_diff, "-o", "/tmp/page.html.gz", old, new, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_diff, "-o", "/no/such/page.html", old, new, NULL), EXIT_FAILED);
	unlink(page);
}

static void as_json(void **state)
{
	static const char *const keys[] = { "schema",  "old",	   "new",
					    "targets", "only_old", "only_new" };
	json_error_t why;
	const json_t *t;
	double d, lo, hi;
	json_t *o;

	(void)state;
	assert_int_equal(run(cmd_diff, "--json", old, new, NULL), EXIT_DONE);
	o = json_loads(out_text, 0, &why);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_non_null(json_object_get(o, keys[i]));
	t = json_array_get(json_object_get(o, "targets"), 0);
	assert_string_equal(json_string_value(json_object_get(t, "target")), "func:better@bar");
	assert_string_equal(json_string_value(json_object_get(t, "answer")), "changed");
	d = json_number_value(json_object_get(t, "difference_pp"));
	lo = json_number_value(json_array_get(json_object_get(t, "ci95"), 0));
	hi = json_number_value(json_array_get(json_object_get(t, "ci95"), 1));
	assert_float_equal(d, -30, 3);
	assert_true(lo < d && d < hi && hi < 0 && hi - lo < 12);
	t = json_array_get(json_object_get(o, "only_old"), 0);
	assert_string_equal(json_string_value(json_object_get(t, "target")), "func:gone@bar");
	assert_string_equal(json_string_value(json_object_get(t, "progress")), "iter");
	json_decref(o);
}

/* Neither against itself nor the other way round is anything else said. */
static void symmetry(void **state)
{
	(void)state;
	assert_int_equal(run(cmd_diff, old, old, NULL), EXIT_DONE);
	at("0 changed, ");
	at("No target surely changed; ");
	assert_int_equal(run(cmd_diff, new, old, NULL), EXIT_DONE);
	at("1 changed, 1 the same, 2 cannot be told.\n");
	at("+3");
}

static void nothing(void **state)
{
	(void)state;
	make(new, &before[3], 2); /* wild and few */
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	at("What changed cannot be told: profile longer; 0 changed, 0 the same, 2 cannot");
	make(new, &after[4], 1);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	assert_int_equal(at("No target is in both profiles"), 0);
	/* Narrower than the interval: not the same for sure. */
	make(new, after, ARRAY_SIZE(after));
	assert_int_equal(run(cmd_diff, "--within", "0.1", old, new, NULL), EXIT_DONE);
	at("1 changed, 0 the same, 3 cannot be told.\n");
	make(new, after, 0);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, "nothing can be concluded: no window was recorded"));
	assert_int_equal(run(cmd_diff, "--json", old, new, NULL), EXIT_NOTHING);
	at("\"NEW: nothing can be concluded: no window was recorded");
	assert_int_equal(run(cmd_diff, "--within", "x", old, new, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_diff, old, NULL), EXIT_USAGE);
}

static void make_one(const char *path, double gain, double sleeps, const struct fixture *how)
{
	struct fixture_target t = before[2];
	struct fixture f = *how;
	struct error err = { 0 };

	t.gain = gain;
	t.noise = 0.002;
	t.sleeps = sleeps;
	f.command = "./bar";
	f.speedups = speedups;
	f.n_speedups = 2;
	f.targets = &t;
	f.n_targets = 1;
	unlink(path);
	assert_int_equal(fixture_write(path, &f, &err), 0);
}

/* A difference that is sure, and smaller than anybody wants to know. */
static void within(void **state)
{
	const struct fixture f = { .footer = true };

	(void)state;
	make_one(old, 0.2, 0, &f);
	make_one(new, 0.25, 0, &f);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_DONE);
	at("1 changed, 0 the same, ");
	assert_int_equal(run(cmd_diff, "--within", "20", old, new, NULL), EXIT_DONE);
	at("0 changed, 1 the same, ");
	/* Numbers of what is paced from outside are none. */
	make_one(new, 0.25, 1, &f);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	at("0 changed, 0 the same, 1 cannot");
	at("]    -                  -\n");
	assert_int_equal(run(cmd_diff, "--json", old, new, NULL), EXIT_NOTHING);
	at("\"new\": null");
	at("\"program_speedup_pct\": 2");
	assert_int_equal(run(cmd_diff, "-o", "-", old, new, NULL), EXIT_NOTHING);
	at("]</td><td>\xe2\x80\x94</td><td>\xe2\x80\x94</td></tr>");
}

static void not_alike(void **state)
{
	const struct fixture f = { .footer = true }, other = { .model = "cycles", .name = "loop" };

	(void)state;
	make_one(old, 0.2, 0, &f);
	make_one(new, 0.5, 0, &(struct fixture){ .mode = "end-to-end" });
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	assert_int_equal(
		at("Nothing can be compared: OLD is of mode windows, NEW of mode end-to-end"), 0);
	at("Cannot be told (1)");
	assert_int_equal(run(cmd_diff, "--json", old, new, NULL), EXIT_NOTHING);
	at("\"difference_pp\": null,\n   \"ci95\": null\n");
	make_one(new, 0.5, 0, &(struct fixture){ .waits = true });
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_NOTHING);
	assert_int_equal(at("Nothing can be compared: OLD is without --waits, NEW with: "), 0);
	assert_int_equal(run(cmd_diff, "--json", old, new, NULL), EXIT_NOTHING);
	at("\"apart\": \"OLD is without --waits");
	/* Doubtful, but worth a look. Without a footer it was cut off. */
	make_one(new, 0.5, 0, &other);
	assert_int_equal(run(cmd_diff, old, new, NULL), EXIT_DONE);
	at("1 changed, ");
	at("\nWarnings\n  OLD is of model wait, NEW of model cycles: ");
	at("\n  the progress point is \"iter\" in OLD and \"loop\" in NEW: ");
	at("\n  NEW: 1 of 1 runs is cut off: ");
}

/* Of pairs of programs that are alike, next to none is said to have changed. */
static void false_alarms(void **state)
{
	struct rng rng = { 3 };
	size_t changed = 0, inside = 0, n = 2000;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct estimate_point p[2];
		struct difference d;

		for (int k = 0; k < 2; k++) {
			double log_ratio = log(0.8) + 0.02 * fixture_normal(&rng);

			p[k] = (struct estimate_point){ .log_ratio = log_ratio,
							.program_speedup_pct =
								100 * (1 - exp(log_ratio)),
							.ci_lo = 10,
							.ci_hi = 30,
							.se = 0.02,
							.df = 200 };
		}
		d = difference_of(&p[0], &p[1], 1, 3);
		changed += d.answer == DIFFERENCE_CHANGED;
		inside += d.lo < 0 && d.hi > 0;
	}
	assert_true(changed < 0.01 * n);
	assert_in_range(inside, 0.93 * n, 0.97 * n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),	cmocka_unit_test(as_json),
		cmocka_unit_test(symmetry),	cmocka_unit_test(nothing),
		cmocka_unit_test(false_alarms), cmocka_unit_test(within),
		cmocka_unit_test(not_alike),	cmocka_unit_test(as_page),
		cmocka_unit_test(alike),	cmocka_unit_test(narrow),
		cmocka_unit_test(arithmetic),	cmocka_unit_test(compared_at),
	};
	int ret;

	snprintf(old, sizeof(old), "/tmp/test_diff-%d-old.scoz", getpid());
	snprintf(new, sizeof(new), "/tmp/test_diff-%d-new.scoz", getpid());
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(old);
	unlink(new);
	free(out_text);
	free(err_text);
	return ret;
}
