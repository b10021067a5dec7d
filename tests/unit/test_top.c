// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of scoz top without a recorder. */
#include "tests/unit/test_top_fixture.h"

/* ---- the model ---- */

static void test_shares(void **state)
{
	uint32_t a, b;

	(void)state;
	a = thread(100, 100, "prog", 0);
	b = thread(100, 101, "worker", 0);
	on(a, 0, 4 * SEC, S_WORK, false);
	on(a, 4 * SEC, 5 * SEC, S_READ, true);
	off(a, 5 * SEC, 7 * SEC, RECORD_IO, "disk", S_READ, RECORDING_NONE, "nvme0n1");
	off(a, 7 * SEC, 8 * SEC, RECORD_SCHED, NULL, S_READ, RECORDING_NONE, NULL);
	off(b, 0, 6 * SEC, RECORD_OTHER, "poll", S_MAIN, a, NULL);
	for (int i = 0; i < 20; i++)
		off(b, 6 * SEC + i * 100 * MS, 6 * SEC + (i + 1) * 100 * MS, RECORD_LOCK, "futex",
		    S_FUTEX, a, NULL);
	top_model_advance(model, 8 * SEC);

	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->n_rows, 1);
	assert_int_equal(result->span, 8 * SEC);
	assert_int_equal(result->threads, 2);
	assert_int_equal(result->rows[0].threads, 2);
	assert_string_equal(result->rows[0].comm, "prog");
	assert_int_equal(result->rows[0].base, 16 * SEC);
	assert_int_equal(sum(result->rows[0].time), 16 * SEC);
	/* On a CPU: of one CPU; waits: of the threads' time. */
	near(top_percent(result, &result->rows[0], TOP_USER), 50, 0.01);
	near(top_percent(result, &result->rows[0], TOP_KERNEL), 12.5, 0.01);
	near(top_percent(result, &result->rows[0], TOP_IO), 12.5, 0.01);
	near(top_percent(result, &result->rows[0], TOP_SCHED), 6.25, 0.01);
	near(top_percent(result, &result->rows[0], TOP_LOCK), 12.5, 0.01);
	near(top_percent(result, &result->rows[0], TOP_OTHER), 37.5, 0.01);
	near(result->rows[0].activity, 10 * SEC, 1);

	ask_by(TOP_BY_THREAD);
	assert_int_equal(result->n_rows, 2);
	near(top_percent(result, row_of("prog"), TOP_IO), 25, 0.01);
	near(top_percent(result, row_of("worker"), TOP_OTHER), 75, 0.01);

	ask_by(TOP_BY_FUNCTION);
	assert_int_equal(result->n_rows, 4);
	near(top_percent(result, row_of("work"), TOP_USER), 50, 0.01);
	near(top_percent(result, row_of("vfs_read"), TOP_KERNEL), 12.5, 0.01);
	near(top_percent(result, row_of("vfs_read"), TOP_IO), 25, 0.01);
	near(top_percent(result, row_of("futex_wait"), TOP_LOCK), 25, 0.01);
	near(sum(result->time), 16 * SEC, 1);
}

/* Whatever the threads do, and however coarse the points are. */
static void test_sums(void **state)
{
	static const char *const kinds[] = { NULL, "disk", "futex", NULL, "pipe" };
	uint32_t ids[50];
	uint64_t now[50] = {}, latest = 0;
	unsigned int seed = 1;

	(void)state;
	for (int i = 0; i < 50; i++)
		ids[i] = thread(100 + i % 5, 1000 + i, "many", 0);
	for (int round = 0; round < 3000; round++) {
		int i = rand_r(&seed) % 50, class = rand_r(&seed) % RECORD_CLASSES;
		uint64_t length = (1 + rand_r(&seed) % 400) * PERIOD;

		if (class == RECORD_ON)
			on(ids[i], now[i], now[i] + length, rand_r(&seed) % 8, length & 1);
		else
			off(ids[i], now[i], now[i] + length, class, kinds[class], rand_r(&seed) % 8,
			    ids[rand_r(&seed) % 50], NULL);
		now[i] += length;
		if (now[i] > latest)
			latest = now[i];
		if (round % 100)
			continue;
		top_model_advance(model, latest);
		ask_by(TOP_BY_PROCESS);
		for (size_t p = 0; p < result->n_rows; p++) {
			assert_int_equal(sum(result->rows[p].time), result->rows[p].base);
			assert_true(result->rows[p].base <=
				    result->rows[p].threads * (WINDOW_MAX + 3 * PERIOD));
		}
		ask_by(TOP_BY_THREAD);
		for (size_t p = 0; p < result->n_rows; p++) {
			assert_int_equal(sum(result->rows[p].time), result->rows[p].base);
			near(result->rows[p].base, result->span, 3 * PERIOD);
		}
	}
	assert_true(result->span >= WINDOW && result->span <= WINDOW_MAX);
}

