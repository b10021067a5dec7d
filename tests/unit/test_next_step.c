// SPDX-License-Identifier: GPL-2.0-or-later
/* What is best done after the best: from joint experiments, and as the report tells it. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/next_step.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

/* ---- arithmetic ---- */

#define MANY 1e6 /* degrees of freedom */

/* 0 %, and @pct at 50 % with a standard error of @error points. */
struct example {
	struct estimate_point points[2];
	struct estimate e;
};

static struct estimate *make(struct example *x, double pct, double error)
{
	struct estimate_point *p = &x->points[1];

	*x = (struct example){ 0 };
	*p = (struct estimate_point){
		.speedup_pct = 50,
		.program_speedup_pct = pct,
		.log_ratio = log(1 - pct / 100),
		.se = error / (100 - pct),
		.df = MANY,
		.ci_lo = pct - 1.96 * error,
		.ci_hi = pct + 1.96 * error,
	};
	x->e = (struct estimate){ .points = x->points, .n_points = 2 };
	return &x->e;
}

static struct next_step find(struct estimate *first, struct estimate *b, struct estimate *c)
{
	struct next_joint joint[] = { { b, "b" }, { c, "c" } };

	return next_step_find(first, joint, !b ? 0 : c ? 2 : 1);
}

/* What is said is the difference, and both errors are in its interval. */
static void difference(void **state)
{
	struct example a, ab;
	struct next_step s = find(make(&a, 18, 0.3), make(&ab, 29, 0.4), NULL);

	(void)state;
	assert_int_equal(s.answer, NEXT_MORE);
	assert_float_equal(s.speedup_pct, 50, 1e-9);
	assert_ptr_equal(s.first, &a.points[1]);
	assert_float_equal(s.more.value, 11, 1e-6);
	assert_float_equal(s.more.hi - s.more.value, 1.96 * 0.5, 1e-3);
	assert_float_equal(s.more.value - s.more.lo, 1.96 * 0.5, 1e-3);
}

static void answers(void **state)
{
	struct example a, b, c;

	(void)state;
	/* The one of which more is sure, not that with the larger number. */
	assert_int_equal(find(make(&a, 18, 0.3), make(&b, 29, 0.4), make(&c, 33, 3)).answer,
			 NEXT_MORE);
	assert_int_equal(find(&a.e, &b.e, &c.e).second, 0);
	assert_int_equal(find(&a.e, make(&c, 33, 0.5), make(&b, 29, 0.4)).second, 0);
	assert_int_equal(find(&a.e, make(&b, 29, 0.4), make(&c, 33, 0.5)).second, 1);
	/* It may be chance. */
	assert_int_equal(find(make(&a, 18, 0.3), make(&b, 22, 2), NULL).answer, NEXT_OPEN);
	/* Of one it is known, not of the other. */
	assert_int_equal(find(&a.e, make(&b, 18.1, 0.2), make(&c, 22, 4)).answer, NEXT_OPEN);
	/* Nothing to speak of is gained, or something lost. */
	assert_int_equal(find(&a.e, make(&b, 18.1, 0.2), make(&c, 12, 0.3)).answer, NEXT_NOTHING);
	/* The first is not surely worth anything at that speedup. */
	assert_int_equal(find(make(&a, 1, 2), make(&b, 29, 0.4), NULL).answer, NEXT_NONE);
	assert_int_equal(find(make(&a, 18, 0.3), NULL, NULL).answer, NEXT_NONE);
	/* No speedup in common. */
	make(&b, 29, 0.4);
	b.points[1].speedup_pct = 25;
	assert_int_equal(find(&a.e, &b.e, NULL).answer, NEXT_NONE);
	/* Numbers that are not to be acted on. */
	make(&b, 29, 0.4);
	b.e.doubt = DOUBT_PACED;
	assert_int_equal(find(&a.e, &b.e, NULL).answer, NEXT_OPEN);
	a.e.doubt = DOUBT_PACED;
	assert_int_equal(find(&a.e, &b.e, NULL).answer, NEXT_NONE);
}

