// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of a graph, taken away from those on that wait for nobody. */
#include "waits/waits.h"

void waits_peel_find(const struct waits_graph *g, size_t n_vertices, struct waits_peel *ret)
{
	const struct waits_parts *p = &ret->parts;

	*ret = (struct waits_peel){ .g = g };
	waits_parts(g, n_vertices, 0, &ret->parts);
	ret->first = xcalloc(p->n + 2, sizeof(*ret->first));
	ret->edges = xcalloc(g->n + 1, sizeof(*ret->edges));
	ret->first_into = xcalloc(p->n + 2, sizeof(*ret->first_into));
	ret->into = xcalloc(g->n + 1, sizeof(*ret->into));
	ret->number = xcalloc(n_vertices + 1, sizeof(*ret->number));
	ret->out = xcalloc(p->n + 1, sizeof(*ret->out));
	ret->gone = xcalloc(p->n + 1, sizeof(*ret->gone));
	for (size_t i = 0; i < g->n; i++) {
		ret->first[p->of[g->edges[i].from] + 2]++;
		ret->first_into[p->of[g->edges[i].to] + 2]++;
	}
	for (size_t i = 2; i < p->n + 2; i++) {
		ret->first[i] += ret->first[i - 1];
		ret->first_into[i] += ret->first_into[i - 1];
	}
	for (size_t i = 0; i < g->n; i++) {
		uint32_t from = p->of[g->edges[i].from], to = p->of[g->edges[i].to];

		ret->edges[ret->first[from + 1]++] = i;
		ret->into[ret->first_into[to + 1]++] = from;
		ret->out[from] += to != from;
	}
	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->v[i].n; k++)
			ret->number[p->v[i].vertices[k]] = k;
	}
}

void waits_peel_free(struct waits_peel *k)
{
	waits_parts_free(&k->parts);
	free(k->first);
	free(k->edges);
	free(k->first_into);
	free(k->into);
	free(k->number);
	free(k->out);
	free(k->gone);
}

bool waits_peel_refine(const struct waits_peel *k, size_t part, uint64_t enough,
		       struct waits_graph *ret)
{
	const struct waits_part *p = &k->parts.v[part];
	_cleanup_free_ bool *inside = xcalloc(p->n + 1, sizeof(*inside));
	struct waits_graph own = {}, left;
	bool all;

	memset(inside, true, p->n * sizeof(*inside));
	for (size_t i = k->first[part]; i < k->first[part + 1]; i++) {
		struct waits_edge e = k->g->edges[k->edges[i]];

		if (k->parts.of[e.to] != part)
			continue;
		e.from = k->number[e.from];
		e.to = k->number[e.to];
		*waits_edge(&own, e.from, e.to) = e;
	}
	all = waits_refine(&own, inside, p->n, enough, &left);
	*ret = (struct waits_graph){};
	for (size_t i = 0; i < left.n; i++) {
		struct waits_edge e = left.edges[i];

		e.from = p->vertices[e.from];
		e.to = p->vertices[e.to];
		*waits_edge(ret, e.from, e.to) = e;
	}
	waits_graph_free(&own);
	waits_graph_free(&left);
	return all;
}

bool waits_peel_is_knot(const struct waits_peel *k, size_t part)
{
	for (size_t i = k->first_into[part]; i < k->first_into[part + 1]; i++) {
		if (k->into[i] == part)
			return true;
	}
	return false;
}

void waits_peel_take(struct waits_peel *k, size_t part, size_t *next, size_t *n)
{
	for (size_t i = k->first_into[part]; i < k->first_into[part + 1]; i++) {
		size_t from = k->into[i];

		if (from == part || --k->out[from])
			continue;
		/* What nobody waits for, and what waits for nobody any more, is no part. */
		if (k->first_into[from] == k->first_into[from + 1])
			k->gone[from] = true;
		else
			next[(*n)++] = from;
	}
}
