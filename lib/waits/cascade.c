// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits to edges: cascaded re-distribution. */
#include "waits/waits.h"

/* Part of a wait that is to be followed: who, when, and the pieces above it. */
struct waits_piece {
	uint64_t from, to;
	uint32_t vertex, waker;
	size_t above; /* index of the piece that led here; SIZE_MAX: none */
	uint8_t kind;
};

static uint64_t ends_hash(uint32_t from, uint32_t to)
{
	return hash_mix(hash_mix(HASH_START, from), to);
}

static bool same_ends(const void *items, uint32_t number, const void *key)
{
	const struct waits_edge *e = (const struct waits_edge *)items + number, *k = key;

	return e->from == k->from && e->to == k->to;
}

static uint32_t find(const struct waits_graph *g, uint32_t from, uint32_t to)
{
	const struct waits_edge key = { .from = from, .to = to };

	return hash_index_find(&g->by_ends, ends_hash(from, to), same_ends, g->edges, &key);
}

struct waits_edge *waits_edge(struct waits_graph *g, uint32_t from, uint32_t to)
{
	uint32_t i = find(g, from, to);

	if (i == HASH_NONE) {
		i = g->n++;
		array_reserve(g->edges, g->cap, g->n);
		g->edges[i] = (struct waits_edge){ .from = from, .to = to };
		hash_index_add(&g->by_ends, ends_hash(from, to), i);
	}
	return &g->edges[i];
}

uint64_t waits_weight(const struct waits_graph *g, uint32_t from, uint32_t to)
{
	uint32_t i = find(g, from, to);

	return i == HASH_NONE ? 0 : g->edges[i].weight;
}

void waits_graph_free(struct waits_graph *g)
{
	free(g->edges);
	hash_index_deinit(&g->by_ends);
	*g = (struct waits_graph){};
}

void waits_init(struct waits *w, size_t most)
{
	*w = (struct waits){ .most = most ? most : SIZE_MAX };
}

static void know(struct waits *w, uint32_t vertex)
{
	size_t cap = w->cap;

	if (vertex < w->n)
		return;
	array_reserve(w->vertices, w->cap, (size_t)vertex + 1);
	if (w->cap != cap) {
		w->leaves = xreallocarray(w->leaves, w->cap, sizeof(*w->leaves));
		memset(w->vertices + cap, 0, (w->cap - cap) * sizeof(*w->vertices));
		memset(w->leaves + cap, 0, (w->cap - cap) * sizeof(*w->leaves));
	}
	w->n = vertex + 1;
}

void waits_leaf(struct waits *w, uint32_t vertex)
{
	know(w, vertex);
	w->leaves[vertex] = true;
}

/* The first segment that ends after @time. */
static size_t first_after(const struct waits_history *h, uint64_t time)
{
	size_t low = h->first, high = h->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->v[mid].to > time)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Scheduler traces do not loop; waits that were told by programs may. */
static bool on_path(const struct waits *w, size_t piece, uint32_t vertex)
{
	for (; piece != SIZE_MAX; piece = w->pieces[piece].above) {
		if (w->pieces[piece].vertex == vertex)
			return true;
	}
	return false;
}

static void push(struct waits *w, const struct waits_piece *p)
{
	if (p->to <= p->from)
		return;
	array_reserve(w->pieces, w->cap_pieces, w->n_pieces + 1);
	w->pieces[w->n_pieces++] = *p;
}

static void follow(struct waits *w, size_t at)
{
	struct waits_piece p = w->pieces[at];
	struct waits_edge *e = waits_edge(&w->graph, p.vertex, p.waker);
	const struct waits_history *h;

	e->weight += p.to - p.from;
	e->kinds[p.kind] += p.to - p.from;
	if (p.above == SIZE_MAX)
		e->own += p.to - p.from;
	if (p.waker >= w->n || w->leaves[p.waker] || on_path(w, at, p.waker))
		return;
	h = &w->vertices[p.waker];
	if (h->first && h->v[h->first - 1].to > p.from)
		w->unfollowed +=
			(h->v[h->first - 1].to < p.to ? h->v[h->first - 1].to : p.to) - p.from;
	for (size_t i = first_after(h, p.from); i < h->n && h->v[i].from < p.to; i++) {
		const struct waits_segment *s = &h->v[i];
		const struct waits_piece next = { .from = s->from > p.from ? s->from : p.from,
						  .to = s->to < p.to ? s->to : p.to,
						  .vertex = p.waker,
						  .waker = s->waker,
						  .above = at,
						  .kind = s->kind };

		push(w, &next);
	}
}

void waits_add(struct waits *w, uint32_t vertex, uint64_t from, uint64_t to, uint32_t waker,
	       uint8_t kind)
{
	const struct waits_piece whole = { from, to, vertex, waker, SIZE_MAX, kind };
	struct waits_history *h;

	if (to <= from)
		return;
	know(w, vertex);
	know(w, waker);
	h = &w->vertices[vertex];
	if (w->held < w->most) {
		array_reserve(h->v, h->cap, h->n + 1);
		h->v[h->n++] = (struct waits_segment){ from, to, waker, kind };
		w->held++;
	} else {
		w->dropped++;
	}
	w->n_pieces = 0;
	push(w, &whole);
	for (size_t i = 0; i < w->n_pieces; i++)
		follow(w, i);
}

void waits_forget(struct waits *w, uint64_t time)
{
	w->held = 0;
	for (size_t v = 0; v < w->n; v++) {
		struct waits_history *h = &w->vertices[v];
		size_t keep = first_after(h, time);

		/* One that is over shows from when on it is complete. */
		if (keep > 16 && keep > h->n / 2) {
			memmove(h->v, h->v + keep - 1, (h->n - keep + 1) * sizeof(*h->v));
			h->n -= keep - 1;
			keep = 1;
		}
		h->first = keep;
		w->held += h->n - h->first;
	}
}

void waits_deinit(struct waits *w)
{
	for (size_t v = 0; v < w->n; v++)
		free(w->vertices[v].v);
	free(w->vertices);
	free(w->leaves);
	free(w->pieces);
	waits_graph_free(&w->graph);
}

void waits_device_idle(struct waits_graph *g, uint32_t device, uint64_t idle)
{
	size_t n = g->n;
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += g->edges[i].to == device && g->edges[i].from != device ? g->edges[i].weight
									      : 0;
	for (size_t i = 0; all && i < n; i++) {
		if (g->edges[i].to == device && g->edges[i].from != device) {
			uint32_t user = g->edges[i].from;
			uint64_t part = (double)idle * g->edges[i].weight / all;
			struct waits_edge *e = waits_edge(g, device, user);

			e->weight += part;
			e->own += part;
		}
	}
}
