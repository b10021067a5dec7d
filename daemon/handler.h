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
#include "daemon/process_table.h"
#include "engine/engine.h"
#include "map/map.h"

struct handlers;

struct handlers_options {
	struct engine *engine;
	struct maps *maps;
	struct locations *locations;
	struct process_table *processes;
	const struct cores *cores;
	bool kernel;	   /* kernel frames are resolved as well */
	bool source_scope; /* there is one: code without lines is outside of it */
	bool scoped;	   /* so, or to certain binaries */
	bool batch;	   /* handlers match, account and stop their cores (engine_options.batch) */
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
	uint64_t samples, lost;
	uint64_t unnamed;      /* ran in a function of which no name is known */
	uint64_t no_file;      /* of these: in no file, but made at run time */
	uint64_t in_kernel;    /* in the kernel, for nobody but system libraries */
	uint64_t without_line; /* where lines were asked for */
	double cpu_s;	       /* CPU time of all handlers */
	double resolve_s;      /* of it resolving samples */
};
void handlers_counts(struct handlers *h, struct handlers_counts *ret);
/* The same without waiting for handlers: some may be in the middle of a batch. */
void handlers_counts_now(const struct handlers *h, struct handlers_counts *ret);

/*
 * Samples with it innermost (self), anywhere in the chain (total), and credited to it: each sample
 * to one place at most (map/origin.h), which is what targets are chosen by. Arrays are malloc'ed.
 */
struct handlers_location {
	uint64_t self, total, credit;
};
struct handlers_binary {
	uint64_t self, total;
	uint64_t credit;  /* to code of it of which nothing is known */
	uint64_t unnamed; /* of self: in functions without a name */
};
/* By location id. */
void handlers_samples(struct handlers *h, struct handlers_location **ret, size_t *n);
/* By binary id; the kernel's are there, but not for use as targets. */
void handlers_binaries(struct handlers *h, struct handlers_binary **ret, size_t *n);
/*
 * By process and place, a location's id or PLACE_BINARY | a binary's; malloc'ed, sorted so.
 * @left_out: samples not told apart.
 */
struct place_entry *handlers_places(struct handlers *h, size_t *n, uint64_t *left_out);
/* Has any sample fallen into this binary? */
bool handlers_saw_binary(struct handlers *h, uint32_t binary);

#endif
