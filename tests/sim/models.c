// SPDX-License-Identifier: GPL-2.0-or-later
/* Shapes of programs, each with the target where it matters, or where it does not. */
#include "builder.h"

#include "base/base.h"

/* ---- barriers ---- */

static void barrier2(struct builder *b)
{
	int o = object(b, 2);

	task(b), target(b, 3), work(b, 2), progress(b), op(b, OP_BARRIER, o);
	task(b), work(b, 4), op(b, OP_BARRIER, o);
}

static void barrier2_slack(struct builder *b)
{
	int o = object(b, 2);

	task(b), target(b, 2), work(b, 1), op(b, OP_BARRIER, o);
	task(b), work(b, 6), progress(b), op(b, OP_BARRIER, o);
}

static void barrier4_all(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 4; i++) {
		task(b), target(b, 3), work(b, 2);
		if (!i)
			progress(b);
		op(b, OP_BARRIER, o);
	}
}

static void barrier8_on2(struct builder *b)
{
	int o = object(b, 8);

	for (int i = 0; i < 8; i++) {
		task(b), target(b, i % 2 ? 2 : 1), work(b, 1.5);
		if (!i)
			progress(b);
		op(b, OP_BARRIER, o);
	}
}

static void spin_barrier4(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 4; i++) {
		task(b);
		if (!i)
			target(b, 3), work(b, 2), progress(b);
		else
			work(b, 3 + 0.3 * i);
		op(b, OP_SPIN_BARRIER, o);
	}
}

static void spin_barrier4_balanced(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 4; i++) {
		task(b);
		if (!i)
			target(b, 3), work(b, 2), progress(b);
		else
			work(b, 5);
		op(b, OP_SPIN_BARRIER, o);
	}
}

/* ---- pipelines, request and answer ---- */

static void pipeline(struct builder *b, const double *stage, int n, int hot, double share)
{
	int q[8];

	for (int i = 0; i + 1 < n; i++)
		q[i] = object(b, 4);
	for (int i = 0; i < n; i++) {
		task(b);
		if (i)
			op(b, OP_RECEIVE, q[i - 1]);
		if (i == hot)
			target(b, stage[i] * share);
		work(b, stage[i] * (i == hot ? 1 - share : 1));
		if (i + 1 < n)
			op(b, OP_SEND, q[i]);
		else
			progress(b);
	}
}

static void pipeline4_slowest(struct builder *b)
{
	pipeline(b, (double[]){ 2, 4, 3, 1.5 }, 4, 1, 0.75);
}

static void pipeline4_balanced(struct builder *b)
{
	pipeline(b, (double[]){ 3, 3.2, 3, 2.8 }, 4, 1, 0.75);
}

static void pipeline4_on2(struct builder *b)
{
	pipeline(b, (double[]){ 1, 5, 1, 1 }, 4, 1, 0.6);
}

/* Three tasks for two cores: who makes work, and two that do it. */
static void queue(struct builder *b, bool hot_producer)
{
	int q = object(b, 8);

	task(b), hot_producer ? target(b, 0.45) : work(b, 0.45), op(b, OP_SEND, q);
	for (int i = 0; i < 2; i++) {
		task(b), op(b, OP_RECEIVE, q);
		hot_producer ? work(b, 0.9) : target(b, 0.9);
		work(b, 0.15), progress(b);
	}
}

static void queue3(struct builder *b)
{
	queue(b, false);
}

static void queue3_producer(struct builder *b)
{
	queue(b, true);
}

static void pingpong(struct builder *b)
{
	int there = object(b, 1), back = object(b, 1);

	task(b), work(b, 1.5), op(b, OP_SEND, there), op(b, OP_RECEIVE, back), progress(b);
	task(b), op(b, OP_RECEIVE, there), target(b, 2), work(b, 0.5), op(b, OP_SEND, back);
}

static void pingpong_load(struct builder *b)
{
	pingpong(b);
	for (int i = 0; i < 2; i++)
		task(b), work(b, 5);
}

static void client_server(struct builder *b)
{
	int in = object(b, 8), out[3];

	for (int i = 0; i < 3; i++)
		out[i] = object(b, 1);
	/* One server for three clients: a request is served for whoever asked, in turn. */
	task(b);
	for (int i = 0; i < 3; i++)
		op(b, OP_RECEIVE, in), target(b, 0.6), work(b, 0.2), op(b, OP_SEND, out[i]);
	for (int i = 0; i < 3; i++)
		task(b), work(b, 0.5), op(b, OP_SEND, in), op(b, OP_RECEIVE, out[i]), progress(b);
}

