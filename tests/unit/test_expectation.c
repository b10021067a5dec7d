// SPDX-License-Identifier: GPL-2.0-or-later
/* What replay expects changes what is measured first, and takes nothing away from samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/choose.h"

static void expect(struct expectations *e, const char *target, uint32_t progress, double low,
		   double high)
{
	struct expectation x = { .kind = TARGET_FUNCTION, .progress = progress, .n_at = 2 };

	snprintf(x.target, sizeof(x.target), "%s", target);
	x.at[0] = (struct profile_expectation){ 0.25, low / 2, low / 2, high / 2 };
	x.at[1] = (struct profile_expectation){ 0.6, low, low, high };
	array_reserve(e->list, e->cap, e->n + 1);
	e->list[e->n++] = x;
}

static void add(struct choices *c, const char *name, uint64_t samples)
{
	array_reserve(c->list, c->cap, c->n + 1);
	c->list[c->n++] =
		(struct choice){ .target = { .name = xstrdup(name) }, .samples = samples };
}

static struct choices sampled(void)
{
	struct choices c = { 0 };

	add(&c, "a", 5000);
	add(&c, "b", 3000);
	add(&c, "c", 1980);
	add(&c, "d", 12);
	add(&c, "e", 8);
	return c;
}

/* Also where only all of the target's time was asked for. */
static void test_half(void **state)
{
	static const struct profile_expectation at[] = { { 0.25, 1, 0, 2 },
							 { 0.6, 2, 1, 3 },
							 { 1, 3, 2, 4 } };

	(void)state;
	assert_null(profile_expectation_half(at, 0));
	assert_ptr_equal(profile_expectation_half(at, 1), &at[0]);
	assert_ptr_equal(profile_expectation_half(at, 3), &at[1]);
	assert_ptr_equal(profile_expectation_half(&at[2], 1), &at[2]);
	assert_float_equal(profile_expectation_worth(&at[2]), 5, 1e-9);
}

static void test_nothing_expected(void **state)
{
	struct choices c = sampled();

	(void)state;
	choices_keep_worth(&c, 10000, 10000, NULL);
	assert_int_equal(c.n, 3);
	for (size_t i = 0; i < c.n; i++)
		assert_true(choices_weight(&c, i, NULL) == c.list[i].samples);
	choices_free(&c);
}

static void test_prior(void **state)
{
	struct choices c = sampled();
	struct expectations *e = xcalloc(1, sizeof(*e));

	(void)state;
	/* The most sampled one is said to bring nothing, and one that is hardly seen much. */
	expect(e, "a", 0, -1, 0);
	expect(e, "b", 0, 10, 40);
	expect(e, "e", 0, 1, 20);
	expect(e, "e", 1, 5, 30);
	expect(e, "d", 0, -2, 50);
	choices_keep_worth(&c, 10000, 10000, e);
	assert_int_equal(c.n, 4);
	assert_string_equal(c.list[0].target.name, "a"); /* stays */
	assert_string_equal(c.list[2].target.name, "c"); /* of which nothing is known, too */
	assert_string_equal(c.list[3].target.name, "e"); /* not d, of which nothing is sure */
	assert_true(choices_weight(&c, 0, e) == 2500);
	assert_true(choices_weight(&c, 1, e) == 6000);
	assert_true(choices_weight(&c, 2, e) == 1980);
	assert_true(choices_weight(&c, 3, e) == 8 * (0.5 + 1.5 * 0.75));
	choices_free(&c);
	expectations_free(e);
}

static void test_bounded(void **state)
{
	struct expectations *e = xcalloc(1, sizeof(*e));
	struct choices c = { 0 };

	(void)state;
	for (int i = 0; i < 40; i++) {
		_cleanup_free_ char *name = xasprintf("f%d", i);

		add(&c, name, i < 2 ? 1000 : 1);
		expect(e, name, 0, 10, 20);
	}
	choices_keep_worth(&c, 2038, 2038, e);
	assert_int_equal(c.n, 2 + 4);
	choices_free(&c);
	expectations_free(e);
}

/* Disks alone are no code: then nothing is known of what matters. */
static void test_points_known(void **state)
{
	struct expectations *e = xcalloc(1, sizeof(*e));

	(void)state;
	assert_int_equal(expectations_points_known(e, 2), 0);
	expect(e, "class:io", 0, -1, 1);
	e->list[0].kind = TARGET_CLASS;
	assert_int_equal(expectations_points_known(e, 2), 0);
	expect(e, "func:work@prog", 1, 0, 1);
	assert_int_equal(expectations_points_known(e, 2), 1);
	expect(e, "func:work@prog", 0, 0, 1);
	assert_int_equal(expectations_points_known(e, 2), 2);
	e->list[1].n_at = 0;
	assert_int_equal(expectations_points_known(e, 2), 1);
	expectations_free(e);
}

