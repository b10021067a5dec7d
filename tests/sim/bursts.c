// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that come to their progress point in bursts: what reads a whole block at once, hands it
 * to somebody who computes for long, and reads on when there is room (compressors with threads,
 * loaders of batches). The progress point is the reading.
 */
#include "builder.h"

#include "base/base.h"

static void reader(struct builder *b, int reads, int blocks)
{
	task(b);
	for (int i = 0; i < reads; i++)
		work(b, 0.02), progress(b);
	op(b, OP_SEND, blocks);
}

static void workers(struct builder *b, int n, double hot, double rest, int blocks)
{
	for (int i = 0; i < n; i++)
		task(b), op(b, OP_RECEIVE, blocks), target(b, hot), work(b, rest + 3 * i);
}

/* 30 reads each quarter of a second. */
static void bursts2(struct builder *b)
{
	int blocks = object(b, 1);

	reader(b, 30, blocks), workers(b, 2, 300, 200, blocks);
}

/* The same each second: more than ten times as long as windows that ten visits suffice for. */
static void bursts2_seldom(struct builder *b)
{
	int blocks = object(b, 1);

	reader(b, 100, blocks), workers(b, 2, 1200, 800, blocks);
}

/* What computes is not what everything waits for. */
static void bursts_aside(struct builder *b)
{
	int blocks = object(b, 1), others = object(b, 1);

	reader(b, 30, blocks);
	task(b), op(b, OP_RECEIVE, blocks), target(b, 100), op(b, OP_SEND, others);
	task(b), op(b, OP_RECEIVE, others), work(b, 300);
}

const struct sim_model burst_models[] = {
	{ "bursts2", 2, bursts2 },
	{ "bursts2 seldom", 2, bursts2_seldom },
	{ "bursts aside", 3, bursts_aside },
	{ NULL, 0, NULL },
};