/* A wait is told at its end, and counts where it was. */
static void test_long_wait(void **state)
{
	uint32_t id;

	(void)state;
	id = thread(100, 100, "sleeper", 0);
	off(id, 0, 100 * SEC, RECORD_OTHER, "sleep", S_MAIN, RECORDING_NONE, "timer");
	top_model_advance(model, 100 * SEC);
	ask_by(TOP_BY_PROCESS);
	near(result->rows[0].time[TOP_OTHER], result->span, 1);
	assert_true(result->rows[0].base <= WINDOW_MAX);
	on(id, 100 * SEC, 105 * SEC, S_WORK, false);
	top_model_advance(model, 105 * SEC);
	ask_by(TOP_BY_PROCESS);
	near(result->rows[0].time[TOP_USER], 5 * SEC, 1);
	near(result->rows[0].time[TOP_OTHER], 5 * SEC, WINDOW / 20 + 1);
	on(id, 105 * SEC, 111 * SEC, S_WORK, false);
	top_model_advance(model, 111 * SEC);
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->rows[0].time[TOP_OTHER], 0);
	near(top_percent(result, &result->rows[0], TOP_USER), 100, 0.1);
}

static void test_open_wait(void **state)
{
	struct top_waiting w[4];
	uint32_t id;

	(void)state;
	top_model_seed(model, 100, 100, "stuck");
	top_model_seed(model, 100, 101, "worker");
	top_model_advance(model, 4 * SEC);
	ask_by(TOP_BY_PROCESS);
	near(top_percent(result, &result->rows[0], TOP_OPEN), 100, 0.01);
	assert_int_equal(result->rows[0].threads, 2);

	assert_int_equal(top_model_waiting(model, 5 * SEC, w, 4), 0);
	assert_int_equal(top_model_waiting(model, SEC, w, 4), 2);
	assert_int_equal(top_model_waiting(model, SEC, w, 4), 0);
	assert_int_equal(w[0].tid, 100);
	top_model_explain(model, w[0].thread, TOP_LOCK, "futex", "futex_wait");
	ask_by(TOP_BY_PROCESS);
	near(top_percent(result, &result->rows[0], TOP_LOCK), 50, 0.01);
	near(top_percent(result, &result->rows[0], TOP_OPEN), 50, 0.01);
	assert_int_equal(result->rows[0].wait.class, TOP_LOCK);
	assert_true(result->rows[0].wait.open);
	assert_string_equal(result->rows[0].wait.kind, "futex");
	/* Waits for locks that do not end are no activity. */
	assert_int_equal(result->rows[0].activity, 0);
	ask_by(TOP_BY_FUNCTION);
	near(top_percent(result, row_of("futex_wait"), TOP_LOCK), 100, 0.01);
	near(top_percent(result, row_of("[still waiting]"), TOP_OPEN), 100, 0.01);

	/* The seeded thread is the one that the recorder tells of now. */
	id = thread(100, 100, "stuck", 5 * SEC);
	off(id, 0, 5 * SEC, RECORD_LOCK, "futex", S_FUTEX, RECORDING_NONE, NULL);
	top_model_advance(model, 8 * SEC);
	ask_by(TOP_BY_THREAD);
	assert_int_equal(result->n_rows, 2);
	near(row_of("stuck")->time[TOP_LOCK], 5 * SEC, 1);
	near(row_of("stuck")->time[TOP_OPEN], 3 * SEC, 1);
	assert_int_equal(top_model_waiting(model, SEC, w, 4), 1);
}

