// SPDX-License-Identifier: GPL-2.0-or-later
/* What keys do to a view. */
#include "tools/scoz/top/top_view.h"

#include "tools/scoz/recording/record_filter.h"

#define ON_CPU (1u << TOP_USER | 1u << TOP_KERNEL)

static const struct {
	const char *title;
	unsigned int classes;
} filters[] = {
	{ "all", TOP_ALL_CLASSES }, { "on CPU", ON_CPU },    { "S", 1u << TOP_SCHED },
	{ "I", 1u << TOP_IO },	    { "L", 1u << TOP_LOCK }, { "B", 1u << TOP_OTHER },
	{ "W", 1u << TOP_OPEN },
};

const char *top_filter_title(const struct top_view *v)
{
	return v->filter < ARRAY_SIZE(filters) ? filters[v->filter].title : v->classes;
}

void top_view_init(struct top_view *v, enum top_by by, enum top_sort sort)
{
	*v = (struct top_view){
		.query = { .by = by, .sort = sort, .classes = TOP_ALL_CLASSES },
	};
}

static void set_filter(struct top_view *v, unsigned int filter)
{
	v->filter = filter;
	v->query.classes = filters[filter].classes;
}

/* 0: no such class. */
static unsigned int classes_of(const char *name)
{
	unsigned int levels = record_class_levels(name), ret = 0;

	if (!strcmp(name, "all"))
		return TOP_ALL_CLASSES;
	if (!strcmp(name, "off"))
		return TOP_ALL_CLASSES & ~ON_CPU;
	if (!strcmp(name, "waiting") || !strcmp(name, "W"))
		return 1u << TOP_OPEN;
	for (size_t i = 0; i < RECORD_LEVELS; i++)
		ret |= (levels >> i & 1) << top_class_of(i);
	return ret;
}

bool top_view_filter(struct top_view *v, const char *list)
{
	_cleanup_free_ char *copy = xstrdup(list);
	char *p = copy, *item, *letter = v->classes;
	unsigned int all = 0, i = 0;

	while ((item = strsep(&p, ","))) {
		unsigned int classes = classes_of(item);

		if (!classes)
			return false;
		all |= classes;
	}
	while (i < ARRAY_SIZE(filters) && filters[i].classes != all)
		i++;
	v->filter = i;
	v->query.classes = all;
	for (i = 0; i < TOP_CLASSES; i++) {
		if (all & 1u << i)
			*letter++ = TOP_LETTERS[i];
	}
	*letter = '\0';
	return true;
}

static bool same_row(const struct top_row *a, const struct top_row *b)
{
	if (a->by != b->by)
		return false;
	if (a->by == TOP_BY_FUNCTION)
		return !strcmp(a->symbol, b->symbol) && !strcmp(a->object, b->object);
	return a->pid == b->pid && a->tid == b->tid;
}

static void keep_cursor(struct top_view *v, const struct top_result *r)
{
	v->has_cursor = v->selected < r->n_rows;
	if (v->has_cursor)
		v->cursor = r->rows[v->selected];
}

/* At the top it stays at the top: whoever has not moved it wants to see what comes first. */
void top_view_follow(struct top_view *v, const struct top_result *r)
{
	for (size_t i = 0; v->selected && v->has_cursor && i < r->n_rows; i++) {
		if (same_row(&r->rows[i], &v->cursor)) {
			v->selected = i;
			break;
		}
	}
	if (v->selected >= r->n_rows)
		v->selected = r->n_rows ? r->n_rows - 1 : 0;
	if (v->page == PAGE_TABLE)
		keep_cursor(v, r);
}

bool top_can_sort(const struct top_query *q)
{
	if (q->by == TOP_BY_FUNCTION && q->sort == TOP_SORT_PID)
		return false;
	return q->by == TOP_BY_PROCESS || q->sort != TOP_SORT_THREADS;
}

static void go(struct top_view *v, enum top_by by, int pid, int tid)
{
	v->query.by = by;
	v->query.pid = pid;
	v->query.tid = tid;
	v->selected = v->first = 0;
	v->has_cursor = false;
	if (!top_can_sort(&v->query))
		v->query.sort = TOP_SORT_ACTIVITY;
}

static enum top_action open_row(struct top_view *v, const struct top_result *r)
{
	const struct top_query *q = &v->query;

