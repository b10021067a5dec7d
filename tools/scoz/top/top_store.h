/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a model keeps: filled by top_model.c, read by top_query.c. */
#ifndef SCOZ_TOP_STORE_H
#define SCOZ_TOP_STORE_H

#include "tools/scoz/top/top_model.h"
#include "tools/scoz/top/top_pool.h"

#define TOP_SLICES (20 + 1) /* of the window, and the one under way */

/* Functions that are none. */
enum { FUNCTION_UNKNOWN, FUNCTION_REST, FUNCTION_WAITING, FUNCTIONS_RESERVED };

struct top_function {
	struct pool_node node;
	const char *symbol, *object;
	char *own; /* symbol, if it is the model's */
};

struct top_process {
	struct pool_node node;
	int pid;
	char comm[16];
	uint32_t n_threads;
	bool named; /* by its first thread */
};

struct top_thread {
	struct pool_node node; /* by tid */
	uint32_t id;	       /* the recorder's; RECORDING_NONE: not known to it yet */
	int tid, pid;
	uint32_t process;
	char comm[16];
	bool told; /* it has samples, or was there from the start: not just somebody's waker */
	bool ended;
	uint64_t start, end;
	uint64_t heard; /* up to when its samples tell what it did */
	uint32_t n_entries;
	/* The wait that goes on. */
	bool looked_at;
	enum top_class class;
	const char *kind;
	uint32_t function;
	/* Of the query under way: what its entries tell of the window. */
	uint64_t known;
};

struct top_id {
	struct pool_node node; /* by the recorder's id */
	uint32_t id, thread;
};

struct top_entry_key {
	uint32_t thread, leaf, user;
	enum top_class class;
	bool idle;
	const char *kind, *event;
	uint32_t waker;
};

struct top_entry {
	struct pool_node node;
	struct top_entry_key key;
	char waker[32];
	uint32_t stack, votes; /* the stack that most samples have, if there is one */
	uint64_t newest;       /* slice, counted from the start */
	uint64_t ns[TOP_SLICES];
};

struct top_model {
	struct top_model_options opt;
	uint64_t slice_ns, now, asked_alive;
	uint64_t begin; /* what lies before is forgotten */
	bool frozen;
	struct pool processes, threads, ids, functions, entries;
	uint32_t *function_of; /* by frame id, + 1 */
	size_t cap_function_of;
	size_t n_stacks;
};

static inline uint64_t top_oldest_slice(const struct top_model *m)
{
	uint64_t newest = m->now / m->slice_ns;

	return newest >= TOP_SLICES ? newest - (TOP_SLICES - 1) : 0;
}

static inline uint64_t top_window_start(const struct top_model *m)
{
	uint64_t start = top_oldest_slice(m) * m->slice_ns;

	return start > m->begin ? start : m->begin;
}

/* The time of @e in the window. */
uint64_t top_entry_time(const struct top_model *m, const struct top_entry *e);
uint64_t top_thread_span(const struct top_model *m, const struct top_thread *t);

#endif
