/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the threads of the machine did in the last seconds, from a recorder's samples as they come.
 *
 * Nothing is kept of single samples. Time goes to entries, one for each thread, function, class,
 * kind of wait and waker, and in each to the slices of the window in which it lay; a wait is told
 * when it ends and spread over the time that it took. Entries whose slices have all left the window
 * are dropped, threads that ended a window ago as well.
 *
 * A wait that goes on has not been told yet. It is the time since a thread's last sample, and
 * belongs to TOP_OPEN until top_model_explain() says what is waited for. So the times of a thread
 * add up to the time that it lived in the window, but for chance.
 */
#ifndef SCOZ_TOP_MODEL_H
#define SCOZ_TOP_MODEL_H

#include "record/recorder.h"
#include "tools/scoz/recording/record_filter.h"

enum top_class {
	TOP_USER,
	TOP_KERNEL,
	TOP_SCHED,
	TOP_IO,
	TOP_LOCK,
	TOP_OTHER,
	TOP_OPEN, /* waits, for what is not known before the wait ends */
	TOP_CLASSES
};
enum top_class top_class_of(enum record_level level);
#define TOP_LETTERS	"ukSILBW"
#define TOP_ALL_CLASSES ((1u << TOP_CLASSES) - 1)

/*
 * A lock waited for so long is most often an idle worker's condition variable: no activity. So is
 * one whose wait a timeout ended.
 */
#define TOP_IDLE_NS NSEC_PER_SEC

struct top_model;

struct top_model_options {
	uint64_t period_ns, window_ns;
	size_t max_entries; /* more share one entry for each thread and class; 0: default */
	/* Frames and stacks that the samples refer to; their strings outlive the model. */
	const struct record_frame *(*frame)(uint32_t id, void *arg);
	const struct record_stack *(*stack)(uint32_t id, void *arg);
	bool (*alive)(int pid, int tid, void *arg); /* asked for threads long silent; may be NULL */
	void *arg;
};

struct top_model *top_model_create(const struct top_model_options *options);
void top_model_destroy(struct top_model *m);
/* For recorder_create(). */
struct recorder_sink top_model_sink(struct top_model *m);
/* A thread that is there already: the recorder tells of it only when it has done something. */
void top_model_seed(struct top_model *m, int pid, int tid, const char *comm);
/* A process's name, if its first thread has not been seen. */
void top_model_name(struct top_model *m, int pid, const char *comm);
/* Nothing is known of what was before @now: that is forgotten, and so it is no wait. */
void top_model_begin(struct top_model *m, uint64_t now);
/* It is @now (recorder_time()), and all samples up to then have been told. */
void top_model_advance(struct top_model *m, uint64_t now);
/*
 * While it is frozen, the model stays as it is, and what happens is not kept: the window begins
 * anew afterwards.
 */
void top_model_freeze(struct top_model *m, bool frozen, uint64_t now);

struct top_model_size {
	size_t threads, processes, entries, stacks;
};
struct top_model_size top_model_size(const struct top_model *m);

/* ---- waits that go on ---- */

struct top_waiting {
	int pid, tid;
	uint32_t thread; /* for top_model_explain() */
};
/* At most @max threads silent for @min_ns and not handed out since they were last heard of. */
size_t top_model_waiting(struct top_model *m, uint64_t min_ns, struct top_waiting *ret, size_t max);
/* Until the wait has ended. @function of the kernel, may be NULL; @kind a constant or NULL. */
void top_model_explain(struct top_model *m, uint32_t thread, enum top_class class, const char *kind,
		       const char *function);

/* ---- rows ---- */

enum top_by { TOP_BY_PROCESS, TOP_BY_THREAD, TOP_BY_FUNCTION, TOP_BYS };

enum top_sort {
	TOP_SORT_ACTIVITY, /* on a CPU, S, I, and L but what is idle */
	TOP_SORT_ON,
	TOP_SORT_USER,
	TOP_SORT_KERNEL,
	TOP_SORT_SCHED,
	TOP_SORT_IO,
	TOP_SORT_LOCK,
	TOP_SORT_OTHER,
	TOP_SORT_OPEN,
	TOP_SORT_THREADS,
	TOP_SORT_PID,
	TOP_SORT_NAME,
	TOP_SORTS
};
extern const char *const top_by_names[TOP_BYS];
extern const char *const top_sort_names[TOP_SORTS];

struct top_query {
	enum top_by by;
	enum top_sort sort;
	bool reverse;
	bool hide_idle;
	bool user_functions;  /* the program's function instead of the innermost one */
	unsigned int classes; /* bits by class */
	int pid, tid;	      /* only these; 0: all */
};

struct top_wait {
	uint64_t ns; /* 0: there was none */
	enum top_class class;
	bool open;	      /* goes on */
	const char *kind;     /* NULL: unknown */
	const char *function; /* of the program if known; NULL: unknown */
	char waker[32];	      /* "gcc:4711", "timer", "" */
};

struct top_row {
	enum top_by by;
	int pid, tid;
	char comm[16];
	const char *symbol, *object; /* of a function */
	uint32_t threads;
	uint64_t base; /* how long its threads lived in the window, all together */
	uint64_t time[TOP_CLASSES];
	uint64_t activity;
	struct top_wait wait; /* the heaviest: of S, I and L, unless there is hardly any */
	uint32_t stack;	      /* the one met most often where most of the time went */
	uint64_t stack_weight;
};

struct top_result {
	uint64_t now, span; /* what the window holds of it by now */
	struct top_row *rows;
	size_t n_rows, n_idle; /* n_idle: rows that are hidden */
	size_t threads, processes;
	uint64_t time[TOP_CLASSES]; /* of all that pid and tid let through */
	uint64_t base;
};

struct top_result *top_model_query(struct top_model *m, const struct top_query *q);
void top_result_free(struct top_result *r);

/*
 * What a row shows for @class, in percent. On a CPU: of one CPU, as top does. Waits: of the time of
 * the row's threads; of functions: of one thread's time.
 */
double top_percent(const struct top_result *r, const struct top_row *row, enum top_class class);

#endif
