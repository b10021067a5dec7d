// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash_index.h"
#include "trace/trace.h"

void trace_order_samples(const struct trace *t, struct trace_order *ret)
{
	size_t *next = xcalloc(t->n_threads + 1, sizeof(*next));

	ret->first = xcalloc(t->n_threads + 2, sizeof(*ret->first));
	ret->samples = xcalloc(t->n_samples + 1, sizeof(*ret->samples));
	for (size_t i = 0; i < t->n_samples; i++)
		ret->first[t->samples[i].thread + 1]++;
	for (size_t i = 0; i < t->n_threads; i++) {
		ret->first[i + 1] += ret->first[i];
		next[i] = ret->first[i];
	}
	for (size_t i = 0; i < t->n_samples; i++)
		ret->samples[next[t->samples[i].thread]++] = i;
	free(next);
}

void trace_order_free(struct trace_order *o)
{
	free(o->first);
	free(o->samples);
}

size_t trace_first_after(const struct trace *t, const struct trace_order *o, uint32_t thread,
			 uint64_t time)
{
	size_t low = o->first[thread], high = o->first[thread + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->samples[o->samples[mid]].time > time)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void trace_tree_make(const struct trace *t, struct trace_tree *ret)
{
	size_t n = t->n_stacks;
	uint32_t *next = xcalloc(n + 1, sizeof(*next));

	*ret = (struct trace_tree){
		.begin = xcalloc(n + 1, sizeof(uint32_t)),
		.end = xcalloc(n + 1, sizeof(uint32_t)),
		.order = xcalloc(n + 1, sizeof(uint32_t)),
		.first = xcalloc(n + 3, sizeof(uint32_t)),
		.child = xcalloc(n + 1, sizeof(uint32_t)),
		.n = n,
	};
	/* Callers come before those whom they call: first the sizes, in `end`. */
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = t->stacks[i].parent;

		ret->end[i]++;
		ret->end[parent < n ? parent : n] += ret->end[i];
		ret->first[(parent < n ? parent : n) + 2]++;
	}
	for (size_t i = 2; i < n + 3; i++)
		ret->first[i] += ret->first[i - 1];
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = t->stacks[i].parent;

		parent = parent < n ? parent : n;
		ret->begin[i] = next[parent];
		ret->end[i] += ret->begin[i];
		next[parent] = ret->end[i];
		next[i] = ret->begin[i] + 1;
		ret->order[ret->begin[i]] = i;
		ret->child[ret->first[parent + 1]++] = i;
	}
	free(next);
}

void trace_tree_free(struct trace_tree *tree)
{
	free(tree->begin);
	free(tree->end);
	free(tree->order);
	free(tree->first);
	free(tree->child);
}

uint32_t trace_tree_step(const struct trace_tree *tree, uint32_t at, uint32_t stack)
{
	size_t from = at < tree->n ? at : tree->n;
	uint32_t low = tree->first[from], high = tree->first[from + 1];

	/* The last one that begins no later. */
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (tree->begin[tree->child[mid]] <= tree->begin[stack])
			low = mid;
		else
			high = mid;
	}
	return tree->child[low];
}

static bool same_names(const void *items, uint32_t number, const void *key)
{
	const struct trace *t = items;
	const struct trace_thread *a = &t->threads[number], *b = key;

	return !strcmp(a->comm, b->comm) &&
	       !strcmp(t->processes[a->process].name, t->processes[b->process].name);
}

uint32_t *trace_threads_alike(const struct trace *t)
{
	uint32_t *ret = xcalloc(t->n_threads + 1, sizeof(*ret));
	struct hash_index names = {};

	for (uint32_t i = 0; i < t->n_threads; i++) {
		const struct trace_thread *at = &t->threads[i];
		uint64_t hash = hash_chosen(hash_chosen(HASH_START, at->comm),
					    t->processes[at->process].name);

		ret[i] = hash_index_find(&names, hash, same_names, t, at);
		if (ret[i] == HASH_NONE)
			hash_index_add(&names, hash, ret[i] = i);
	}
	hash_index_deinit(&names);
	return ret;
}
