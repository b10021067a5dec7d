// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz top without a terminal: lines of text, and what keys do. */
#include <locale.h>
#include <wchar.h>

#include "tests/unit/test_top_fixture.h"

static struct top_view view;
static struct top_lines lines;
static bool gone; /* what was named */

static void draw(size_t rows, size_t cols)
{
	const struct top_info info = { .engine = "bpf",
				       .clock = "12:34:56",
				       .period_ns = PERIOD,
				       .window_ns = WINDOW,
				       .lost = 3,
				       .gone = gone,
				       .frame = frame,
				       .stack = stack };

	top_result_free(result);
	result = top_model_query(model, &view.query);
	top_view_follow(&view, result);
	top_view_draw(&view, result, &info, rows, cols, &lines);
}

static void press(int key, enum top_action wanted)
{
	assert_int_equal(top_view_key(&view, key, result), wanted);
	draw(24, 120);
}

static const char *line_with(const char *text)
{
	for (size_t i = 0; i < lines.n; i++) {
		if (strstr(lines.v[i].text, text))
			return lines.v[i].text;
	}
	fail_msg("no \"%s\"", text);
	return NULL;
}

static const char *selected(void)
{
	for (size_t i = 0; i < lines.n; i++) {
		if (lines.v[i].attr == ATTR_SELECTED)
			return lines.v[i].text;
	}
	return "";
}

static int tear_down_view(void **state)
{
	top_lines_clear(&lines);
	free(lines.v);
	lines = (struct top_lines){};
	return tear_down(state);
}

static int set_up_view(void **state)
{
	set_up(state);
	top_view_init(&view, TOP_BY_PROCESS, TOP_SORT_ACTIVITY);
	fill();
	return 0;
}

static void test_lines(void **state)
{
	(void)state;
	draw(24, 132);
	assert_int_equal(lines.n, 24);
	assert_non_null(strstr(lines.v[0].text, "12:34:56"));
	assert_non_null(strstr(lines.v[0].text, "3 records lost"));
	assert_non_null(line_with("5 processes, 5 threads"));
	assert_non_null(line_with("Processes by activity, class all"));
	assert_int_equal(lines.v[3].attr, ATTR_HEADER);
	assert_non_null(strstr(selected(), "burn"));
	assert_non_null(strstr(line_with(" io "), "I disk work <- sda"));
	assert_non_null(strstr(line_with(" lock "), "L futex take_lock <- burn:10"));
	assert_non_null(strstr(line_with(" idle "), "B poll main <- network"));
	assert_non_null(strstr(line_with(" burn "), " 100.0  100.0    0.0   0.0"));
	assert_non_null(strstr(line_with(" io "), "kkIIIII..."));
	assert_non_null(strstr(lines.v[23].text, "q quit"));
	view.batch = true;
	draw(SIZE_MAX, 132);
	assert_int_equal(lines.n, 4 + 5);
	assert_string_equal(selected(), "");
	assert_null(strstr(lines.v[3].text, "  \n"));
}

static int columns_used(const char *s)
{
	wchar_t wide[1024];

	assert_true(mbstowcs(wide, s, 1024) != (size_t)-1);
	return wcswidth(wide, 1024);
}

/* Every size, every page, names of all kinds: never more than fits, and always text. */
static void test_sizes(void **state)
{
	static const char *const names[] = { "\xff\xfe\x80",
					     "a\033[31mb\n",
					     "\xe6\xbc\xa2\xe5\xad\x97",
					     "",
					     "\xe2\x80\xae"
					     "evil",
					     "e\xcc\x81t\xc3\xa9" };
	bool utf8 = setlocale(LC_CTYPE, "C.UTF-8") != NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		on(thread(500 + i, 500 + i, names[i], 0), 0, 10 * SEC, S_WORK, false);
	for (int mode = 0; mode < 2 * 3 * TOP_BYS; mode++) {
		view.utf8 = utf8 && mode & 1;
		view.page = mode / 2 % 3;
		view.query.by = mode / 6;
		view.query.pid = 0;
		view.cursor.stack = S_INNER;
		for (size_t rows = 0; rows <= 40; rows += rows < 14 ? 1 : 13) {
			for (size_t cols = 0; cols <= 250; cols += cols < 90 ? 1 : 20) {
				draw(rows, cols);
				assert_true(lines.n <= rows);
				for (size_t i = 0; i < lines.n; i++) {
					const char *t = lines.v[i].text;

					assert_true(columns_used(t) >= 0);
					assert_true(columns_used(t) <= (int)cols);
					for (; *t && !view.utf8; t++)
						assert_true(*t >= 32 && *t < 127);
				}
			}
		}
	}
	setlocale(LC_CTYPE, "C");
}

