// SPDX-License-Identifier: GPL-2.0-or-later
/* Which cores are profiled and where their memory belongs, on machines that hwloc makes up. */
#include "run/cores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/scoz-test-cores.XXXXXX";

/* A file of the made-up /sys/devices/system/cpu. */
static void tell(const char *file, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/sys/devices/system/cpu/%s", root, file);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static struct cores machine(const char *synthetic, const char *online, const char *cpus)
{
	struct error err = { 0 };
	struct cores c;

	setenv("HWLOC_SYNTHETIC", synthetic, 1);
	tell("online", online);
	if (cores_select(cpus, &c, &err))
		fail_msg("%s: %s", synthetic, err.text);
	return c;
}

/* Threads are bound to every core that there is, and to none that there is not. */
static void test_sizes(void **state)
{
	static const struct {
		const char *synthetic, *online;
		int n, a_node;
	} sizes[] = { { "numa:1 pu:1", "0", 1, 1 },
		      { "numa:1 core:2 pu:1", "0-1", 2, 2 },
		      { "pack:2 numa:1 core:16 pu:2", "0-63", 64, 32 },
		      { "pack:8 numa:4 core:16 pu:2", "0-1023", 1024, 32 } };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct cores c = machine(sizes[k].synthetic, sizes[k].online, NULL);

		assert_int_equal(c.n, sizes[k].n);
		for (int i = 0; i < c.n; i++) {
			assert_int_equal(c.cpus[i], i);
			assert_int_equal(cores_node(&c, i), i / sizes[k].a_node);
			assert_int_equal(cores_bind_thread(&c, i), 0);
		}
		c.cpus[c.n - 1] = sizes[k].n;
		assert_int_equal(cores_node(&c, c.n - 1), -1);
		assert_true(cores_bind_thread(&c, c.n - 1) < 0);
		cores_free(&c);
	}
}

/* Numbers tell nothing about where a core is: here they go by turns. */
static void test_numbers_by_turns(void **state)
{
	struct cores c = machine("numa:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)", "0-7", NULL);

	(void)state;
	assert_int_equal(c.n, 8);
	for (int i = 0; i < c.n; i++)
		assert_int_equal(cores_node(&c, i), i % 2);
	cores_free(&c);
}

static void test_selection(void **state)
{
	struct error err = { 0 };
	struct cores c;

	(void)state;
	c = machine("pack:8 numa:4 core:16 pu:2", "0-99,512-1023", "98-99,512,1023");
	assert_int_equal(c.n, 4);
	assert_int_equal(c.cpus[3], 1023);
	assert_int_equal(cores_node(&c, 2), 16);
	assert_int_equal(cores_node(&c, 3), 31);
	cores_free(&c);
	assert_int_equal(cores_select("99-100", &c, &err), -ENODEV);
	assert_non_null(strstr(err.text, "CPU 100 is not online"));

	tell("isolated", "64-1023");
	tell("nohz_full", "0-3");
	c = machine("pack:8 numa:4 core:16 pu:2", "0-1023", NULL);
	assert_int_equal(c.n, 60);
	assert_int_equal(c.cpus[0], 4);
	assert_int_equal(cores_node(&c, 59), 1);
	cores_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers_by_turns),
		cmocka_unit_test(test_selection),
	};
	_cleanup_free_ char *dir = NULL, *rm = NULL;
	int failed;

	if (!mkdtemp(root))
		return 1;
	dir = xasprintf("mkdir -p %s/sys/devices/system/cpu", root);
	rm = xasprintf("rm -rf %s", root);
	if (system(dir))
		return 1;
	sysroot = root;
	log_level = LOG_QUIET;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return system(rm) || failed;
}
