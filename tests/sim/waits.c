// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs whose target is waiting for a device or a timer (lib/account/wait.h). */
#include "builder.h"

#include "base/base.h"

/* Alone: what is waited is all that can be saved. */
static void alone(struct builder *b)
{
	task(b), target_wait(b, OP_SLEEP, 4, -1), work(b, 2), progress(b);
}

static void code_alone(struct builder *b)
{
	task(b), target(b, 2), target_wait(b, OP_SLEEP, 4, -1), work(b, 2), progress(b);
}

static void short_alone(struct builder *b)
{
	task(b), target_wait(b, OP_SLEEP, 0.1, -1), work(b, 0.15), progress(b);
}

/* The sleeper decides up to where the other does. */
static void sleep_barrier(struct builder *b)
{
	int o = object(b, 2);

	task(b), target_wait(b, OP_SLEEP, 5, -1), work(b, 1), progress(b), op(b, OP_BARRIER, o);
	task(b), work(b, 4), op(b, OP_BARRIER, o);
}

static void long_sleep_barrier(struct builder *b)
{
	int o = object(b, 2);

	task(b), target_wait(b, OP_SLEEP, 50, -1), work(b, 10), progress(b), op(b, OP_BARRIER, o);
	task(b), work(b, 30), op(b, OP_BARRIER, o);
}

static void slack(struct builder *b)
{
	int o = object(b, 2);

	task(b), target_wait(b, OP_SLEEP, 3, -1), work(b, 1), op(b, OP_BARRIER, o);
	task(b), work(b, 6), progress(b), op(b, OP_BARRIER, o);
}

static void io_barrier4(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 3; i++)
		task(b), work(b, 3 + 0.5 * i), op(b, OP_BARRIER, o);
	task(b), target_wait(b, OP_IO, 3, object(b, 1)), work(b, 2), progress(b);
	op(b, OP_BARRIER, o);
}

/* Beside it a task that does nothing but compute: nobody waits for it. */
static void beside_work(struct builder *b)
{
	alone(b);
	task(b), work(b, 3);
}

/* The request is started ahead of its use. */
static void overlapped(struct builder *b)
{
	task(b), target_wait(b, OP_ARM, 10, -1), work(b, 6);
	target_wait(b, OP_AWAIT, 0, -1), work(b, 4), progress(b);
}

static void pipeline3(struct builder *b, double read, double middle, double write)
{
	int first = object(b, 4), second = object(b, 4);

	task(b), target_wait(b, OP_IO, read, object(b, 1)), work(b, 0.5), op(b, OP_SEND, first);
	task(b), op(b, OP_RECEIVE, first), work(b, middle), op(b, OP_SEND, second);
	task(b), op(b, OP_RECEIVE, second), work(b, 0.5), timed(b, OP_IO, write, object(b, 1));
	progress(b);
}

static void pipeline_slowest(struct builder *b)
{
	pipeline3(b, 4, 2.5, 1);
}

static void pipeline_not_slowest(struct builder *b)
{
	pipeline3(b, 2, 4, 1);
}

/* Blocks while it holds what others want. */
static void under_lock(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 3; i++) {
		task(b), work(b, 3), op(b, OP_LOCK, m), target_wait(b, OP_SLEEP, 1, -1);
		work(b, 0.5), op(b, OP_UNLOCK, m), progress(b);
	}
}

/* Request and answer, the server reads. */
static void server(struct builder *b)
{
	int there = object(b, 1), back = object(b, 1);

	task(b), work(b, 1.5), op(b, OP_SEND, there), op(b, OP_RECEIVE, back), progress(b);
	task(b), op(b, OP_RECEIVE, there), target_wait(b, OP_IO, 2, object(b, 1)), work(b, 0.5);
	op(b, OP_SEND, back);
}

/* ---- several at one device ---- */

static void device(struct builder *b, int tasks, int servers, double io, double compute)
{
	int disk = object(b, servers);

	for (int i = 0; i < tasks; i++) {
		task(b), target_wait(b, OP_IO, io, disk), work(b, compute);
		progress(b);
	}
}

static void two_saturate(struct builder *b)
{
	device(b, 2, 1, 2, 0.1);
}

static void two_share(struct builder *b)
{
	device(b, 2, 1, 2, 2);
}

static void four_saturate(struct builder *b)
{
	device(b, 4, 1, 1, 0.5);
}

static void two_parallel(struct builder *b)
{
	device(b, 2, 2, 2, 1);
}

static void four_parallel(struct builder *b)
{
	device(b, 4, 4, 2, 0.5);
}

static void four_on_two(struct builder *b)
{
	device(b, 4, 2, 2, 0.5);
}

static void barrier_at_device(struct builder *b, int servers)
{
	int disk = object(b, servers), o = object(b, 3);

	for (int i = 0; i < 2; i++) {
		task(b), work(b, 0.5 + i), target_wait(b, OP_IO, 2, disk), work(b, 1);
		if (!i)
			progress(b);
		op(b, OP_BARRIER, o);
	}
	task(b), work(b, 3), op(b, OP_BARRIER, o);
}

