// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz top replaces its recorder when that has grown too large, and goes on showing what happens.
 */
#include "tests/unit/test_top_fixture.h"

#include "tools/scoz/recording/recording_args.c"
#include "tools/scoz/commands/top.c"

#define HOUR	(3600 * SEC)
#define SCREENS 30

/* ---- a recorder, and a terminal at which nobody types ---- */

struct recorder {
	struct recorder_sink sink;
	uint64_t time;
	bool seen; /* its thread was told */
};

static struct recorder recorders[2];
static size_t n_recorders;

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
	sink = r->sink;
	if (!r->seen) {
		n_ids = 0;
		thread(100, 100, "busy", r->time);
		/* More stacks than the first one may keep. */
		model = sink.arg;
		if (r == recorders)
			model->n_stacks = MAX_STACKS;
	}
	r->seen = true;
	on(0, r->time, r->time + SEC, S_WORK, false);
	r->time += SEC;
}

void recorder_counts(const struct recorder *r, struct recorder_counts *ret)
{
	(void)r;
	*ret = (struct recorder_counts){};
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
	return TOP_NO_KEY;
}

/* ---- */

static void test_restart(void **state)
{
	struct session s = { .opt = { .period_ns = PERIOD,
				      .window_s = 10,
				      .iterations = SCREENS,
				      .pids = { .v = (int[]){ 100 }, .n = 1 } } };
	struct error err = {};

	(void)state;
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
	stop(&s);
	top_lines_clear(&s.lines);
	free(s.lines.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
