// SPDX-License-Identifier: GPL-2.0-or-later
/* Strongly connected parts (Tarjan), knots, and what of them matters. */
#include "waits/waits.h"

/* Edges and vertices that are looked at while one knot is refined: a second. */
#define MOST_REFINED (1ULL << 27)

/* Edges by where they begin. */
struct fan {
	size_t *first; /* of n + 1 */
	uint32_t *to;
};

struct tarjan {
	const struct fan *fan;
	uint32_t *index, *low; /* index: from 1, 0: not seen */
	bool *on_stack;
	uint32_t *stack;
	size_t n_stack;
	uint32_t next;
	struct waits_parts *parts;
	size_t cap;
};

static void fan_out(const struct waits_graph *g, size_t n, const bool *dead, uint64_t least,
		    struct fan *ret)
{
	ret->first = xcalloc(n + 2, sizeof(*ret->first));
	ret->to = xcalloc(g->n + 1, sizeof(*ret->to));
	for (size_t i = 0; i < g->n; i++) {
		if (!(dead && dead[i]) && g->edges[i].weight >= least)
			ret->first[g->edges[i].from + 2]++;
	}
	for (size_t v = 2; v < n + 2; v++)
		ret->first[v] += ret->first[v - 1];
	for (size_t i = 0; i < g->n; i++) {
		if (!(dead && dead[i]) && g->edges[i].weight >= least)
			ret->to[ret->first[g->edges[i].from + 1]++] = g->edges[i].to;
	}
}

static void fan_free(struct fan *f)
{
	free(f->first);
	free(f->to);
}

static void take_part(struct tarjan *t, uint32_t root)
{
	struct waits_parts *p = t->parts;
	struct waits_part *part;
	size_t from = t->n_stack;
	bool leaves = false, self = false;

	while (t->stack[from - 1] != root)
		from--;
	from--;
	array_reserve(p->v, t->cap, p->n + 1);
	part = &p->v[p->n];
	part->n = t->n_stack - from;
	part->vertices = xcalloc(part->n, sizeof(*part->vertices));
	memcpy(part->vertices, t->stack + from, part->n * sizeof(*part->vertices));
	for (size_t i = 0; i < part->n; i++) {
		p->of[part->vertices[i]] = p->n;
		t->on_stack[part->vertices[i]] = false;
	}
	for (size_t i = 0; i < part->n; i++) {
		uint32_t v = part->vertices[i];

		for (size_t k = t->fan->first[v]; k < t->fan->first[v + 1]; k++) {
			self |= t->fan->to[k] == v;
			leaves |= p->of[t->fan->to[k]] != p->n;
		}
	}
	part->kind = leaves ? WAITS_PASS : part->n > 1 || self ? WAITS_KNOT : WAITS_SINK;
	t->n_stack = from;
	p->n++;
}

/* Without recursion: chains of waits may be long. */
static void visit(struct tarjan *t, uint32_t root, uint32_t *call, size_t *at)
{
	size_t depth = 0;

	call[0] = root;
	at[0] = t->fan->first[root];
	t->index[root] = t->low[root] = ++t->next;
	t->stack[t->n_stack++] = root;
	t->on_stack[root] = true;
	for (;;) {
		uint32_t v = call[depth], to;

		if (at[depth] == t->fan->first[v + 1]) {
			if (t->low[v] == t->index[v])
				take_part(t, v);
			if (!depth--)
				return;
			if (t->low[v] < t->low[call[depth]])
				t->low[call[depth]] = t->low[v];
			continue;
		}
		to = t->fan->to[at[depth]++];
		if (!t->index[to]) {
			t->index[to] = t->low[to] = ++t->next;
			t->stack[t->n_stack++] = to;
			t->on_stack[to] = true;
			call[++depth] = to;
			at[depth] = t->fan->first[to];
		} else if (t->on_stack[to] && t->index[to] < t->low[v]) {
			t->low[v] = t->index[to];
		}
	}
}

static void find_parts(const struct waits_graph *g, size_t n, const bool *dead, uint64_t least,
		       struct waits_parts *ret)
{
	struct tarjan t = { .parts = ret };
	size_t *at = xcalloc(n + 1, sizeof(*at));
	uint32_t *call = xcalloc(n + 1, sizeof(*call));
	bool *used = xcalloc(n + 1, sizeof(*used));
	struct fan fan;

