// SPDX-License-Identifier: GPL-2.0-or-later
/* Axes, and what does not fit between them. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_report_tool.h"

/* An interval that goes on beyond the axis says so, at either end. */
static void test_arrows(void **state)
{
	const struct profile_progress progress = { .kind = PROGRESS_THROUGHPUT };
	struct estimate e = { .best = KNOWN_VALUE, .best_pct = 10, .best_at_pct = 50 };
	const struct model_row row = { .e = &e, .progress = &progress };
	struct page p = { .axis = { .lo = -10, .hi = 30 } };
	char *text = NULL;
	size_t size;

	(void)state;
	for (int within = 0; within < 2; within++) {
		e.best_lo = within ? -10 : -11;
		e.best_hi = within ? 30 : 31;
		p.out = open_memstream(&text, &size);
		write_whisker(&p, &row);
		fclose(p.out);
		assert_int_equal(!strstr(text, "M4 8L0 12L4 16"), within);
		assert_int_equal(!strstr(text, "M196 8L200 12L196 16"), within);
		free(text);
	}
}

/* What was learned is on the axis that all share, however wide its interval is. */
static void test_axis(void **state)
{
	struct estimate_point p[] = { { .speedup_pct = 0 },
				      { 50, 10, .ci_lo = 1, .ci_hi = 20 },
				      { 94, 45, .ci_lo = 20, .ci_hi = 70 },
				      { 100, 80, .ci_lo = -90, .ci_hi = 90 } };
	struct estimate e = { .points = p, .n_points = 4, .best_at_pct = 94 };
	struct model_row row = { .e = &e };
	struct model m = { .rows = &row, .n_rows = 1 };
	struct plot_axis axis;

	(void)state;
	e.verdict = VERDICT_UNDECIDED;
	axis = plot_axis(&m);
	assert_true(axis.hi > 45 && axis.hi < 60);
	/* Of a result its interval, too. */
	e.verdict = VERDICT_OPTIMIZE;
	axis = plot_axis(&m);
	assert_true(axis.hi > 70 && axis.hi < 80);
}

/* What leaves the frame is cut where it does: along the edge it would be a plateau. */
static void test_cut_curve(void **state)
{
	struct plot_axis axis = { -10, 20, 5 };
	struct estimate_point p[] = { { .speedup_pct = 0 },
				      { 25, 10, .ci_lo = 0, .ci_hi = 20 },
				      { 50, 30, .ci_lo = 5, .ci_hi = 55 },
				      { 75, 40, .ci_lo = 15, .ci_hi = 60 },
				      { 100, -20, .ci_lo = -50, .ci_hi = 10 } };
	struct estimate e = { .points = p, .n_points = 5, .verdict = VERDICT_UNDECIDED };
	struct model_row row = { .e = &e };
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	out = open_memstream(&text, &size);
	plot_values(out, &row, &axis);
	fclose(out);
	/* 0 % is at 44, 100 % at 326; 20 at 12, -10 at 176. Out at 37.5 %, in at 83.3 %, out
	 * at 95.8 %. */
	assert_non_null(strstr(text, "<path class=\"curve\" d=\"M44.0 121.3L114.5 66.7L149.8 12.0"
				     "M279.0 12.0L314.2 176.0\"/>"));
	assert_non_null(
		strstr(text, "<polygon class=\"band\" points=\"44.0,121.3 114.5,12.0 "
			     "185.0,12.0 255.5,12.0 311.9,12.0 326.0,66.7 326.0,176.0 326.0,176.0 "
			     "282.6,176.0 255.5,39.3 185.0,94.0 114.5,121.3 44.0,121.3 "
			     "\"/>"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrows),
		cmocka_unit_test(test_axis),
		cmocka_unit_test(test_cut_curve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
