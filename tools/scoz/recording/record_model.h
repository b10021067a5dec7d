/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What scoz report concludes from a recording. Samples that agree in all that anybody asks for are
 * folded into entries first; rows, call graphs, waits and hints are made from these.
 */
#ifndef SCOZ_RECORD_MODEL_H
#define SCOZ_RECORD_MODEL_H

#include "base/hash_index.h"
#include "tools/scoz/recording/record_filter.h"

enum record_sort {
	SORT_COMM,
	SORT_DSO,
	SORT_SYM,
	SORT_PID,
	SORT_TID,
	SORT_CLASS,
	SORT_KIND,
	SORT_CPU,
	SORT_WAKER,
	SORT_FILE,
	SORT_SRCLINE,
	SORT_PROCESS,
	SORT_RANK,
	RECORD_SORTS
};

struct record_options {
	enum record_sort sort[RECORD_SORTS];
	size_t n_sort;
	enum record_per per;
	bool json, children, graph, no_kernel, inlined, no_hints, no_idle;
	double percent_limit;
	size_t top_waits; /* 0: rows instead */
	struct record_filter filter;
	const char *only; /* the first of the options that only recordings have */
};

/* Distinct keys of one size, numbered from 0 in the order of their arrival. */
struct keymap {
	size_t key_size, n, cap;
	char *keys;
	struct hash_index index;
};
/* The number of @key; if that is what n was before, it is new. */
size_t keymap_add(struct keymap *m, const void *key);
void keymap_deinit(struct keymap *m);

struct record_entry {
	uint32_t thread, stack, cpu, waker, holder;
	const char *comm, *kind, *event;
	enum record_level level;
	uint64_t points, samples, duration;
};

/* A caller in the call graph of a row. */
struct call_node {
	const struct record_frame *frame;
	uint64_t points;
	uint32_t child, sibling; /* heaviest first; 0: none */
	bool cut;		 /* some chain goes on here, further than is kept */
};

struct record_row {
	const struct record_entry *entry; /* one of those it is made of: where its names stand */
	const struct record_frame *frame;
	enum record_level level;
	uint64_t self, total; /* points; total: also of what it called */
	uint32_t share;	      /* hundredths of a percent, of self: they add up to 10,000 */
	uint32_t last_entry;  /* counted in total already */
	uint32_t calls;	      /* its callers: first node, 0: none */
};

/* All rows, or those of one process, rank or thread. */
struct record_group {
	const struct record_entry *heaviest;
	uint32_t rank; /* with PER_RANK, else 0 */
	uint64_t points;
	uint64_t levels[RECORD_LEVELS];
	struct record_row *rows;
	size_t n_rows;
	struct call_node *calls; /* [0] is nobody */
	size_t n_calls;
};

struct record_waker {
	uint32_t thread;   /* RECORDING_NONE: */
	const char *event; /* NULL: unknown */
	uint64_t points;
};

/* Threads with their points, most first. */
struct record_wakers {
	struct record_waker *list;
	size_t n, cap;
};

/* All waits of a class at one place. */
struct record_wait {
	enum record_level level;
	uint32_t stack;
	const char *kind;
	uint64_t points, samples, duration;
	struct record_wakers wakers, holders; /* holders: of a lock, where they are known */
};

/* A level's share. */
struct record_share {
	uint64_t points, samples, duration;
};

struct record_model {
	const struct recording *rec;
	const struct record_options *options;
	struct record_entry *entries;
	size_t n_entries;
	struct record_group *groups; /* most points first; ranks in their order */
	size_t n_groups;
	struct record_wait *waits; /* by class, most points first */
	size_t n_waits;
	uint64_t (*by_thread)[RECORD_LEVELS]; /* points, by thread id */
	const char **comms;		      /* the last name of each thread */
	/* Of what the filters let through: */
	uint64_t samples, points;
	uint64_t levels[RECORD_LEVELS], level_samples[RECORD_LEVELS], level_ns[RECORD_LEVELS];
	struct record_share held; /* of class L: for what somebody holds */
	uint64_t unfinished, broken, chainless;
	bool *kernel_node, *broken_node; /* by stack id */
	bool *idle; /* by thread id: it did hardly anything but wait for work */
};

