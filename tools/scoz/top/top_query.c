// SPDX-License-Identifier: GPL-2.0-or-later
/* From entries to rows: one pass over all of them, and one over the threads. */
#include "tools/scoz/top/top_store.h"

/* If S, I and L take less than this part of a row's time, its heaviest wait may be of any class. */
#define FEW_PERCENT 1

const char *const top_by_names[TOP_BYS] = { "process", "thread", "function" };
const char *const top_sort_names[TOP_SORTS] = { "activity", "on",      "user", "kernel",
						"sched",    "io",      "lock", "other",
						"waiting",  "threads", "pid",  "name" };

/* One kind of wait of a row at one place, of all its threads. */
struct place {
	struct pool_node node;
	uint32_t row, function;
	enum top_class class;
	bool open, idle;
	const char *kind;
	uint64_t ns, best; /* best: of the heaviest entry */
	const char *waker; /* of that entry */
};

struct query {
	struct top_model *m;
	const struct top_query *q;
	struct top_result *r;
	uint32_t *row_of; /* by process, thread or function, + 1 */
	size_t cap_rows;
	struct pool places;
	bool *seen; /* by process */
};

static bool same_place(const void *item, const void *key)
{
	const struct place *a = item, *b = key;

	return a->row == b->row && a->function == b->function && a->class == b->class &&
	       a->open == b->open && a->idle == b->idle && a->kind == b->kind;
}

static bool wanted(const struct query *x, const struct top_thread *t)
{
	return t->told && (!x->q->pid || t->pid == x->q->pid) &&
	       (!x->q->tid || t->tid == x->q->tid);
}

static void name_row(const struct query *x, struct top_row *row, const struct top_thread *t,
		     uint32_t function)
{
	const struct top_process *p = pool_item(&x->m->processes, t->process);
	const struct top_function *f = pool_item(&x->m->functions, function);

	row->by = x->q->by;
	row->stack = RECORDING_NONE;
	if (x->q->by == TOP_BY_FUNCTION) {
		row->symbol = f->symbol;
		row->object = f->object;
		return;
	}
	row->pid = t->pid;
	row->tid = x->q->by == TOP_BY_THREAD ? t->tid : 0;
	memcpy(row->comm, x->q->by == TOP_BY_THREAD ? t->comm : p->comm, sizeof(row->comm));
}

static uint32_t row_index(struct query *x, uint32_t thread, uint32_t function)
{
	const struct top_thread *t = pool_item(&x->m->threads, thread);
	uint32_t *at = &x->row_of[x->q->by == TOP_BY_PROCESS  ? t->process
				  : x->q->by == TOP_BY_THREAD ? thread
							      : function];

	if (!*at) {
		array_reserve(x->r->rows, x->cap_rows, x->r->n_rows + 1);
		x->r->rows[x->r->n_rows] = (struct top_row){};
		name_row(x, &x->r->rows[x->r->n_rows], t, function);
		*at = ++x->r->n_rows;
	}
	return *at - 1;
}

static void add_place(struct query *x, const struct place *key, uint64_t ns, const char *waker)
{
	uint64_t hash = hash_mix(hash_mix(key->row, key->function),
				 (uintptr_t)key->kind ^ key->class << 1 ^ key->open);
	uint32_t index = pool_find(&x->places, hash, same_place, key);
	struct place *p;

	if (index == POOL_NONE) {
		struct pool_node node;

		index = pool_add(&x->places, hash);
		p = pool_item(&x->places, index);
		node = p->node;
		*p = *key;
		p->node = node;
	}
	p = pool_item(&x->places, index);
	p->ns += ns;
	if (ns > p->best) {
		p->best = ns;
		p->waker = waker;
	}
}

static void add_time(struct top_row *row, enum top_class class, bool idle, uint64_t ns)
{
	row->time[class] += ns;
	if (class <= TOP_LOCK && !idle)
		row->activity += ns;
}

static bool counts(const struct query *x, enum top_class class)
{
	return x->q->classes & 1u << class;
}

