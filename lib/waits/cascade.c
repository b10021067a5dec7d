// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits to edges: cascaded re-distribution. */
#include "waits/waits.h"

#define STEPS_MOST (4u << 20) /* pieces that one wait is followed to */
/* Of all waits: so many, and so many more for each, where a few are usual: a second. */
#define STEPS_MOST_ALL	(1ULL << 24)
#define STEPS_MOST_EACH 256

/* What a wait is followed through: the waits of @vertex between two times. */
struct waits_level {
	uint64_t from, to;
	uint32_t vertex;
	uint32_t edge; /* that led to it */
	size_t next;   /* in its history */
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

void waits_graph_free(struct waits_graph *g)
{
	free(g->edges);
	hash_index_deinit(&g->by_ends);
	*g = (struct waits_graph){};
}

void waits_init(struct waits *w, size_t most)
{
	*w = (struct waits){ .most = most ? most : SIZE_MAX, .steps_most = STEPS_MOST_ALL };
}

static void know(struct waits *w, uint32_t vertex)
{
	size_t cap = w->cap;

	if (vertex < w->n)
		return;
	array_reserve(w->vertices, w->cap, (size_t)vertex + 1);
	if (w->cap != cap) {
		w->ends = xreallocarray(w->ends, w->cap, sizeof(*w->ends));
		w->on_path = xreallocarray(w->on_path, w->cap, sizeof(*w->on_path));
		memset(w->vertices + cap, 0, (w->cap - cap) * sizeof(*w->vertices));
		memset(w->ends + cap, 0, (w->cap - cap) * sizeof(*w->ends));
		memset(w->on_path + cap, 0, (w->cap - cap) * sizeof(*w->on_path));
	}
	w->n = vertex + 1;
}

void waits_set_end(struct waits *w, uint32_t vertex, enum waits_end end)
{
	know(w, vertex);
	w->ends[vertex] = end;
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

/* A part of a wait of @vertex: what it waited for then is to be looked at next. */
static void follow(struct waits *w, uint32_t vertex, const struct waits_segment *s)
{
	struct waits_edge *e = waits_edge(&w->graph, vertex, s->waker);
	const struct waits_history *h;
	uint64_t forgotten;

	e->weight += s->to - s->from;
	e->work += s->to - s->from;
	e->kinds[s->kind] += s->to - s->from;
	if (!w->n_levels)
		e->own += s->to - s->from;
	w->on_path[vertex] = true;
	/* Scheduler traces do not loop; waits that were told by programs may. */
	if (s->waker >= w->n || w->ends[s->waker] || w->on_path[s->waker])
		return;
	h = &w->vertices[s->waker];
	forgotten = h->first ? h->v[h->first - 1].to : 0;
	if (forgotten > s->from)
		w->unfollowed += (forgotten < s->to ? forgotten : s->to) - s->from;
	array_reserve(w->levels, w->cap_levels, w->n_levels + 1);
	w->levels[w->n_levels++] =
		(struct waits_level){ s->from, s->to, s->waker, e - w->graph.edges,
				      first_after(h, s->from) };
	w->on_path[s->waker] = true;
}

/* The next part of the waits of the deepest level; false: it has no more. */
static bool step(struct waits *w)
{
	struct waits_level *l = &w->levels[w->n_levels - 1];
	const struct waits_history *h = &w->vertices[l->vertex];
	struct waits_segment s;

	if (l->next == h->n || h->v[l->next].from >= l->to)
		return false;
	s = h->v[l->next++];
	if (s.from < l->from)
		s.from = l->from;
	if (s.to > l->to)
		s.to = l->to;
	l->from = s.to;
	if (w->ends[s.waker] != WAITS_ASIDE)
		w->graph.edges[l->edge].work -= s.to - s.from;
	follow(w, l->vertex, &s);
	return true;
}

static void cascade(struct waits *w, uint32_t vertex, const struct waits_segment *whole)
{
	uint32_t left = STEPS_MOST;

	w->steps_most += STEPS_MOST_EACH;
	w->n_levels = 0;
	follow(w, vertex, whole);
	while (w->n_levels) {
		struct waits_level *l = &w->levels[w->n_levels - 1];

		if (left && w->steps < w->steps_most && step(w)) {
			left--;
			w->steps++;
			continue;
		}
		if (!left || w->steps >= w->steps_most)
			w->unfollowed += l->to - l->from;
		w->on_path[l->vertex] = false;
		w->n_levels--;
	}
	w->on_path[vertex] = false;
}

/* The older half of the time is forgotten, and what is left of it, until there is room. */
static void make_room(struct waits *w, uint64_t now)
{
	while (w->held >= w->most && w->floor < now) {
		w->floor += (now - w->floor + 1) / 2;
		waits_forget(w, w->floor);
	}
}

void waits_add(struct waits *w, uint32_t vertex, uint64_t from, uint64_t to, uint32_t waker,
	       uint8_t kind)
{
	const struct waits_segment whole = { from, to, waker, kind };
	struct waits_history *h;

	if (to <= from)
		return;
	know(w, vertex);
	know(w, waker);
	if (w->held >= w->most)
		make_room(w, from);
	h = &w->vertices[vertex];
	if (w->held < w->most) {
		array_reserve(h->v, h->cap, h->n + 1);
		h->v[h->n++] = whole;
		w->held++;
	} else {
		w->dropped++;
	}
	cascade(w, vertex, &whole);
}

void waits_forget(struct waits *w, uint64_t time)
{
	if (time > w->floor)
		w->floor = time;
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
	free(w->ends);
	free(w->on_path);
	free(w->levels);
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
