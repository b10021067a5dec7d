// SPDX-License-Identifier: GPL-2.0-or-later
/* What scozd says of all windows so far: at the end, while it runs, and what it still waits for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_stats_windows.h"

#include "daemon/live.c"

#include "stats/describe.h"
#include "stats/discard.h"

#define WORK  "func:work@prog"
#define PARSE "func:parse@prog"

/* ---- a run, with one target ---- */

static struct session session;
static struct progress_spec point = { .name = "iter" };
static struct trial work = { .name = WORK, .kind = "function", .told = true };
static bool can_go_on;
static struct profile_expected expected[2];
static struct profile_expectation at[2];
static size_t n_expected;
static struct windows windows;
static struct live live;

size_t trials_count(const struct trials *l)
{
	(void)l;
	return 1;
}

const struct trial *trials_get(const struct trials *l, int i)
{
	(void)l;
	assert_int_equal(i, 0);
	return &work;
}

struct plan_state trials_state(const struct trials *l, int i)
{
	(void)l;
	(void)i;
	return (struct plan_state){};
}

bool trials_can_go_on(const struct trials *l, int i)
{
	(void)l;
	(void)i;
	return can_go_on;
}

bool handlers_callers(struct handlers *h, size_t i, struct caller_target *ret)
{
	(void)h;
	(void)i;
	(void)ret;
	return false;
}

double session_elapsed_s(const struct session *s)
{
	(void)s;
	return 10;
}

void expect_beside(const struct session *s, struct beside *b)
{
	struct profile_expected *list = xcalloc(n_expected + 1, sizeof(*list));
	static struct profile_replay replay;

	(void)s;
	memcpy(list, expected, n_expected * sizeof(*list));
	b->expected = list;
	b->n_expected = n_expected;
	b->replay = &replay;
}

void status_show(const char *line)
{
	(void)line;
}

void status_json(json_t *object)
{
	json_decref(object);
}

char *status_line(double elapsed_s, uint32_t n, const char *trying, double speedup,
		  const char *best, const char *result, size_t cols)
{
	(void)elapsed_s;
	(void)n;
	(void)trying;
	(void)speedup;
	(void)best;
	(void)cols;
	return xstrdup(result);
}

/* Half of the time saves a fifth; @stopped: windows in which all was, and that took as long. */
static int begin(int rounds, int stopped)
{
	windows.n = 0;
	n_expected = 0;
	can_go_on = true;
	session = (struct session){ .opt = { .points = &point, .n_points = 1 } };
	add_curve(&windows, (double[]){ 0.5 }, (double[]){ 0.8 }, 1, rounds, 0.05);
	for (size_t i = 0; i < windows.n; i++) {
		struct profile_window *w = &windows.w[i];

		w->n_progress = 1;
		w->start_s = i;
		w->wall_s = 1;
		w->ran_s = 1;
		w->inserted_s = w->speedup > 0 ? 0.2 : 0;
		if (stopped && i % 8 == 2) {
			w->discard = DISCARD_CONTROL;
			w->inserted_s = 0.2;
			w->progress[0].virtual_s *= 1 - w->inserted_s; /* it took as long */
			stopped--;
		}
	}
	live = (struct live){ .s = &session, .windows = windows.w, .n = windows.n };
	return 0;
}

static void expect_of(size_t i, const char *target, double low)
{
	at[i] = (struct profile_expectation){ 0.5, low + 5, low, low + 10 };
	expected[i] = (struct profile_expected){
		.target = target, .kind = "function", .location = "", .at = &at[i], .n_at = 1
	};
	n_expected = i + 1;
}

/* ---- */

/* The same sentence as in reports, also where the replay expects more of what was not tried. */
static void test_conclusion(void **state)
{
	char *text;

	(void)state;
	begin(40, 0);
	text = live_conclusion(&live);
	assert_non_null(strstr(text, "work is worth most: if it took 50 % less time"));
	assert_non_null(strstr(text, "of the time per \"iter\""));
	free(text);
	expect_of(0, WORK, 15);
	expect_of(1, PARSE, 5);
	text = live_conclusion(&live);
	assert_non_null(strstr(text, "work is worth most: "));
	free(text);
	expect_of(1, PARSE, 40);
	text = live_conclusion(&live);
	assert_non_null(strstr(text, "work is worth most of what was tried: "));
	assert_non_null(strstr(text, PARSE " was not tried, and is expected to bring more"));
	free(text);
}

/* Whether a clock has a say is not known by a window in which all was stopped. */
static void test_awaited(void **state)
{
	struct awaited_verdict a;
	struct so_far best;
	char *text;

	(void)state;
	begin(40, 0);
	assert_false(live_awaited(&live, &a));
	begin(40, 1);
	assert_true(live_awaited(&live, &a));
	assert_int_equal(a.trial, 0);
	assert_int_equal(a.doubt, DOUBT_CLOCK);
	best = best_so_far(&live);
	text = result_text(&best);
	assert_non_null(strstr(text, "at 50 % (a clock may have a say)"));
	free(text);
	free(best.text);
	can_go_on = false;
	assert_false(live_awaited(&live, &a));
}

/* What is not to be acted on is no best, but nor is it nothing. */
static void test_withheld(void **state)
{
	struct so_far best;
	char *text;

	(void)state;
	begin(40, 0);
	for (size_t i = 0; i < windows.n; i++)
		windows.w[i].absolute_waits = 100;
	best = best_so_far(&live);
	text = result_text(&best);
	assert_null(best.name);
	assert_string_equal(text, doubt_text(DOUBT_PACED));
	free(text);
	begin(0, 0);
	best = best_so_far(&live);
	text = result_text(&best);
	assert_string_equal(text, "nothing learned yet");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conclusion),
		cmocka_unit_test(test_awaited),
		cmocka_unit_test(test_withheld),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
