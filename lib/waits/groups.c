// SPDX-License-Identifier: GPL-2.0-or-later
/* Which threads of a recording are one to those who look. */
#include "waits/recorded.h"

#define ALIKE	   0.45 /* wPerf's */
#define MOST_ALIKE 4096 /* threads of a process that are compared with one another */
/* Who waited less than this part of what another one did is unlike it. */
#define LEAST_LIKE (ALIKE / (2 - ALIKE))

/* Who ended a wait, as threads of a pool have it in common. */
enum whose { BY_PARENT, BY_CHILD, BY_SIBLING, BY_STRANGER, BY_OUTSIDE, WHOSE };
#define WAYS (WHOSE * TRACE_WAITS)

static uint32_t root(uint32_t *group, uint32_t v)
{
	while (group[v] != v)
		v = group[v] = group[group[v]];
	return v;
}

static void join(uint32_t *group, uint32_t a, uint32_t b)
{
	a = root(group, a);
	b = root(group, b);
	group[a > b ? a : b] = a < b ? a : b;
}

static const struct waits_recorded *sorted; /* for the comparison; one thread */

static int by_parent(const void *pa, const void *pb)
{
	const struct waits_life *a = pa, *b = pb;
	uint32_t p = sorted->threads[a->vertex].parent, q = sorted->threads[b->vertex].parent;

	if (p != q)
		return p < q ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

/* As far as that is known. */
static uint64_t at_work(const struct waits_thread *t)
{
	return t->seen ? t->times.on + t->times.queued : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One parent's children: a virtual thread waits for the parent while it has no child. */
static void line_up(struct waits_recorded *r, struct waits_life *lives, size_t n)
{
	uint32_t parent = r->threads[lives[0].vertex].parent;
	uint64_t *gaps = xcalloc(n, sizeof(*gaps));
	uint32_t *first = xcalloc(n, sizeof(*first));
	size_t *members = xcalloc(n, sizeof(*members));
	size_t slots;

	slots = waits_line_up(lives, n, r->to - r->from, gaps);
	for (size_t i = 0; i < n; i++) {
		if (!members[lives[i].slot]++)
			first[lives[i].slot] = lives[i].vertex;
		else
			join(r->group, first[lives[i].slot], lives[i].vertex);
	}
	for (size_t s = 0; s < slots; s++) {
		struct waits_edge *e;

		if (members[s] < 2)
			continue;
		e = waits_edge(&r->waits.graph, first[s], parent);
		e->weight += gaps[s];
		e->work += least(gaps[s], at_work(&r->threads[parent]));
	}
	free(gaps);
	free(first);
	free(members);
}

static void follow_one_another(struct waits_recorded *r)
{
	size_t n = 0, from = 0, threads = r->trace->n_threads;
	struct waits_life *lives = xcalloc(threads + 1, sizeof(*lives));

	for (uint32_t v = 0; v < threads; v++) {
		const struct waits_thread *t = &r->threads[v];

		if (t->parent != TRACE_NONE && t->parent != v)
			lives[n++] = (struct waits_life){ v, t->times.from - r->from,
							  t->times.to - r->from, 0 };
	}
	sorted = r;
	qsort(lives, n, sizeof(*lives), by_parent);
	for (size_t i = 1; i <= n; i++) {
		if (i < n &&
		    r->threads[lives[i].vertex].parent == r->threads[lives[from].vertex].parent)
			continue;
		line_up(r, lives + from, i - from);
		from = i;
	}
	free(lives);
}

static enum whose whose(const struct waits_recorded *r, uint32_t v, uint32_t waker)
{
	const struct trace *t = r->trace;

	if (waker >= t->n_threads)
		return BY_OUTSIDE;
	if (r->threads[v].parent == waker)
		return BY_PARENT;
	if (r->threads[waker].parent == v)
		return BY_CHILD;
	return t->threads[v].pid == t->threads[waker].pid ? BY_SIBLING : BY_STRANGER;
}

/* Of each thread: how long it waited in which way. */
static uint64_t *ways_of(const struct waits_recorded *r)
{
	uint64_t *ways = xcalloc(r->trace->n_threads + 1, WAYS * sizeof(*ways));

	for (size_t i = 0; i < r->waits.graph.n; i++) {
		const struct waits_edge *e = &r->waits.graph.edges[i];
		enum whose by;

		if (e->from >= r->trace->n_threads || !e->own)
			continue;
		by = whose(r, e->from, e->to);
		for (int k = 0; k < TRACE_WAITS; k++)
			ways[e->from * WAYS + by * TRACE_WAITS + k] += e->kinds[k];
	}
	return ways;
}

static const struct trace *named; /* for the comparison; one thread */

static int by_name(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct trace_thread *s = &named->threads[a], *t = &named->threads[b];
	int order;

	if (s->pid != t->pid)
		return s->pid < t->pid ? -1 : 1;
	order = strcmp(s->comm, t->comm);
	return order ? order : (a > b) - (a < b);
}

static bool same_name(const struct trace *t, uint32_t a, uint32_t b)
{
	return t->threads[a].pid == t->threads[b].pid &&
	       !strcmp(t->threads[a].comm, t->threads[b].comm);
}

static void wait_alike(struct waits_recorded *r)
{
	const struct trace *t = r->trace;
	uint32_t *order = xcalloc(t->n_threads + 1, sizeof(*order));
	uint64_t *ways = ways_of(r);
	double *sums = xcalloc(t->n_threads + 1, sizeof(*sums));
	size_t from = 0, n = 0;

	/* Those that never waited are like nobody. */
	for (uint32_t v = 0; v < t->n_threads; v++) {
		const struct waits_times *times = &r->threads[v].times;

		if (times->waited)
			order[n++] = v;
		for (int k = 0; k < WAYS; k++)
			sums[v] += ways[v * WAYS + k];
	}
	named = t;
	qsort(order, n, sizeof(*order), by_name);
	for (size_t i = 0; i < n; i++) {
		if (i - from > MOST_ALIKE || !same_name(t, order[from], order[i]))
			from = i;
		for (size_t k = from; k < i; k++) {
			uint32_t a = order[i], b = order[k];

			if (sums[a] < LEAST_LIKE * sums[b] || sums[b] < LEAST_LIKE * sums[a] ||
			    root(r->group, a) == root(r->group, b))
				continue;
			if (waits_similarity(ways + a * WAYS, ways + b * WAYS, WAYS) > ALIKE)
				join(r->group, a, b);
		}
	}
	free(order);
	free(ways);
	free(sums);
}

bool waits_held_up(const struct waits_recorded *r, const struct waits_graph *g, bool *held)
{
	size_t *first = xcalloc(r->n_groups + 2, sizeof(*first));
	uint32_t *to = xcalloc(g->n + 1, sizeof(*to)), *list, n = 0;
	bool any = false;

	memset(held, 0, r->n_groups * sizeof(*held));
	for (uint32_t v = 0; v < r->trace->n_threads; v++) {
		held[r->group[v]] |= r->threads[v].visits;
		any |= r->threads[v].visits;
	}
	for (size_t i = 0; i < g->n; i++)
		first[g->edges[i].from + 2]++;
	for (uint32_t v = 2; v < r->n_groups + 2; v++)
		first[v] += first[v - 1];
	for (size_t i = 0; i < g->n; i++)
		to[first[g->edges[i].from + 1]++] = g->edges[i].to;
	list = xcalloc(r->n_groups + 1, sizeof(*list));
	for (uint32_t v = 0; v < r->n_groups; v++) {
		if (held[v])
			list[n++] = v;
	}
	/* Chains may be as long as there are threads. */
	while (n) {
		uint32_t from = list[--n];

		if (r->firsts[from] >= r->trace->n_threads)
			continue;
		for (size_t i = first[from]; i < first[from + 1]; i++) {
			if (!held[to[i]]) {
				held[to[i]] = true;
				list[n++] = to[i];
			}
		}
	}
	free(first);
	free(to);
	free(list);
	return any;
}

static void count_members(struct waits_recorded *r, const bool *lane)
{
	r->firsts = xcalloc(r->n_groups, sizeof(*r->firsts));
	r->members = xcalloc(r->n_groups, sizeof(*r->members));
	r->sizes = xcalloc(r->n_groups, sizeof(*r->sizes));
	for (uint32_t v = 0; v < r->n_vertices; v++) {
		uint32_t g = r->group[v];

		if (!r->members[g]++)
			r->firsts[g] = v;
		r->sizes[g] += lane[v];
	}
}

static bool same_group_name(const void *items, uint32_t number, const void *key)
{
	const struct waits_recorded *r = items;
	uint32_t group = *(const uint32_t *)key;

	return r->members[number] == r->members[group] &&
	       same_name(r->trace, r->firsts[number], r->firsts[group]);
}

static void find_names(struct waits_recorded *r)
{
	const struct trace *t = r->trace;
	struct hash_index index = {};

	r->names = xcalloc(r->n_groups, sizeof(*r->names));
	for (uint32_t v = 0; v < t->n_threads; v++) {
		if (t->threads[v].pid != t->threads[r->firsts[r->group[v]]].pid)
			r->names[r->group[v]] = WAITS_NAME_MIXED;
	}
	for (uint32_t g = 0; g < r->n_groups; g++) {
		const struct trace_thread *first;
		uint64_t hash;
		uint32_t other;

		if (r->firsts[g] >= t->n_threads)
			continue;
		first = &t->threads[r->firsts[g]];
		hash = hash_mix(hash_mix(hash_chosen(HASH_START, first->comm), first->pid),
				r->members[g]);
		other = hash_index_find(&index, hash, same_group_name, r, &g);
		if (other == HASH_NONE) {
			hash_index_add(&index, hash, g);
			continue;
		}
		if (!r->names[g])
			r->names[g] = WAITS_NAME_SHARED;
		if (!r->names[other])
			r->names[other] = WAITS_NAME_SHARED;
	}
	hash_index_deinit(&index);
}

void waits_group(struct waits_recorded *r, bool alike)
{
	uint32_t *number = xcalloc(r->n_vertices, sizeof(*number));
	bool *lane = xcalloc(r->n_vertices, sizeof(*lane)); /* the first of a virtual thread */

	r->group = xcalloc(r->n_vertices, sizeof(*r->group));
	for (uint32_t v = 0; v < r->n_vertices; v++)
		r->group[v] = v;
	follow_one_another(r);
	for (uint32_t v = 0; v < r->n_vertices; v++)
		lane[v] = root(r->group, v) == v;
	if (alike)
		wait_alike(r);
	for (uint32_t v = 0; v < r->n_vertices; v++)
		number[v] = root(r->group, v) == v ? r->n_groups++ : number[root(r->group, v)];
	free(r->group);
	r->group = number;
	count_members(r, lane);
	free(lane);
	find_names(r);
	waits_merge(&r->waits.graph, r->group, r->n_vertices, r->n_groups, r->sizes, &r->graph);
}
