/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress points of a run: finding where they are, attaching, and reading them. */
#ifndef SCOZD_POINTS_H
#define SCOZD_POINTS_H

#include "daemon/marked.h"
#include "daemon/options.h"
#include "daemon/probe_cost.h"
#include "engine/engine.h"

struct points;

/* Finds every POINT and attaches it; with --end-to-end there are none then. Errors name the POINT.
 */
int points_create(const struct options *opt, struct engine *e, struct points **ret,
		  struct error *err);
void points_destroy(struct points *p);
/*
 * They do not need all numbers that the engine has: one is left for a probe of our own. Marks take
 * theirs as they are found, and would have no visits without.
 */
bool points_leave_a_number(const struct options *opt);
size_t points_count(const struct points *p);
/*
 * An executable that has just appeared, to be looked through for marks; its path leads to it now.
 * @id: of the maps, MAPS_KERNEL_ID: nobody has mapped it yet.
 */
void points_add_binary(struct points *p, const char *path, uint32_t id);
/* Why a file could not be looked through, if that happened: once for each kind of reason. */
bool points_unsearched(struct points *p, struct error *why);
/* Files are held open until they have been looked through: are they few enough for another one? */
bool points_take_more(struct points *p);
/*
 * Probes for the marks that were found so far; waits up to @wait_s for files not yet read. 0: those
 * of one file, which anybody may have filled with them; the next one's come the next time.
 */
void points_attach_found(struct points *p, int wait_s);
/* What those that are probes in code have cost so far, of one point. */
double points_probes_ns(const struct points *p, size_t i, const struct probe_cost *cost);
/* Once a second: counter files for users whose processes have appeared since. */
void points_refresh(struct points *p);
/* marks_only_users() for the marks among them, and for their probes. */
void points_only_users(struct points *p, const uid_t *uids, size_t n);
/* Once: probes of marks count others, or not all, than these users do. */
bool points_miscount_users(struct points *p, struct error *why);
/* Once: there are more users than files of counters. */
bool points_leave_users_out(struct points *p, struct error *why);
/*
 * Who has mapped marks that count is profiled (marked_look()); @again: also of users who did not
 * count the last time.
 */
void points_take_marked(struct points *p, struct maps *maps, const struct marked_take *t,
			bool again);
bool points_have_marks(const struct points *p);
/* marks_pause(), while somebody else wants to see each visit. */
void points_pause_marks(struct points *p, bool paused);

/* One progress point at one moment. Counters only ever grow; differences count. */
struct point_reading {
	uint64_t visits; /* units done: throughput visits, or ends of a latency */
	uint64_t begins; /* latency */
	uint64_t sum_begin, sum_end;
	uint64_t time;	/* of this reading */
	uint64_t clock; /* the same by that of the sums: virtual time of latencies by_thread */
	uint64_t latest_virtual; /* virtual time of the latest visit; 0: not known */
	uint64_t underway;	 /* latency: struct marks_counts */
	bool by_thread;		 /* latency: that is known, */
	struct engine_underway threads;
};
void points_read(struct points *p, size_t i, struct point_reading *ret);
/*
 * For points_inflight(): counters are read one by one, so of a latency again and again, up to some
 * 50 times, until nothing happens meanwhile. Where it always does, what is in flight is wrong by
 * what happens while they are read.
 */
void points_read_edge(struct points *p, size_t i, struct point_reading *ret);
/* The run begins: this is what its first readings are, 0 before. */
void points_begin(struct points *p);
const struct point_reading *points_first(const struct points *p, size_t i);
/* Now and then, as long as the run lasts: how evenly points are reached. */
void points_look(struct points *p);
/* What is seen from now on is no continuation. */
void points_interrupt(struct points *p);
/* How long the pause is that a random moment falls into (plan/pauses.h), s; 0: not known. */
double points_pause_s(const struct points *p, size_t i);
double points_longest_pause_s(const struct points *p, size_t i);
/*
 * How long a latency took: SPAN_SLOT counters (engine_spans()); false: of marks, or by this engine,
 * that is not measured.
 */
bool points_spans(const struct points *p, size_t i, uint64_t *ret);
/* Names of tasks that come to point @i but are not the COMM it counts, "" for none; malloc'ed. */
char *points_others(const struct points *p, size_t i);
/* The command is about to begin: so far nothing of a latency is under way in it. */
void points_command_begins(struct points *p);
/*
 * Mean number of a latency in flight between two readings (Little's law); -1: programs were in the
 * middle of counting, so that they do not belong together. How many are in flight at the first one
 * is known of a command from its start, and where both ends run in one thread, one after the other;
 * else, since some may have begun before the run did, by the fewest that were there at any reading
 * so far, which are taken for none.
 */
double points_inflight(const struct points *p, size_t i, const struct point_reading *a,
		       const struct point_reading *b);

#endif
