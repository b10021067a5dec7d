/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handler threads: one pinned to each profiled core (SCOZ paper, section 3.3). Each drains its
 * core's ring: samples are counted by binary and place in it (daemon/chains.h), exec, mmap, fork
 * and exit keep the address spaces current and publish target mappings. No file is opened or read
 * here, and nobody is waited for who does: what samples mean is found out by the collector, a
 * thread that is here, too, from tables that are made elsewhere (daemon/tally.h, maps/maps.h).
 *
 *   ring -> handler (ring_handlers.c) -> binary and place (maps/maps.c), counted (chains.c)
 *        -> collector (ring_handlers.c): names of places (tally.c, by tables of table/), who called
 *           (callers.c), in which process (process_places.c)
 *        -> main thread: what becomes a target (locations.c, choose.c, trials.c), and in windows
 *           (window.c)
 *        -> the profile (profile_samples.c, profile/writer.c); tools/scoz/causal/model.c reads it
 *
 * Handlers run in nobody's time: the engine does not account them and they are never a target.
 */
#ifndef SCOZD_RING_HANDLERS_H
#define SCOZD_RING_HANDLERS_H

#include "run/cores.h"
#include "daemon/tally.h"
#include "engine/engine.h"
#include "maps/maps.h"
#include "unwind/follow.h"

struct handlers;

struct handlers_options {
	struct engine *engine;
	struct maps *maps;
	struct locations *locations;
	struct process_table *processes;
	struct unwind_follow *unwind; /* or NULL */
	struct polling *polling;      /* or NULL */
	const struct cores *cores;
	bool kernel;	   /* kernel frames are resolved as well */
	bool source_scope; /* there is one: code without lines is outside of it */
	bool scoped;	   /* so, or to certain binaries */
	bool batch;	   /* handlers match, account and stop their cores (engine_options.batch) */
	uint64_t period_ns, seed;
	/* Called by any handler when a process execs: its mappings are gone. */
	void (*process_execs)(int pid, void *arg);
	void *arg;
};

int handlers_start(const struct handlers_options *opt, struct handlers **ret, struct error *err);
/* A CPU that has gone offline since (it may be back); -1: none. Any thread. */
int handlers_gone(const struct handlers *h);
/* Stops the threads; the counts stay readable until handlers_destroy(). */
void handlers_stop(struct handlers *h);
void handlers_destroy(struct handlers *h);

/*
 * How long a fixed piece of work took on core @core (-1: all), summed over measurements so far, and
 * how many these were (machine_speed_ns()). Any thread.
 */
void handlers_speed(const struct handlers *h, int core, uint64_t *sum_ns, uint64_t *n);

/* The accounting period around which each handler jitters its core's event. */
void handlers_set_period(struct handlers *h, uint64_t period_ns);

struct handlers_counts {
	uint64_t samples, lost;
	struct tally_counts places; /* of samples */
	double cpu_s;		    /* CPU time of all handlers, and of the collector */
	double fullest;		    /* that any ring was when it was read, of 1 */
	double resolve_s;	    /* of it counting samples and finding out where they lie */
};
void handlers_counts(struct handlers *h, struct handlers_counts *ret);
/* The same without waiting for anybody, and without where samples lie. */
void handlers_counts_now(const struct handlers *h, struct handlers_counts *ret);

/* As tally_locations() and tally_binaries(), with all samples that were taken so far. */
void handlers_locations(struct handlers *h, struct tally_sums **ret, size_t *n);
void handlers_binaries(struct handlers *h, struct tally_binary **ret, size_t *n);
/* At the end: tables that are not there by now are waited for no longer. */
void handlers_give_up(struct handlers *h);
/*
 * By process and place, a location's id or PLACE_BINARY | a binary's; malloc'ed, sorted so.
 * @left_out: samples not told apart.
 */
struct place_entry *handlers_places(struct handlers *h, size_t *n, uint64_t *left_out);
/* As tally_watch() and tally_callers(), with all samples that were taken so far. */
void handlers_watch(struct handlers *h, uint32_t id, const char *name,
		    const struct engine_part *parts, int n);
bool handlers_callers(struct handlers *h, size_t i, struct caller_target *ret);
/* Has any sample fallen into this binary? */
bool handlers_saw_binary(struct handlers *h, uint32_t binary);

#endif
