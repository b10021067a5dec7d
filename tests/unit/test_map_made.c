// SPDX-License-Identifier: GPL-2.0-or-later
/* Code that processes make: /tmp/perf-PID.map of a process in a /proc made up for the purpose. */
#include "test_map_util.h"

#include "maps/maps_internal.h"

#include <fcntl.h>
#include <time.h>

#define PID   4711
#define INNER 7 /* as it sees itself */

static struct maps *maps;

static char *map_path(void)
{
	return in_scratch("files/tmp/perf-%d.map", INNER);
}

static void write_map(const char *text)
{
	_cleanup_free_ char *path = map_path();

	write_file(path, text, strlen(text));
	assert_int_equal(chmod(path, 0644), 0);
}

/* A process of user @uid that began @ago seconds before now. */
static void make_process(unsigned int uid, int ago)
{
	_cleanup_free_ char *status = in_scratch("proc/%d/status", PID), *text = NULL;
	_cleanup_free_ char *stat = in_scratch("proc/%d/stat", PID), *line = NULL;
	struct timespec up;

	sh("rm -rf proc files; mkdir -p proc/%d files/tmp; ln -sfn %s/files proc/%d/root", PID,
	   scratch, PID);
	text = xasprintf("Name:\tmade\nUid:\t0\t%u\t0\t0\nNSpid:\t%d\t%d\n", uid, PID, INNER);
	write_file(status, text, strlen(text));
	clock_gettime(CLOCK_BOOTTIME, &up);
	line = xasprintf("%d (a ) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %lld 0 0\n", PID,
			 (long long)(up.tv_sec - ago) * sysconf(_SC_CLK_TCK));
	write_file(stat, line, strlen(line));
}

static void begin(unsigned int uid)
{
	struct maps_options opt = {};
	struct error err;

	make_process(uid, 0);
	assert_int_equal(maps_create(&opt, &maps, &err), 0);
}

/* What is known of @addr once all that was asked for has been read; its name. */
static enum maps_made look(uint64_t addr, const char **name)
{
	struct map_frame frame[MAP_MAX_INLINE];
	uint32_t binary;
	enum maps_made made = maps_made_code(maps, PID, addr, &binary);

	*name = NULL;
	if (made == MAPS_MADE_LATER) {
		maps_binary(maps, binary);
		made = maps_made_code(maps, PID, addr, &binary);
	}
	if (made != MAPS_MADE_KNOWN)
		return made;
	assert_true(maps_binary(maps, binary)->made);
	assert_int_equal(maps_vaddr(maps_binary(maps, binary), addr), addr);
	assert_true(maptable_lookup(maps_binary(maps, binary)->table, addr, frame, MAP_MAX_INLINE) >
		    0);
	*name = frame[0].function;
	return made;
}

static void assert_named(uint64_t addr, const char *expected)
{
	const char *name;

	assert_int_equal(look(addr, &name), MAPS_MADE_KNOWN);
	assert_string_equal(name, expected);
}

static void assert_unknown(uint64_t addr)
{
	const char *name;

	assert_int_equal(look(addr, &name), MAPS_MADE_UNKNOWN);
}

static void wait_until_read_again(void)
{
	usleep(600000);
}

static void test_names(void **state)
{
	(void)state;
	begin(geteuid());
	write_map("7f0000001000 100 JS:*fib /srv/app.js:1:13\n"
		  "7f0000001200 0x80 old\n"
		  "7f0000001240 80 new, on top of it\n"
		  "7f0000002000 100 again\n"
		  "7f0000002000 40 and other code there\n"
		  "no line\n7f00 zz no size\n7f0000003000 0 empty\nffffffff81000000 10 kernel\n"
		  "7f0000004000 40 it is just writing th");
	assert_named(0x7f0000001000, "JS:*fib /srv/app.js:1:13");
	assert_named(0x7f00000010ff, "JS:*fib /srv/app.js:1:13");
	assert_named(0x7f0000001210, "old");
	assert_named(0x7f0000001250, "new, on top of it");
	assert_named(0x7f0000002010, "and other code there");
	maps_destroy(maps);
}

static void test_grows(void **state)
{
	_cleanup_free_ char *path = map_path();
	const char *name;

	(void)state;
	begin(geteuid());
	write_map("7f0000001000 100 first\n");
	assert_named(0x7f0000001010, "first");
	assert_int_equal(look(0x7f0000005010, &name), MAPS_MADE_LATER);
	assert_int_equal(look(0x7f0000006010, &name), MAPS_MADE_LATER);
	write_map("7f0000001000 100 first\n7f0000005000 100 second\n");
	wait_until_read_again();
	assert_named(0x7f0000005010, "second");
	/* What it has not told by then it will not tell. */
	assert_unknown(0x7f0000006010);
	assert_named(0x7f0000001010, "first");
	/* It has ended: its map is gone, and what is known of it remains. */
	sh("rm -rf proc/%d", PID);
	assert_named(0x7f0000005010, "second");
	maps_destroy(maps);
}

/* Each of these has a name for the address that must not be believed. */
static void test_of_others(void **state)
{
	static const char map[] = "7f0000001000 100 a lie\n";
	_cleanup_free_ char *path = map_path();
	const char *name;

	(void)state;
	for (int i = 0; i < 6; i++) {
		begin(i == 0 ? geteuid() + 1 : geteuid());
		write_map(map);
		if (i == 1)
			assert_int_equal(chmod(path, 0666), 0);
		if (i == 2)
			sh("rm %s; mkdir %s", path, path);
		if (i == 3)
			sh("rm %s; mkfifo %s", path, path);
		if (i == 4) { /* another process of that number has left it */
			const struct timespec old[2] = { { .tv_sec = time(NULL) - 60 },
							 { .tv_sec = time(NULL) - 60 } };

			assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
		}
		if (i < 5) {
			while (look(0x7f0000001010, &name) == MAPS_MADE_LATER)
				wait_until_read_again();
			assert_unknown(0x7f0000001010);
		} else { /* that is what it takes */
			assert_named(0x7f0000001010, "a lie");
		}
		maps_destroy(maps);
	}
}

static int make_scratch(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(scratch));
	sysroot = scratch;
	return 0;
}

static int remove_scratch(void **state)
{
	_cleanup_free_ char *command = xasprintf("rm -rf %s", scratch);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_of_others),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