static void words(void **state)
{
	struct next_joint joint[2];
	struct example a, b, c;
	struct next_step s;
	char *text;

	(void)state;
	make(&a, 18, 0.3);
	joint[0] = (struct next_joint){ make(&b, 29, 0.4), "parse" };
	joint[1] = (struct next_joint){ make(&c, 18, 0.1), "io" };
	s = next_step_find(&a.e, joint, 2);
	text = next_step_text(&s, "work", joint, 2);
	assert_string_equal(text, "After work, parse is next: if both took 50 % less time, parse "
				  "would save 11.0 % [10.0, 12.0] on top of the 18.0 % [17.4, "
				  "18.6] of work");
	free(text);
	make(&b, 18, 0.1);
	s = next_step_find(&a.e, joint, 2);
	text = next_step_text(&s, "work", joint, 2);
	assert_string_equal(text, "After work, nothing that was tried is next: if parse or io took "
				  "50 % less time, too, that would save less than 1 % on top of "
				  "the 18.0 % [17.4, 18.6] of work");
	free(text);
	make(&b, 29, 9);
	s = next_step_find(&a.e, joint, 2);
	text = next_step_text(&s, "work", joint, 2);
	assert_string_equal(text, "What is worth most after work is not known yet: run longer");
	free(text);
	s = next_step_find(&a.e, joint, 0);
	assert_null(next_step_text(&s, "work", joint, 0));
}

static void parts(void **state)
{
	static const char *const cases[][3] = {
		{ "a + b", "a", "b" },	 { "a + b", "b", "a" },	  { "a + b + c", "a", "b + c" },
		{ "a + b", "c", NULL },	 { "a + b", "", NULL },	  { "a + b", "a + b", NULL },
		{ "aa + b", "a", NULL }, { "a + bb", "b", NULL }, { "a + ", "a", NULL },
		{ "a", "a", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *other = next_other_part(cases[i][0], cases[i][1]);

		if (cases[i][2])
			assert_string_equal(other, cases[i][2]);
		else
			assert_null(other);
		free(other);
	}
}

/* Windows of two targets in turns; a machine that gets slower and faster meanwhile. */
static size_t weather(struct rng *rng, double first, double joint, struct profile_window *w,
		      struct window_progress *p, size_t n)
{
	double drift = 0;

	for (size_t i = 0; i < n; i++) {
		bool treated = i % 2, both = i / 18 % 2;
		double gain = treated ? (both ? joint : first) : 0;

		drift += 0.01 * fixture_normal(rng);
		p[i] = (struct window_progress){
			.visits = 100,
			.virtual_s = (1 - gain) * exp(drift + 0.02 * fixture_normal(rng)),
		};
		w[i] = (struct profile_window){ .seq = i,
						.target = both,
						.speedup = treated ? 0.5 : 0,
						.start_s = i,
						.wall_s = 0.9,
						.hits = 10,
						.n_progress = 1,
						.progress = &p[i] };
	}
	return n;
}

/* Of intervals of 95 % as many hold what is true, without what the method may add. */
static void coverage(void **state)
{
	enum { RUNS = 300, WINDOWS = 36 * 8 };
	static struct profile_window w[WINDOWS];
	static struct window_progress p[WINDOWS];
	struct stats_options opt = { .exact = true, .bare = true };
	struct rng rng = { 11 };
	int inside = 0;

	(void)state;
	for (int i = 0; i < RUNS; i++) {
		struct next_joint joint;
		struct next_step s;
		struct estimates e;

		stats_estimate(w, weather(&rng, 0.2, 0.26, w, p, WINDOWS), 1, &opt, &e);
		assert_int_equal(e.n, 2);
		joint = (struct next_joint){ &e.e[1], "b" };
		s = next_step_find(&e.e[0], &joint, 1);
		assert_int_not_equal(s.answer, NEXT_NONE);
		if (s.answer == NEXT_OPEN) { /* its interval is not told: what it would be */
			s.more = difference_of(s.first, &e.e[1].points[1], 1, NEXT_LEAST_PP);
		}
		inside += s.more.lo <= 6 && s.more.hi >= 6;
		estimates_free(&e);
	}
	assert_in_range(inside, RUNS * 0.92, RUNS * 0.985);
}

/* ---- the report ---- */

static char dir[64], path[128];
static const double speedups[] = { 0.25, 0.5, 1 }, half[] = { 0.5 };

#define T(i, name, kind, g, n) \
	{ \
		{ i, name, kind, "" }, .gain = g, .bend = 1, .noise = 0.01, .units = n, \
				       .samples = 9000 \
	}
static const struct fixture_target work = T(0, "func:work@bar", "function", 0.4, 20);
static const struct fixture_target parse = T(1, "func:parse@bar", "function", 0.2, 20);
static const struct fixture_target both =
	T(2, "func:work@bar + func:parse@bar", "together", 0.8, 20);
static const struct fixture_target turned =
	T(2, "func:parse@bar + func:work@bar", "together", 0.8, 20);
static const struct fixture_target no_more =
	T(2, "func:work@bar + func:parse@bar", "together", 0.4, 40);

static void write_targets(const struct fixture_target *t, size_t n)
{
	struct fixture f = { .command = "./bar",
			     .speedups = speedups,
			     .n_speedups = ARRAY_SIZE(speedups),
			     .targets = t,
			     .n_targets = n,
			     .footer = true };
	struct error err = { 0 };

	unlink(path);
	assert_int_equal(fixture_write(path, &f, &err), 0);
}

/* Targets at all speedups, and a joint at one, in a second run. */
static void write_profile(const struct fixture_target *joint)
{
	struct fixture_target alone[] = { work, parse };
	struct fixture f = { .command = "./bar",
			     .speedups = half,
			     .n_speedups = 1,
			     .targets = joint,
			     .n_targets = 1,
			     .footer = true };
	struct error err = { 0 };

	write_targets(alone, 2);
	if (joint)
		assert_int_equal(fixture_write(path, &f, &err), 0);
}

static void report(const char *option)
{
	setenv("COLUMNS", "200", 1);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_int_equal(run(cmd_report, path, option, NULL), EXIT_DONE);
}

static size_t times(const char *text)
{
	size_t n = 0;

	for (const char *p = out_text; (p = strstr(p, text)); p++)
		n++;
	return n;
}

static json_t *next_of_json(void)
{
	json_t *o, *next;

	report("--json");
	o = json_loads(out_text, 0, NULL);
	next = json_deep_copy(json_object_get(o, "next"));
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(o, "targets"), 0), "target")),
			    "func:work@bar");
	json_decref(o);
	return next;
}