static void test_keys(void **state)
{
	(void)state;
	draw(24, 120);
	press(TOP_DOWN, TOP_REDRAW);
	assert_non_null(strstr(selected(), "lock"));
	/* The cursor stays on its row when the order changes. */
	press('>', TOP_REQUERY);
	assert_int_equal(view.query.sort, TOP_SORT_ON);
	assert_non_null(strstr(selected(), "lock"));
	press('<', TOP_REQUERY);
	press('<', TOP_REQUERY);
	assert_int_equal(view.query.sort, TOP_SORT_NAME);
	press('s', TOP_REQUERY);
	press(TOP_END, TOP_REDRAW);
	assert_non_null(strstr(selected(), "pool"));
	press(TOP_DOWN, TOP_REDRAW);
	assert_non_null(strstr(selected(), "pool"));
	press(TOP_HOME, TOP_REDRAW);
	press(TOP_PAGE_DOWN, TOP_REDRAW);
	press(TOP_PAGE_UP, TOP_REDRAW);
	press(TOP_UP, TOP_REDRAW);
	assert_non_null(strstr(selected(), "burn"));
	press('r', TOP_REQUERY);
	assert_non_null(strstr(selected(), "idle"));
	press('r', TOP_REQUERY);
	press('i', TOP_REQUERY);
	assert_non_null(line_with("2 idle hidden"));
	press('i', TOP_REQUERY);
	for (int i = 0; i < 7; i++)
		press('c', TOP_REQUERY);
	assert_non_null(line_with("class all"));
	press(' ', TOP_FREEZE);
	assert_non_null(line_with("FROZEN"));
	draw(24, 50);
	assert_non_null(line_with("FROZEN (space goes on)"));
	press(' ', TOP_FREEZE);
	press('h', TOP_REDRAW);
	assert_non_null(line_with("this help"));
	press(TOP_ENTER, TOP_NOTHING);
	press(TOP_ESCAPE, TOP_REDRAW);
	press('x', TOP_NOTHING);
	press(TOP_NO_KEY, TOP_NOTHING);
	press('q', TOP_QUIT);
}

static void test_open(void **state)
{
	(void)state;
	draw(24, 120);
	press(TOP_DOWN, TOP_REDRAW);
	press(TOP_DOWN, TOP_REDRAW);
	press(TOP_ENTER, TOP_REQUERY);
	assert_non_null(line_with("Functions of process 20 io by activity"));
	assert_non_null(strstr(selected(), "vfs_read"));
	press(TOP_ENTER, TOP_REDRAW);
	assert_non_null(line_with("innermost first: vfs_read"));
	assert_non_null(line_with("  read  libc.so.6"));
	assert_non_null(line_with("  main  prog"));
	press(TOP_DOWN, TOP_REDRAW);
	press(TOP_BACK, TOP_REDRAW);
	press('u', TOP_REQUERY);
	assert_non_null(strstr(selected(), "work"));
	press(TOP_ESCAPE, TOP_REQUERY);
	assert_non_null(line_with("Processes by"));
	press('t', TOP_REQUERY);
	press(TOP_ENTER, TOP_REQUERY);
	assert_non_null(line_with("Functions of programs of thread 10 burn"));
	press('t', TOP_REQUERY);
	assert_non_null(line_with("Threads of process 10 burn"));
	press('f', TOP_REQUERY);
	press('p', TOP_REQUERY);
	assert_non_null(line_with("Processes by"));
	/* Views have only the columns that they can be sorted by. */
	for (view.query.sort = TOP_SORT_ACTIVITY; view.query.sort != TOP_SORT_THREADS;)
		press('s', TOP_REQUERY);
	press('f', TOP_REQUERY);
	assert_int_equal(view.query.sort, TOP_SORT_ACTIVITY);
	for (int i = 0; i < 12; i++) {
		press('<', TOP_REQUERY);
		assert_true(top_can_sort(&view.query));
	}
}

