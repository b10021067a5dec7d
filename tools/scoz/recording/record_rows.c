// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the table, by the keys of --sort, and the callers of each. */
#include "tools/scoz/recording/record_model.h"

#define MAX_WORDS (2 * RECORD_SORTS)

struct call_key {
	uint32_t parent, row;
	const char *symbol, *object;
};

/* While the rows of one group are made. */
struct row_maker {
	struct record_model *m;
	struct record_group *g;
	struct keymap rows, calls;
	size_t cap_rows, cap_calls;
};

/* ---- keys ---- */

static uint64_t word(const char *s)
{
	return s && *s ? (uintptr_t)s : 0; /* the reader has one copy of each string */
}

static size_t key_words(const struct record_model *m, const struct record_entry *e,
			const struct record_frame *f, enum record_level level, enum record_sort by,
			uint64_t *w)
{
	switch (by) {
	case SORT_COMM:
		w[0] = word(e->comm);
		return 1;
	case SORT_DSO:
		w[0] = word(f->object);
		return 1;
	case SORT_SYM:
		w[0] = word(f->symbol);
		w[1] = level;
		return 2;
	case SORT_PID:
		w[0] = m->rec->threads[e->thread].pid;
		return 1;
	case SORT_TID:
		w[0] = m->rec->threads[e->thread].tid;
		return 1;
	case SORT_CLASS:
		w[0] = level == LEVEL_KERNEL ? LEVEL_USER : level;
		return 1;
	case SORT_KIND:
		w[0] = word(e->kind);
		return 1;
	case SORT_CPU:
		w[0] = e->cpu;
		return 1;
	case SORT_WAKER:
		w[0] = e->waker;
		w[1] = word(e->event);
		return 2;
	case SORT_FILE:
		w[0] = word(f->file);
		return 1;
	case SORT_SRCLINE:
		w[0] = word(f->file);
		w[1] = f->line;
		return 2;
	case SORT_PROCESS:
		w[0] = word(record_process_of(m, e->thread)->name);
		return 1;
	case SORT_RANK:
		w[0] = record_process_of(m, e->thread)->rank;
		return 1;
	default:
		return 0;
	}
}

/* ---- rows ---- */

static struct record_row *find_row(struct row_maker *mk, const struct record_entry *e,
				   const struct record_frame *f, enum record_level level)
{
	const struct record_options *o = mk->m->options;
	struct record_group *g = mk->g;
	uint64_t key[MAX_WORDS] = { 0 };
	size_t n = 0, at;

	for (size_t i = 0; i < o->n_sort; i++)
		n += key_words(mk->m, e, f, level, o->sort[i], &key[n]);
	mk->rows.key_size = n * sizeof(*key);
	at = keymap_add(&mk->rows, key);
	if (at == g->n_rows) {
		array_reserve(g->rows, mk->cap_rows, at + 1);
		g->n_rows++;
		g->rows[at] = (struct record_row){
			.entry = e, .frame = f, .level = level, .last_entry = UINT32_MAX
		};
	}
	return &g->rows[at];
}

/*
 * Every row of a chain has its callers: of deep ones all that would be their square, and nobody
 * reads so far.
 */
#define MAX_CALLERS 128

/* The callers of @node, outwards, below @row. */
static void add_calls(struct row_maker *mk, struct record_row *row, uint32_t node, uint64_t points)
{
	const struct recording *rec = mk->m->rec;
	struct record_group *g = mk->g;
	struct call_key key = { 0, row - g->rows, NULL, NULL };
	int n = 0;

	for (node = rec->stacks[node].parent; node != RECORDING_NONE;
	     node = rec->stacks[node].parent) {
		const struct record_frame *f = &rec->frames[rec->stacks[node].frame];
		size_t at;

		if (n++ == MAX_CALLERS) {
			g->calls[key.parent].cut = true;
			break;
		}
		key.symbol = f->symbol;
		key.object = f->object;
		at = keymap_add(&mk->calls, &key) + 1;
		if (at == g->n_calls) {
			uint32_t *first = key.parent ? &g->calls[key.parent].child : &row->calls;
			uint32_t sibling = *first;

			*first = at;
			array_reserve(g->calls, mk->cap_calls, at + 1);
			g->n_calls++;
			g->calls[at] = (struct call_node){ .frame = f, .sibling = sibling };
		}
		g->calls[at].points += points;
		key.parent = at;
	}
}