static double gain_of(const json_t *step, const char *which, const char *target)
{
	const json_t *o = json_object_get(step, which);
	const json_t *ci = json_object_get(o, "ci95");
	double v = json_number_value(json_object_get(o, "program_speedup_pct"));

	assert_string_equal(json_string_value(json_object_get(o, "target")), target);
	assert_true(json_number_value(json_array_get(ci, 0)) < v);
	assert_true(json_number_value(json_array_get(ci, 1)) > v);
	return v;
}

/* The report ends with it, and what both save is no rival of either. */
static void measured(void **state)
{
	const struct fixture_target *const joints[] = { &both, &turned };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(joints); i++) {
		json_t *next;
		char *last;

		write_profile(joints[i]);
		report(NULL);
		assert_ptr_equal(strstr(out_text, "work is worth most: "), out_text);
		assert_int_equal(times("2 worth it"), 1);
		assert_int_equal(times("\nTogether (1): "), 1);
		last = strstr(out_text,
			      "\nAfter work, parse is next: if both took 50 % less time, ");
		assert_non_null(last);
		assert_non_null(strstr(last, "parse would save "));
		assert_null(strchr(last + 1, '\n')[1] ? last : NULL);
		next = next_of_json();
		assert_int_equal(json_array_size(next), 1);
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(next, 0), "answer")),
			"more");
		assert_float_equal(gain_of(json_array_get(next, 0), "first", "func:work@bar"), 20,
				   2);
		assert_float_equal(gain_of(json_array_get(next, 0), "then", "func:parse@bar"), 20,
				   3);
		json_decref(next);
	}
}

static void not_more(void **state)
{
	json_t *next;

	(void)state;
	write_profile(&no_more);
	report(NULL);
	assert_int_equal(times("parse is next"), 0);
	next = next_of_json();
	assert_true(json_is_null(json_object_get(json_array_get(next, 0), "then")));
	json_decref(next);
}