static void test_expiry(void **state)
{
	size_t threads_cap = 0, entries_cap = 0;
	uint64_t now = 0;

	(void)state;
	for (int i = 0; i < 5000; i++, now += 100 * MS) {
		uint32_t id = thread(100 + i, 100 + i, "short", now);

		on(id, now, now + 50 * MS, S_WORK, false);
		off(id, now + 50 * MS, now + 80 * MS, RECORD_OTHER, "pipe", S_READ, RECORDING_NONE,
		    NULL);
		end(id, now + 80 * MS);
		top_model_advance(model, now + 100 * MS);
		if (i == 500) {
			threads_cap = model->threads.cap;
			entries_cap = model->entries.cap;
		}
		assert_true(top_model_size(model).threads <= 107);
		assert_true(top_model_size(model).entries <= 214);
	}
	assert_int_equal(model->threads.cap, threads_cap);
	assert_int_equal(model->entries.cap, entries_cap);
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(sum(result->time), result->base);
	top_model_advance(model, now + 11 * SEC);
	assert_int_equal(top_model_size(model).threads, 0);
	assert_int_equal(top_model_size(model).processes, 0);
	assert_int_equal(top_model_size(model).entries, 0);
	assert_int_equal(model->ids.index.n, 0);
	ask_by(TOP_BY_FUNCTION);
	assert_int_equal(result->n_rows, 0);
}

/* Its end was not told; and a tid that comes again. */
static void test_lost_ends(void **state)
{
	uint32_t a, b;

	(void)state;
	a = thread(100, 100, "gone", 0);
	on(a, 0, SEC, S_WORK, false);
	b = thread(200, 200, "old", 0);
	on(b, 0, SEC, S_WORK, false);
	b = thread(200, 200, "new", 2 * SEC);
	on(b, 2 * SEC, 3 * SEC, S_WORK, false);
	dead_tid = 100;
	top_model_advance(model, 5 * SEC);
	assert_int_equal(top_model_size(model).threads, 3);
	top_model_advance(model, 13 * SEC);
	top_model_advance(model, 14 * SEC);
	ask_by(TOP_BY_THREAD);
	assert_int_equal(result->n_rows, 1);
	assert_string_equal(result->rows[0].comm, "new");
	assert_int_equal(top_model_size(model).threads, 1);
	/* Samples of a thread that is not known any more are nobody's. */
	on(a, 14 * SEC, 15 * SEC, S_WORK, false);
	assert_int_equal(ask_by(TOP_BY_THREAD)->n_rows, 1);
}

static void test_wakers(void **state)
{
	uint32_t a, w;

	(void)state;
	a = thread(100, 100, "prog", 0);
	w = thread(200, 200, "waker", SEC);
	off(a, 0, 2 * SEC, RECORD_LOCK, "futex lock", S_FUTEX, w, NULL);
	for (int i = 20; i < 30; i++)
		off(a, i * 100 * MS, (i + 1) * 100 * MS, RECORD_IO, "disk", S_READ, RECORDING_NONE,
		    "nvme0n1");
	top_model_advance(model, 3 * SEC);
	/* Who only woke others has done nothing that was seen. */
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->n_rows, 1);
	assert_int_equal(result->rows[0].wait.class, TOP_LOCK);
	assert_string_equal(result->rows[0].wait.function, "take_lock");
	assert_string_equal(result->rows[0].wait.waker, "waker:200");
	near(result->rows[0].activity, 3 * SEC, 1);
	end(w, 2 * SEC);
	for (int i = 30; i < 130; i++)
		off(a, i * 100 * MS, (i + 1) * 100 * MS, RECORD_IO, "disk", S_READ, RECORDING_NONE,
		    "nvme0n1");
	top_model_advance(model, 13 * SEC);
	ask_by(TOP_BY_PROCESS);
	assert_string_equal(result->rows[0].wait.waker, "nvme0n1");
	assert_string_equal(result->rows[0].wait.kind, "disk");
	/* Outside the C library. */
	assert_string_equal(result->rows[0].wait.function, "work");
	assert_int_equal(top_model_size(model).threads, 1);
}

/* Nobody holds what is waited for: no activity, and no wait to show before others. */
static void test_idle(void **state)
{
	uint32_t a, b;

	(void)state;
	a = thread(100, 100, "prog", 0);
	off(a, 0, 900 * MS, RECORD_LOCK, "futex wait", S_FUTEX, RECORDING_NONE, NULL);
	off(a, 900 * MS, SEC, RECORD_IO, "disk", S_READ, RECORDING_NONE, "vda");
	b = thread(200, 200, "old", 0); /* of which nothing is known: by how long it took */
	off(b, 0, SEC, RECORD_LOCK, "futex", S_FUTEX, RECORDING_NONE, NULL);
	top_model_advance(model, SEC);
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->n_rows, 2);
	assert_int_equal(result->rows[0].pid, 100);
	near(result->rows[0].activity, 100 * MS, 1);
	assert_int_equal(result->rows[0].wait.class, TOP_IO);
	near(result->rows[1].activity, 0, 1);
}