/* ---- locks ---- */

static void mutex4(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 4; i++) {
		task(b), work(b, 3), op(b, OP_LOCK, m), target(b, 2), op(b, OP_UNLOCK, m);
		progress(b);
	}
}

static void mutex4_outside(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 4; i++) {
		task(b), target(b, 3), op(b, OP_LOCK, m), work(b, 2), op(b, OP_UNLOCK, m);
		progress(b);
	}
}

static void mutex4_short(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 4; i++) {
		task(b), work(b, 0.4), op(b, OP_LOCK, m), target(b, 0.5), op(b, OP_UNLOCK, m);
		progress(b);
	}
}

static void mutex4_on2(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 4; i++) {
		task(b), work(b, 0.9), op(b, OP_LOCK, m), target(b, 2.1), op(b, OP_UNLOCK, m);
		progress(b);
	}
}

/* A lock that is free whenever it is wanted, until the target is a third shorter. */
static void turns(struct builder *b, double hand_over)
{
	int m = object(b, 1);

	for (int i = 0; i < 2; i++) {
		task(b), target(b, 2.44), op(b, OP_LOCK, m), work(b, 1.56);
		if (hand_over > 0)
			timed(b, OP_HAND_OVER, hand_over, m);
		op(b, OP_UNLOCK, m), progress(b);
	}
}

static void turns2(struct builder *b)
{
	turns(b, 0);
}

static void convoy2(struct builder *b)
{
	turns(b, 1.2);
}

static void rwlock4(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 3; i++) {
		task(b), op(b, OP_READ_LOCK, m), work(b, 1), op(b, OP_RW_UNLOCK, m), work(b, 1);
		progress(b);
	}
	task(b), op(b, OP_WRITE_LOCK, m), target(b, 0.8), work(b, 0.2), op(b, OP_RW_UNLOCK, m);
	work(b, 1);
}

/* All stand still while one that sleeps in between runs the target: a collector of garbage. */
static void pause3(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 2; i++) {
		task(b), op(b, OP_READ_LOCK, m), work(b, 1), op(b, OP_RW_UNLOCK, m);
		progress(b);
	}
	task(b), timed(b, OP_SLEEP, 10, -1), op(b, OP_WRITE_LOCK, m), target(b, 6);
	op(b, OP_RW_UNLOCK, m);
}

/* burn2 --iter-us 25000 --spinlock under emulation: 3 ms at a time. */
static void spinlock2(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 2; i++) {
		task(b);
		for (int k = 0; k < 5; k++) {
			op(b, OP_SPIN_LOCK, m), target(b, 3);
			op(b, OP_SPIN_UNLOCK, m);
		}
		work(b, 10), progress(b);
	}
}

static void spinlock4(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 4; i++) {
		task(b), work(b, 2), op(b, OP_SPIN_LOCK, m), target(b, 1);
		op(b, OP_SPIN_UNLOCK, m), progress(b);
	}
}

/* The lock decides, and the target is outside of it. */
static void spinlock4_outside(struct builder *b)
{
	int m = object(b, 1);

	for (int i = 0; i < 4; i++) {
		task(b), target(b, 1.5), op(b, OP_SPIN_LOCK, m), work(b, 1);
		op(b, OP_SPIN_UNLOCK, m), progress(b);
	}
}

/* Two that spin for short whiles do not depend on who runs the target, and all meet now and then.
 */
static void spinlock2_aside(struct builder *b)
{
	int m = object(b, 1), x = object(b, 3);

	for (int i = 0; i < 2; i++) {
		task(b);
		for (int k = 0; k < 60; k++) {
			work(b, 0.02), op(b, OP_SPIN_LOCK, m), work(b, 0.03);
			op(b, OP_SPIN_UNLOCK, m);
		}
		op(b, OP_BARRIER, x);
	}
	task(b), target(b, 6), op(b, OP_BARRIER, x), progress(b);
}

