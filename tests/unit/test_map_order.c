// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of address spaces by events, in whatever order these are heard of. */
#include "test_map_process_util.h"

#include "maps/maps_internal.h"

#include <pthread.h>

struct told {
	size_t n;
	struct maps_mapping last;
	uint32_t binary;
	struct maps *m;
};

static void on_mapping(uint32_t binary, const struct maps_mapping *map, void *arg)
{
	struct told *t = arg;

	t->n++;
	t->last = *map;
	t->binary = binary;
	/* No lock is held: anything may be asked from here. */
	assert_true(maps_binary_count(t->m) > binary);
}

static void test_events(void **state)
{
	struct program a = make_program("events-a", ""), b = make_program("events-b", "-O2");
	const uint64_t at = 0x7f1200000000;
	struct maps *m = create(NULL, 0);
	struct told told = { .m = m };
	uint32_t id;

	(void)state;
	make_process(20, "");
	maps_on_mapping(m, on_mapping, &told);
	maps_add(m, 0, 20, at, 0x1000, a.pgoff, a.id, a.path);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.last.start, at);
	id = told.binary;
	assert_string_equal(function_at(m, 20, &a, at), "work");

	/* A fork shares; either may change without the other noticing. */
	maps_fork(m, 0, 20, 21);
	assert_int_equal(told.n, 2);
	assert_int_equal(told.last.pid, 21);
	assert_int_equal(told.last.bias, at - a.map_vaddr); /* known by the table */
	assert_string_equal(function_at(m, 21, &a, at), "work");
	assert_int_equal(mappings_of(m, id), 2);
	maps_add(m, 0, 21, at, 0x1000, b.pgoff, b.id, b.path);
	assert_string_equal(function_at(m, 20, &a, at), "work");
	assert_true(id_at(m, 21, at) != id);
	maps_exec(m, 0, 21);
	assert_int_equal(id_at(m, 21, at), UINT32_MAX);
	assert_string_equal(function_at(m, 20, &a, at), "work");
	assert_int_equal(mappings_of(m, id), 1);

	/* What has exited lingers for samples that come late, until its pid is used again. */
	maps_exit(m, 0, 20);
	assert_string_equal(function_at(m, 20, &a, at), "work");
	assert_int_equal(mappings_of(m, id), 0);
	maps_add(m, 0, 20, at + 0x10000, 0x1000, a.pgoff, a.id, a.path);
	assert_int_equal(id_at(m, 20, at), UINT32_MAX);
	assert_int_equal(id_at(m, 20, at + 0x10000), id);
	maps_exit(m, 0, 20);
	maps_exit(m, 0, 20);
	maps_fork(m, 0, 21, 20);
	assert_int_equal(id_at(m, 20, at + 0x10000), UINT32_MAX);
	maps_exit(m, 0, 20);
	usleep(1100000);
	maps_exec(m, 0, 21);
	maps_exit(m, 0, 21);
	assert_int_equal(id_at(m, 20, at), UINT32_MAX);
	/* The unknown. */
	maps_fork(m, 0, 1000, 1001);
	maps_exit(m, 0, 1000);
	maps_add(m, 0, 22, at, 0, 0, a.id, a.path);
	assert_int_equal(id_at(m, 22, at), UINT32_MAX);
	maps_add(m, 0, 22, at, 0x1000, 0, a.id, "//anon");
	assert_int_equal(id_at(m, 22, at), UINT32_MAX);
	maps_destroy(m);
	free(a.path);
	free(b.path);
	sh("rm -r proc");
}

/* A program maps its code and goes on as two processes, on another core whose ring is read first.
 */