static void add_entry(struct query *x, struct top_entry *e)
{
	struct top_thread *t = pool_item(&x->m->threads, e->key.thread);
	uint32_t function = x->q->user_functions && e->key.user ? e->key.user : e->key.leaf;
	uint64_t ns = top_entry_time(x->m, e);
	struct place place = {
		.function = e->key.user ? e->key.user : e->key.leaf,
		.class = e->key.class,
		.idle = e->key.idle,
		.kind = e->key.kind,
	};
	struct top_row *row;

	if (!ns || !wanted(x, t))
		return;
	t->known += ns;
	x->r->time[e->key.class] += ns;
	if (!counts(x, e->key.class))
		return;
	place.row = row_index(x, e->key.thread, function);
	row = &x->r->rows[place.row];
	add_time(row, e->key.class, e->key.idle, ns);
	if (ns > row->stack_weight && e->stack != RECORDING_NONE) {
		row->stack_weight = ns;
		row->stack = e->stack;
	}
	if (e->key.class >= TOP_SCHED)
		add_place(x, &place, ns, e->waker);
}

/*
 * How long a thread has been silent. What is missing before that, if anything, is chance: points
 * that came late, or records that were lost.
 */
static uint64_t open_time(const struct query *x, const struct top_thread *t)
{
	uint64_t span = top_thread_span(x->m, t);
	uint64_t until = t->ended ? t->end : x->m->now;
	uint64_t rest = until > t->heard ? until - t->heard : 0;

	if (t->known && rest <= 2 * x->m->opt.period_ns)
		return 0;
	return rest < span ? rest : span;
}

static void count_thread(struct query *x, uint32_t index)
{
	struct top_thread *t = pool_item(&x->m->threads, index);
	uint64_t rest = open_time(x, t), base = t->known + rest;
	/* The end of a thread tells nothing of what went before. */
	enum top_class class = t->ended ? TOP_OPEN : t->class;
	uint32_t function = class == TOP_OPEN && !t->function ? FUNCTION_WAITING : t->function;
	struct place place = {
		.function = function,
		.class = class,
		.kind = t->ended ? NULL : t->kind,
		.open = true,
	};
	struct top_row *row;

	x->r->base += base;
	x->r->time[class] += rest;
	x->r->threads++;
	x->r->processes += !x->seen[t->process];
	x->seen[t->process] = true;
	if (x->q->by == TOP_BY_FUNCTION ? !rest || !counts(x, class) : !base)
		return;
	place.row = row_index(x, index, function);
	row = &x->r->rows[place.row];
	if (x->q->by != TOP_BY_FUNCTION) {
		row->base += base;
		row->threads++;
	}
	if (!rest || !counts(x, class))
		return;
	add_time(row, class, class == TOP_LOCK, rest);
	add_place(x, &place, rest, NULL);
}

/*
 * Heaviest waits: S, I and locks that somebody holds go before the rest where they are more than
 * next to nothing.
 */
static void choose_waits(struct query *x)
{
	for (uint32_t i = 0; i < x->places.n; i++) {
		const struct place *p = pool_item(&x->places, i);
		struct top_row *row = &x->r->rows[p->row];
		uint64_t whole = row->base,
			 busy = row->activity - row->time[TOP_USER] - row->time[TOP_KERNEL];
		const struct top_function *f = pool_item(&x->m->functions, p->function);

		for (int c = 0; !row->base && c < TOP_CLASSES; c++)
			whole += row->time[c];
		if ((p->class > TOP_LOCK || p->idle) && busy * 100 >= whole * FEW_PERCENT && busy)
			continue;
		if (p->ns <= row->wait.ns)
			continue;
		row->wait = (struct top_wait){ .ns = p->ns,
					       .class = p->class,
					       .open = p->open,
					       .kind = p->kind,
					       .function = p->function < FUNCTIONS_RESERVED
								   ? NULL
								   : f->symbol };
		snprintf(row->wait.waker, sizeof(row->wait.waker), "%s", p->waker ? p->waker : "");
	}
}

/* ---- order ---- */

