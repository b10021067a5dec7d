// SPDX-License-Identifier: GPL-2.0-or-later
/* Which process samples fall into: copies, ranks, short-lived ones by the thousand. */
#include "daemon/process_places.c"
#include "daemon/process_table.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/test_process_table-XXXXXX";

static void put(int pid, const char *file, const void *data, size_t len)
{
	_cleanup_free_ char *dir = xasprintf("%s/proc/%d", root, pid);
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, file);
	FILE *f;

	mkdir(dir, 0700);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static const struct process *named(const struct process *list, size_t n, const char *name, int rank)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i].name, name) && list[i].rank == rank)
			return &list[i];
	}
	return NULL;
}

static void add_rank(int pid, int rank, void *arg)
{
	(void)pid;
	*(int *)arg += 500 + rank;
}

/* Two copies of one program, and what launchers say about them. */
static void copies_and_ranks(void **state)
{
	static const char mpi[] = "HOME=/\0OMPI_COMM_WORLD_RANK=3\0", other[] = "PMI_RANK=0\0X=1\0";
	struct process_table *p = process_table_create();
	_cleanup_free_ struct process *list = NULL;
	const struct process *q;
	int told = 0;
	size_t n;

	(void)state;
	put(10, "comm", "bar\n", 4);
	put(10, "environ", mpi, sizeof(mpi) - 1);
	put(11, "comm", "bar\n", 4);
	put(11, "environ", other, sizeof(other) - 1);
	assert_int_not_equal(process_table_sample(p, 10, 1), process_table_sample(p, 11, 1));
	process_table_sample(p, 10, 1);
	process_table_tell_ranks(p, add_rank, &told);
	process_table_look(p);
	process_table_settle(p);
	assert_int_equal(told, 1003); /* of two, 3 and 0 */
	process_table_gone(p, 10);
	process_table_gone(p, 10);
	assert_int_equal(told, 1003 + 499); /* and one of them less */
	list = process_table_list(p, &n);
	assert_int_equal(n, 2);
	q = named(list, n, "bar", 3);
	assert_non_null(q);
	assert_int_equal(q->samples, 2);
	assert_int_equal(q->pid, 10);
	assert_string_equal(q->rank_from, "OMPI_COMM_WORLD_RANK");
	assert_non_null(named(list, n, "bar", 0));
	process_table_destroy(p);
}

/*
 * An environment that cannot be read, of a process that holds its lock for ever: nobody waits for
 * it, its name is known, as are the ranks of all others, and when it goes on, its own.
 */
static void stuck_environment(void **state)
{
	static const char rank[] = "PMI_RANK=4\0";
	struct process_table *p = process_table_create();
	_cleanup_free_ char *path = xasprintf("%s/proc/30/environ", root);
	_cleanup_free_ struct process *list = NULL, *settled = NULL, *later = NULL;
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	size_t n;
	int fd;

	(void)state;
	put(30, "comm", "held\n", 5);
	assert_int_equal(mkfifo(path, 0600), 0);
	put(31, "comm", "next\n", 5);
	put(31, "environ", rank, sizeof(rank) - 1);
	process_table_sample(p, 30, 2);
	process_table_look(p);
	process_table_sample(p, 31, 1);
	process_table_look(p);
	list = process_table_list(p, &n);
	assert_int_equal(n, 2);
	assert_non_null(named(list, n, "held", -1));
	assert_non_null(named(list, n, "next", -1));
	process_table_settle(p);
	settled = process_table_list(p, &n);
	assert_non_null(named(settled, n, "held", -1));
	assert_non_null(named(settled, n, "next", 4));
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, "PMI_RANK=3", 11), 11);
	close(fd);
	do {
		free(later);
		usleep(1000);
		process_table_look(p);
		later = process_table_list(p, &n);
	} while (!named(later, n, "held", 3) && clock_now_ns() < end);
	assert_non_null(named(later, n, "held", 3));
	assert_non_null(named(later, n, "next", 4));
	process_table_destroy(p);
}

/* At the end it is left alone. */
static void stuck_at_the_end(void **state)
{
	struct process_table *p = process_table_create();
	_cleanup_free_ char *path = xasprintf("%s/proc/32/environ", root);

	(void)state;
	put(32, "comm", "held\n", 5);
	assert_int_equal(mkfifo(path, 0600), 0);
	process_table_sample(p, 32, 1);
	process_table_look(p);
	usleep(20000);
	process_table_destroy(p);
	close(open(path, O_RDWR)); /* lets the thread go */
}

/* Gone before anybody could ask /proc: the kernel's events have named it. */
static void short_lived(void **state)
{
	struct process_table *p = process_table_create();
	_cleanup_free_ struct process *list = NULL;
	uint32_t first;
	size_t n;

	(void)state;
	process_table_exec(p, 20, "make");
	process_table_fork(p, 21, 20);
	first = process_table_sample(p, 21, 1);
	process_table_exec(p, 21, "cc1");
	assert_int_equal(process_table_sample(p, 21, 1), first);
	process_table_gone(p, 21);
	assert_int_equal(process_table_sample(p, 21, 1),
			 first);       /* late, from another core's ring */
	process_table_fork(p, 21, 20); /* its pid is used again */
	assert_int_not_equal(process_table_sample(p, 21, 1), first);
	process_table_sample(p, 22, 1);
	process_table_look(p);
	list = process_table_list(p, &n);
	assert_int_equal(n, 3);
	assert_int_equal(named(list, n, "cc1", -1)->samples, 3);
	assert_int_equal(named(list, n, "make", -1)->samples, 1);
	assert_int_equal(named(list, n, "?", -1)->samples, 1);
	process_table_destroy(p);
}

