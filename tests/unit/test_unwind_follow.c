// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is followed, in a /proc of our own; the symbolizer is stopped, so that tables stay to be
 * made. */
#include "unwind/follow.h"
#include "symbolizer/symbolizer.h"
#include "test_map_util.h"

#include <signal.h>
#include <sys/sysmacros.h>

#define PID    5
#define BINARY 0x400000

static char *root;

static void write_stat(unsigned long start_code, unsigned long env_end)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%d/stat", root, PID), *new = NULL;
	_cleanup_free_ char *text =
		xasprintf("%d (spin) R 1 5 5 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 10 "
			  "18446744073709551615 %lu 2 3 4 5 0 0 0 0 0 0 0 17 1 0 0 0 0 0 6 7 8 9 "
			  "10 11 %lu 0\n",
			  PID, start_code, env_end);

	new = xasprintf("%s.new", path);
	write_file(new, text, strlen(text));
	assert_int_equal(rename(new, path), 0);
}

static void add_program(struct maps *m)
{
	_cleanup_free_ char *path = in_scratch("root/proc/%d/root/spin", PID);
	struct file_id id = { 0 };
	struct stat st;

	if (try_sh("cp /proc/%d/exe %s", getpid(), path))
		fail_msg("no program");
	assert_int_equal(stat(path, &st), 0);
	id.dev_major = major(st.st_dev);
	id.dev_minor = minor(st.st_dev);
	id.ino = st.st_ino;
	maps_add(m, 0, PID, BINARY, 0x1000, 0, id, "/spin");
}

static bool becomes_busy(struct unwind_follow *f, unsigned int tries)
{
	for (; tries && !unwind_follow_busy(f, true); tries--)
		usleep(10000);
	return tries;
}

/*
 * Between two programs a process has no code, as one that has ended: it is not forgotten, and
 * looked at again, though it maps nothing more (as programs without libraries).
 */
static void test_executes(void **state)
{
	const struct maps_options options = { 0 };
	const struct unwind_maps none = { -1, -1, -1, -1 };
	struct unwind_follow *f;
	struct maps *m;
	struct error err;
	bool early, busy;
	int symbols;

	(void)state;
	assert_int_equal(symbolizer_start(&err), 0);
	symbols = child_of(getpid());
	if (!symbols)
		skip();
	assert_int_equal(kill(symbols, SIGSTOP), 0);
	sysroot = root;
	assert_int_equal(maps_create(&options, &m, &err), 0);
	assert_int_equal(unwind_follow_start(m, &none, NULL, &f, &err), 0);
	try_sh("mkdir -p root/proc/%d/root", PID);

	write_stat(0, 0);
	unwind_follow_involved(f, PID);
	usleep(50000); /* for it to be looked at */
	add_program(m);
	usleep(50000);
	early = unwind_follow_busy(f, true); /* there is no code yet */
	write_stat(BINARY, 12);
	busy = becomes_busy(f, 500);

	kill(symbols, SIGCONT);
	symbolizer_abandon();
	assert_true(unwind_follow_stop(f, 60));
	maps_destroy(m);
	sysroot = "";
	symbolizer_stop();
	assert_false(early);
	assert_true(busy);
}

static int run(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executes),
	};

	root = in_scratch("root");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, false);
}