static inline const struct record_process *record_process_of(const struct record_model *m,
							     uint32_t thread)
{
	return &m->rec->processes[m->rec->threads[thread].process];
}

struct record_model *record_model_create(const struct recording *rec,
					 const struct record_options *options);
void record_model_free(struct record_model *m);

/* Is @node not to be a row: of the kernel, or inlined (perf's symbols are functions, too)? */
bool record_model_skips(const struct record_model *m, uint32_t node);
/* The innermost node of @stack that is to be shown, RECORDING_NONE: none. */
uint32_t record_model_leaf(const struct record_model *m, uint32_t stack);
/* What stands for its frame, also where there is none. */
const struct record_frame *record_model_frame(const struct record_model *m, uint32_t stack,
					      uint32_t node);
/* Of all samples, whatever the filters are: a wait is one sample for as many as it lasted. */
static inline uint64_t record_points(const struct recording *rec)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rec->n_samples; i++)
		n += rec->samples[i].points;
	return n;
}

static inline double record_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- record_rows.c ---- */
void record_make_groups(struct record_model *m);

/* ---- record_waits.c ---- */
void record_make_waits(struct record_model *m);
/* "woken by" for people; malloc'ed. */
char *record_waker_name(const struct record_model *m, uint32_t thread, const char *event);
/* What to do about it: each a paragraph; only what the data support. */
struct record_hint {
	enum record_level level;
	bool held; /* LEVEL_LOCK: about locks that somebody holds, else about the other waits */
	uint64_t points;		/* of these waits */
	const struct record_wait *wait; /* the heaviest of them */
	char *text;
};
struct record_hint *record_make_hints(const struct record_model *m, size_t *n);

/* ---- record_page.c ---- */
/* scoz plot of a recording: writes a page to @output; returns an exit code. */
int record_plot(const char *path, const struct record_options *options, const char *output);

/* ---- record_text.c ---- */
extern const char *const record_level_names[RECORD_LEVELS];
void record_print_text(const struct record_model *m);

/* ---- record_graph.c ---- */
void record_print_graph(const struct record_group *g, const struct record_row *row);
/* The @limit innermost frames of a wait, a line each. */
void record_print_stack(const struct record_model *m, uint32_t node, const char *prefix,
			size_t limit);

/* ---- record_json.c ---- */
int record_write_json(const struct record_model *m, FILE *out);

/* ---- record_options.c ---- */
extern const char *const record_sort_names[RECORD_SORTS];
#define RECORD_SORT_WORDS \
	"comm, dso, sym, pid, tid, class, kind, cpu, waker, file, srcline, process and rank"
void record_options_init(struct record_options *o);
/* getopt's values of the other options that only recordings have. */
enum {
	REPORT_SORT = 256,
	REPORT_CHILDREN,
	REPORT_NO_CHILDREN,
	REPORT_GRAPH,
	REPORT_NO_KERNEL,
	REPORT_INLINE,
	REPORT_PERCENT_LIMIT,
	REPORT_TOP_WAITS,
	REPORT_HINTS,
	REPORT_NO_HINTS,
	REPORT_NO_IDLE,
};
/* 0, or -EINVAL: the message is printed. */
int record_option(struct record_options *o, int option, const char *arg);
/* ---- record_report.c ---- */
/* Prints; returns an exit code. */
int record_report(const char *path, const struct record_options *options);
/* Why there is nothing to show; malloc'ed. NULL: there is something. */
char *record_reason(const struct record_model *m);
/* What was shown of it has ended with @ret: says why it was nothing. Returns an exit code. */
int record_conclude(const struct record_model *m, int ret);
/* What helps to read it: as record_warnings(). */
char **record_notes(const struct record_model *m, size_t *n);
/* What is wrong with the recording, for people: @n malloc'ed texts in a malloc'ed array. */
char **record_warnings(const struct record_model *m, size_t *n);

#endif