static uint64_t counted(const struct place_entry *e, size_t n, uint32_t process, uint32_t place)
{
	for (size_t i = 0; i < n; i++) {
		if (e[i].process == process && e[i].place == place)
			return e[i].counts.self;
	}
	return 0;
}

/* A build: the table is bounded, no sample is lost, and it is known how many they were. */
static void thousands(void **state)
{
	struct process_table *p = process_table_create();
	struct places *places = places_create(p);
	_cleanup_free_ struct place_entry *entries = NULL;
	_cleanup_free_ struct process *list = NULL;
	const struct process *group, *server;
	uint64_t samples = 0, members = 0;
	size_t n, n_entries = 0;

	(void)state;
	process_table_exec(p, 5, "server");
	for (int i = 0; i < 20000; i++) {
		int pid = 100 + i;

		process_table_exec(p, pid, i % 2 ? "cc1" : "as");
		for (uint32_t k = 0; k < 10; k++)
			places_count(places, process_table_sample(p, pid, 1), i % 2 ? k : 77,
				     PLACE_SELF, 1);
		places_count(places, process_table_sample(p, 5, 1), 5, PLACE_SELF, 1);
		process_table_gone(p, pid);
		if (i % 1000 == 0) {
			usleep(1000);
			process_table_look(p);
		}
	}
	process_table_fold(p, 100, 1);
	list = process_table_list(p, &n);
	assert_in_range(n, 3, 3);
	for (size_t i = 0; i < n; i++) {
		samples += list[i].samples;
		members += list[i].members;
	}
	assert_int_equal(samples, 20000 * 11);
	assert_int_equal(members, 20000);
	places_add(places, &entries, &n_entries);
	assert_int_equal(places_left_out(places), 0);
	server = named(list, n, "server", -1);
	group = named(list, n, "cc1", -1);
	assert_int_equal(server->pid, 5);
	assert_int_equal(group->pid, 0);
	assert_int_equal(group->members, 10000);
	assert_int_equal(counted(entries, n_entries, server->id, 5), 20000);
	assert_int_equal(counted(entries, n_entries, group->id, 3), 10000);
	assert_int_equal(n_entries, 12);
	assert_true(places->n < 10000); /* though 110,000 pairs of process and place have been */
	places_destroy(places);
	process_table_destroy(p);
}

/* More processes at once than there are numbers, with more names than there are groups. */
static void all_alive(void **state)
{
	struct process_table *p = process_table_create();
	_cleanup_free_ struct process *list = NULL;
	uint64_t samples = 0, processes = 0;
	size_t n;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2000; i++) {
			char name[16];

			snprintf(name, sizeof(name), "p%d", i);
			if (!round)
				process_table_exec(p, 1000 + i, name);
			process_table_sample(p, 1000 + i, 1);
		}
	}
	list = process_table_list(p, &n);
	assert_true(n <= SLOTS);
	for (size_t i = 0; i < n; i++) {
		samples += list[i].samples;
		processes += list[i].pid ? 1 : list[i].members;
	}
	assert_int_equal(samples, 6000);
	assert_int_equal(processes, 2000);
	assert_non_null(named(list, n, "", -1));
	process_table_destroy(p);
}

/* So many places in so many living processes: what is not told apart is counted. */
static void too_many_places(void **state)
{
	struct process_table *p = process_table_create();
	struct places *places = places_create(p);
	_cleanup_free_ struct place_entry *entries = NULL;
	size_t n = 0;

	(void)state;
	for (int pid = 1; pid <= 200; pid++) {
		for (uint32_t k = 0; k < 1000; k++)
			places_count(places, process_table_sample(p, pid, 1), k, PLACE_SELF, 1);
	}
	places_add(places, &entries, &n);
	assert_true(n <= PLACES_MAX && n > PLACES_MAX / 2);
	assert_int_equal(n + places_left_out(places), 200 * 1000);
	places_destroy(places);
	process_table_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_and_ranks),  cmocka_unit_test(short_lived),
		cmocka_unit_test(stuck_environment), cmocka_unit_test(stuck_at_the_end),
		cmocka_unit_test(thousands),	     cmocka_unit_test(all_alive),
		cmocka_unit_test(too_many_places),
	};
	_cleanup_free_ char *proc = NULL, *remove = NULL;
	int ret;

	if (!mkdtemp(root))
		return 1;
	proc = xasprintf("%s/proc", root);
	mkdir(proc, 0700);
	sysroot = root;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	remove = xasprintf("rm -r %s", root);
	return system(remove) ? 1 : ret;
}
