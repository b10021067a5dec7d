// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz top replaces its recorder when that has grown too large, and goes on showing what happens.
 */
#include "tests/unit/test_top_fixture.h"

#include "tools/scoz/arguments.c"
#include "tools/scoz/recording/recording_args.c"
#include "tools/scoz/commands/top.c"

#define HOUR	(3600 * SEC)
#define SCREENS 30

/* ---- a recorder, and a terminal at which nobody types ---- */

struct recorder {
	struct recorder_sink sink;
	uint64_t time, lost;
	bool seen; /* its thread was told */
	bool finished;
};

static struct recorder recorders[2];
static size_t n_recorders, first_stacks;
static const int *keys; /* a key for each look, then none */

int recorder_create(const struct recorder_options *opt, const struct recorder_sink *to,
		    struct recorder **ret, struct error *err)
{
	(void)opt;
	(void)err;
	assert_true(n_recorders < ARRAY_SIZE(recorders));
	*ret = &recorders[n_recorders++];
	**ret = (struct recorder){ .sink = *to };
	return 0;
}

int recorder_start(struct recorder *r, struct error *err)
{
	(void)r;
	(void)err;
	return 0;
}

int recorder_add_process(struct recorder *r, int pid, struct error *err)
{
	(void)r;
	(void)err;
	return pid;
}

uint64_t recorder_time(const struct recorder *r)
{
	return r->time;
}

void recorder_poll(struct recorder *r)
{
	assert_false(r->finished);
	sink = r->sink;
	if (!r->seen) {
		n_ids = 0;
		thread(100, 100, "busy", r->time);
		/* More stacks than the first one may keep. */
		model = sink.arg;
		if (r == recorders)
			model->n_stacks = first_stacks;
	}
	r->seen = true;
	on(0, r->time, r->time + SEC, S_WORK, false);
	r->time += SEC;
}

void recorder_counts(const struct recorder *r, struct recorder_counts *ret)
{
	*ret = (struct recorder_counts){ .lost = r->lost };
}

void recorder_finish(struct recorder *r)
{
	assert_false(r->finished);
	r->finished = true;
}

uint64_t recorder_complete(const struct recorder *r)
{
	return r->time;
}

const char *recorder_engine(const struct recorder *r)
{
	(void)r;
	return "bpf";
}

const struct record_frame *recorder_frame(const struct recorder *r, uint32_t id)
{
	(void)r;
	return frame(id, NULL);
}

const struct record_stack *recorder_stack(const struct recorder *r, uint32_t id)
{
	(void)r;
	return stack(id, NULL);
}

void recorder_destroy(struct recorder *r)
{
	(void)r;
}

int symbolizer_start(struct error *err)
{
	(void)err;
	return 0;
}

void symbolizer_abandon(void)
{
}

void symbolizer_stop(void)
{
}

int top_screen_check(struct error *err)
{
	(void)err;
	return 0;
}

int top_screen_open(struct error *err)
{
	(void)err;
	return 0;
}

void top_screen_close(void)
{
}

void top_screen_size(size_t *rows, size_t *cols)
{
	*rows = 24;
	*cols = 80;
}

void top_screen_put(const struct top_lines *lines)
{
	(void)lines;
}

int top_screen_key(int ms, bool *resized)
{
	(void)ms;
	*resized = false;
	return keys && *keys ? *keys++ : TOP_NO_KEY;
}

/* ---- */

static const struct session begun = { .opt = { .period_ns = PERIOD,
					       .window_s = 10,
					       .iterations = SCREENS,
					       .pids = { .v = (int[]){ 100 }, .n = 1 } } };

static void end_session(struct session *s)
{
	stop(s);
	top_lines_clear(&s->lines);
	free(s->lines.v);
	free(s->losses);
	n_recorders = 0;
}

static void test_restart(void **state)
{
	struct session s = begun;
	struct error err = {};

	(void)state;
	first_stacks = MAX_STACKS;
	top_view_init(&s.view, TOP_BY_PROCESS, TOP_SORT_ACTIVITY);
	assert_int_equal(start(&s, false, &err), 0);
	recorders[0].time = HOUR;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_int_equal(n_recorders, 2);
	assert_true(s.told < HOUR);
	assert_true(s.result->now <= SCREENS * SEC);
	near(s.result->span, WINDOW, WINDOW / 20);
	assert_int_equal(s.result->n_rows, 1);
	near(top_percent(s.result, &s.result->rows[0], TOP_USER), 100, 1);
	end_session(&s);
}

/*
 * What is frozen stays, and the recorder grows no more meanwhile; it is replaced when somebody
 * wants to see what happens.
 */
static void test_frozen(void **state)
{
	static const int freeze[] = { 'x', ' ', 'x', TOP_DOWN, 'x', 'x', ' ', 0 };
	struct session s = begun;
	struct error err = {};

	(void)state;
	first_stacks = MAX_STACKS - 1;
	keys = freeze;
	top_view_init(&s.view, TOP_BY_PROCESS, TOP_SORT_ACTIVITY);
	assert_int_equal(start(&s, false, &err), 0);
	s.opt.iterations = 2;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_true(s.view.frozen && !s.resting);
	s.model->n_stacks = MAX_STACKS;
	s.opt.iterations = 1;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(run_screen(&s, &err), 0);
		assert_true(s.resting && recorders[0].finished);
		assert_int_equal(n_recorders, 1);
		assert_int_equal(s.result->n_rows, 1);
	}
	assert_int_equal(*keys, 'x');
	s.opt.iterations = SCREENS;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_false(s.view.frozen || s.resting);
	assert_int_equal(n_recorders, 2);
	near(top_percent(s.result, &s.result->rows[0], TOP_USER), 100, 1);
	end_session(&s);
	keys = NULL;
}

/* What was lost is told as long as it is missing in the window. */
static void test_lost(void **state)
{
	struct session s = begun;
	struct error err = {};

	(void)state;
	first_stacks = 0;
	top_view_init(&s.view, TOP_BY_PROCESS, TOP_SORT_ACTIVITY);
	assert_int_equal(start(&s, false, &err), 0);
	s.opt.iterations = 3;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_null(strstr(s.lines.v[0].text, "lost"));
	recorders[0].lost = 5;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_non_null(strstr(s.lines.v[0].text, "5 records lost"));
	s.opt.iterations = 12;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_null(strstr(s.lines.v[0].text, "lost"));
	/* Stopped for so long that some are lost: of what was before, no more is told. */
	near(s.result->span, WINDOW, WINDOW / 20);
	recorders[0].time += 60 * SEC;
	recorders[0].lost = 9;
	s.opt.iterations = 1;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_true(s.result->span < 3 * SEC);
	assert_null(strstr(s.lines.v[0].text, "lost"));
	/* Nothing was lost, and all that was before is known. */
	recorders[0].time += 3 * SEC;
	assert_int_equal(run_screen(&s, &err), 0);
	assert_true(s.result->span >= 3 * SEC);
	end_session(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
