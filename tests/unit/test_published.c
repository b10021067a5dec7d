// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings of the target's binaries that change while the engine is told of them. */
#include "daemon/published.c"
#include "engine/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define FIRST  20
#define SECOND 21
#define START  0x10000
#define END    0x18000

/* What the engine knows. */
static struct told {
	uint32_t binary;
	struct maps_mapping m;
} list[16];
static size_t n;

static struct maps *maps;
static struct engine engine;
static struct published published;
static bool no_room;
static void (*meanwhile)(int pid); /* happens when it has been told of the first one */

static int on_publish(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	void (*happens)(int) = meanwhile;

	(void)e;
	if (no_room)
		return -E2BIG;
	assert_true(n < ARRAY_SIZE(list));
	list[n++] = (struct told){ binary, *m };
	meanwhile = NULL;
	if (happens)
		happens(m->pid == FIRST ? SECOND : FIRST);
	return 0;
}

static void on_withdraw(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	size_t kept = 0;

	(void)e;
	for (size_t i = 0; i < n; i++) {
		const struct told *t = &list[i];

		if (t->m.pid != m->pid || t->binary == binary || t->m.end <= m->start ||
		    t->m.start >= m->end)
			list[kept++] = *t;
	}
	n = kept;
}

static void on_forget(struct engine *e, int pid)
{
	size_t kept = 0;

	(void)e;
	for (size_t i = 0; i < n; i++) {
		if (list[i].m.pid != pid)
			list[kept++] = list[i];
	}
	n = kept;
}

static const struct engine_backend backend = { .publish_mapping = on_publish,
					       .withdraw_mapping = on_withdraw,
					       .forget_process = on_forget };

static void on_mapping(uint32_t binary, const struct maps_mapping *m, void *arg)
{
	published_on_mapping(arg, binary, m);
}

static void map(int pid, uint64_t start, uint64_t end, uint64_t file)
{
	const struct file_id id = { .dev_major = 8, .ino = file };

	maps_add(maps, 0, pid, start, end - start, 0, id, file == 1 ? "/lib/a" : "/lib/b");
}

static void ends(int pid)
{
	maps_exit(maps, 0, pid);
	engine_forget_process(&engine, pid);
}

static void executes(int pid)
{
	maps_exec(maps, 0, pid);
	engine_forget_image(&engine, pid);
}

/* A library is closed, and in a part of its place there is another one. */
static void maps_another(int pid)
{
	map(pid, START + 0x2000, END, 2);
}

/* How much of the library the engine takes to be in @pid, in pieces that are no more than that. */
static uint64_t told_of(int pid)
{
	uint64_t size = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].m.pid == pid)
			size += list[i].m.end - list[i].m.start;
	}
	return size;
}

/* The first of them has mapped it. */
static void begin(void)
{
	n = 0;
	assert_int_equal(maps_create(NULL, &maps, NULL), 0);
	engine.backend = &backend;
	published = (struct published){ .engine = &engine, .maps = maps };
	maps_on_mapping(maps, on_mapping, &published);
	map(FIRST, START, END, 1);
}

static void check(void (*happens)(int pid), uint64_t left)
{
	uint32_t binary;
	uint64_t place;
	int changed;

	begin();
	map(SECOND, START, END, 1);
	assert_true(maps_place_of(maps, FIRST, START, &binary, &place));
	meanwhile = happens;
	published_add(&published, binary);
	assert_null(meanwhile);
	changed = told_of(FIRST) == END - START ? SECOND : FIRST;
	assert_int_equal(told_of(FIRST + SECOND - changed), END - START);
	assert_int_equal(told_of(changed), left);
	maps_destroy(maps);
}

static void test_changes(void **state)
{
	(void)state;
	check(NULL, END - START);
	check(ends, 0);
	check(executes, 0);
	check(maps_another, 0x2000);
}

static uint32_t create_with_target(void)
{
	uint32_t binary;
	uint64_t place;

	begin();
	assert_true(maps_place_of(maps, FIRST, START, &binary, &place));
	published_add(&published, binary);
	assert_int_equal(told_of(FIRST), END - START);
	return binary;
}

/* Its end is read from one core's ring before all that it did is read from another one's. */
static void test_late(void **state)
{
	uint64_t began = clock_now_ns(), ended = began + 1000000;
	const struct file_id id = { .dev_major = 8, .ino = 1 };

	(void)state;
	create_with_target();
	assert_true(maps_exit(maps, ended, SECOND));
	engine_forget_process(&engine, SECOND);
	maps_fork(maps, began, FIRST, SECOND);
	assert_int_equal(told_of(SECOND), 0);
	maps_add(maps, began + 10, SECOND, END, END - START, 0, id, "/lib/a");
	assert_int_equal(told_of(SECOND), 0);
	assert_int_equal(told_of(FIRST), END - START);
	maps_destroy(maps);
}

/* It ends after its mapping was told of, and before that is published. */
static void end_first(uint32_t binary, const struct maps_mapping *m, void *arg)
{
	if (m->pid == SECOND)
		ends(SECOND);
	on_mapping(binary, m, arg);
}

static void test_meanwhile(void **state)
{
	(void)state;
	create_with_target();
	maps_on_mapping(maps, end_first, &published);
	map(SECOND, START, END, 1);
	assert_int_equal(told_of(SECOND), 0);
	maps_destroy(maps);
}

static void test_full(void **state)
{
	(void)state;
	create_with_target();
	assert_false(published.full);
	no_room = true;
	map(SECOND, START, END, 1);
	no_room = false;
	assert_true(published.full);
	maps_destroy(maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_meanwhile),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