	keep_cursor(v, r);
	if (!v->has_cursor)
		return TOP_NOTHING;
	if (q->by == TOP_BY_FUNCTION) {
		v->page = PAGE_STACK;
		v->scroll = 0;
		return TOP_REDRAW;
	}
	if (v->n_back == TOP_DEPTH)
		return TOP_NOTHING;
	v->back[v->n_back] = (struct top_place){ .by = q->by, .pid = q->pid, .tid = q->tid };
	memcpy(v->back[v->n_back++].comm, v->comm, sizeof(v->comm));
	memcpy(v->comm, v->cursor.comm, sizeof(v->comm));
	go(v, TOP_BY_FUNCTION, v->cursor.pid, q->by == TOP_BY_THREAD ? v->cursor.tid : 0);
	return TOP_REQUERY;
}

static enum top_action go_back(struct top_view *v)
{
	if (v->page != PAGE_TABLE) {
		v->page = PAGE_TABLE;
		return TOP_REDRAW;
	}
	if (v->n_back) {
		const struct top_place *b = &v->back[--v->n_back];

		memcpy(v->comm, b->comm, sizeof(v->comm));
		go(v, b->by, b->pid, b->tid);
		return TOP_REQUERY;
	}
	if (!v->query.pid)
		return TOP_NOTHING;
	go(v, TOP_BY_PROCESS, 0, 0);
	return TOP_REQUERY;
}

static enum top_action next_sort(struct top_view *v, int step)
{
	do
		v->query.sort = (v->query.sort + TOP_SORTS + step) % TOP_SORTS;
	while (!top_can_sort(&v->query));
	return TOP_REQUERY;
}

static enum top_action change_view(struct top_view *v, enum top_by by)
{
	v->page = PAGE_TABLE;
	v->n_back = 0;
	if (by == TOP_BY_PROCESS)
		go(v, by, 0, 0);
	else
		go(v, by, v->query.pid, 0);
	return TOP_REQUERY;
}

static size_t moved(size_t at, int key, size_t page, size_t n)
{
	size_t last = n ? n - 1 : 0;

	switch (key) {
	case TOP_UP:
		return at ? at - 1 : 0;
	case TOP_DOWN:
		return at < last ? at + 1 : last;
	case TOP_PAGE_UP:
		return at > page ? at - page : 0;
	case TOP_PAGE_DOWN:
		return last > at && last - at > page ? at + page : last;
	case TOP_HOME:
		return 0;
	default:
		return last;
	}
}

static enum top_action move(struct top_view *v, int key, const struct top_result *r)
{
	if (v->page != PAGE_TABLE) {
		v->scroll = moved(v->scroll, key, v->page_rows, 1000);
		return TOP_REDRAW;
	}
	v->selected = moved(v->selected, key, v->page_rows, r->n_rows);
	keep_cursor(v, r);
	return TOP_REDRAW;
}

enum top_action top_view_key(struct top_view *v, int key, const struct top_result *r)
{
	switch (key) {
	case 'q':
	case 'Q':
		return TOP_QUIT;
	case 'h':
	case '?':
		v->page = v->page == PAGE_HELP ? PAGE_TABLE : PAGE_HELP;
		v->scroll = 0;
		return TOP_REDRAW;
	case ' ':
		v->frozen = !v->frozen;
		return TOP_FREEZE;
	case TOP_ESCAPE:
	case TOP_BACK:
		return go_back(v);
	case TOP_UP:
	case TOP_DOWN:
	case TOP_PAGE_UP:
	case TOP_PAGE_DOWN:
	case TOP_HOME:
	case TOP_END:
		return move(v, key, r);
	case 'p':
		return change_view(v, TOP_BY_PROCESS);
	case 't':
		return change_view(v, TOP_BY_THREAD);
	case 'f':
		return change_view(v, TOP_BY_FUNCTION);
	}
	if (v->page != PAGE_TABLE)
		return TOP_NOTHING;
	switch (key) {
	case TOP_ENTER:
	case '\r':
		return open_row(v, r);
	case 's':
	case '>':
		return next_sort(v, 1);
	case '<':
		return next_sort(v, -1);
	case 'r':
		v->query.reverse = !v->query.reverse;
		return TOP_REQUERY;
	case 'c':
		set_filter(v, v->filter < ARRAY_SIZE(filters)
				      ? (v->filter + 1) % ARRAY_SIZE(filters)
				      : 0);
		return TOP_REQUERY;
	case 'i':
		v->query.hide_idle = !v->query.hide_idle;
		return TOP_REQUERY;
	case 'u':
		v->query.user_functions = !v->query.user_functions;
		return TOP_REQUERY;
	}
	return TOP_NOTHING;
}