/* Gains of two are not added up. */
static void not_tried(void **state)
{
	json_t *next;

	(void)state;
	write_profile(NULL);
	report(NULL);
	assert_int_equal(times("is next"), 0);
	assert_int_equal(times("Together"), 0);
	next = next_of_json();
	assert_int_equal(json_array_size(next), 0);
	json_decref(next);
}

/* Where experiments do not tell, what replay expects is told, and that it is only expected. */
static void expected(void **state)
{
	struct fixture_target alone[] = { work, parse };
	struct profile_expectation twenty = { 0.5, 20, 15, 25 }, thirty = { 0.5, 30, 22, 37 },
				   forty = { 0.5, 40, 39, 41 };
	const struct profile_expectation unlike[] = { { 0.5, 29.2, 15, 40 }, { 0.5, 20, 22, 24 } };
	struct profile_expectation of_work[] = { { 0.5, 17, 14, 21 }, { 1, 34, 28, 42 } };
	struct profile_expected list[] = {
		{ .target = "func:io@bar",
		  .after = "func:work@bar",
		  .kind = "function",
		  .location = "",
		  .at = &thirty,
		  .n_at = 1 },
		{ .target = "func:parse@bar",
		  .after = "func:work@bar",
		  .kind = "function",
		  .location = "",
		  .at = &twenty,
		  .n_at = 1 },
		{ .target = "func:log@bar",
		  .after = "func:parse@bar",
		  .kind = "function",
		  .location = "",
		  .at = &forty,
		  .n_at = 1 },
		{ .target = "func:work@bar",
		  .kind = "function",
		  .location = "",
		  .at = of_work,
		  .n_at = 2 },
	};
	struct fixture f = { .command = "./bar",
			     .speedups = speedups,
			     .n_speedups = ARRAY_SIZE(speedups),
			     .targets = alone,
			     .n_targets = 2,
			     .expected = list,
			     .n_expected = ARRAY_SIZE(list),
			     .footer = true };
	struct fixture joint = { .command = "./bar",
				 .speedups = half,
				 .n_speedups = 1,
				 .targets = &both,
				 .n_targets = 1,
				 .footer = true };
	struct error err = { 0 };
	json_t *next, *x;

	(void)state;
	unlink(path);
	assert_int_equal(fixture_write(path, &f, &err), 0);
	report(NULL);
	assert_int_equal(
		times("After work, io may be next: if both took 50 % less time, 30.0 % would "
		      "be saved (between 22.0 and 37.0; work alone: 17.0, between 14.0 and "
		      "21.0), "),
		1);
	assert_int_equal(times("as a recording of the beginning makes expect: not"), 1);
	assert_int_equal(times("is next"), 0);
	next = next_of_json();
	x = json_object_get(json_array_get(next, 0), "expected");
	assert_string_equal(json_string_value(json_object_get(x, "target")), "func:io@bar");
	assert_float_equal(json_number_value(json_object_get(x, "both_pct")), 30, 1e-6);
	assert_float_equal(json_number_value(json_object_get(x, "alone_pct")), 17, 1e-6);
	assert_true(json_is_null(json_object_get(json_array_get(next, 0), "then")));
	json_decref(next);
	/* Replay expected as much, or perhaps less, of the first alone: nothing is next. */
	for (size_t i = 0; i < ARRAY_SIZE(unlike); i++) {
		of_work[0] = unlike[i];
		unlink(path);
		assert_int_equal(fixture_write(path, &f, &err), 0);
		report(NULL);
		assert_int_equal(times("may be next"), 0);
	}
	f.n_expected--;
	unlink(path);
	assert_int_equal(fixture_write(path, &f, &err), 0);
	report(NULL);
	assert_int_equal(times("may be next"), 0);
	/* Experiments count. */
	assert_int_equal(fixture_write(path, &joint, &err), 0);
	report(NULL);
	assert_int_equal(times("makes expect"), 0);
	assert_int_equal(times("After work, parse is next: "), 1);
}

