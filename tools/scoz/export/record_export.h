/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings for other viewers. Each format is written from the same view: the samples that were
 * asked for, their call chains as one tree, and who they belong to. A wait ends in a frame that
 * tells what was waited for ("[I] disk"), so that viewers which know only call chains show it.
 */
#ifndef SCOZ_RECORD_EXPORT_H
#define SCOZ_RECORD_EXPORT_H

#include "base/hash_index.h"
#include "tools/scoz/recording/record_filter.h"

struct export_options {
	enum record_per per; /* what folded stacks begin with */
	struct record_filter filter;
};

/* Writes into @out; I/O errors stay with @out. */
struct record_view;
typedef void export_fn(const struct record_view *v, FILE *out);
export_fn export_folded, export_speedscope, export_firefox, export_pprof;

/* ---- tuples of numbers, and strings: equal ones get the same index, counted from 0 ---- */

struct export_map {
	size_t width, n; /* numbers in a tuple; tuples */
	uint32_t *keys;	 /* tuple i begins at i * width */
	size_t cap;
	struct hash_index index;
};
void export_map_init(struct export_map *m, size_t width);
uint32_t export_map_add(struct export_map *m, const uint32_t *key);
void export_map_deinit(struct export_map *m);

struct export_strings {
	char **text;
	size_t n, cap;
	struct hash_index index;
};
uint32_t export_strings_add(struct export_strings *s, const char *text);
void export_strings_deinit(struct export_strings *s);

/* ---- the view ---- */

/* Where a sample's time went: the category of its innermost frame. */
enum view_category {
	CATEGORY_INHERITED, /* an inlined call: as its caller */
	CATEGORY_USER,
	CATEGORY_KERNEL,
	CATEGORY_IO,
	CATEGORY_LOCK,
	CATEGORY_SCHED,
	CATEGORY_WAIT,
	CATEGORIES
};

struct view_frame {
	const struct record_frame *frame; /* NULL: none of the program's, see @name */
	char *name;
	enum view_category category;
};

struct view_thread {
	const struct record_thread *thread;
	const char *comm;  /* its last one */
	uint32_t *samples; /* in the order in which they began */
	size_t n;
	uint64_t points;
};

struct record_view {
	const struct recording *r;
	const struct export_options *o;
	struct view_frame *frames;
	size_t n_frames, frames_cap;
	/* (frame, caller's node or RECORDING_NONE); callers come first. */
	struct export_map nodes;
	uint32_t *chain; /* of each sample: the node of its call chain, RECORDING_NONE: left out */
	uint32_t *node;	 /* of each sample: with the frame that tells the wait */
	struct view_thread *threads; /* those with samples */
	size_t n_threads;
	uint64_t points;
	uint32_t *indexes;  /* what threads[].samples point into */
	uint32_t *recorded; /* frame of the recording to frame here */
	struct export_strings made;
	uint32_t *made_frame;
	size_t made_cap;
};

void record_view_init(struct record_view *v, const struct recording *r,
		      const struct export_options *o);
void record_view_deinit(struct record_view *v);

static inline uint32_t view_node_frame(const struct record_view *v, uint32_t node)
{
	return v->nodes.keys[2 * node];
}

static inline uint32_t view_node_parent(const struct record_view *v, uint32_t node)
{
	return v->nodes.keys[2 * node + 1];
}

const char *view_comm(const struct record_view *v, const struct record_sample *s);
/* The thread's rank in a parallel job, -1: none. */
int view_rank(const struct record_view *v, const struct record_thread *t);
/* Its source file, else its binary, else NULL. */
const char *view_frame_file(const struct view_frame *f);
/* When a sample's time began and ended. */
uint64_t view_begin(const struct record_sample *s);
uint64_t view_end(const struct record_view *v, const struct record_sample *s);
/* Seconds since 1970 when the recording began, 0: unknown. */
int64_t view_started(const struct record_view *v);
/* "gzip 4711" */
char *view_thread_name(const struct record_view *v, const struct view_thread *t);
/* Who woke the thread: a thread's name or an event, NULL unknown. */
char *view_waker(const struct record_view *v, const struct record_sample *s);

/* ---- JSON, fast ---- */

void export_number(FILE *out, uint64_t n);
void export_text(FILE *out, const char *s);
/* "[1,2,3]"; RECORDING_NONE becomes @none. */
void export_column(FILE *out, const uint32_t *v, size_t n, size_t stride, const char *none);
/* ns as ms */
void export_ms(FILE *out, uint64_t ns);

#endif