static void test_forks_are_heard_of_first(void **state)
{
	struct program a = make_program("first-a", ""), b = make_program("first-b", "-O2");
	const uint64_t at = 0x7f1200000000, t = clock_now_ns();
	struct maps *m = create(NULL, 0);
	struct told told = { .m = m };
	uint32_t id_a, id_b;

	(void)state;
	maps_on_mapping(m, on_mapping, &told);
	maps_add(m, t, 30, at, 0x1000, a.pgoff, a.id, a.path); /* the image before */
	id_a = id_at(m, 30, at);
	maps_fork(m, t + 10, 30, 31);
	maps_fork(m, t + 20, 31, 32);
	maps_add(m, t + 15, 31, at + 0x20000, 0x1000, a.pgoff, a.id, a.path);
	maps_exec(m, t + 25, 32); /* has nothing of them any more */
	maps_fork(m, t + 30, 31, 33);
	maps_add(m, t + 40, 33, at + 0x10000, 0x1000, a.pgoff, a.id, a.path);
	assert_int_equal(id_at(m, 33, at), id_a);
	maps_exec(m, t + 1, 30);
	assert_int_equal(id_at(m, 31, at), UINT32_MAX);
	assert_int_equal(id_at(m, 33, at), UINT32_MAX);
	maps_add(m, t + 2, 30, at, 0x1000, b.pgoff, b.id, b.path);
	id_b = id_at(m, 30, at);
	assert_int_equal(id_at(m, 31, at), id_b);
	assert_int_equal(told.last.pid, 33);
	assert_int_equal(id_at(m, 33, at), id_b);
	assert_int_equal(id_at(m, 32, at), UINT32_MAX);
	/* what the child has mapped there since stays, as do other places */
	maps_add(m, t + 3, 30, at + 0x10000, 0x1000, b.pgoff, b.id, b.path);
	assert_int_equal(id_at(m, 31, at + 0x10000), id_b);
	assert_int_equal(id_at(m, 33, at + 0x10000), id_a);
	assert_int_equal(id_at(m, 33, at + 0x20000), id_a);
	/* what the parent maps later is its own; of one that nobody knew, too */
	maps_add(m, t + 50, 30, at + 0x30000, 0x1000, b.pgoff, b.id, b.path);
	assert_int_equal(id_at(m, 31, at + 0x30000), UINT32_MAX);
	maps_fork(m, t + 60, 40, 41);
	maps_add(m, t + 55, 40, at, 0x1000, b.pgoff, b.id, b.path);
	assert_int_equal(id_at(m, 41, at), id_b);
	maps_destroy(m);
	free(a.path);
	free(b.path);
}

/* Rings of different cores are read one after the other: events come out of order. */
static void test_order_of_rings(void **state)
{
	struct program a = make_program("order-a", ""), b = make_program("order-b", "-O2");
	const uint64_t at = 0x7f1200000000, t = clock_now_ns();
	struct maps *m = create(NULL, 0);
	uint32_t id_a, id_b;

	(void)state;
	maps_add(m, t, 20, at, 0x1000, a.pgoff, a.id, a.path);
	id_a = id_at(m, 20, at);
	/* fork at +1, exec at +2 and mmap at +3 on another core, read in the order 3, 2, 1 */
	maps_add(m, t + 3, 21, at, 0x1000, b.pgoff, b.id, b.path);
	id_b = id_at(m, 21, at);
	assert_true(id_a != id_b);
	maps_exec(m, t + 2, 21);
	assert_int_equal(id_at(m, 21, at), id_b);
	maps_fork(m, t + 1, 20, 21);
	assert_int_equal(id_at(m, 21, at), id_b);
	/* no exec: what the child mapped itself stays beside what it inherited */
	maps_add(m, t + 5, 22, at + 0x10000, 0x1000, b.pgoff, b.id, b.path);
	maps_fork(m, t + 4, 20, 22);
	assert_int_equal(id_at(m, 22, at), id_a);
	assert_int_equal(id_at(m, 22, at + 0x10000), id_b);
	/* the exit of an older process of that pid, and a mapping of an older image */
	maps_exit(m, t + 1, 21);
	assert_int_equal(mappings_of(m, id_b), 2);
	maps_add(m, t + 1, 21, at, 0x1000, a.pgoff, a.id, a.path);
	assert_int_equal(id_at(m, 21, at), id_b);
	/* late news of a process that has ended do not bring it back */
	maps_exit(m, t + 10, 22);
	maps_fork(m, t + 4, 20, 22);
	assert_int_equal(mappings_of(m, id_b), 1);
	maps_destroy(m);
	free(a.path);
	free(b.path);
}

static void count_exit(int pid, void *arg)
{
	(void)pid;
	++*(int *)arg;
}

static size_t living(struct maps *m)
{
	_cleanup_free_ int *pids = NULL;

	return maps_living(m, &pids);
}

/* The end of a process is read from one core's ring before its beginning from another's. */
static void test_end_before_beginning(void **state)
{
	struct program a = make_program("end-a", "");
	const uint64_t at = 0x7f1300000000, t = clock_now_ns();
	struct maps *m = create(NULL, 0);

	(void)state;
	maps_add(m, t, 20, at, 0x1000, a.pgoff, a.id, a.path);
	maps_exit(m, t + 3, 21);
	maps_fork(m, t + 1, 20, 21);
	maps_exec(m, t + 2, 21);
	maps_add(m, t + 2, 21, at, 0x1000, a.pgoff, a.id, a.path);
	assert_int_equal(id_at(m, 21, at), id_at(m, 20, at)); /* for its samples */
	assert_int_equal(living(m), 1);
	maps_fork(m, t + 9, 20, 21); /* another one */
	assert_int_equal(living(m), 2);
	maps_destroy(m);
	free(a.path);
}

