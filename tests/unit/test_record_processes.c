// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes of a recording: those that ended long ago take no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>

#include "record/processes.h"

#define PIDS 1000000 /* no process has such a one */

static uint32_t told;

static void on_told(const struct record_process *p, void *arg)
{
	(void)arg;
	assert_true(p->id <= told);
	told = p->id + 1;
}

static uint32_t live(struct processes *p, int pid)
{
	uint32_t id = processes_get(p, pid, true, "brief", 0);

	processes_thread_begins(p, id);
	processes_recorded(p, id);
	processes_thread_ends(p, id);
	return id;
}

static void test_forgotten(void **state)
{
	struct processes *p;
	size_t before = 0, after;
	uint64_t points;
	uint32_t lasting, stranger;

	(void)state;
	told = 0;
	p = processes_create(on_told, NULL);
	lasting = processes_get(p, PIDS - 1, true, "lasting", 0);
	processes_thread_begins(p, lasting);
	stranger = processes_get(p, PIDS - 2, true, "stranger", 0);
	processes_ended(p, stranger, 7);
	for (int i = 0; i < 60000; i++) {
		uint32_t id = live(p, PIDS + i % 20000);

		assert_int_equal(id, i + 2);
		if (i % 1000 == 0)
			processes_settle(p); /* whoever asks for ranks keeps up */
		if (i == 20000)
			before = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	processes_settle(p);
	after = mallinfo2().uordblks + mallinfo2().hblkhd;
	if (after > before + 100000)
		fail_msg("%zu bytes more", after - before);
	/* What is said of those that have been forgotten is said of nobody. */
	processes_ended(p, 2, 100);
	processes_recorded(p, 2);
	assert_false(processes_share_ids(p, 2));
	/* Others are as they were. */
	assert_int_equal(processes_get(p, PIDS - 1, false, "lasting", 0), lasting);
	assert_string_equal(processes_stranger(p, &points)->name, "stranger");
	assert_int_equal(points, 7);
	processes_settle(p);
	processes_destroy(p);
}

/* A pid of one that has ended is another process's, though nobody has seen that begin. */
static void test_pid_again(void **state)
{
	struct processes *p;
	uint32_t first, second;

	(void)state;
	told = 0;
	p = processes_create(on_told, NULL);
	first = live(p, PIDS);
	second = processes_get(p, PIDS, false, "next", 0);
	assert_int_not_equal(first, second);
	assert_int_equal(processes_get(p, PIDS, false, "next", 0), second);
	processes_settle(p);
	processes_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_pid_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
