// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random task graphs: tasks coupled by a barrier, a ring of queues or a common lock, each with a
 * few pieces of work, sleeps, locked work and device requests. Something is always the target,
 * and no task is nothing but target.
 */
#include "program.h"

#include "base/base.h"

struct random {
	uint64_t state;
};

static double uniform(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int below(struct random *r, int n)
{
	return uniform(r) * n;
}

enum coupling { BY_BARRIER, BY_RING, BY_LOCK };

struct graph {
	struct sim_program *p;
	struct random r;
	double ms;
	int lock, common_lock, barrier, first_queue;
	bool has_target;
};

static void compute(struct graph *g, int t, double ms, bool hot)
{
	program_op(g->p, t, OP_COMPUTE, ms * g->ms, -1, hot ? SIM_TARGET : SIM_REST);
	g->has_target |= hot;
}

static void plain(struct graph *g, int t, enum sim_op_kind kind, int object)
{
	program_op(g->p, t, kind, 0, object, SIM_REST);
}

static void piece(struct graph *g, int t, bool must_be_hot)
{
	double kind = uniform(&g->r), ms = 0.5 + 3 * uniform(&g->r);
	bool hot = uniform(&g->r) < 0.4 || must_be_hot;

	if (kind < 0.6 || must_be_hot) {
		compute(g, t, ms, hot);
	} else if (kind < 0.75) {
		plain(g, t, OP_LOCK, g->lock);
		compute(g, t, ms / 2, hot);
		plain(g, t, OP_UNLOCK, g->lock);
	} else if (kind < 0.87) {
		program_op(g->p, t, OP_SLEEP, ms * g->ms, -1, SIM_REST);
	} else {
		program_op(g->p, t, OP_IO, ms * g->ms, program_object(g->p, 1), SIM_REST);
	}
}

struct sim_program *graph_create(uint64_t seed, bool crowded, double scale)
{
	struct graph g = { .r = { seed * 0x9E3779B97F4A7C15ULL + 7 }, .ms = SIM_MS * scale };
	int cores = 2 + below(&g.r, 3), n;
	enum coupling coupling;
	char name[64];

	n = crowded ? cores + 1 + below(&g.r, 3) : 2 + below(&g.r, cores - 1);
	coupling = below(&g.r, 3);
	snprintf(name, sizeof(name), "graph %llu%s", (unsigned long long)seed,
		 crowded ? " crowded" : "");
	g.p = program_create(name, cores);
	g.lock = program_object(g.p, 1);
	g.common_lock = program_object(g.p, 1);
	g.barrier = program_object(g.p, n);
	for (int i = 0; coupling == BY_RING && i < n; i++) {
		int q = program_object(g.p, 1 + below(&g.r, 3));

		if (!i)
			g.first_queue = q;
	}
	for (int i = 0; i < n; i++) {
		int t = program_task(g.p), pieces = 1 + below(&g.r, 3);

		if (coupling == BY_RING && i)
			plain(&g, t, OP_RECEIVE, g.first_queue + i - 1);
		for (int k = 0; k < pieces; k++)
			piece(&g, t, i == n - 1 && k == pieces - 1 && !g.has_target);
		compute(&g, t, 0.2, false);
		if (coupling == BY_LOCK) {
			compute(&g, t, 0.8, false);
			plain(&g, t, OP_LOCK, g.common_lock);
			compute(&g, t, 1, false);
			plain(&g, t, OP_UNLOCK, g.common_lock);
		}
		if (coupling == BY_LOCK || i == (coupling == BY_RING ? n - 1 : 0))
			plain(&g, t, OP_PROGRESS, -1);
		if (coupling == BY_BARRIER)
			plain(&g, t, OP_BARRIER, g.barrier);
		else if (coupling == BY_RING && i < n - 1)
			plain(&g, t, OP_SEND, g.first_queue + i);
	}
	return g.p;
}
