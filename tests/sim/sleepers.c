// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs beside tasks that sleep. Heartbeats wake up by a timer, look at something and sleep
 * again: nobody waits for them, and the program must be predicted as if they were not there. Other
 * sleepers feed the work or hold its locks, now and then or through memory only: they count.
 */
#include "builder.h"

#include "base/base.h"

static void turns(struct builder *b)
{
	int there = object(b, 1), back = object(b, 1);

	task(b), work(b, 0.8), op(b, OP_SEND, there), op(b, OP_RECEIVE, back), progress(b);
	task(b), op(b, OP_RECEIVE, there), target(b, 1.35), op(b, OP_SEND, back);
}

static void barrier(struct builder *b)
{
	int o = object(b, 2);

	task(b), target(b, 3), work(b, 2), progress(b), op(b, OP_BARRIER, o);
	task(b), work(b, 4), op(b, OP_BARRIER, o);
}

static void pipe3(struct builder *b)
{
	int first = object(b, 4), second = object(b, 4);

	task(b), work(b, 1), op(b, OP_SEND, first);
	task(b), op(b, OP_RECEIVE, first), target(b, 1.5), work(b, 0.5), op(b, OP_SEND, second);
	task(b), op(b, OP_RECEIVE, second), work(b, 1.5), progress(b);
}

static void mutex(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 2; i++) {
		task(b), work(b, 0.9), op(b, OP_LOCK, m), target(b, 2.1), op(b, OP_UNLOCK, m);
		progress(b);
	}
}

static void heartbeat(struct builder *b, double ms)
{
	task(b), timed(b, OP_SLEEP, ms, -1), work(b, 0.01);
}

#define BESIDE(shape) \
	static void shape##_1(struct builder *b) \
	{ \
		shape(b), heartbeat(b, 1); \
	} \
	static void shape##_5(struct builder *b) \
	{ \
		shape(b), heartbeat(b, 5); \
	} \
	static void shape##_20(struct builder *b) \
	{ \
		shape(b), heartbeat(b, 20); \
	} \
	static void shape##_100(struct builder *b) \
	{ \
		shape(b), heartbeat(b, 100); \
	}
BESIDE(turns)
BESIDE(barrier)
BESIDE(pipe3)
BESIDE(mutex)

static void four_heartbeats(struct builder *b)
{
	turns(b);
	for (int i = 0; i < 4; i++)
		heartbeat(b, 11 + 3 * i);
}

/* ---- heartbeats that do more ---- */

static void turns_beside_work(struct builder *b)
{
	turns(b);
	task(b), timed(b, OP_SLEEP, 20, -1), work(b, 1);
}

static void barrier_beside_work(struct builder *b)
{
	barrier(b);
	task(b), timed(b, OP_SLEEP, 20, -1), work(b, 0.2);
}

static void turns_beside_waker(struct builder *b)
{
	int q = object(b, 4);

	turns(b);
	task(b), timed(b, OP_SLEEP, 20, -1), work(b, 0.01), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), work(b, 0.2);
}

static void barrier_beside_waker(struct builder *b)
{
	int q = object(b, 4);

	barrier(b);
	task(b), timed(b, OP_SLEEP, 20, -1), work(b, 0.01), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), work(b, 0.2);
}

static void barrier_beside_visitor(struct builder *b)
{
	barrier(b);
	task(b), timed(b, OP_SLEEP, 20, -1), work(b, 0.01), progress(b);
}

/* ---- sleepers that matter ---- */

static void batch_feeder(struct builder *b)
{
	int q = object(b, 64);

	task(b), timed(b, OP_SLEEP, 3, -1), work(b, 1), op(b, OP_SEND, q);
	task(b), target(b, 10), work(b, 8);
	for (int i = 0; i < 6; i++)
		op(b, OP_RECEIVE, q);
	progress(b);
}

static void slow_feeder(struct builder *b)
{
	int q = object(b, 64);

	task(b), timed(b, OP_SLEEP, 3, -1), work(b, 1), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), target(b, 2), work(b, 1.5), progress(b);
}