/* The first thread ends before others, that have ended by the time somebody looks again. */
static void test_end_of_threads(void **state)
{
	struct program a = make_program("threads-a", "");
	struct maps *m = create(NULL, 0);
	int told = 0;

	(void)state;
	sh("mkdir -p proc/60/task/60 proc/60/task/61");
	maps_on_exit(m, count_exit, &told);
	maps_add(m, 0, 60, 0x10000, 0x1000, a.pgoff, a.id, a.path);
	maps_leader_ended(m, 0, 60);
	maps_catch_up(m);
	assert_int_equal(living(m), 1);
	sh("rmdir proc/60/task/61");
	maps_catch_up(m);
	assert_int_equal(living(m), 0);
	assert_int_equal(told, 1);
	maps_catch_up(m);
	assert_int_equal(told, 1);
	maps_destroy(m);
	free(a.path);
	sh("rm -r proc");
}

/* What threads have mapped that ended after the first one is heard of after all have ended. */
static void test_end_heard_of_early(void **state)
{
	struct program a = make_program("early-a", "");
	struct maps *m = create(NULL, 0);
	uint64_t t = clock_now_ns();
	int told = 0;

	(void)state;
	maps_on_exit(m, count_exit, &told);
	maps_add(m, t - 10, 20, 0x10000, 0x1000, a.pgoff, a.id, a.path);
	maps_leader_ended(m, t - 8, 61);
	maps_catch_up(m);
	maps_add(m, t - 7, 61, 0x20000, 0x1000, a.pgoff, a.id, a.path);
	maps_fork(m, t - 9, 20, 61);
	assert_int_equal(living(m), 1);
	assert_int_equal(told, 1);
	maps_fork(m, clock_now_ns(), 20, 61); /* another one */
	assert_int_equal(living(m), 2);
	maps_destroy(m);
	free(a.path);
}

/* It ends as well where another thread executes a program; which may be heard of later. */
static void test_exec_by_another_thread(void **state)
{
	struct program a = make_program("another-a", "");
	struct maps *m = create(NULL, 0);
	uint64_t t = clock_now_ns();
	int told = 0;

	(void)state;
	sh("mkdir -p proc/60/task/60; printf 'State:\\tR\\nUid:\\t0\\t0\\nGid:\\t0\\t0\\n' "
	   ">proc/60/status");
	maps_on_exit(m, count_exit, &told);
	maps_add(m, t, 60, 0x10000, 0x1000, a.pgoff, a.id, a.path);
	maps_leader_ended(m, t + 1, 60);
	maps_catch_up(m);
	assert_int_equal(living(m), 1);
	maps_exec(m, t + 2, 60);
	maps_add(m, t + 3, 60, 0x10000, 0x1000, a.pgoff, a.id, a.path);
	usleep(120000);
	maps_catch_up(m);
	assert_int_equal(living(m), 1);
	assert_int_equal(told, 0);
	maps_destroy(m);
	free(a.path);
	sh("rm -r proc");
}

struct racer {
	struct maps *m;
	struct program *p;
	int n;
	const struct maptable *table;
};

static void *race(void *arg)
{
	struct racer *r = arg;

	for (int i = 0; i < 300; i++) {
		int pid = 1000 + (r->n * 7 + i) % 50;
		const struct maps_binary *b;
		uint64_t vaddr;
		uint32_t id;

		maps_add(r->m, 0, pid, 0x10000, 0x1000, r->p->pgoff, r->p->id, r->p->path);
		maps_fork(r->m, 0, pid, pid + 100);
		if (maps_place_of(r->m, pid, 0x10010, &id, &vaddr)) {
			b = maps_binary_wait(r->m, id);
			if (b->table)
				r->table = b->table;
		}
		mappings_of(r->m, 1);
		if (i % 3 == 0)
			maps_exit(r->m, 0, pid);
		if (i % 5 == 0)
			maps_exec(r->m, 0, pid + 100);
		if (i % 50 == 0)
			maps_scan_all(r->m, NULL);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct program p = make_program("threads", "");
	_cleanup_free_ char *line = maps_line(&p, 0x40000, "r-xp", "");
	struct maps *m = create(NULL, 0);
	struct racer r[4];
	pthread_t t[4];

	(void)state;
	make_process(1005, line);
	for (int i = 0; i < 4; i++) {
		r[i] = (struct racer){ m, &p, i, NULL };
		assert_int_equal(pthread_create(&t[i], NULL, race, &r[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	/* One binary, one table, whoever built it. */
	assert_int_equal(maps_binary_count(m), 2);
	for (int i = 0; i < 4; i++) {
		assert_non_null(r[i].table);
		assert_ptr_equal(r[i].table, r[0].table);
	}
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_order_of_rings),
		cmocka_unit_test(test_forks_are_heard_of_first),
		cmocka_unit_test(test_end_before_beginning),
		cmocka_unit_test(test_end_of_threads),
		cmocka_unit_test(test_end_heard_of_early),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_threads),
	};

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