	fan_out(g, n, dead, least, &fan);
	t.fan = &fan;
	t.index = xcalloc(n + 1, sizeof(*t.index));
	t.low = xcalloc(n + 1, sizeof(*t.low));
	t.on_stack = xcalloc(n + 1, sizeof(*t.on_stack));
	t.stack = xcalloc(n + 1, sizeof(*t.stack));
	*ret = (struct waits_parts){ .of = xcalloc(n + 1, sizeof(*ret->of)), .n_vertices = n };
	for (size_t v = 0; v < n; v++)
		ret->of[v] = WAITS_NONE;
	for (size_t i = 0; i < g->n; i++) {
		if (!(dead && dead[i]) && g->edges[i].weight >= least)
			used[g->edges[i].from] = used[g->edges[i].to] = true;
	}
	for (size_t v = 0; v < n; v++) {
		if (used[v] && !t.index[v])
			visit(&t, v, call, at);
	}
	fan_free(&fan);
	free(t.index);
	free(t.low);
	free(t.on_stack);
	free(t.stack);
	free(at);
	free(call);
	free(used);
}

void waits_parts(const struct waits_graph *g, size_t n_vertices, uint64_t least,
		 struct waits_parts *ret)
{
	find_parts(g, n_vertices, NULL, least, ret);
}

void waits_parts_free(struct waits_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].vertices);
	free(p->v);
	free(p->of);
}

/* ---- refining ---- */

