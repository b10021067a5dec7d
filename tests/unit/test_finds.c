// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines that are one find to who reads the source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/finds.h"

static void test_spans(void **state)
{
	static const char *const wrong[] = { "func:work@bar", "bar.c",	 ":7",
					     "bar.c:",	      "bar.c:0", "a.c:7-",
					     "a.c:9-7",	      "a.c:7x",	 "a.c:7-9x" };
	struct find_span s;

	(void)state;
	assert_true(find_span_parse("src/bar.c:7", &s));
	assert_int_equal(s.length, 9);
	assert_int_equal(s.first, 7);
	assert_int_equal(s.last, 7);
	assert_true(find_span_parse("bar.c:684-687", &s));
	assert_int_equal(s.first, 684);
	assert_int_equal(s.last, 687);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(find_span_parse(wrong[i], &s));
}

#define OWN(line, function, n) \
	{ \
		line, function, n, n, n, FIND_NO_CALLER \
	}

static void check(const struct find *f, size_t as, uint32_t first, uint32_t last)
{
	assert_int_equal(f->as, as);
	assert_int_equal(f->first, first);
	assert_int_equal(f->last, last);
}

/* As NPB FT has it: two inner loops of a transpose, in any order; what is far, or elsewhere, not.
 */
static void test_near(void **state)
{
	const struct find_line lines[] = {
		OWN("ft.f:1326", "func:transpose", 1265), OWN("ft.f:909", "func:cffts1", 2776),
		OWN("ft.f:921", "func:cffts1", 446),	  OWN("ft.f:1319", "func:transpose", 1823),
		OWN("other.f:1320", "func:other", 500),	  OWN("ft.f:1324", "func:transpose", 280),
		OWN("other.f:1321", "func:third", 500),	  OWN("ft.f:1330", NULL, 500),
		OWN("ft.f:1340", "func:transpose", 900),  OWN("ft.f:1345", "func:transpose", 20),
	};
	struct find f[ARRAY_SIZE(lines)];

	(void)state;
	finds_join(lines, ARRAY_SIZE(lines), 30000, NULL, 0, f);
	check(&f[0], 0, 1319, 1326);
	check(&f[3], 3, 1319, 1326);
	check(&f[5], 5, 1319, 1326);
	check(&f[1], 1, 909, 909);
	check(&f[2], 2, 921, 921);
	check(&f[4], 4, 1320, 1320);
	check(&f[6], 6, 1321, 1321);
	check(&f[7], 7, 1330, 1330);
	check(&f[8], 8, 1340, 1340); /* with what has next to nothing */
	check(&f[9], 9, 1345, 1345);
}

/* Where they are most of the program it matters which; a screen is not all of a long function. */
static void test_too_much(void **state)
{
	const struct find_line lines[] = { OWN("a.c:10", "func:a", 400),
					   OWN("a.c:11", "func:a", 300) };
	static char names[50][16];
	struct find_line body[50];
	struct find f[50];

	(void)state;
	finds_join(lines, 2, 1400, NULL, 0, f);
	check(&f[1], 1, 10, 11);
	finds_join(lines, 2, 1399, NULL, 0, f);
	check(&f[0], 0, 10, 10);
	check(&f[1], 1, 11, 11);
	for (int i = 0; i < 50; i++) {
		snprintf(names[i], sizeof(names[i]), "a.c:%d", 100 + i);
		body[i] = (struct find_line)OWN(names[i], "func:a", 100);
	}
	finds_join(body, 50, 50000, NULL, 0, f);
	check(&f[0], 0, 100, 131);
	check(&f[31], 31, 100, 131);
	check(&f[32], 32, 132, 149);
}

/* A line from which much is called is a find by itself, and parts those before and after it. */
static void test_calls(void **state)
{
	const struct find_line lines[] = {
		OWN("a.c:10", "func:a", 300),
		OWN("a.c:11", "func:a", 300),
		{ "a.c:12", "func:a", 10, 4000, 400, FIND_NO_CALLER },
		OWN("a.c:13", "func:a", 300),
		OWN("a.c:14", "func:a", 300),
		{ "a.c:15", "func:a", 0, 30, 0, FIND_NO_CALLER }, /* little: it parts nothing */
		OWN("a.c:16", "func:a", 300),
	};
	struct find f[ARRAY_SIZE(lines)];

	(void)state;
	finds_join(lines, ARRAY_SIZE(lines), 90000, NULL, 0, f);
	check(&f[0], 0, 10, 11);
	check(&f[1], 1, 10, 11);
	check(&f[2], 2, 12, 12);
	check(&f[3], 3, 13, 16);
	check(&f[5], 5, 15, 15);
	check(&f[6], 6, 13, 16);
}

/* As PARSEC's dedup has it: a loop over the list of a bucket, and what compares keys for it. */
static void test_callee(void **state)
{
	struct find_line lines[] = {
		{ "hashtable.c:237", "func:search", 201, 1192, 201, FIND_NO_CALLER },
		{ "encoder.c:76", "func:equal", 991, 991, 991, 0 },
		OWN("hashtable.c:238", "func:search", 40),
		OWN("rabin.c:93", "func:rabinseg", 3808),
	};
	struct find f[ARRAY_SIZE(lines)];

	(void)state;
	finds_join(lines, ARRAY_SIZE(lines), 16000, NULL, 0, f);
	check(&f[0], 0, 237, 237);
	assert_int_equal(f[1].as, 0);
	check(&f[2], 2, 238, 238);
	check(&f[3], 3, 93, 93);
	/* It calls other things as well. */
	lines[0].total = 1192 + 500;
	finds_join(lines, ARRAY_SIZE(lines), 16000, NULL, 0, f);
	assert_int_equal(f[1].as, 1);
	/* It does no more than call. */
	lines[0] =
		(struct find_line){ "hashtable.c:237", "func:search", 1, 992, 1, FIND_NO_CALLER };
	finds_join(lines, ARRAY_SIZE(lines), 16000, NULL, 0, f);
	assert_int_equal(f[1].as, 1);
}

/* What has been tried stays what it is, whatever has samples later. */
static void test_kept(void **state)
{
	const struct find_line lines[] = {
		OWN("a.c:10", "func:a", 300), OWN("a.c:11", "func:a", 300),
		OWN("a.c:12", "func:a", 300), OWN("a.c:13", "func:a", 300),
		OWN("a.c:14", "func:a", 300), OWN("a.c:15", "func:a", 300),
	};
	struct find_span kept[3];
	struct find f[ARRAY_SIZE(lines)];

	(void)state;
	assert_true(find_span_parse("a.c:10-11", &kept[0]));
	assert_true(find_span_parse("a.c:13", &kept[1]));
	assert_true(find_span_parse("b.c:14", &kept[2]));
	finds_join(lines, ARRAY_SIZE(lines), 90000, kept, 3, f);
	check(&f[0], 0, 10, 11);
	check(&f[1], 1, 10, 11);
	check(&f[2], 2, 12, 12);
	check(&f[3], 3, 13, 13);
	check(&f[4], 4, 14, 15);
	check(&f[5], 5, 14, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),	 cmocka_unit_test(test_near),
		cmocka_unit_test(test_too_much), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_callee),	 cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