static enum record_level caller_level(const struct record_model *m, const struct record_entry *e,
				      uint32_t node)
{
	if (e->level > LEVEL_KERNEL || m->options->no_kernel)
		return e->level;
	return m->kernel_node[node] ? LEVEL_KERNEL : LEVEL_USER;
}

static void add_entry(struct row_maker *mk, const struct record_entry *e)
{
	struct record_model *m = mk->m;
	uint32_t leaf = record_model_leaf(m, e->stack), id = e - m->entries;
	struct record_row *row = find_row(mk, e, record_model_frame(m, e->stack, leaf), e->level);

	row->self += e->points;
	for (uint32_t node = leaf;;) {
		/* A function that calls itself counts once. */
		if (row->last_entry != id) {
			row->last_entry = id;
			row->total += e->points;
			if (m->options->graph && node != RECORDING_NONE)
				add_calls(mk, row, node, e->points);
		}
		if (!m->options->children || node == RECORDING_NONE)
			break;
		do
			node = m->rec->stacks[node].parent;
		while (node != RECORDING_NONE && record_model_skips(m, node));
		if (node == RECORDING_NONE)
			break;
		row = find_row(mk, e, record_model_frame(m, e->stack, node),
			       caller_level(m, e, node));
	}
}

/* Rounded so that they add up: what is left goes to those that lost most. */
struct remainder {
	uint64_t rest;
	size_t row;
};