static void two_feeders(struct builder *b)
{
	int q = object(b, 8);

	for (int i = 0; i < 2; i++)
		task(b), timed(b, OP_SLEEP, 4, -1), work(b, 1), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), target(b, 1.4), work(b, 1), progress(b);
}

/* Wakes somebody only every 20th time. */
static void rare_feeder(struct builder *b)
{
	int q = object(b, 4);

	task(b);
	for (int i = 0; i < 20; i++)
		timed(b, OP_SLEEP, 2, -1), work(b, 0.3);
	op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), target(b, 15), work(b, 10), progress(b);
}

static void sleeping_lock(struct builder *b)
{
	int m = object(b, 1);

	task(b), timed(b, OP_SLEEP, 6, -1), op(b, OP_LOCK, m), work(b, 2), op(b, OP_UNLOCK, m);
	task(b), target(b, 3), work(b, 1), op(b, OP_LOCK, m), work(b, 1), op(b, OP_UNLOCK, m);
	progress(b);
}

/* Its own timer, much work, nobody woken. */
static void busy_sleeper(struct builder *b)
{
	turns(b);
	task(b), timed(b, OP_SLEEP, 6, -1), work(b, 4);
}

static void busy_sleeper_target(struct builder *b)
{
	turns(b);
	task(b), timed(b, OP_SLEEP, 6, -1), target(b, 4);
}

static void visiting_sleeper(struct builder *b)
{
	turns(b);
	task(b), timed(b, OP_SLEEP, 20, -1), work(b, 0.5), progress(b);
}

/* Writes and flushes: the device is asked each time. */
static void flushes(struct builder *b)
{
	int disk = object(b, 1);

	task(b), target(b, 0.12), timed(b, OP_IO, 0.38, disk), progress(b);
}

#define BESIDE_ROWS(shape, cores) \
	{ #shape ", timer 1 on " #cores, cores, shape##_1 }, \
		{ #shape ", timer 5 on " #cores, cores, shape##_5 }, \
		{ #shape ", timer 20 on " #cores, cores, shape##_20 }, \
	{ \
#shape ", timer 100 on " #cores, cores, shape##_100 \
	}

const struct sim_model sleeper_models[] = {
	{ "turns, no timer on 2", 2, turns },
	BESIDE_ROWS(turns, 2),
	BESIDE_ROWS(turns, 4),
	{ "barrier, no timer on 2", 2, barrier },
	BESIDE_ROWS(barrier, 2),
	BESIDE_ROWS(barrier, 4),
	BESIDE_ROWS(pipe3, 4),
	{ "mutex, no timer on 2", 2, mutex },
	BESIDE_ROWS(mutex, 2),
	BESIDE_ROWS(mutex, 4),
	{ "turns, 4 timers on 2", 2, four_heartbeats },
	{ "turns, timer working", 2, turns_beside_work },
	{ "turns, timer waking", 2, turns_beside_waker },
	{ "barrier, timer working", 2, barrier_beside_work },
	{ "barrier, timer waking", 2, barrier_beside_waker },
	{ "barrier, timer visiting", 2, barrier_beside_visitor },
	{ "sleeper: batch feeder", 2, batch_feeder },
	{ "sleeper: slow feeder", 2, slow_feeder },
	{ "sleeper: two feeders", 4, two_feeders },
	{ "sleeper: two feeders on 2", 2, two_feeders },
	{ "sleeper: rare feeder", 2, rare_feeder },
	{ "sleeper: lock", 2, sleeping_lock },
	{ "sleeper: busy", 4, busy_sleeper },
	{ "sleeper: busy on 2", 2, busy_sleeper },
	{ "sleeper: busy target", 4, busy_sleeper_target },
	{ "sleeper: busy target on 2", 2, busy_sleeper_target },
	{ "sleeper: visiting", 2, visiting_sleeper },
	{ "flushes", 2, flushes },
	{ NULL, 0, NULL },
};