/* What was not tried, and surely brings more, as far as replay knows, is named in the answer. */
static void untried(void **state)
{
	static const struct {
		const char *target;
		struct profile_expectation at[2];
		bool more;
	} cases[] = {
		{ "func:io@bar", { { 0.5, 35, 28, 42 }, { 1, 70, 56, 84 } }, true },
		{ "func:io@bar", { { 0.5, 35, 12, 42 }, { 1, 70, 24, 84 } }, false },
		{ "func:io@bar", { { 0.25, 10, 8, 12 }, { 0.5, 20, 16, 24 } }, false },
		/* What was tried is a line of it. */
		{ "func:caller@bar", { { 0.5, 35, 28, 42 }, { 1, 70, 56, 84 } }, false },
	};
	_cleanup_free_ char *html = xasprintf("%s/page.html", dir);
	struct profile_expectation of_work[] = { { 0.5, 17, 14, 21 }, { 1, 34, 28, 42 } };
	struct profile_expectation of_both = { 0.5, 40, 35, 45 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile_expected list[] = {
			{ .target = "func:work@bar",
			  .kind = "function",
			  .location = "",
			  .function = "func:caller@bar",
			  .at = of_work,
			  .n_at = 2 },
			{ .target = cases[i].target,
			  .kind = "function",
			  .location = "",
			  .at = (struct profile_expectation *)cases[i].at,
			  .n_at = 2 },
			{ .target = cases[i].target,
			  .after = "func:work@bar",
			  .kind = "function",
			  .location = "",
			  .at = &of_both,
			  .n_at = 1 },
		};
		struct fixture f = { .command = "./bar",
				     .speedups = speedups,
				     .n_speedups = ARRAY_SIZE(speedups),
				     .targets = &work,
				     .n_targets = 1,
				     .expected = list,
				     .n_expected = ARRAY_SIZE(list),
				     .footer = true };
		_cleanup_free_ char *text = NULL;
		struct error err = { 0 };

		unlink(path);
		assert_int_equal(fixture_write(path, &f, &err), 0);
		report(NULL);
		assert_int_equal(!times("func:io@bar was not tried, and is expected to bring more"),
				 !cases[i].more);
		assert_int_equal(!times("work is worth most of what was tried: "), !cases[i].more);
		/* What may not be the first has no next. */
		assert_int_equal(!times("may be next"), cases[i].more);
		assert_int_equal(run(cmd_plot, "-o", html, path, NULL), EXIT_DONE);
		text = read_file(html, NULL);
		assert_int_equal(!strstr(text, "worth most of what was tried: "), !cases[i].more);
		assert_int_equal(!strstr(text, "data-untried=\"1\""), !cases[i].more);
		unlink(html);
	}
}

/* Several together that nobody measured alone are a target like others. */
static void together_only(void **state)
{
	(void)state;
	write_targets(&both, 1);
	report(NULL);
	assert_ptr_equal(strstr(out_text, "work + parse is worth most: "), out_text);
	assert_int_equal(times("\nTogether ("), 0);
}

static void page(void **state)
{
	_cleanup_free_ char *html = xasprintf("%s/page.html", dir), *text = NULL;

	(void)state;
	write_profile(&both);
	assert_int_equal(run(cmd_plot, "-o", html, path, NULL), EXIT_DONE);
	text = read_file(html, NULL);
	assert_non_null(strstr(
		text, "<p class=\"next\">After work, parse is next: if both took 50\xc2\xa0% "));
	/* What both save is shown where it was measured. */
	assert_non_null(strstr(text, "<summary>Together (1): what both would save "));
	assert_non_null(strstr(text, "<tr><td>work + parse</td><td>"));
	unlink(html);
}

static void nothing_learned(void **state)
{
	struct estimate e = { .best = KNOWN_NOTHING, .best_at_pct = NAN };
	struct model_row row = { .e = &e, .joint = true };
	const struct model m = { .rows = &row, .n_rows = 1 };
	char *labels[] = { "work + parse" }, *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	plot_list_joints(&m, labels, 0, out);
	fclose(out);
	assert_non_null(strstr(text, "<tr><td>work + parse</td><td>nothing learned</td><td></td>"));
	free(text);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_next_step-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/p.scoz", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference),	   cmocka_unit_test(answers),
		cmocka_unit_test(words),	   cmocka_unit_test(parts),
		cmocka_unit_test(coverage),	   cmocka_unit_test(measured),
		cmocka_unit_test(not_more),	   cmocka_unit_test(not_tried),
		cmocka_unit_test(expected),	   cmocka_unit_test(untried),
		cmocka_unit_test(together_only),   cmocka_unit_test(page),
		cmocka_unit_test(nothing_learned),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