double top_percent(const struct top_result *r, const struct top_row *row, enum top_class class)
{
	uint64_t whole = class <= TOP_KERNEL || row->by == TOP_BY_FUNCTION ? r->span : row->base;

	return whole ? 100.0 * (double)row->time[class] / (double)whole : 0;
}

static double sort_value(const struct top_result *r, const struct top_row *row, enum top_sort sort)
{
	switch (sort) {
	case TOP_SORT_ACTIVITY:
		return row->activity;
	case TOP_SORT_ON:
		return row->time[TOP_USER] + row->time[TOP_KERNEL];
	case TOP_SORT_THREADS:
		return row->threads;
	case TOP_SORT_PID:
	case TOP_SORT_NAME:
		return 0;
	default:
		return top_percent(r, row, sort - TOP_SORT_USER + TOP_USER);
	}
}

static int compare_names(const struct top_row *a, const struct top_row *b)
{
	int c = strcmp(a->comm, b->comm);

	if (!c && a->symbol)
		c = strcmp(a->symbol, b->symbol);
	return !c && a->object ? strcmp(a->object, b->object) : c;
}

static int compare_ids(const struct top_row *a, const struct top_row *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct top_row *a = pa, *b = pb;
	const struct query *x = arg;
	double va = sort_value(x->r, a, x->q->sort), vb = sort_value(x->r, b, x->q->sort);
	int c = va != vb ? (va > vb ? -1 : 1) : 0;

	if (x->q->sort == TOP_SORT_NAME)
		c = compare_names(a, b);
	if (x->q->sort == TOP_SORT_PID)
		c = compare_ids(a, b);
	if (x->q->reverse)
		c = -c;
	if (!c && a->activity != b->activity)
		c = a->activity > b->activity ? -1 : 1;
	if (!c)
		c = compare_ids(a, b);
	return c ? c : compare_names(a, b);
}

/* Rows without any of the classes asked for, and if wanted those that do nothing. */
static void drop_rows(struct query *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->r->n_rows; i++) {
		const struct top_row *row = &x->r->rows[i];
		uint64_t sum = 0;

		for (int c = 0; c < TOP_CLASSES; c++)
			sum += row->time[c];
		if (!sum && x->q->classes != TOP_ALL_CLASSES)
			continue;
		/* Not even a tenth of a percent: what is shown would be zeros. */
		if (x->q->hide_idle && row->activity * 1000 < x->r->span) {
			x->r->n_idle++;
			continue;
		}
		x->r->rows[n++] = *row;
	}
	x->r->n_rows = n;
}

static size_t largest(size_t a, size_t b, size_t c)
{
	size_t ab = a > b ? a : b;

	return ab > c ? ab : c;
}

struct top_result *top_model_query(struct top_model *m, const struct top_query *q)
{
	struct top_result *r = xcalloc(1, sizeof(*r));
	struct query x = { .m = m, .q = q, .r = r };

	r->now = m->now;
	r->span = m->now - top_window_start(m);
	x.seen = xcalloc(m->processes.n + 1, sizeof(*x.seen));
	x.row_of = xcalloc(largest(m->processes.n, m->threads.n, m->functions.n) + 1,
			   sizeof(*x.row_of));
	pool_init(&x.places, sizeof(struct place));
	for (uint32_t i = 0; i < m->threads.n; i++) {
		struct top_thread *t = pool_item(&m->threads, i);

		if (t)
			t->known = 0;
	}
	for (uint32_t i = 0; i < m->entries.n; i++) {
		struct top_entry *e = pool_item(&m->entries, i);

		if (e)
			add_entry(&x, e);
	}
	for (uint32_t i = 0; i < m->threads.n; i++) {
		const struct top_thread *t = pool_item(&m->threads, i);

		if (t && wanted(&x, t))
			count_thread(&x, i);
	}
	choose_waits(&x);
	drop_rows(&x);
	if (r->n_rows)
		qsort_r(r->rows, r->n_rows, sizeof(*r->rows), compare, &x);
	pool_deinit(&x.places);
	free(x.row_of);
	free(x.seen);
	return r;
}

void top_result_free(struct top_result *r)
{
	if (!r)
		return;
	free(r->rows);
	free(r);
}
