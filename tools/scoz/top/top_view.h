/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scoz top without a terminal: what keys do, and what the screen shows as lines of text. The same
 * lines are the output of --batch.
 */
#ifndef SCOZ_TOP_VIEW_H
#define SCOZ_TOP_VIEW_H

#include "tools/scoz/top/top_model.h"

enum top_page { PAGE_TABLE, PAGE_STACK, PAGE_HELP };

/* Printable characters are their own keys. */
enum top_key {
	TOP_NO_KEY = 0,
	TOP_ENTER = '\n',
	TOP_ESCAPE = 27,
	TOP_UP = 0x1000,
	TOP_DOWN,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_HOME,
	TOP_END,
	TOP_BACK,
};

enum top_action {
	TOP_NOTHING,
	TOP_REDRAW,
	TOP_REQUERY, /* the query has changed */
	TOP_FREEZE,  /* frozen has changed */
	TOP_QUIT,
};

/* What Escape goes back to. */
struct top_place {
	enum top_by by;
	int pid, tid;
	char comm[16];
};
#define TOP_DEPTH 4

struct top_view {
	struct top_query query;
	enum top_page page;
	bool frozen;
	bool utf8;		       /* the terminal's character set */
	bool batch;		       /* no cursor, all rows */
	unsigned int filter;	       /* index of the class filter; beyond the last: another one */
	char classes[TOP_CLASSES + 1]; /* its letters */
	size_t selected, first;
	struct top_row cursor; /* the row that is selected, to find it again */
	bool has_cursor;
	char comm[16]; /* of query.pid or .tid */
	struct top_place back[TOP_DEPTH];
	size_t n_back;
	size_t scroll;	  /* of the pages that are text */
	size_t page_rows; /* that the last drawing had room for */
};

/* What the model does not know. */
struct top_info {
	const char *engine;
	const char *clock; /* the time of day */
	uint64_t period_ns, window_ns;
	uint64_t behind_ns; /* the end of the window is no later than that ago */
	uint64_t lost;	    /* in the window */
	bool gone;	    /* all processes that were named */
	const struct record_frame *(*frame)(uint32_t id, void *arg);
	const struct record_stack *(*stack)(uint32_t id, void *arg);
	void *arg;
};

enum top_attr { ATTR_NORMAL, ATTR_TITLE, ATTR_HEADER, ATTR_SELECTED, ATTR_HINT };

struct top_line {
	char *text;
	enum top_attr attr;
	size_t bar, n_bar; /* columns of letters of classes */
};

struct top_lines {
	struct top_line *v;
	size_t n, cap;
};

/* ---- top_keys.c ---- */
void top_view_init(struct top_view *v, enum top_by by, enum top_sort sort);
/*
 * Classes with commas in between: as scoz report names them, and "all" and "waiting"; false: there
 * is none such.
 */
bool top_view_filter(struct top_view *v, const char *list);
/* Has the view a column for it? */
bool top_can_sort(const struct top_query *q);
const char *top_filter_title(const struct top_view *v);
enum top_action top_view_key(struct top_view *v, int key, const struct top_result *r);
/* After each query: the cursor stays on its row where that still exists. */
void top_view_follow(struct top_view *v, const struct top_result *r);

/* ---- top_view.c ---- */
/* At most @rows lines of @cols columns; in batch mode as many as it takes. */
void top_view_draw(struct top_view *v, const struct top_result *r, const struct top_info *info,
		   size_t rows, size_t cols, struct top_lines *ret);
void top_lines_clear(struct top_lines *lines);

/* ---- top_text.c ---- */
/*
 * @s in exactly @cols columns of a terminal: cut or padded, cleaned of what is not text, and in
 * ASCII unless @utf8.
 */
char *top_fit(const char *s, size_t cols, bool right, bool utf8);
/* The same without padding. */
char *top_cut(const char *s, size_t cols, bool utf8);
extern const char *const top_help[];

#endif
