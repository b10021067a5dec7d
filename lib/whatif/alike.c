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

/* A sample of a thread that has few. */
struct brief {
	uint32_t name, thread, at; /* at: its stack's place in the tree */
	double weight, before;	   /* before: of those of its name */
};

struct search {
	const struct trace *t;
	uint32_t *name;
	uint64_t *samples;
	double *all;	       /* ns by thread, and ... */
	double *all_of_name;   /* ... by the first thread of the name, of those with few samples */
	struct tally branches; /* of a thread, and ... */
	uint32_t *branch;      /* by thread: where its chains leave those of the others */
	struct trace_tree tree;
	struct brief *brief; /* with stacks; of a name one after the other */
	size_t n_brief;
	/* Of the name that is looked at: the stacks that its trunk is among, and of these its own.
	 */
	uint32_t *path, trunk;
	size_t n_path;
};

static bool is_brief(const struct search *s, uint32_t thread)
{
	return s->samples[thread] < ALIKE_ENOUGH;
}

static int by_name(const void *pa, const void *pb)
{
	const struct brief *a = pa, *b = pb;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void find_brief(struct search *s)
{
	const struct trace *t = s->t;

	s->brief = xcalloc(t->n_samples + 1, sizeof(*s->brief));
	for (size_t i = 0; i < t->n_samples; i++) {
		const struct trace_event *e = &t->samples[i];
		uint32_t name = s->name[e->thread];

		if (!is_brief(s, e->thread))
			continue;
		s->all[e->thread] += e->weight;
		s->all_of_name[name] += e->weight;
		if (e->stack != TRACE_NONE)
			s->brief[s->n_brief++] =
				(struct brief){ name, e->thread, s->tree.begin[e->stack], e->weight,
						0 };
	}
	qsort(s->brief, s->n_brief, sizeof(*s->brief), by_name);
}

/* Of @n in their order, those before @at. */
static size_t n_before(const struct brief *v, size_t n, uint32_t at)
{
	size_t low = 0;

	while (low < n) {
		size_t mid = low + (n - low) / 2;

		if (v[mid].at < at)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/* What is common to nearly all of a name's chains is so to the one in their middle. */
static void find_trunk(struct search *s, struct brief *v, size_t n)
{
	double all = s->all_of_name[v[0].name], sum = 0;
	size_t middle = 0, low, high;
	uint32_t at;

	for (size_t i = 0; i < n; i++) {
		v[i].before = sum;
		sum += v[i].weight;
	}
	while (middle + 1 < n && v[middle + 1].before <= sum / 2)
		middle++;
	s->n_path = 0;
	for (at = s->tree.order[v[middle].at]; at != TRACE_NONE; at = s->t->stacks[at].parent)
		s->path[s->n_path++] = at;
	for (size_t i = 0; i < s->n_path / 2; i++) {
		at = s->path[i];
		s->path[i] = s->path[s->n_path - 1 - i];
		s->path[s->n_path - 1 - i] = at;
	}
	for (low = 0, high = s->n_path; low < high;) {
		size_t mid = low + (high - low) / 2;
		size_t from = n_before(v, n, s->tree.begin[s->path[mid]]);
		size_t to = n_before(v, n, s->tree.end[s->path[mid]]);
		double weight = (to < n ? v[to].before : sum) - (from < n ? v[from].before : sum);

		if (weight >= TRUNK * all)
			low = mid + 1;
		else
			high = mid;
	}
	s->trunk = low;
}

/* The outermost function that is not common to all; TRACE_NONE: there is none. */
static uint32_t leaves_trunk(const struct search *s, uint32_t stack)
{
	size_t low = 0, high = s->trunk;
	uint32_t last;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint32_t at = s->path[mid];

		if (s->tree.begin[at] <= s->tree.begin[stack] &&
		    s->tree.begin[stack] < s->tree.end[at])
			low = mid + 1;
		else
			high = mid;
	}
	last = low ? s->path[low - 1] : TRACE_NONE;
	return last == stack ? TRACE_NONE : trace_tree_step(&s->tree, last, stack);
}

static void find_branches(struct search *s)
{
	const struct trace *t = s->t;

	for (size_t from = 0, n; from < s->n_brief; from += n) {
		struct brief *v = s->brief + from;

		for (n = 1; from + n < s->n_brief && v[n].name == v->name; n++)
			;
		find_trunk(s, v, n);
		for (size_t i = 0; i < n; i++)
			*of(&s->branches, v[i].thread, leaves_trunk(s, s->tree.order[v[i].at])) +=
				v[i].weight;
	}
	for (size_t i = 0; i < t->n_samples; i++) {
		const struct trace_event *e = &t->samples[i];

		if (is_brief(s, e->thread) && e->stack == TRACE_NONE)
			*of(&s->branches, e->thread, TRACE_NONE) += e->weight;
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
	trace_tree_make(t, &s.tree);
	s.path = xcalloc(t->n_stacks + 1, sizeof(*s.path));
	find_brief(&s);
	find_branches(&s);
	find_kinds(&s, ret->kind);
	trace_tree_free(&s.tree);
	free(s.path);
	free(s.brief);
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

static bool same_program(const void *items, uint32_t number, const void *key)
{
	const struct trace_process *list = items, *b = key;

	return !strcmp(list[number].name, b->name);
}

uint32_t *alike_programs(const struct trace *t)
{
	uint32_t *ret = xcalloc(t->n_threads + 1, sizeof(*ret));
	uint32_t *first = xcalloc(t->n_processes + 1, sizeof(*first));
	uint32_t *family = xcalloc(t->n_processes + 1, sizeof(*family)); /* plus one; 0: none yet */
	struct hash_index index = {};

	for (uint32_t i = 0; i < t->n_processes; i++) {
		uint64_t hash = hash_chosen(HASH_START, t->processes[i].name);
		uint32_t like =
			hash_index_find(&index, hash, same_program, t->processes, &t->processes[i]);

		if (like == HASH_NONE)
			hash_index_add(&index, hash, like = i);
		first[i] = like;
	}
	for (uint32_t i = 0; i < t->n_threads; i++) {
		uint32_t *f = &family[first[t->threads[i].process]];

		if (!*f)
			*f = i + 1;
		ret[i] = *f - 1;
	}
	hash_index_deinit(&index);
	free(first);
	free(family);
	return ret;
}
