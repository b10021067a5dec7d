/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waited for whom in a causal recording: its events as segments of threads. */
#ifndef SCOZ_WAITS_RECORDED_H
#define SCOZ_WAITS_RECORDED_H

#include "trace/devices.h"
#include "waits/waits.h"

/* What a thread did, ns. */
struct waits_times {
	uint64_t on, queued, waited;
	uint64_t kinds[TRACE_WAITS]; /* of `waited` */
	uint64_t from, to;	     /* it was there then */
};

enum waits_state { WAITS_UNSEEN, WAITS_ON, WAITS_QUEUED, WAITS_BLOCKED, WAITS_GONE };

struct waits_thread {
	struct waits_times times;
	enum waits_state state;
	uint64_t since;
	uint32_t parent; /* thread; TRACE_NONE: it was there before */
	uint8_t wait;
	bool seen;   /* it was recorded; else it only woke others */
	bool early;  /* it was woken while it ran: on its way to sleep, perhaps */
	bool visits; /* it came to a progress point */
};

/* What a group's name has to say. */
enum waits_group_names {
	WAITS_NAME_OWN,
	WAITS_NAME_MIXED,  /* its threads are of several processes */
	WAITS_NAME_SHARED, /* another one would be called so */
};

/* Vertices: threads, then devices, then these two. */
struct waits_recorded {
	const struct trace *trace;
	struct waits waits;
	struct waits_thread *threads;
	struct devices *devices;
	uint32_t timer, nobody;
	size_t n_vertices;
	uint64_t from, to; /* of the recording */
	uint64_t unwoken;  /* waits whose end was not seen: for nobody */
	/* Of each vertex: its group; after waits_group(). */
	uint32_t *group;
	size_t n_groups;
	/* Of each group: its first vertex, its vertices, and how many of them there are at a time.
	 */
	uint32_t *firsts, *members, *sizes;
	uint8_t *names;		  /* enum waits_group_names */
	struct waits_graph graph; /* of groups */
	/* streaming */
	uint64_t forgot;
	size_t since_forgot; /* events */
};

/* @most: waits to be remembered at a time, 0: all. */
int waits_read(const struct trace *t, size_t most, struct waits_recorded *ret, struct error *err);
/*
 * Makes groups of vertices that are one to those who look, and the graph of these: threads of one
 * parent that follow one another and, when @alike, threads of one process that wait alike.
 * Once.
 */
void waits_group(struct waits_recorded *r, bool alike);
/*
 * @held: the groups that come to a progress point, and those for which these wait in @g, themselves
 * or in the end; what an idle device waits for holds up nobody. false: nobody comes to any.
 */
bool waits_held_up(const struct waits_recorded *r, const struct waits_graph *g, bool *held);
void waits_recorded_free(struct waits_recorded *r);

/*
 * "worker (4711)", "solver (4711, rank 3)", "nvme0n1", "timer"; of a group: "worker (12 threads of
 * 4711)" (where another one would be called so, "worker (12 threads of 4711, 4713 first)"), or
 * "grep (4711) and 11 others after it" of several processes; malloc'ed.
 */
char *waits_vertex_name(const struct waits_recorded *r, uint32_t vertex);
char *waits_group_name(const struct waits_recorded *r, uint32_t group);

#endif
