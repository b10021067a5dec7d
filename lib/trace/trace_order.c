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
		uint64_t hash =
			hash_text(hash_text(HASH_START, at->comm), t->processes[at->process].name);

		ret[i] = hash_index_find(&names, hash, same_names, t, at);
		if (ret[i] == HASH_NONE)
			hash_index_add(&names, hash, ret[i] = i);
	}
	hash_index_deinit(&names);
	return ret;
}