static void test_favour(void **state)
{
	const struct profile_expectation none = { 0.5, 0, -1, -0.5 }, all = { 0.5, 30, 5, 60 };

	(void)state;
	assert_true(expectation_favour(NULL, 60) == 1);
	assert_true(expectation_favour(&all, 0) == 1);
	assert_true(expectation_favour(&all, 60) == 2);
	assert_true(expectation_favour(&none, 60) == 0.5);
	assert_true(expectation_is_sure(&all));
	assert_false(expectation_is_sure(&none));
	assert_false(expectation_is_sure(NULL));
}

/* Of two together, by which is the first one. */
static void test_both(void **state)
{
	struct expectations e = { 0 };
	struct expectation x[4] = {
		{ .target = "b", .after = "a", .n_at = 1, .at = { { 0.5, 30, 20, 40 } } },
		{ .target = "c", .after = "a", .n_at = 1, .at = { { 0.5, 25, 20, 40 } } },
		{ .target = "d", .after = "a" },
		{ .target = "c", .after = "b", .n_at = 1, .at = { { 0.5, 35, 20, 40 } } },
	};

	(void)state;
	e.next = x;
	e.n_next = 4;
	assert_ptr_equal(expectations_of_both(&e, "a", "b"), &x[0].at[0]);
	assert_ptr_equal(expectations_of_both(&e, "a", "c"), &x[1].at[0]);
	assert_ptr_equal(expectations_of_both(&e, "b", "c"), &x[3].at[0]);
	assert_null(expectations_of_both(&e, "a", "d"));
	assert_null(expectations_of_both(&e, "b", "a"));
	assert_null(expectations_of_both(&e, "a", "e"));
	assert_null(expectations_of_both(NULL, "a", "b"));
}

/* Waiting for disks stands among what is sampled, where it takes long enough. */
static void test_waits(void **state)
{
	static const struct {
		uint64_t waited, ran;
		uint64_t samples; /* 0: not tried */
	} cases[] = {
		{ 400, 1000, 4000 }, { 150, 10000, 0 }, { 20000, 1000, 10000 },
		{ 300, 10000, 300 }, { 0, 1000, 0 },	{ 1000, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct choices c = sampled();
		size_t at = 0;

		choices_add_waits(&c, cases[i].waited, cases[i].ran, 10000, 10000);
		while (at < c.n && strcmp(c.list[at].target.name, "class:io") != 0)
			at++;
		assert_int_equal(at<c.n, cases[i].samples> 0);
		if (at < c.n) {
			assert_int_equal(c.list[at].samples, cases[i].samples);
			assert_int_equal(c.list[at].target.kind, TARGET_CLASS);
			assert_true(!at || c.list[at - 1].samples >= cases[i].samples);
			assert_true(at == c.n - 1 || c.list[at + 1].samples <= cases[i].samples);
		}
		choices_free(&c);
	}
}

/* Of a kernel without lines, system calls by all that runs in them, the most frequent ones. */
static void test_calls(void **state)
{
	static const struct entered e[] = {
		{ "do_syscall_64", 9000 },   { "__x64_sys_openat", 4000 },
		{ "__do_sys_openat", 3900 }, { "ksys_read", 2000 },
		{ "__x64_sys_unlink", 600 }, { "__x64_sys_nosuch", 5000 },
		{ "__x64_sys_fsync", 500 },  { "__sys_sendto", 400 },
		{ "__x64_sys_close", 19 },
	};
	struct choices c = sampled();

	(void)state;
	choices_keep_worth(&c, 10000, 10000, NULL);
	choices_add_calls(&c, e, ARRAY_SIZE(e), 10000, 10000);
	assert_int_equal(c.n, 3 + 4);
	assert_string_equal(c.list[1].target.name, "syscall:openat");
	assert_int_equal(c.list[1].target.kind, TARGET_SYSCALL);
	assert_int_equal(c.list[1].samples, 4000);
	assert_string_equal(c.list[3].target.name, "syscall:read");
	assert_string_equal(c.list[5].target.name, "syscall:unlink");
	assert_string_equal(c.list[6].target.name, "syscall:fsync");
	choices_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half),	     cmocka_unit_test(test_nothing_expected),
		cmocka_unit_test(test_prior),	     cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_points_known), cmocka_unit_test(test_favour),
		cmocka_unit_test(test_both),	     cmocka_unit_test(test_waits),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