static int lighter(const void *pa, const void *pb)
{
	const struct waits_edge *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/*
 * Keeps of @g what lies in one part: that with the most weight; false: nobody waits in circles. A
 * vertex that lost its last edge outwards does not count, though others wait for it.
 */
static bool keep_knot(struct waits_graph *g, size_t n, bool *dead)
{
	struct waits_parts p;
	uint64_t *inside, most = 0;
	size_t best = SIZE_MAX;

	find_parts(g, n, dead, 0, &p);
	inside = xcalloc(p.n + 1, sizeof(*inside));
	for (size_t i = 0; i < g->n; i++) {
		const struct waits_edge *e = &g->edges[i];

		if (!dead[i] && p.of[e->from] == p.of[e->to])
			inside[p.of[e->from]] += e->weight;
	}
	for (size_t i = 0; i < p.n; i++) {
		if (inside[i] && inside[i] >= most) {
			most = inside[i];
			best = i;
		}
	}
	for (size_t i = 0; best != SIZE_MAX && i < g->n; i++)
		dead[i] |= p.of[g->edges[i].from] != best || p.of[g->edges[i].to] != best;
	free(inside);
	waits_parts_free(&p);
	return best != SIZE_MAX;
}

/* One vertex, a circle, or heavy edges only. */
static bool is_refined(const struct waits_graph *g, size_t n, const bool *dead, uint64_t enough)
{
	uint32_t *out = xcalloc(n + 1, sizeof(*out)), *in = xcalloc(n + 1, sizeof(*in));
	bool circle = true, heavy = true, one = true;
	uint32_t first = WAITS_NONE;

	for (size_t i = 0; i < g->n; i++) {
		const struct waits_edge *e = &g->edges[i];

		if (dead[i])
			continue;
		first = first == WAITS_NONE ? e->from : first;
		one &= e->from == first && e->to == first;
		heavy &= e->weight > enough;
		circle &= ++out[e->from] <= 1 && ++in[e->to] <= 1;
	}
	free(out);
	free(in);
	return one || circle || heavy;
}

/* A graph with the vertices that matter only, numbered anew; its edges in the order of weight. */
struct knot {
	struct waits_graph g;
	size_t n;
	uint32_t *vertices; /* as they were numbered */
	bool *dead, *tried; /* edges */
	uint64_t looks;
};

static void knot_of(const struct waits_graph *g, const bool *inside, size_t n_vertices,
		    struct knot *ret)
{
	uint32_t *numbers = xcalloc(n_vertices + 1, sizeof(*numbers));

	*ret = (struct knot){ .vertices = xcalloc(n_vertices + 1, sizeof(*ret->vertices)) };
	for (size_t v = 0; v < n_vertices; v++) {
		if (!inside[v])
			continue;
		numbers[v] = ret->n;
		ret->vertices[ret->n++] = v;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct waits_edge e = g->edges[i];

		if (!inside[e.from] || !inside[e.to] || !e.weight)
			continue;
		e.from = numbers[e.from];
		e.to = numbers[e.to];
		*waits_edge(&ret->g, e.from, e.to) = e;
	}
	free(numbers);
	if (ret->g.n)
		qsort(ret->g.edges, ret->g.n, sizeof(*ret->g.edges), lighter);
	hash_index_deinit(&ret->g.by_ends); /* the order is another one now */
	ret->dead = xcalloc(ret->g.n + 1, sizeof(*ret->dead));
	ret->tried = xcalloc(ret->g.n + 1, sizeof(*ret->tried));
}

static void knot_free(struct knot *k)
{
	waits_graph_free(&k->g);
	free(k->vertices);
	free(k->dead);
	free(k->tried);
}

/* @k->tried without the lightest @n edges that are left. */
static void try_without(struct knot *k, size_t n)
{
	memcpy(k->tried, k->dead, k->g.n * sizeof(*k->dead));
	for (size_t i = 0; n && i < k->g.n; i++) {
		n -= !k->tried[i];
		k->tried[i] = true;
	}
}

/* Do all of its @vertices still reach one another without these? */
static bool is_whole_without(struct knot *k, size_t n, size_t vertices)
{
	struct waits_parts p;
	bool whole;

	try_without(k, n);
	k->looks += k->g.n + k->n;
	find_parts(&k->g, k->n, k->tried, 0, &p);
	whole = p.n == 1 && p.v[0].n == vertices;
	waits_parts_free(&p);
	return whole;
}

/*
 * As many of the lightest edges as can go, one after the other, before anything falls apart: found
 * by steps that get longer, for there may be hundreds of thousands.
 */
static void take_lightest(struct knot *k, uint64_t enough)
{
	size_t least = 0, most = 0, step = 1, vertices = 0;
	bool *used = xcalloc(k->n + 1, sizeof(*used));

	for (size_t i = 0; i < k->g.n; i++) {
		const struct waits_edge *e = &k->g.edges[i];

		if (k->dead[i])
			continue;
		most += e->weight <= enough;
		vertices += !used[e->from];
		used[e->from] = true;
	}
	free(used);
	while (least < most && step && k->looks < MOST_REFINED) {
		size_t n = least + step < most ? least + step : most;

		if (is_whole_without(k, n, vertices)) {
			least = n;
			step *= 2;
		} else {
			most = n - 1;
			step = (most - least + 1) / 2;
		}
	}
	try_without(k, least);
	memcpy(k->dead, k->tried, k->g.n * sizeof(*k->dead));
}

bool waits_refine(const struct waits_graph *g, const bool *inside, size_t n_vertices,
		  uint64_t enough, struct waits_graph *ret)
{
	bool in_time = true;
	struct knot k;

	knot_of(g, inside, n_vertices, &k);
	if (keep_knot(&k.g, k.n, k.dead)) {
		for (;;) {
			bool falls_apart;

			take_lightest(&k, enough);
			if (is_refined(&k.g, k.n, k.dead, enough))
				break;
			in_time = k.looks < MOST_REFINED;
			if (!in_time)
				break;
			k.looks += 2 * (k.g.n + k.n);
			try_without(&k, 1);
			falls_apart = !keep_knot(&k.g, k.n, k.tried);
			if (falls_apart)
				break;
			memcpy(k.dead, k.tried, k.g.n * sizeof(*k.dead));
		}
	}
	*ret = (struct waits_graph){};
	for (size_t i = 0; i < k.g.n; i++) {
		struct waits_edge e = k.g.edges[i];

		if (k.dead[i])
			continue;
		e.from = k.vertices[e.from];
		e.to = k.vertices[e.to];
		*waits_edge(ret, e.from, e.to) = e;
	}
	knot_free(&k);
	return in_time;
}
