// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the cache without a worker: only as long as one would ask and be told the same. */
#include "elf/table_make.h"
#include "test_map_util.h"

#include "symbolizer/symbolizer.h"
#include "table/table.h"

#include <signal.h>
#include <sys/wait.h>

static const char source[] = "volatile int sink;\n"
			     "static inline __attribute__((always_inline)) void twice(int x)\n"
			     "{ sink = x + x; }\n"
			     "int main(int argc, char **argv) { (void)argv; twice(argc); }\n";

static char *program, *cache_dir;
static struct map_options opt;

/* Its debug information is in another file. */
static int make_program(void **state)
{
	_cleanup_free_ char *c = in_scratch("p.c");

	(void)state;
	program = in_scratch("p");
	cache_dir = in_scratch("cache");
	opt.cache_dir = cache_dir;
	write_file(c, source, strlen(source));
	sh("rm -rf cache .debug; gcc -O1 -g p.c -o p; objcopy --only-keep-debug p p.debug; "
	   "objcopy --strip-debug --add-gnu-debuglink=p.debug p; chmod 644 p.debug");
	return 0;
}

static int forget_program(void **state)
{
	(void)state;
	free(program);
	free(cache_dir);
	opt = (struct map_options){ 0 };
	symbolizer_stop();
	return 0;
}

static bool make_table(void)
{
	struct maptable *t = NULL;
	struct addr_ranges r;
	struct error err;

	if (maptable_make(program, program, &opt, &t, &err))
		return false;
	if (!maptable_function_ranges(t, "twice", &r, NULL))
		addr_ranges_free(&r);
	else
		fail_msg("a table without debug information");
	maptable_free(t);
	return true;
}

/* With a symbolizer. */
static void know_program(void)
{
	struct error err;

	symbolizer_stop();
	assert_int_equal(symbolizer_start(&err), 0);
	assert_true(make_table());
}

static bool needs_worker(void)
{
	static int killed;
	int pid = child_of(getpid()), status;

	if (pid && pid != killed) {
		killed = pid;
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	return !make_table();
}

/* What is known until then is not any more. */
#define change(...) \
	do { \
		know_program(); \
		assert_false(needs_worker()); \
		sh(__VA_ARGS__); \
		assert_true(needs_worker()); \
	} while (0)

static void test_same_answers(void **state)
{
	(void)state;
	know_program();
	assert_false(needs_worker());
	change("rm -rf cache");
}

static void test_other_answers(void **state)
{
	static const char *const changes[] = {
		"cp p.debug again; mv again p.debug", /* as a package that is installed */
		"mkdir .debug; cp p.debug .debug", "rm -r .debug",
		"touch p", /* another file to the cache */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		change("%s", changes[i]);
	}
}

static void test_other_work(void **state)
{
	(void)state;
	know_program();
	opt.debug_root = "/somewhere/else";
	assert_true(needs_worker());
	know_program();
	assert_false(needs_worker());
	opt.debug_root = NULL;
	assert_true(needs_worker());
}

/* What lies in the cache may have been cut off, or be of another program. */
static void test_damaged(void **state)
{
	static const char *const damages[] = { "true",		 "head -n 1",	  "head -n 2",
					       "sed '$d'",	 "sed 's/^0/1/'", "sed '1s/^/1/'",
					       "sed '2s/.*/x/'", "tr / ." };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		change("f=$(echo cache/*-asked-*.map); %s <$f >new; cp new $f", damages[i]);
	}
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_answers, make_program, forget_program),
		cmocka_unit_test_setup_teardown(test_other_answers, make_program, forget_program),
		cmocka_unit_test_setup_teardown(test_other_work, make_program, forget_program),
		cmocka_unit_test_setup_teardown(test_damaged, make_program, forget_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
