// SPDX-License-Identifier: GPL-2.0-or-later
/* Many functions of one name. */
#include "table/table_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT 0x1000
#define SIZE 16
#if defined(__SANITIZE_THREAD__)
#define MOST_S 20
#else
#define MOST_S 3
#endif

/* f(int, int, ...), f(int, long, ...) and so on. */
static struct maptable *many_overloads(uint32_t n)
{
	struct table_identity id = { 0 };
	struct table_builder b;
	struct maptable *t;

	builder_init(&b);
	builder_expect(&b, 64 << 20);
	builder_text(&b, TEXT, TEXT + n * SIZE);
	builder_text_done(&b);
	for (uint32_t i = 0; i < n; i++) {
		char name[32] = "_Z1f";

		for (int k = 0; k < 9; k++)
			name[4 + k] = "ijlm"[i >> 2 * k & 3];
		builder_symbol(&b, name, TEXT + i * SIZE, SIZE, 0);
	}
	t = builder_finish(&b, MAP_SYMTAB, &id);
	t->name = xstrdup("hand-made");
	builder_deinit(&b);
	return t;
}

static void few(void **state)
{
	struct maptable *t = many_overloads(14);
	_cleanup_free_ char *list = maptable_function_overloads(t, "f");
	static const char first[] = "f(int, int, ", rest[] = " and 2 more";

	(void)state;
	assert_memory_equal(list, first, strlen(first));
	assert_string_equal(list + strlen(list) - strlen(rest), rest);
	maptable_free(t);
}

static void many(void **state)
{
	_cleanup_free_ char *list = NULL;
	clock_t begin = clock();
	struct maptable *t;
	uint64_t *vaddrs;
	struct error err;
	size_t n;

	(void)state;
	t = many_overloads(200000);
	alarm(60);
	list = maptable_function_overloads(t, "f");
	assert_string_equal(list, "200000 functions of that name");
	assert_int_equal(maptable_function_addresses(t, "f", &vaddrs, &n, &err), -ENOTUNIQ);
	assert_non_null(strstr(err.text, "200000 functions"));
	assert_non_null(strstr(err.text, "write its parameters"));
	assert_true(clock() - begin < MOST_S * CLOCKS_PER_SEC);
	alarm(0);
	maptable_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(few), cmocka_unit_test(many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
