/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress points of a run: finding where they are, attaching, and reading them. */
#ifndef SCOZD_POINTS_H
#define SCOZD_POINTS_H

#include "daemon/options.h"
#include "engine/engine.h"
#include "map/map.h"

struct points;

/* Finds every POINT and attaches it. Errors name the POINT. */
int points_create(const struct options *opt, const struct map_options *map_opt, struct engine *e,
		  struct points **ret, struct error *err);
void points_destroy(struct points *p);
size_t points_count(const struct points *p);
/* Looks for marks in an executable that has just appeared; a path that can be opened now. */
void points_add_binary(struct points *p, const char *path);
/* Once a second: counter files for users whose processes have appeared since. */
void points_refresh(struct points *p);
/* marks_only_users() for the marks among them. */
void points_only_users(struct points *p, const uid_t *uids, size_t n);
bool points_have_marks(const struct points *p);

/* One progress point at one moment. Counters only ever grow; differences count. */
struct point_reading {
	uint64_t visits; /* units done: throughput visits, or ends of a latency */
	uint64_t begins; /* latency */
	uint64_t sum_begin, sum_end;
	uint64_t time;		 /* of this reading */
	uint64_t latest_virtual; /* virtual time of the latest visit; 0: not known */
};
void points_read(struct points *p, size_t i, struct point_reading *ret);
/*
 * How long a latency took: SPAN_SLOT counters (engine_spans()); NULL: of marks, or by this engine,
 * that is not measured.
 */
const volatile uint64_t *points_spans(const struct points *p, size_t i);
/* Names of tasks that come to point @i but are not the COMM it counts, "" for none; malloc'ed. */
char *points_others(const struct points *p, size_t i);
/* Mean number in flight between two readings (Little's law). */
double points_inflight(const struct point_reading *base, const struct point_reading *a,
		       const struct point_reading *b);

#endif