static void test_functions(void **state)
{
	struct top_query q = everything;
	uint32_t a;

	(void)state;
	a = thread(100, 100, "prog", 0);
	on(a, 0, SEC, S_INNER, false);
	on(a, SEC, 2 * SEC, S_KERNEL, true);
	on(a, 2 * SEC, 3 * SEC, S_READ, true);
	on(a, 3 * SEC, 4 * SEC, RECORDING_NONE, true);
	top_model_advance(model, 4 * SEC);
	ask_by(TOP_BY_FUNCTION);
	near(top_percent(result, row_of("inner"), TOP_USER), 25, 0.01);
	near(top_percent(result, row_of("vfs_read"), TOP_KERNEL), 50, 0.01);
	near(top_percent(result, row_of("[unknown]"), TOP_KERNEL), 25, 0.01);
	assert_int_equal(row_of("inner")->stack, S_INNER);
	q.by = TOP_BY_FUNCTION;
	q.user_functions = true;
	ask(q);
	near(top_percent(result, row_of("read"), TOP_KERNEL), 25, 0.01);
	near(top_percent(result, row_of("work"), TOP_KERNEL), 25, 0.01);
	near(top_percent(result, row_of("inner"), TOP_USER), 25, 0.01);
}

static void check_order(struct top_query q, const char *wanted)
{
	char got[64] = "";

	ask(q);
	for (size_t i = 0; i < result->n_rows; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "",
			 result->rows[i].comm);
	assert_string_equal(got, wanted);
}

static void test_order(void **state)
{
	static const struct {
		enum top_sort sort;
		const char *wanted;
	} cases[] = {
		{ TOP_SORT_ACTIVITY, "burn lock io idle pool" },
		{ TOP_SORT_ON, "burn io lock idle pool" },
		{ TOP_SORT_USER, "burn lock io idle pool" },
		{ TOP_SORT_KERNEL, "io burn lock idle pool" },
		{ TOP_SORT_SCHED, "lock burn io idle pool" },
		{ TOP_SORT_IO, "io burn lock idle pool" },
		{ TOP_SORT_LOCK, "pool lock burn io idle" },
		{ TOP_SORT_OTHER, "idle io burn lock pool" },
		{ TOP_SORT_PID, "burn io lock idle pool" },
		{ TOP_SORT_NAME, "burn idle io lock pool" },
	};
	struct top_query q = everything;

	(void)state;
	fill();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		q.sort = cases[i].sort;
		check_order(q, cases[i].wanted);
	}
	q.sort = TOP_SORT_PID;
	q.reverse = true;
	check_order(q, "pool idle lock io burn");
}

static void test_filters(void **state)
{
	struct top_query q = everything;

	(void)state;
	fill();
	q.hide_idle = true;
	check_order(q, "burn lock io");
	assert_int_equal(result->n_idle, 2);
	q.hide_idle = false;
	q.classes = 1u << TOP_LOCK;
	check_order(q, "lock pool");
	near(top_percent(result, row_of("lock"), TOP_LOCK), 60, 0.1);
	assert_int_equal(row_of("lock")->time[TOP_SCHED], 0);
	assert_int_equal(row_of("lock")->base, result->span);
	q.classes = TOP_ALL_CLASSES;
	q.pid = 20;
	check_order(q, "io");
	near(sum(result->time), 10 * SEC, 1);
	q.by = TOP_BY_FUNCTION;
	ask(q);
	assert_int_equal(result->n_rows, 3);
	near(top_percent(result, row_of("vfs_read"), TOP_IO), 50, 0.1);
	q.pid = 0;
	q.tid = 30;
	assert_int_equal(ask(q)->n_rows, 1);
}

