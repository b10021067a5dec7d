/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside a recorder: its threads (recorded_threads.c), causal events (recorder_trace.c), the rest.
 */
#ifndef SCOZ_RECORDER_INTERNAL_H
#define SCOZ_RECORDER_INTERNAL_H

#include "record/recorder.h"

#include "base/hash_index.h"
#include "record/ahead.h"
#include "record/backend.h"
#include "record/lock_words.h"
#include "record/processes.h"
#include "record/queue.h"
#include "record/sideband.h"
#include "record/symbols.h"
#include "record/thread_identity.h"
#include "record/unnamed.h"
#include "record/unwinding.h"
#include "record/wakers.h"

struct thread {
	struct tid_history history;
	int tid, pid;
	uint32_t process;
	bool counted;  /* as one of its process that has not ended */
	uint64_t left; /* causal recordings: when it began to wait; 0: it does not */
	char comm[16];
};

struct ended_thread {
	int tid;
	uint32_t id;
};

struct recorder {
	struct record_backend *backend;
	struct sideband sideband;
	struct recorder_sink sink;
	struct maps *maps;
	struct symbols *symbols;
	struct wakers *wakers;
	struct processes *processes;
	struct lock_words *lock_words;
	struct queue queue;
	struct queue trace; /* causal recordings: what the scheduler did */
	uint64_t told;	    /* time of the last of them that was passed on */
	size_t switches, unseen;
	size_t late;		 /* those that came after later ones had been passed on */
	uint64_t period, waited; /* waited: ns, of no whole point yet */
	bool causal;
	const char **devices; /* told to the sink; names of `wakers` */
	size_t n_devices, cap_devices;
	struct unnamed unnamed;
	struct ahead ahead;
	struct unwinding *unwind; /* NULL: chains go by frame pointers */
	bool threads_run;
	uint64_t patience;    /* ns that samples wait for tables at most */
	uint64_t complete;    /* all samples up to then have been passed on, or are unnamed */
	bool hurry;	      /* tables that are missing are not waited for, ... */
	uint64_t built;	      /* ... as long as maps_built() is this */
	uint64_t stalled;     /* since when samples wait for tables; 0: they do not */
	uint64_t start, stop; /* CLOCK_MONOTONIC */
	/* What was lost when all processes were last looked at; when, and how long that took. */
	uint64_t repaired, repaired_ns, repair_ns;
	unsigned int repairs;
	struct recorder_counts counts;
	/* One a tid (a thread's successor under the same tid takes its place). */
	struct thread *threads;
	size_t n_known, cap_threads;
	struct hash_index by_tid;
	uint32_t *vacant; /* of `threads` */
	size_t n_vacant, cap_vacant;
	struct ended_thread *ended; /* in a circle; the oldest is forgotten next */
	size_t n_ended;
	uint32_t n_threads; /* ids given */
};

uint64_t recorder_since_start(const struct recorder *r, uint64_t time);

/* ---- threads ---- */

/* Of that tid; it is made where there is none. Until the next call. */
struct thread *recorder_thread_slot(struct recorder *r, int tid);
/* The one that something was recorded of, or NULL. */
const struct thread *recorder_thread_known(const struct recorder *r, int tid);
/* The thread of a record, made known to the sink. @born 0: whoever has that tid now. */
uint32_t recorder_thread_id(struct recorder *r, int tid, int pid, uint64_t born, const char *comm,
			    uint64_t time);
/* Who has that tid, a waker or a holder, say, which need not have been recorded itself. */
uint32_t recorder_other_thread(struct recorder *r, int tid, uint64_t time);
/* Nobody begins with its end: of one that had ended, that one. */
uint32_t recorder_thread_that_ends(struct recorder *r, int tid, uint64_t time);

/* Nothing that it did will be told any more: it is forgotten when thousands have ended after it. */
void recorder_thread_ended(struct recorder *r, int tid, uint32_t id, uint64_t time);

/* ---- causal recordings ---- */

/* For queue_take(): of QUEUE_TRACE. */
bool recorder_on_trace(enum queue_kind kind, const void *record, size_t size, void *arg);

#endif
