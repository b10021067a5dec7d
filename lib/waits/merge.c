// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that are one to those who look: short-lived ones after one another, and pools. */
#include "waits/waits.h"

#include <math.h>

void waits_merge(const struct waits_graph *g, const uint32_t *group, size_t n_vertices,
		 size_t n_groups, const uint32_t *sizes, struct waits_graph *ret)
{
	uint32_t *members = xcalloc(n_groups + 1, sizeof(*members));

	*ret = (struct waits_graph){};
	for (size_t v = 0; v < n_vertices; v++)
		members[group[v]]++;
	for (size_t i = 0; i < g->n; i++) {
		const struct waits_edge *e = &g->edges[i];
		struct waits_edge *to = waits_edge(ret, group[e->from], group[e->to]);

		to->weight += e->weight;
		to->own += e->own;
		to->work += e->work;
		for (int k = 0; k < WAITS_KINDS; k++)
			to->kinds[k] += e->kinds[k];
	}
	for (size_t i = 0; i < ret->n; i++) {
		struct waits_edge *e = &ret->edges[i];
		double n = sizes ? sizes[e->from] : members[e->from];

		e->weight = llround(e->weight / n);
		e->own = llround(e->own / n);
		e->work = llround(e->work / n);
		for (int k = 0; k < WAITS_KINDS; k++)
			e->kinds[k] = llround(e->kinds[k] / n);
	}
	free(members);
}

double waits_similarity(const uint64_t *a, const uint64_t *b, size_t n)
{
	double common = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		common += a[i] < b[i] ? a[i] : b[i];
		all += (double)a[i] + b[i];
	}
	return all > 0 ? 2 * common / all : 0;
}

/* Slots, the one with the lowest key first. */
struct slots {
	struct slot {
		uint64_t key;
		uint32_t number;
	} * v;
	size_t n;
};

static void push(struct slots *s, uint64_t key, uint32_t number)
{
	size_t i = s->n++;

	for (; i && s->v[(i - 1) / 2].key > key; i = (i - 1) / 2)
		s->v[i] = s->v[(i - 1) / 2];
	s->v[i] = (struct slot){ key, number };
}

static uint32_t pop(struct slots *s)
{
	struct slot top = s->v[0], last = s->v[--s->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s->n) {
		child += child + 1 < s->n && s->v[child + 1].key < s->v[child].key;
		if (s->v[child].key >= last.key)
			break;
		s->v[i] = s->v[child];
		i = child;
	}
	if (s->n)
		s->v[i] = last;
	return top.number;
}

size_t waits_line_up(struct waits_life *lives, size_t n, uint64_t end, uint64_t *gaps)
{
	uint64_t *until = xcalloc(n + 1, sizeof(*until));
	struct slots taken = { .v = xcalloc(n + 1, sizeof(*taken.v)) };	  /* by their end */
	struct slots unused = { .v = xcalloc(n + 1, sizeof(*unused.v)) }; /* by number */
	size_t slots = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t slot;

		while (taken.n && taken.v[0].key <= lives[i].from) {
			slot = pop(&taken);
			push(&unused, slot, slot);
		}
		slot = unused.n ? pop(&unused) : slots;
		if (slot == slots)
			gaps[slots++] = 0;
		gaps[slot] += lives[i].from - until[slot];
		until[slot] = lives[i].to;
		push(&taken, until[slot], slot);
		lives[i].slot = slot;
	}
	for (size_t slot = 0; slot < slots; slot++)
		gaps[slot] += end > until[slot] ? end - until[slot] : 0;
	free(until);
	free(taken.v);
	free(unused.v);
	return slots;
}