/* 10,000 threads at once, and more places than there is room for. */
static void test_many(void **state)
{
	uint64_t time[TOP_CLASSES] = {};

	(void)state;
	tear_down(NULL);
	create(20000);
	for (int i = 0; i < 10000; i++) {
		uint32_t id = thread(1 + i / 100, 1000000 + i, "many", 0);

		for (uint64_t t = 0; t < 5; t++) {
			on(id, t * SEC, t * SEC + 10 * MS, t % 3, false);
			off(id, t * SEC + 10 * MS, t * SEC + SEC, RECORD_OTHER, "sleep", S_READ,
			    id - t, NULL);
		}
	}
	top_model_advance(model, 5 * SEC);
	/* One for each class and thread is always to be had. */
	assert_true(top_model_size(model).entries <= 20000 + 2 * 10000);
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->n_rows, 100);
	for (int i = 0; i < 100; i++) {
		near(top_percent(result, &result->rows[i], TOP_USER), 100, 0.01);
		near(top_percent(result, &result->rows[i], TOP_OTHER), 99, 0.01);
		for (int c = 0; c < TOP_CLASSES; c++)
			time[c] += result->rows[i].time[c];
	}
	assert_memory_equal(time, result->time, sizeof(time));
	assert_int_equal(ask_by(TOP_BY_THREAD)->n_rows, 10000);
}

static void test_freeze(void **state)
{
	uint32_t a, b;

	(void)state;
	a = thread(100, 100, "prog", 0);
	b = thread(100, 101, "other", 0);
	on(a, 0, 5 * SEC, S_WORK, false);
	on(b, 0, 5 * SEC, S_WORK, false);
	top_model_advance(model, 5 * SEC);
	top_model_freeze(model, true, 5 * SEC);
	off(a, 5 * SEC, 7 * SEC, RECORD_IO, "disk", S_READ, RECORDING_NONE, NULL);
	end(b, 6 * SEC);
	top_model_advance(model, 7 * SEC);
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->now, 5 * SEC);
	near(top_percent(result, &result->rows[0], TOP_USER), 200, 0.01);
	top_model_freeze(model, false, 8 * SEC);
	/* Of the first wait, half was before. */
	off(a, 7 * SEC, 9 * SEC, RECORD_IO, "disk", S_READ, RECORDING_NONE, NULL);
	off(a, 9 * SEC, 10 * SEC, RECORD_OTHER, "pipe", S_READ, RECORDING_NONE, NULL);
	top_model_advance(model, 10 * SEC);
	ask_by(TOP_BY_THREAD);
	assert_int_equal(result->span, 2 * SEC);
	near(row_of("prog")->time[TOP_IO], SEC, 1);
	near(row_of("prog")->time[TOP_OTHER], SEC, 1);
	assert_int_equal(sum(row_of("prog")->time), 2 * SEC);
	assert_int_equal(result->n_rows, 1);
}

static void test_names(void **state)
{
	uint32_t a;

	(void)state;
	a = thread(100, 101, "worker", 0);
	on(a, 0, SEC, S_WORK, false);
	assert_string_equal(ask_by(TOP_BY_PROCESS)->rows[0].comm, "worker");
	top_model_name(model, 100, "prog");
	assert_string_equal(ask_by(TOP_BY_PROCESS)->rows[0].comm, "prog");
	a = thread(100, 100, "sh", 0);
	on(a, 0, SEC, S_WORK, false);
	sink.comm(a, SEC, "a-very-long-name-of-a-command", sink.arg);
	assert_string_equal(ask_by(TOP_BY_PROCESS)->rows[0].comm, "a-very-long-nam");
}

/* ---- /proc ---- */