/* Four take turns, and only one of them runs the target; all meet now and then. */
static void spinlock4_one(struct builder *b)
{
	int m = object(b, 1), y = object(b, 4);

	for (int i = 0; i < 4; i++) {
		task(b);
		for (int k = 0; k < 10; k++) {
			i ? work(b, 0.3) : target(b, 0.6);
			op(b, OP_SPIN_LOCK, m), work(b, 0.1), op(b, OP_SPIN_UNLOCK, m);
		}
		op(b, OP_BARRIER, y);
		if (!i)
			progress(b);
	}
}

/* Two hand each other their turns and spin meanwhile. */
static void spin_pingpong(struct builder *b)
{
	int x = object(b, 2);

	task(b), target(b, 0.5), work(b, 0.5), op(b, OP_SPIN_BARRIER, x);
	op(b, OP_SPIN_BARRIER, x), progress(b);
	task(b), op(b, OP_SPIN_BARRIER, x), work(b, 1), op(b, OP_SPIN_BARRIER, x);
}

/* ... ten times, while a third runs the target; then all meet. */
static void spin_pingpong_and(struct builder *b, enum sim_op_kind meet, double ms)
{
	int x = object(b, 2), y = object(b, 3);

	for (int i = 0; i < 2; i++) {
		task(b);
		for (int k = 0; k < 10; k++) {
			if (k % 2 == i)
				work(b, 0.5);
			op(b, OP_SPIN_BARRIER, x);
		}
		op(b, meet, y);
	}
	progress(b);
	task(b), target(b, ms), op(b, meet, y);
}

/* The target decides how long a round takes, or it does not. */
static void spin_pingpong_aside(struct builder *b)
{
	spin_pingpong_and(b, OP_BARRIER, 8);
}

static void spin_pingpong_beside(struct builder *b)
{
	spin_pingpong_and(b, OP_SPIN_BARRIER, 4);
}

/* ---- fork and join ---- */

static void forkjoin(struct builder *b, double ms)
{
	int jobs = object(b, 16), done = object(b, 16);

	task(b);
	for (int i = 0; i < 8; i++)
		op(b, OP_SEND, jobs);
	for (int i = 0; i < 8; i++)
		op(b, OP_RECEIVE, done);
	work(b, 1), progress(b);
	for (int i = 0; i < 4; i++) {
		task(b), op(b, OP_RECEIVE, jobs), target(b, ms), work(b, ms);
		op(b, OP_SEND, done);
	}
}

static void forkjoin_short(struct builder *b)
{
	forkjoin(b, 0.3);
}

static void forkjoin_long(struct builder *b)
{
	forkjoin(b, 3);
}

static void churn2(struct builder *b)
{
	int hot, cold;

	task(b), hot = b->task, b->p->task[hot].dormant = true, target(b, 11);
	task(b), cold = b->task, b->p->task[cold].dormant = true, work(b, 5.5);
	task(b), op(b, OP_SPAWN, hot), op(b, OP_SPAWN, cold);
	op(b, OP_JOIN, -1), op(b, OP_JOIN, -1), progress(b);
}

/* make -j2: short jobs, two at a time, then a serial step. */
static void build(struct builder *b)
{
	int job;

	task(b), job = b->task, b->p->task[job].dormant = true;
	work(b, 2), target(b, 4), work(b, 1);
	task(b);
	for (int i = 0; i < 2; i++)
		op(b, OP_SPAWN, job);
	for (int i = 0; i < 4; i++)
		op(b, OP_JOIN, -1), op(b, OP_SPAWN, job);
	for (int i = 0; i < 2; i++)
		op(b, OP_JOIN, -1);
	work(b, 3), progress(b);
}

/* ---- devices and timers ---- */

static void io_barrier(struct builder *b)
{
	int disk = object(b, 1), o = object(b, 2);

	task(b), timed(b, OP_IO, 5, disk), work(b, 1), progress(b), op(b, OP_BARRIER, o);
	task(b), target(b, 4), work(b, 4), op(b, OP_BARRIER, o);
}

static void io_own_devices(struct builder *b)
{
	for (int i = 0; i < 4; i++) {
		int disk = object(b, 1);

		task(b), target(b, i < 2 ? 1.5 : 0), work(b, i < 2 ? 0.5 : 2), progress(b);
		timed(b, OP_IO, 2, disk);
	}
}