static void serial_barrier(struct builder *b)
{
	barrier_at_device(b, 1);
}

static void parallel_barrier(struct builder *b)
{
	barrier_at_device(b, 2);
}

/* One at a time is asked about, others use the device as well. */
static void shared_with_rest(struct builder *b)
{
	int disk = object(b, 1);

	task(b), target_wait(b, OP_IO, 2, disk), work(b, 2), progress(b);
	task(b), timed(b, OP_IO, 1, disk), work(b, 2);
}

static void device_beside(struct builder *b, int servers)
{
	int disk = object(b, servers);

	task(b), target_wait(b, OP_IO, 2, disk), work(b, 3), progress(b);
	task(b), target_wait(b, OP_IO, 1.5, disk), work(b, 0.7);
}

static void beside_serial(struct builder *b)
{
	device_beside(b, 1);
}

static void beside_parallel(struct builder *b)
{
	device_beside(b, 2);
}

/* ---- more tasks than cores ---- */

static void crowded(struct builder *b)
{
	for (int i = 0; i < 4; i++) {
		task(b), target_wait(b, OP_SLEEP, 2, -1), work(b, 2);
		progress(b);
	}
}

static void crowded_barrier(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 4; i++) {
		task(b), target_wait(b, OP_IO, i ? 0.5 : 4, object(b, 1)), work(b, 1.5);
		if (!i)
			progress(b);
		op(b, OP_BARRIER, o);
	}
}

/* The core never idles: sleeping less brings nothing. */
static void full_core(struct builder *b)
{
	for (int i = 0; i < 3; i++) {
		task(b), target_wait(b, OP_SLEEP, 1, -1), work(b, 2);
		progress(b);
	}
}

/* ---- through a thread of the kernel, as fsync ---- */

/* Journal and disk of a file system: a commit makes all durable who wait for it. */
struct journal {
	int asked, disk;
};

static struct journal journal(struct builder *b, double commit)
{
	struct journal j = { object(b, 1), object(b, 1) };

	kernel_task(b), op(b, OP_TAKE, j.asked);
	serve(b, OP_COMPUTE, 0.03, -1), serve(b, OP_IO, commit, j.disk);
	serve(b, OP_COMPUTE, 0.02, -1), op(b, OP_ANSWER, j.asked);
	return j;
}

static void sync_all(struct builder *b, const struct journal *j)
{
	target_wait(b, OP_REQUEST, 0, j->asked);
}

static void syncers(struct builder *b, int n, double compute, double commit)
{
	struct journal j = journal(b, commit);

	for (int i = 0; i < n; i++)
		task(b), work(b, compute * (1 + 0.1 * i)), sync_all(b, &j), progress(b);
}

static void sync_alone(struct builder *b)
{
	syncers(b, 1, 1, 2);
}

static void sync_mostly(struct builder *b)
{
	syncers(b, 1, 0.5, 2);
}

static void sync_2(struct builder *b)
{
	syncers(b, 2, 1, 2);
}

static void sync_4(struct builder *b)
{
	syncers(b, 4, 1, 2);
}

/* As ext4 does: the data first, by the task itself, to the same disk. */
static void data_and_sync(struct builder *b, int n)
{
	struct journal j = journal(b, 1.5);

	for (int i = 0; i < n; i++) {
		task(b), work(b, 1 + 0.1 * i), target_wait(b, OP_IO, 0.5, j.disk);
		sync_all(b, &j), progress(b);
	}
}

static void data_1(struct builder *b)
{
	data_and_sync(b, 1);
}

static void data_2(struct builder *b)
{
	data_and_sync(b, 2);
}

static void data_4(struct builder *b)
{
	data_and_sync(b, 4);
}

/* The disk is a file's, served by a thread of its own (a loop device). */
static void through_two(struct builder *b, int n)
{
	int asked = object(b, 1), loop = object(b, 1), disk = object(b, 1);

	kernel_task(b), op(b, OP_TAKE, asked), serve(b, OP_COMPUTE, 0.03, -1);
	serve(b, OP_REQUEST, 0, loop), op(b, OP_ANSWER, asked);
	kernel_task(b), op(b, OP_TAKE, loop), serve(b, OP_COMPUTE, 0.05, -1);
	serve(b, OP_IO, 2, disk), op(b, OP_ANSWER, loop);
	for (int i = 0; i < n; i++) {
		task(b), work(b, 1 + 0.1 * i), target_wait(b, OP_REQUEST, 0, asked);
		progress(b);
	}
}

static void loop_1(struct builder *b)
{
	through_two(b, 1);
}

static void loop_2(struct builder *b)
{
	through_two(b, 2);
}

