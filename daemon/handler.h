/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handler threads: one pinned to each profiled core (SCOZ paper, section 3.3). Each drains its
 * core's ring: samples are resolved and counted, exec, mmap, fork and exit keep the address
 * spaces current and publish target mappings. Handlers run in nobody's time: the engine does not
 * account them and they are never a target.
 */
#ifndef SCOZD_HANDLER_H
#define SCOZD_HANDLER_H

#include "run/cores.h"
#include "daemon/locations.h"
#include "engine/engine.h"
#include "map/map.h"

struct handlers;

struct handlers_options {
	struct engine *engine;
	struct maps *maps;
	struct locations *locations;
	const struct cores *cores;
	bool kernel; /* kernel frames are resolved as well */
	bool batch;  /* handlers match, account and stop their cores (engine_options.batch) */
	uint64_t period_ns, seed;
	/* Called by any handler when a process has ended, or execs: its mappings are gone. */
	void (*process_gone)(int pid, void *arg);
	void *arg;
};

int handlers_start(const struct handlers_options *opt, struct handlers **ret, struct error *err);
/* Stops the threads; the counts stay readable until handlers_destroy(). */
void handlers_stop(struct handlers *h);
void handlers_destroy(struct handlers *h);

/* The accounting period around which each handler jitters its core's event. */
void handlers_set_period(struct handlers *h, uint64_t period_ns);

struct handlers_counts {
	uint64_t samples, lost, unresolved;
	double cpu_s;	  /* CPU time of all handlers */
	double resolve_s; /* of it resolving samples */
};
void handlers_counts(struct handlers *h, struct handlers_counts *ret);
/* The same without waiting for handlers: some may be in the middle of a batch. */
void handlers_counts_now(const struct handlers *h, struct handlers_counts *ret);

/* Per location: samples with it innermost (self) and anywhere in the chain (total). The arrays
 * are malloc'ed, @n entries, by location id. */
void handlers_samples(struct handlers *h, uint64_t **self, uint64_t **total, size_t *n);
/* Has any sample fallen into this binary? */
bool handlers_saw_binary(struct handlers *h, uint32_t binary);

#endif