static void io_worker(struct builder *b)
{
	int disk = object(b, 1), o = object(b, 4);

	for (int i = 0; i < 3; i++)
		task(b), target(b, 4), work(b, 1), op(b, OP_BARRIER, o);
	task(b), timed(b, OP_IO, 3, disk), work(b, 1), progress(b), op(b, OP_BARRIER, o);
}

static void io_saturated(struct builder *b)
{
	int disk = object(b, 1);

	for (int i = 0; i < 4; i++)
		task(b), timed(b, OP_IO, 1, disk), work(b, 0.2), progress(b);
	task(b), target(b, 3), work(b, 3);
	b->p->unmendable = true;
}

static void io_mixed_barrier(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 3; i++) {
		int disk = object(b, 1);

		task(b), target(b, 0.5), timed(b, OP_IO, 0.6, disk), work(b, 0.1);
		op(b, OP_BARRIER, o);
	}
	task(b), work(b, 0.9), progress(b), op(b, OP_BARRIER, o);
}

static void sleeper_producer(struct builder *b)
{
	int q = object(b, 2);

	task(b), timed(b, OP_SLEEP, 2, -1), work(b, 0.5), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), target(b, 2.4), work(b, 0.6), progress(b);
	task(b), work(b, 1), timed(b, OP_SLEEP, 4, -1);
}

static void paced_producer(struct builder *b)
{
	int q = object(b, 2);

	task(b), timed(b, OP_SLEEP_UNTIL, 4, -1), work(b, 0.5), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), target(b, 2), progress(b);
	b->p->unmendable = true;
}

static void overlapped_timer(struct builder *b)
{
	task(b), timed(b, OP_ARM, 20, -1), target(b, 10), work(b, 5), op(b, OP_AWAIT, -1);
	progress(b);
}

static void overlapped_short_timer(struct builder *b)
{
	task(b), timed(b, OP_ARM, 10, -1), target(b, 10), work(b, 5), op(b, OP_AWAIT, -1);
	work(b, 1), progress(b);
	b->p->unmendable = true; /* it has fired before anybody waits for it */
}

static void sleep_after_work(struct builder *b)
{
	int o = object(b, 4);

	for (int i = 0; i < 4; i++) {
		task(b);
		if (i < 2)
			target(b, 1.5), work(b, 0.3);
		else
			work(b, 1.3);
		if (!i)
			progress(b);
		timed(b, OP_SLEEP, 0.4, -1), op(b, OP_BARRIER, o);
	}
}

/* ---- independent work, crowds ---- */

static void independent4(struct builder *b)
{
	for (int i = 0; i < 4; i++)
		task(b), target(b, 2), work(b, 3), progress(b);
}

static void independent8_on2(struct builder *b)
{
	for (int i = 0; i < 8; i++)
		task(b), target(b, 2), work(b, 3), progress(b);
}

static void no_effect(struct builder *b)
{
	task(b), work(b, 3), progress(b);
	task(b), target(b, 4), work(b, 1);
	task(b), timed(b, OP_SLEEP, 2, -1), target(b, 1);
}

static void aside2(struct builder *b)
{
	task(b), work(b, 3), progress(b);
	task(b), target(b, 4), work(b, 1);
}

static void migrating6_on4(struct builder *b)
{
	for (int i = 0; i < 6; i++) {
		task(b), target(b, 1.5), work(b, 1.5), progress(b);
		timed(b, OP_SLEEP, 1, -1);
	}
}

static void migrating10_on4(struct builder *b)
{
	for (int i = 0; i < 10; i++) {
		task(b), target(b, i < 5 ? 0.8 : 0), work(b, i < 5 ? 0.8 : 1.6), progress(b);
		timed(b, OP_SLEEP, 3, -1);
	}
}

/* Two groups share the machine; only one is asked about. */
static void crowd_of_two(struct builder *b)
{
	int o = object(b, 2), q = object(b, 2);

	task(b), target(b, 3), work(b, 2), progress(b), op(b, OP_BARRIER, o);
	task(b), work(b, 4), op(b, OP_BARRIER, o);
	task(b), work(b, 2), op(b, OP_SEND, q);
	task(b), op(b, OP_RECEIVE, q), work(b, 2.5);
}

