/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile for the Firefox Profiler, read back. */
#ifndef TEST_RECORD_EXPORT_FIREFOX_H
#define TEST_RECORD_EXPORT_FIREFOX_H

#include "tests/unit/test_record_export.h"

static const json_t *column(const json_t *table, const char *name)
{
	json_t *c = at(table, name);

	assert_int_equal(json_array_size(c), number_at(table, "length"));
	return c;
}

static double real(const json_t *column, size_t i)
{
	return json_number_value(item(column, i));
}

static size_t size_of(const json_t *table)
{
	return number_at(table, "length");
}

static const char *firefox_text(const json_t *file, const json_t *column, size_t i)
{
	return json_string_value(
		item(at(at(file, "shared"), "stringArray"), json_integer_value(item(column, i))));
}

static const char *firefox_name(const json_t *file, size_t stack)
{
	const json_t *shared = at(file, "shared"), *funcs = at(shared, "funcTable");
	size_t frame = real(column(at(shared, "stackTable"), "frame"), stack);
	size_t func = real(column(at(shared, "frameTable"), "func"), frame);

	return firefox_text(file, column(funcs, "name"), func);
}

/* As the viewer does it: frames without a category have that of their caller. */
static const char *firefox_category(const json_t *file, size_t stack)
{
	const json_t *shared = at(file, "shared"), *table = at(shared, "stackTable");
	const json_t *categories = column(at(shared, "frameTable"), "category");

	for (;;) {
		const json_t *prefix = item(column(table, "prefix"), stack);
		size_t frame = real(column(table, "frame"), stack);

		if (json_is_integer(item(categories, frame)))
			return text_at(
				item(at(at(file, "meta"), "categories"), real(categories, frame)),
				"name");
		if (json_is_null(prefix))
			return "Other";
		stack = json_integer_value(prefix);
	}
}

static int firefox_class(const char *category)
{
	static const char *const names[] = { [RECORD_ON] = "",
					     [RECORD_IO] = "I/O wait",
					     [RECORD_LOCK] = "Lock wait",
					     [RECORD_SCHED] = "Scheduling",
					     [RECORD_OTHER] = "Other wait" };

	for (size_t i = 1; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(category, names[i]))
			return i;
	}
	assert_true(!strcmp(category, "User") || !strcmp(category, "Kernel"));
	return RECORD_ON;
}

static void firefox_totals(const json_t *file, struct totals *t, uint64_t *kernel)
{
	json_t *list = at(file, "threads"), *thread;
	size_t i;

	*t = (struct totals){ 0 };
	*kernel = 0;
	json_array_foreach (list, i, thread) {
		const json_t *s = at(thread, "samples");

		assert_string_equal(text_at(s, "weightType"), "tracing-ms");
		for (size_t k = 0; k < size_of(s); k++) {
			const json_t *stack = item(column(s, "stack"), k);
			uint64_t points = llround(real(column(s, "weight"), k));
			const char *category;

			assert_true(!k ||
				    real(column(s, "time"), k) >= real(column(s, "time"), k - 1));
			if (json_is_null(stack)) {
				assert_int_equal(points, 0);
				continue;
			}
			category = firefox_category(file, json_integer_value(stack));
			count(t, firefox_class(category), number_at(thread, "tid"), points);
			*kernel += strcmp(category, "Kernel") ? 0 : points;
		}
	}
}

static void assert_firefox_tables(const json_t *file)
{
	const json_t *shared = at(file, "shared"), *table = at(shared, "stackTable");
	const json_t *frame = at(shared, "frameTable"), *func = at(shared, "funcTable");
	static const char *const frame_columns[] = { "address",	      "inlineDepth", "category",
						     "subcategory",   "func",	     "nativeSymbol",
						     "innerWindowID", "line",	     "column" };
	static const char *const func_columns[] = { "name",	   "isJS",   "relevantForJS",
						    "resource",	   "source", "lineNumber",
						    "columnNumber" };

	for (size_t i = 0; i < size_of(table); i++) {
		const json_t *prefix = item(column(table, "prefix"), i);

		assert_true(json_is_null(prefix) || (size_t)json_integer_value(prefix) < i);
		assert_true(real(column(table, "frame"), i) < size_of(frame));
	}
	for (size_t i = 0; i < ARRAY_SIZE(frame_columns); i++)
		column(frame, frame_columns[i]);
	for (size_t i = 0; i < ARRAY_SIZE(func_columns); i++)
		column(func, func_columns[i]);
	for (size_t i = 0; i < size_of(frame); i++)
		assert_true(real(column(frame, "func"), i) < size_of(func));
	for (size_t i = 0; i < size_of(func); i++) {
		assert_non_null(firefox_text(file, column(func, "name"), i));
		assert_true(real(column(func, "resource"), i) <
			    (double)size_of(at(shared, "resourceTable")));
		if (!json_is_null(item(column(func, "source"), i)))
			assert_true(real(column(func, "source"), i) <
				    size_of(at(shared, "sources")));
	}
	assert_int_equal(size_of(at(shared, "resourceTable")), json_array_size(at(file, "libs")));
}

static void assert_sample(const json_t *file, const json_t *samples, size_t i, double time,
			  double weight, const char *name)
{
	const json_t *stack = item(column(samples, "stack"), i);

	assert_true(fabs(real(column(samples, "time"), i) - time) < 1e-9);
	assert_true(fabs(real(column(samples, "weight"), i) - weight) < 1e-9);
	if (!name)
		assert_true(json_is_null(stack));
	else
		assert_string_equal(firefox_name(file, json_integer_value(stack)), name);
}

#endif