/* Who writes to disk decides up to where the other does. */
static void sync_barrier(struct builder *b)
{
	struct journal j = journal(b, 3);
	int o = object(b, 2);

	task(b), work(b, 1), sync_all(b, &j), progress(b), op(b, OP_BARRIER, o);
	task(b), work(b, 3), op(b, OP_BARRIER, o);
}

static void sync_slack(struct builder *b)
{
	struct journal j = journal(b, 2);
	int o = object(b, 2);

	task(b), work(b, 1), sync_all(b, &j), op(b, OP_BARRIER, o);
	task(b), work(b, 5), progress(b), op(b, OP_BARRIER, o);
}

/* As a database writes its log. */
static void sync_locked(struct builder *b)
{
	struct journal j = journal(b, 1);
	int m = object(b, 1);

	for (int i = 0; i < 3; i++) {
		task(b), work(b, 2), op(b, OP_LOCK, m), work(b, 0.2), sync_all(b, &j);
		op(b, OP_UNLOCK, m), progress(b);
	}
}

static void sync_server(struct builder *b)
{
	struct journal j = journal(b, 2);
	int there = object(b, 1), back = object(b, 1);

	task(b), work(b, 1.5), op(b, OP_SEND, there), op(b, OP_RECEIVE, back), progress(b);
	task(b), op(b, OP_RECEIVE, there), work(b, 0.5), sync_all(b, &j), op(b, OP_SEND, back);
}

/* Beside it a task that only computes, and one that waits for the disk as well. */
static void sync_beside(struct builder *b)
{
	syncers(b, 1, 1, 2);
	task(b), work(b, 3);
}

static void sync_unlike(struct builder *b)
{
	struct journal j = journal(b, 2);

	task(b), work(b, 1), sync_all(b, &j), progress(b);
	task(b), work(b, 5), sync_all(b, &j);
}

/* A thread of the kernel that hands on what one task does to another: no wait for the kernel. */
static void handed_on(struct builder *b)
{
	int in = object(b, 1), out = object(b, 1), disk = object(b, 1);

	task(b), target_wait(b, OP_IO, 1, disk), work(b, 2), op(b, OP_SEND, in);
	kernel_task(b), op(b, OP_RECEIVE, in), work(b, 0.02), op(b, OP_SEND, out);
	task(b), op(b, OP_RECEIVE, out), work(b, 1), progress(b);
}

const struct sim_model waiting_models[] = {
	{ "wait: alone", 1, alone },
	{ "wait: alone, and code", 1, code_alone },
	{ "wait: short", 1, short_alone },
	{ "wait: sleep + barrier", 2, sleep_barrier },
	{ "wait: 50 ms + barrier", 2, long_sleep_barrier },
	{ "wait: slack", 2, slack },
	{ "wait: io + barrier", 4, io_barrier4 },
	{ "wait: beside work", 2, beside_work },
	{ "wait: overlapped", 1, overlapped },
	{ "wait: pipe, slowest", 3, pipeline_slowest },
	{ "wait: pipe, not slowest", 3, pipeline_not_slowest },
	{ "wait: under a lock", 3, under_lock },
	{ "wait: server", 2, server },
	{ "disk: 2 saturate", 2, two_saturate },
	{ "disk: 2 share", 2, two_share },
	{ "disk: 4 saturate", 4, four_saturate },
	{ "disk: 2 in parallel", 2, two_parallel },
	{ "disk: 4 in parallel", 4, four_parallel },
	{ "disk: 4, 2 in parallel", 4, four_on_two },
	{ "disk: barrier", 3, serial_barrier },
	{ "disk: parallel, barrier", 3, parallel_barrier },
	{ "disk: beside others", 2, shared_with_rest },
	{ "disk: 2 unlike", 2, beside_serial },
	{ "disk: 2 unlike, parallel", 2, beside_parallel },
	{ "wait: 4 on 2", 2, crowded },
	{ "wait: 4 on 2, barrier", 2, crowded_barrier },
	{ "wait: full core", 1, full_core },
	{ "sync: alone", 2, sync_alone },
	{ "sync: mostly", 2, sync_mostly },
	{ "sync: 2", 2, sync_2 },
	{ "sync: 2 on 4", 4, sync_2 },
	{ "sync: 4 on 8", 8, sync_4 },
	{ "sync: 4 on 2", 2, sync_4 },
	{ "sync: data, 1", 2, data_1 },
	{ "sync: data, 2", 2, data_2 },
	{ "sync: data, 2 on 4", 4, data_2 },
	{ "sync: data, 4 on 2", 2, data_4 },
	{ "sync: loop, 1", 2, loop_1 },
	{ "sync: loop, 2", 2, loop_2 },
	{ "sync: barrier", 4, sync_barrier },
	{ "sync: slack", 4, sync_slack },
	{ "sync: under a lock", 4, sync_locked },
	{ "sync: server", 2, sync_server },
	{ "sync: beside work", 2, sync_beside },
	{ "sync: 2 unlike", 4, sync_unlike },
	{ "sync: handed on", 4, handed_on },
	{ .name = NULL },
};