static int compare_remainder(const void *pa, const void *pb)
{
	const struct remainder *a = pa, *b = pb;

	if (a->rest != b->rest)
		return a->rest < b->rest ? 1 : -1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void share_out(struct record_group *g)
{
	struct remainder *r = xcalloc(g->n_rows, sizeof(*r));
	uint32_t left = 10000;

	for (size_t i = 0; i < g->n_rows; i++) {
		unsigned __int128 x = (unsigned __int128)g->rows[i].self * 10000;

		g->rows[i].share = x / g->points;
		r[i] = (struct remainder){ x % g->points, i };
		left -= g->rows[i].share;
	}
	qsort(r, g->n_rows, sizeof(*r), compare_remainder);
	for (size_t i = 0; i < left; i++)
		g->rows[r[i].row].share++;
	free(r);
}

static int compare_row(const void *pa, const void *pb)
{
	const struct record_row *a = pa, *b = pb;
	int c;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	c = strcmp(a->frame->symbol, b->frame->symbol);
	c = c ? c : (int)a->level - (int)b->level;
	c = c ? c : strcmp(a->entry->comm, b->entry->comm);
	/* Entries are in the order of their first sample. */
	return c ? c : a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Merges two lists that are sorted. */
static uint32_t merge_siblings(struct call_node *calls, uint32_t a, uint32_t b)
{
	uint32_t head = 0, *tail = &head;

	while (a && b) {
		uint32_t *from = calls[a].points > calls[b].points ||
						 (calls[a].points == calls[b].points && a < b)
					 ? &a
					 : &b;

		*tail = *from;
		tail = &calls[*from].sibling;
		*from = *tail;
	}
	*tail = a ? a : b;
	return head;
}

static uint32_t sort_siblings(struct call_node *calls, uint32_t first)
{
	uint32_t slow = first, fast, half;

	if (!first || !calls[first].sibling)
		return first;
	for (fast = calls[first].sibling; fast && calls[fast].sibling;
	     fast = calls[calls[fast].sibling].sibling)
		slow = calls[slow].sibling;
	half = calls[slow].sibling;
	calls[slow].sibling = 0;
	return merge_siblings(calls, sort_siblings(calls, first), sort_siblings(calls, half));
}

static void sort_group(struct record_group *g)
{
	for (size_t i = 0; i < g->n_rows; i++)
		g->rows[i].calls = sort_siblings(g->calls, g->rows[i].calls);
	for (size_t i = 1; i < g->n_calls; i++)
		g->calls[i].child = sort_siblings(g->calls, g->calls[i].child);
	if (g->n_rows)
		qsort(g->rows, g->n_rows, sizeof(*g->rows), compare_row);
}

/* ---- groups ---- */

static struct record_group make_group(struct record_model *m, const uint32_t *entries, size_t n)
{
	struct record_group g = { .n_calls = 1 };
	struct row_maker mk = { .m = m, .g = &g, .calls = { .key_size = sizeof(struct call_key) } };

	array_reserve(g.calls, mk.cap_calls, 1);
	memset(g.calls, 0, sizeof(*g.calls));
	for (size_t i = 0; i < n; i++) {
		const struct record_entry *e = &m->entries[entries[i]];

		/* Waits without a point are counted elsewhere. */
		if (!e->points)
			continue;
		if (!g.heaviest || e->points > g.heaviest->points)
			g.heaviest = e;
		g.points += e->points;
		g.levels[e->level] += e->points;
		add_entry(&mk, e);
	}
	if (g.points)
		share_out(&g);
	sort_group(&g);
	keymap_deinit(&mk.rows);
	keymap_deinit(&mk.calls);
	return g;
}

static int compare_group(const void *pa, const void *pb)
{
	const struct record_group *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->points != b->points)
		return a->points < b->points ? 1 : -1;
	return a->heaviest < b->heaviest ? -1 : a->heaviest > b->heaviest;
}

/* Puts the entries of each process or thread next to each other; -> the number of these. */
static size_t split_entries(const struct record_model *m, uint32_t *order, size_t *start)
{
	enum record_per per = m->options->per;
	uint32_t *of = xcalloc(m->n_entries, sizeof(*of));
	struct keymap map = { .key_size = sizeof(uint64_t) };
	size_t *next;

	for (size_t i = 0; i < m->n_entries; i++) {
		uint32_t thread = m->entries[i].thread;
		const struct record_process *p = record_process_of(m, thread);
		uint64_t key = per == PER_NOTHING  ? 0
			       : per == PER_THREAD ? thread
			       : per == PER_RANK   ? (uint32_t)p->rank
						   : p->id;

		of[i] = keymap_add(&map, &key);
		start[of[i] + 1]++;
	}
	for (size_t i = 0; i < map.n; i++)
		start[i + 1] += start[i];
	next = xcalloc(map.n, sizeof(*next));
	memcpy(next, start, map.n * sizeof(*next));
	for (size_t i = 0; i < m->n_entries; i++)
		order[next[of[i]]++] = i;
	free(next);
	free(of);
	keymap_deinit(&map);
	return map.n;
}

void record_make_groups(struct record_model *m)
{
	uint32_t *order = xcalloc(m->n_entries, sizeof(*order));
	size_t *start = xcalloc(m->n_entries + 1, sizeof(*start));
	size_t n = split_entries(m, order, start);

	m->groups = xcalloc(n, sizeof(*m->groups));
	for (size_t i = 0; i < n; i++) {
		struct record_group g = make_group(m, &order[start[i]], start[i + 1] - start[i]);

		if (m->options->per == PER_RANK && g.points) /* who is no rank comes last */
			g.rank = (uint32_t)record_process_of(m, g.heaviest->thread)->rank;
		if (g.points)
			m->groups[m->n_groups++] = g;
		else
			free(g.calls);
	}
	qsort(m->groups, m->n_groups, sizeof(*m->groups), compare_group);
	free(order);
	free(start);
}