static const struct sim_model models[] = {
	{ "barrier2", 2, barrier2 },
	{ "barrier2 slack", 2, barrier2_slack },
	{ "barrier4 all hot", 4, barrier4_all },
	{ "barrier8 on 2", 2, barrier8_on2 },
	{ "spin barrier4", 4, spin_barrier4 },
	{ "spin barrier4 balanced", 4, spin_barrier4_balanced },
	{ "pipeline4 slowest", 4, pipeline4_slowest },
	{ "pipeline4 balanced", 4, pipeline4_balanced },
	{ "pipeline4 on 2", 2, pipeline4_on2 },
	{ "queue3", 2, queue3 },
	{ "queue3 producer", 2, queue3_producer },
	{ "pingpong", 2, pingpong },
	{ "pingpong + load", 2, pingpong_load },
	{ "client/server", 4, client_server },
	{ "mutex4", 4, mutex4 },
	{ "mutex4 outside", 4, mutex4_outside },
	{ "mutex4 short", 4, mutex4_short },
	{ "mutex4 on 2", 2, mutex4_on2 },
	{ "turns2", 2, turns2 },
	{ "convoy2", 2, convoy2 },
	{ "rwlock4", 4, rwlock4 },
	{ "pause3", 2, pause3 },
	{ "spinlock2", 2, spinlock2 },
	{ "spinlock4", 4, spinlock4 },
	{ "spinlock4 outside", 4, spinlock4_outside },
	{ "spinlock2 aside", 3, spinlock2_aside },
	{ "spinlock4 one", 4, spinlock4_one },
	{ "spin pingpong", 2, spin_pingpong },
	{ "spin pingpong aside", 3, spin_pingpong_aside },
	{ "spin pingpong beside", 3, spin_pingpong_beside },
	{ "forkjoin 0.6 ms", 4, forkjoin_short },
	{ "forkjoin 6 ms", 4, forkjoin_long },
	{ "churn2", 2, churn2 },
	{ "build -j2", 2, build },
	{ "io + barrier", 2, io_barrier },
	{ "io, own devices, on 2", 2, io_own_devices },
	{ "io worker", 4, io_worker },
	{ "io, saturated device", 4, io_saturated },
	{ "io in 3 of 4, barrier", 4, io_mixed_barrier },
	{ "sleeping producer", 4, sleeper_producer },
	{ "paced producer", 2, paced_producer },
	{ "overlapped timer 20", 2, overlapped_timer },
	{ "overlapped timer 10", 2, overlapped_short_timer },
	{ "sleep + barrier", 4, sleep_after_work },
	{ "independent4", 4, independent4 },
	{ "independent8 on 2", 2, independent8_on2 },
	{ "no effect", 3, no_effect },
	{ "aside2", 2, aside2 },
	{ "migrating6 on 4", 4, migrating6_on4 },
	{ "migrating10 on 4", 4, migrating10_on4 },
	{ "crowd of two on 2", 2, crowd_of_two },
};

/* Those of all files, in this order. */
static const struct sim_model *find_model(int index)
{
	static const struct sim_model *const more[] = { sleeper_models, waiting_models,
							writer_models, burst_models };

	if (index < (int)ARRAY_SIZE(models))
		return &models[index];
	index -= ARRAY_SIZE(models);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		for (const struct sim_model *m = more[i]; m->name; m++) {
			if (!index--)
				return m;
		}
	}
	return NULL;
}

struct sim_program *model_create(int index, double scale)
{
	struct builder b = { .ms = SIM_MS * scale };
	const struct sim_model *m = index < 0 ? NULL : find_model(index);

	if (!m)
		return NULL;
	b.p = program_create(m->name, m->cores);
	m->write(&b);
	return b.p;
}

struct sim_program *model_named(const char *name)
{
	struct sim_program *p;

	for (int i = 0; (p = model_create(i, 1)); i++) {
		if (!strcmp(p->name, name))
			return p;
		program_free(p);
	}
	return NULL;
}

struct sim_program *model_wide(const char *shape, int cores, double scale)
{
	struct builder b = { .ms = SIM_MS * scale, .p = program_create(shape, cores) };
	int o = object(&b, cores);

	for (int i = 0; i < cores; i++) {
		task(&b);
		if (!strcmp(shape, "one-hot")) { /* one core decides, all wait for it */
			target(&b, i ? 0 : 3);
			work(&b, i ? 4 : 2);
		} else { /* "all-hot" */
			target(&b, 3);
			work(&b, 2);
		}
		if (!i)
			progress(&b);
		op(&b, OP_BARRIER, o);
	}
	return b.p;
}