static void test_proc(void **state)
{
	char dir[] = "/tmp/test_top.XXXXXX", path[256], function[32];
	const char *saved = sysroot, *kind;
	struct top_waiting w[4];
	static const struct {
		const char *name, *text;
	} files[] = {
		{ "comm", "prog\n" },
		{ "task/77/comm", "prog\n" },
		{ "task/78/comm", "wor\nker" },
		{ "../78/status", "Name:\ta\nState:\tS (sleeping)\nUid:\t0\t0\nGid:\t0\t0\n" },
		{ "task/78/stack", "[<0>] futex_wait_queue+0x62/0x90\n[<0>] futex_wait+0x1/0x2\n" },
	};

	(void)state;
	assert_int_equal(top_proc_class("[<0>] pipe_read+0x1/0x2\n", 'S', &kind, function, 32),
			 TOP_OTHER);
	assert_string_equal(kind, "pipe");
	assert_string_equal(function, "pipe_read");
	assert_int_equal(
		top_proc_class("[<0>] folio_wait_bit_common+0x1/0x2\n", 'D', &kind, function, 32),
		TOP_IO);
	assert_int_equal(top_proc_class("", 'R', &kind, function, 32), TOP_SCHED);
	assert_int_equal(top_proc_class("", 'T', &kind, function, 32), TOP_OTHER);
	assert_int_equal(top_proc_class("", 'S', &kind, function, 32), TOP_OPEN);
	assert_int_equal(top_proc_class("[<0>] strange+0x1/0x2\n", 'D', &kind, function, 32),
			 TOP_OPEN);
	assert_int_equal(top_proc_class("[<0>] strange", 'S', &kind, function, 4), TOP_OTHER);
	assert_string_equal(function, "str");

	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "mkdir -p %s/proc/77/task/77 %s/proc/77/task/78 %s/proc/78 %s/proc/self",
			 dir, dir, dir, dir);
		assert_int_equal(system(path), 0);
		snprintf(path, sizeof(path), "%s/proc/77/%s", dir, files[i].name);
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(files[i].text, f);
		fclose(f);
	}
	sysroot = dir;
	top_proc_seed(model, NULL, 0);
	top_model_advance(model, 2 * SEC);
	top_proc_explain(model, false);
	sysroot = saved;
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	assert_int_equal(system(path), 0);
	ask_by(TOP_BY_THREAD);
	assert_int_equal(result->n_rows, 2);
	near(top_percent(result, row_of("wor"), TOP_LOCK), 100, 0.01);
	near(top_percent(result, row_of("prog"), TOP_OPEN), 100, 0.01);
	assert_int_equal(top_model_waiting(model, SEC, w, 4), 0);
	assert_true(top_proc_alive(getpid(), getpid(), NULL));
	assert_false(top_proc_alive(INT32_MAX, INT32_MAX, NULL));
}

/* Who is named is seen with what he has started, though it sleeps; others are not. */
static void test_tree(void **state)
{
	static const struct {
		const char *pid, *parent;
	} processes[] = { { "77", "1" }, { "78", "77" }, { "79", "78" }, { "80", "1" } };
	char dir[] = "/tmp/scoz-top-XXXXXX", command[4096];
	const char *saved = sysroot;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++) {
		const char *pid = processes[i].pid;

		snprintf(command, sizeof(command),
			 "cd %s; mkdir -p proc/%s/task/%s; echo p%s | tee proc/%s/comm "
			 ">proc/%s/task/%s/comm; printf "
			 "'Name:\\tp\\nState:\\tS\\nPPid:\\t%s\\nUid:\\t0\\t0\\n"
			 "Gid:\\t0\\t0\\n' >proc/%s/status",
			 dir, pid, pid, pid, pid, pid, pid, processes[i].parent, pid);
		assert_int_equal(system(command), 0);
	}
	sysroot = dir;
	top_proc_seed(model, (int[]){ 77 }, 1);
	sysroot = saved;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	top_model_advance(model, 2 * SEC);
	ask_by(TOP_BY_PROCESS);
	assert_int_equal(result->n_rows, 3);
	row_of("p77");
	row_of("p78");
	row_of("p79");
}

/* Thousands of threads that sleep are all looked at in the beginning, then some of them each time.
 */
static void test_looks(void **state)
{
	static struct top_waiting left[3000];

	(void)state;
	for (int i = 0; i < 3000; i++)
		top_model_seed(model, INT32_MAX, INT32_MAX - i, "asleep");
	top_model_advance(model, SEC);
	top_proc_explain(model, false);
	assert_int_equal(top_model_waiting(model, SILENT_NS, left, 3000), 3000 - MAX_LOOKS);
	on(thread(1, 1, "awake", 0), 0, SEC, S_WORK, false);
	for (int i = 0; i < 3000; i++)
		top_model_seed(model, INT32_MAX, INT32_MAX - 3000 - i, "asleep");
	top_model_advance(model, 2 * SEC);
	top_proc_explain(model, true);
	assert_int_equal(top_model_waiting(model, SILENT_NS, left, 3000), 0);
}

int main(void)
{
#define MODEL(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		MODEL(test_shares),    MODEL(test_sums),    MODEL(test_long_wait),
		MODEL(test_open_wait), MODEL(test_expiry),  MODEL(test_lost_ends),
		MODEL(test_wakers),    MODEL(test_idle),    MODEL(test_functions),
		MODEL(test_order),     MODEL(test_filters), MODEL(test_many),
		MODEL(test_freeze),    MODEL(test_names),   MODEL(test_proc),
		MODEL(test_tree),      MODEL(test_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
