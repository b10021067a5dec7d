// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings and files by the hundred thousand, as anybody can make them: what is kept of them. */
#include "test_map_process_util.h"

#include "maps/maps_internal.h"

#define STORM	 100000
#define STALE	 8192  /* mappings that may be gone are no more than that */
#define UNNEEDED 16384 /* nor are binaries that nobody needs */
#define LONG	 4000  /* a line's length */

static void map_file(struct maps *m, int pid, uint64_t start, int number)
{
	_cleanup_free_ char *path = xasprintf("/no/such/file-%d", number);

	maps_add(m, 0, pid, start, 0x1000, 0, (struct file_id){ 8, 1, 1000 + number, 0 }, path);
}

static size_t mappings(struct maps *m, int pid)
{
	_cleanup_free_ struct maps_region *list = NULL;

	return maps_regions(m, pid, &list);
}

/* Mapped and gone, at ever another address: there is one mapping at a time. */
static void test_other_addresses(void **state)
{
	struct program p = make_program("storm", "");
	_cleanup_free_ char *line = maps_line(&p, 0x40000, "r-xp", "");
	struct maps *m = create(NULL, 0);
	size_t most = 0;

	(void)state;
	make_process(20, line);
	assert_int_equal(maps_scan_process(m, 20), 0);
	for (int i = 0; i < STORM; i++) {
		maps_add(m, 0, 20, 0x100000 + i * 0x2000ULL, 0x1000, p.pgoff, p.id, p.path);
		if (i % 100 == 0)
			maps_catch_up(m);
		most = mappings(m, 20) > most ? mappings(m, 20) : most;
	}
	assert_in_range(most, 100, STALE / 4);
	/* What is there is known. */
	assert_string_equal(function_at(m, 20, &p, 0x40000), "work");
	/* Nobody gets round to /proc. */
	for (int i = 0; i < STORM; i++)
		maps_add(m, 0, 20, 0x100000 + i * 0x2000ULL, 0x1000, p.pgoff, p.id, p.path);
	assert_in_range(mappings(m, 20), 1, 3 * STALE);
	maps_catch_up(m);
	assert_int_equal(mappings(m, 20), 1);
	assert_string_equal(function_at(m, 20, &p, 0x40000), "work");
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

/* It has as many: all are known. */
static void test_many_addresses(void **state)
{
	struct program p = make_program("crowd", "");
	_cleanup_free_ char *text = xstrdup("");
	struct maps *m = create(NULL, 0);

	(void)state;
	for (int i = 0; i < 3000; i++) {
		_cleanup_free_ char *line = maps_line(&p, 0x100000 + i * 0x2000ULL, "r-xp", "");

		text_add(&text, "%s", line);
	}
	make_process(20, text);
	for (int i = 0; i < 3000; i++) {
		maps_add(m, 0, 20, 0x100000 + i * 0x2000ULL, 0x1000, p.pgoff, p.id, p.path);
		maps_catch_up(m);
	}
	assert_int_equal(mappings(m, 20), 3000);
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

/* Another file each time, and no time to open them. */
static void test_other_files(void **state)
{
	struct maps *m = create(NULL, 0);

	(void)state;
	for (int i = 0; i < STORM; i++)
		map_file(m, 20, 0x10000, i);
	maps_catch_up(m);
	assert_true(m->n_binary - m->n_free < UNNEEDED);
	maps_destroy(m);
}

/* Whoever looks at all of them takes no longer for each because there are many. */
static void test_looked_at(void **state)
{
	struct maps *m = create(NULL, 0);
	uint64_t serial = 0, n = 0, last = 0;
	char *path;

	(void)state;
	alarm(60);
	for (int i = 0; i < 3 * STORM; i++)
		map_file(m, 20 + i, 0x10000, i);
	while ((path = maps_next_file(m, &serial, NULL))) {
		_cleanup_free_ char *expected = xasprintf("/no/such/file-%d", (int)n++);

		assert_string_equal(path, expected);
		assert_true(serial > last);
		last = serial;
		free(path);
	}
	alarm(0);
	assert_int_equal(n, 3 * STORM);
	maps_destroy(m);
}

/* What /proc tells is not read to an end that somebody has put far away. */
static void test_long_text(void **state)
{
	enum { LINES = (64 << 20) / LONG + 100 };
	struct program p = make_program("long", "");
	_cleanup_free_ char *first = maps_line(&p, 0x40000, "r-xp", ""),
			    *last = maps_line(&p, 0x80000, "r-xp", ""),
			    *path = in_scratch("proc/20/maps"), *line = xmalloc(LONG + 1);
	struct maps *m = create(NULL, 0);
	FILE *f;

	(void)state;
	memset(line, 'x', LONG);
	memcpy(line, "10000-11000 r--p 0 08:01 7 /", 28);
	line[LONG - 1] = '\n';
	line[LONG] = '\0';
	make_process(20, first);
	f = fopen(path, "a");
	assert_non_null(f);
	for (int i = 0; i < LINES; i++)
		assert_true(fputs(line, f) >= 0);
	assert_true(fputs(last, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(maps_scan_process(m, 20), 0);
	assert_string_equal(function_at(m, 20, &p, 0x40000), "work");
	assert_int_equal(mappings(m, 20), 1);
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_addresses), cmocka_unit_test(test_many_addresses),
		cmocka_unit_test(test_other_files),	cmocka_unit_test(test_looked_at),
		cmocka_unit_test(test_long_text),
	};

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
