/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work that a recording tells of: of each thread, for how long it ran, for what it waited, and
 * whom it set going, in its own order; without the time for which it wanted a CPU. So it can be run
 * again on other CPUs (whatif/rerun.h).
 *
 * No files, no kernel: events go in, in the order of time. Times in ns.
 */
#ifndef SCOZ_WHATIF_WORK_H
#define SCOZ_WHATIF_WORK_H

#include "trace/trace.h"

enum work_kind {
	WORK_RUN,   /* for @ns */
	WORK_WAIT,  /* until it is set going; @ns, @at: how long it took, and when it was over */
	WORK_WAKE,  /* sets thread @other going, which waits in its step @step */
	WORK_FORK,  /* makes thread @other */
	WORK_JOIN,  /* goes on once thread @other, which it has made, has ended */
	WORK_AFTER, /* had lost its CPU to thread @other, which it had just set going, until that
		       waited in its step @step; perhaps it needed what that did, and would have
		       waited */
	WORK_VISIT, /* of the progress point */
	WORK_END,
};

struct work_step {
	uint64_t ns, at;
	/*
	 * WORK_WAIT for a lock: who waits for longer would have had it before who sets it going, if
	 * that took it no earlier than this long before.
	 */
	uint64_t overtakes;
	uint32_t other, step;
	uint32_t more; /* WORK_WAKE: so many others it has woken in the same breath, after this */
	uint8_t kind;
	uint8_t wait;	/* WORK_WAIT, WORK_WAKE: enum trace_wait */
	bool by_thread; /* WORK_WAIT: a step of another thread ends it, else it takes @ns */
	bool open;	/* WORK_WAIT: the recording does not have its end */
	bool apart;	/* WORK_WAKE: that one began to wait after the first of the breath */
};

struct work_thread {
	struct work_step *steps;
	size_t n, cap;
	bool known, forked;
	uint64_t starts; /* unless it is made by another */
	uint64_t last;	 /* when it was last seen to do anything */
	uint64_t ran;
	/* How often it has WORK_AFTER, and has waited for an answer of whom it had set going. */
	uint32_t afters, answers;
};

struct work {
	struct work_thread *threads;
	size_t n_threads;
	uint64_t *visits; /* when each was, as recorded */
	size_t n_visits, cap_visits;
	uint32_t root;	   /* the first thread, TRACE_NONE: there is none */
	uint64_t root_end; /* 0: it has not ended */
	uint64_t end, ran, queued;
	uint64_t crowded; /* for so long some thread wanted a CPU that another one had */
	/* Waits that other threads have ended, of these for locks, and how many of one that ends
	 * waits of several, any of whom may do what there is to do. */
	uint64_t waits, lock_waits, shared_waits;
	uint32_t cpus; /* cpus_in_use() */
};

/*
 * Of CPUs on which threads ran for so many ns each: those that they may use, as far as that is seen
 * (a hundredth of the busiest one's time, or more).
 */
uint32_t cpus_in_use(const uint64_t *ran, size_t n);

struct work_builder;
struct work_builder *work_begin(size_t threads);
/* Samples are ignored, and progress points other than @point. */
void work_event(struct work_builder *b, const struct trace_event *e, uint32_t point);
/* Ends @b. */
void work_end(struct work_builder *b, struct work *ret);
void work_free(struct work *w);

#endif
