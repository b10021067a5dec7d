// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/alike.h"

#include "base/hash_index.h"

#define TRUNK 0.8 /* of what threads of a name do: chains begin there with the same functions */
#define OWN   0.8 /* of what a thread does: it is of that kind */
#define LEAST 2	  /* samples of a thread */

/* What two numbers have in common, in ns. */
struct tally {
	struct pair {
		uint32_t a, b;
		double weight;
	} * list;
	size_t n, cap;
	struct hash_index index;
};

static bool same_pair(const void *items, uint32_t number, const void *key)
{
	const struct pair *x = &((const struct pair *)items)[number], *y = key;

	return x->a == y->a && x->b == y->b;
}

static double *of(struct tally *t, uint32_t a, uint32_t b)
{
	const struct pair key = { .a = a, .b = b };
	uint64_t hash = hash_mix(hash_mix(HASH_START, a), b);
	uint32_t i = hash_index_find(&t->index, hash, same_pair, t->list, &key);

	if (i == HASH_NONE) {
		i = t->n++;
		array_reserve(t->list, t->cap, t->n);
		t->list[i] = key;
		hash_index_add(&t->index, hash, i);
	}
	return &t->list[i].weight;
}

static void tally_free(struct tally *t)
{
	free(t->list);
	hash_index_deinit(&t->index);
}

struct search {
	const struct trace *t;
	uint32_t *name;
	uint64_t *samples;
	double *all;	       /* ns by thread, and ... */
	double *all_of_name;   /* ... by the first thread of the name, of those with few samples */
	struct tally chains;   /* of a name, and a stack that is the beginning of its chains */
	struct tally branches; /* of a thread, and ... */
	uint32_t *branch;      /* by thread: where its chains leave those of the others */
};

static bool is_brief(const struct search *s, uint32_t thread)
{
	return s->samples[thread] < ALIKE_ENOUGH;
}

static void add_chains(struct search *s)
{
	const struct trace *t = s->t;

	for (size_t i = 0; i < t->n_samples; i++) {
		const struct trace_event *e = &t->samples[i];

		if (!is_brief(s, e->thread))
			continue;
		s->all[e->thread] += e->weight;
		s->all_of_name[s->name[e->thread]] += e->weight;
		for (uint32_t at = e->stack; at != TRACE_NONE; at = t->stacks[at].parent)
			*of(&s->chains, s->name[e->thread], at) += e->weight;
	}
}

/* The outermost function that is not common to all; TRACE_NONE: there is none. */
static uint32_t leaves_trunk(struct search *s, uint32_t name, uint32_t stack)
{
	uint32_t ret = TRACE_NONE;

	for (uint32_t at = stack; at != TRACE_NONE; at = s->t->stacks[at].parent) {
		if (*of(&s->chains, name, at) >= TRUNK * s->all_of_name[name])
			break;
		ret = at;
	}
	return ret;
}

static void find_branches(struct search *s)
{
	const struct trace *t = s->t;

	for (size_t i = 0; i < t->n_samples; i++) {
		const struct trace_event *e = &t->samples[i];

		if (is_brief(s, e->thread))
			*of(&s->branches, e->thread,
			    leaves_trunk(s, s->name[e->thread], e->stack)) += e->weight;
	}
	for (size_t i = 0; i < t->n_threads; i++)
		s->branch[i] = TRACE_NONE;
	for (size_t i = 0; i < s->branches.n; i++) {
		const struct pair *p = &s->branches.list[i];

		if (s->samples[p->a] >= LEAST && p->weight >= OWN * s->all[p->a])
			s->branch[p->a] = p->b;
	}
}

static void find_kinds(struct search *s, uint32_t *kind)
{
	struct tally first = {};

	for (uint32_t i = 0; i < s->t->n_threads; i++) {
		double *leader;

		if (!is_brief(s, i)) {
			kind[i] = i;
			continue;
		}
		leader = of(&first, s->name[i], s->branch[i]);
		if (!(*leader > 0))
			*leader = i + 1;
		kind[i] = *leader - 1;
	}
	tally_free(&first);
}

void alike_find(const struct trace *t, struct alike *ret)
{
	struct search s = {
		.t = t,
		.name = trace_threads_alike(t),
		.samples = xcalloc(t->n_threads + 1, sizeof(*s.samples)),
		.all = xcalloc(t->n_threads + 1, sizeof(*s.all)),
		.all_of_name = xcalloc(t->n_threads + 1, sizeof(*s.all_of_name)),
		.branch = xcalloc(t->n_threads + 1, sizeof(*s.branch)),
	};

	ret->name = s.name;
	ret->kind = xcalloc(t->n_threads + 1, sizeof(*ret->kind));
	for (size_t i = 0; i < t->n_samples; i++)
		s.samples[t->samples[i].thread]++;
	add_chains(&s);
	find_branches(&s);
	find_kinds(&s, ret->kind);
	tally_free(&s.chains);
	tally_free(&s.branches);
	free(s.samples);
	free(s.all);
	free(s.all_of_name);
	free(s.branch);
}

void alike_free(struct alike *a)
{
	free(a->kind);
	free(a->name);
	*a = (struct alike){};
}