static void test_scroll(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		on(thread(1000 + i, 1000 + i, "more", 0), 0, SEC, S_WORK, false);
	view.query.sort = TOP_SORT_PID;
	draw(24, 120);
	assert_int_equal(view.page_rows, 24 - 1 - 4);
	press(TOP_PAGE_DOWN, TOP_REDRAW);
	press(TOP_PAGE_DOWN, TOP_REDRAW);
	assert_non_null(strstr(selected(), " 1033 "));
	press(TOP_END, TOP_REDRAW);
	assert_non_null(strstr(selected(), " 1099 "));
	assert_int_equal(view.first + view.page_rows, 105);
	draw(60, 120);
	assert_int_equal(view.first + view.page_rows, 105);
	/* What the cursor was on is gone, and most others, too. */
	top_model_advance(model, 10 * SEC);
	for (uint32_t id = 5; id < n_ids; id++)
		end(id, 10 * SEC);
	top_model_advance(model, 21 * SEC);
	draw(24, 120);
	assert_non_null(strstr(selected(), "pool"));
}

static void test_nothing(void **state)
{
	(void)state;
	tear_down(NULL);
	create(0);
	draw(24, 80);
	assert_non_null(line_with("the first samples are awaited"));
	gone = true;
	draw(24, 80);
	assert_non_null(line_with("what is watched (--pid) has ended"));
	gone = false;
	press(TOP_ENTER, TOP_NOTHING);
	press(TOP_DOWN, TOP_REDRAW);
	top_model_seed(model, 7, 7, "idle");
	top_model_advance(model, SEC);
	press('i', TOP_REQUERY);
	assert_non_null(line_with("i shows them"));
	press('i', TOP_REQUERY);
	press('c', TOP_REQUERY);
	assert_non_null(line_with("no time of this class"));
}

static void test_class_names(void **state)
{
	(void)state;
	assert_true(top_view_filter(&view, "lock"));
	assert_int_equal(view.query.classes, 1u << TOP_LOCK);
	assert_true(top_view_filter(&view, "all"));
	assert_true(top_view_filter(&view, "io,L"));
	assert_int_equal(view.query.classes, 1u << TOP_IO | 1u << TOP_LOCK);
	assert_string_equal(top_filter_title(&view), "IL");
	assert_true(top_view_filter(&view, "IL"));
	assert_int_equal(view.query.classes, 1u << TOP_IO | 1u << TOP_LOCK);
	assert_true(top_view_filter(&view, "off"));
	assert_int_equal(view.query.classes,
			 TOP_ALL_CLASSES & ~(1u << TOP_USER | 1u << TOP_KERNEL));
	assert_true(top_view_filter(&view, "all"));
	assert_false(top_view_filter(&view, "io,nonsense"));
	assert_int_equal(view.query.classes, TOP_ALL_CLASSES);
	assert_false(top_view_filter(&view, "nonsense"));
}

/* On the smallest usual terminal, below which there is a line of keys. */
static void test_help_fits(void **state)
{
	size_t n = 0;

	(void)state;
	for (; top_help[n]; n++) {
		if (strlen(top_help[n]) > 80)
			fail_msg("%zu columns: %s", strlen(top_help[n]), top_help[n]);
	}
	assert_true(n <= 23);
	draw(24, 80);
	top_view_key(&view, 'h', result);
	draw(24, 80);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(lines.v[i].text, top_help[i]);
	top_view_key(&view, TOP_ESCAPE, result);
}

int main(void)
{
#define VIEW(t) cmocka_unit_test_setup_teardown(t, set_up_view, tear_down_view)
	const struct CMUnitTest tests[] = {
		VIEW(test_lines),  VIEW(test_sizes),   VIEW(test_keys),	       VIEW(test_open),
		VIEW(test_scroll), VIEW(test_nothing), VIEW(test_class_names), VIEW(test_help_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
