/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One perf event on each CPU, kept so while CPUs come and go: the event of a CPU that went offline
 * stays dead when it is back. A CPU that goes and comes between two looks is not noticed.
 */
#ifndef SCOZ_RECORD_CPU_EVENTS_H
#define SCOZ_RECORD_CPU_EVENTS_H

#include "ring/perf_ring.h"

struct cpu_event {
	int cpu, fd;	  /* -1: could not be opened again */
	struct ring ring; /* mapped or not, as open() likes */
};

struct cpu_events {
	/* Set before cpu_events_open(). */
	const int *wanted; /* NULL: all CPUs */
	int n_wanted;
	bool newcomers; /* besides those wanted, CPUs that come online, unless they are isolated */
	/* Fills in fd, and ring if it has one; only then is 0 returned. */
	int (*open)(struct cpu_event *e, void *arg, struct error *err);
	void *arg;

	struct cpu_event *list;
	size_t n, cap;
	uint64_t looked;
};

/* Those wanted that are online. On failure cpu_events_close() still has to be called. */
int cpu_events_open(struct cpu_events *events, struct error *err);
/*
 * Looks now and then what has changed. Rings of CPUs that went are lost with what is in them: read
 * them before. Indices change.
 */
void cpu_events_follow(struct cpu_events *events);
void cpu_events_close(struct cpu_events *events);

#endif
