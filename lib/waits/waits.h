/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom: wait-for graphs and their knots, as wPerf (Zhou et al., OSDI 2018) has them.
 *
 * A vertex is a thread, a device, or a group of threads; an edge A -> B says for how long A waited
 * until B woke it, counted again along the chain where B was itself waiting meanwhile (cascaded
 * re-distribution). So an edge's weight is the most that A could gain if B were faster, and weights
 * do not add up to the time. What does is the part of weights during which who was waited for did
 * not wait itself: each moment of a wait counts there once, for whom it was waited in the end. A
 * knot is a set of vertices that all reach one another, and nothing
 * else: unless one of its edges is improved, none of its threads does more work.
 *
 * No files, no kernel: segments go in, a graph comes out. Times in ns.
 */
#ifndef SCOZ_WAITS_H
#define SCOZ_WAITS_H

#include "base/hash_index.h"

#define WAITS_KINDS 16 /* what a wait was in: numbers of the caller, below this */
#define WAITS_NONE  UINT32_MAX

struct waits_edge {
	uint32_t from, to;
	uint64_t weight;
	uint64_t kinds[WAITS_KINDS]; /* of it, by what `from` waited in */
	uint64_t own;  /* of it: the waits themselves, without what came by cascading */
	uint64_t work; /* of it: `to` did not wait for anybody meanwhile */
};

/* ---- graphs ---- */

struct waits_graph {
	struct waits_edge *edges;
	size_t n, cap;
	struct hash_index by_ends;
};
/* The edge, made if there is none; valid until the next one is made. */
struct waits_edge *waits_edge(struct waits_graph *g, uint32_t from, uint32_t to);
void waits_graph_free(struct waits_graph *g);

/* ---- from waits to edges ---- */

struct waits_segment {
	uint64_t from, to;
	uint32_t waker;
	uint8_t kind;
};

struct waits_history {
	struct waits_segment *v;
	size_t first, n, cap; /* those before `first` are forgotten */
};

struct waits {
	struct waits_graph graph;
	struct waits_history *vertices;
	size_t n, cap;
	uint8_t *ends;	     /* enum waits_end */
	size_t held, most;   /* segments; more are not kept */
	uint64_t dropped;    /* segments that were not kept */
	uint64_t unfollowed; /* ns of waits whose causes had been forgotten, or were too many */
	uint64_t floor;	     /* what began before is forgotten */
	/* scratch */
	struct waits_level *levels;
	size_t n_levels, cap_levels;
	bool *on_path;
	uint64_t steps, steps_most;
};

/* @most: segments to be remembered at a time, the last ones; 0: all. */
void waits_init(struct waits *w, size_t most);
enum waits_end {
	WAITS_THREAD,
	WAITS_LEAF,  /* nothing is known of what it waits for itself: a device */
	WAITS_ASIDE, /* besides, who waits for it does so of its own: a timer, or nobody */
};
void waits_set_end(struct waits *w, uint32_t vertex, enum waits_end end);
/*
 * @vertex waited, and @waker ended that at @to. In the order of `to`: the waits of the waker up to
 * then have been told before.
 */
void waits_add(struct waits *w, uint32_t vertex, uint64_t from, uint64_t to, uint32_t waker,
	       uint8_t kind);
/* No wait that begins before @time will be told any more. */
void waits_forget(struct waits *w, uint64_t time);
void waits_deinit(struct waits *w);

/*
 * A device was idle for that long: it waited for the threads that use it, as they do for it. Adds
 * edges from it, by the weights of the edges to it.
 */
void waits_device_idle(struct waits_graph *g, uint32_t device, uint64_t idle);

/* ---- merging ---- */

/*
 * @group: of each vertex, the number of its group (below @n_groups); @sizes: how many members a
 * group counts for, threads that follow one another being one; NULL: all. Weights between groups:
 * what a member of the first waits for all members of the second, on average; an edge from a group
 * to itself says that its members wait for one another.
 */
void waits_merge(const struct waits_graph *g, const uint32_t *group, size_t n_vertices,
		 size_t n_groups, const uint32_t *sizes, struct waits_graph *ret);
/* How alike two histograms are: 0 to 1. */
double waits_similarity(const uint64_t *a, const uint64_t *b, size_t n);

/* A thread of those that one parent makes, one after the other. */
struct waits_life {
	uint32_t vertex;
	uint64_t from, to;
	uint32_t slot; /* out: which of the virtual threads it is a part of */
};
/*
 * Lines the children of one parent up (sorted by `from`): one that begins when another has ended
 * takes its place. Returns the number of slots. @gaps (of @n): for each slot, how long none of
 * its threads was there between 0 and @end.
 */
size_t waits_line_up(struct waits_life *lives, size_t n, uint64_t end, uint64_t *gaps);

/* ---- knots ---- */

enum waits_part_kind {
	WAITS_KNOT, /* all wait for one another, and for nobody else */
	WAITS_SINK, /* one vertex that waits for nobody */
	WAITS_PASS, /* it waits for others */
};

struct waits_part {
	enum waits_part_kind kind;
	uint32_t *vertices;
	size_t n;
};

struct waits_parts {
	struct waits_part *v;
	size_t n;
	uint32_t *of; /* of each vertex: its part, or WAITS_NONE without edges */
	size_t n_vertices;
};

/* Strongly connected parts of the edges that are not lighter than @least. */
void waits_parts(const struct waits_graph *g, size_t n_vertices, uint64_t least,
		 struct waits_parts *ret);
void waits_parts_free(struct waits_parts *p);

/*
 * The edges of @g between the vertices of a knot (@inside[vertex]), of which the lightest are taken
 * away, one at a time, as long as something of it remains in which all wait for one another and
 * not all edges are heavier than @enough. @ret is what remains. False: that would take too long,
 * and edges are left that could have been taken away.
 */
bool waits_refine(const struct waits_graph *g, const bool *inside, size_t n_vertices,
		  uint64_t enough, struct waits_graph *ret);

/*
 * All parts of a graph, without looking at all of it for each: there may be as many as there are
 * vertices, behind one another.
 */
struct waits_peel {
	const struct waits_graph *g;
	struct waits_parts parts;
	size_t *first;	 /* by part: where its edges begin in @edges; one more at the end */
	uint32_t *edges; /* of @g, by the part that they begin in */
	size_t *first_into;
	uint32_t *into;	  /* by the part that they end in: the part that each begins in */
	uint32_t *number; /* of a vertex in its part */
	size_t *out;	  /* by part: edges to others that are left */
	bool *gone;
};

void waits_peel_find(const struct waits_graph *g, size_t n_vertices, struct waits_peel *ret);
void waits_peel_free(struct waits_peel *k);
/* Several, or one that waits for itself. */
bool waits_peel_is_knot(const struct waits_peel *k, size_t part);
/*
 * @part, which waits for no other, has been taken away: appends those to @next that wait for nobody
 * else now. What has no edges any more is no part: it is gone.
 */
void waits_peel_take(struct waits_peel *k, size_t part, size_t *next, size_t *n);
/* waits_refine() of one. */
bool waits_peel_refine(const struct waits_peel *k, size_t part, uint64_t enough,
		       struct waits_graph *ret);

#endif
