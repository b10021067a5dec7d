/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What perf tells about address spaces and names: mmap, exec, fork, exit. It is told on the CPU
 * where it happens, so all CPUs are listened to, whichever are sampled.
 */
#ifndef SCOZ_RECORD_SIDEBAND_H
#define SCOZ_RECORD_SIDEBAND_H

#include "record/cpu_events.h"
#include "record/queue.h"

struct sideband {
	struct cpu_events events;
	size_t pages; /* of a CPU's ring */
	bool prompt;
	_Atomic uint64_t lost; /* so far; by whoever drains */
};

/* Listens from now on. @prompt: whoever waits for the events is woken by each record. */
int sideband_open(struct sideband *s, bool prompt, struct error *err);
/* All records as QUEUE_PERF; NULL: only @seen is told. */
void sideband_drain(struct sideband *s, struct queue *q,
		    void (*seen)(const struct perf_event_header *h, void *arg), void *arg);
void sideband_close(struct sideband *s);

#endif
