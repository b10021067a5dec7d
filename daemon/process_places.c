// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/process_places.h"

#include "base/hash_index.h"

#define PLACES_MAX 196608
#define PLACES_FEW 1024 /* are not worth looking for what can be put together */

struct places {
	struct process_table *processes;
	struct place_entry *entries;
	size_t n, cap;
	struct hash_index index;
	size_t merged; /* how many the last merge left */
	uint64_t left_out, refused;
};

static bool same(const void *entries, uint32_t i, const void *key)
{
	const struct place_entry *a = (const struct place_entry *)entries + i, *b = key;

	return a->process == b->process && a->place == b->place;
}

static void add_counts(struct place_counts *to, const struct place_counts *c)
{
	to->self += c->self;
	to->total += c->total;
	to->credit += c->credit;
}

/* NULL: there is none, and room for no more. */
static struct place_entry *entry(struct places *t, uint32_t process, uint32_t place, size_t max)
{
	struct place_entry key = { .process = process, .place = place };
	uint64_t h = hash_mix(process, place);
	uint32_t i = hash_index_find(&t->index, h, same, t->entries, &key);

	if (i == HASH_NONE) {
		if (t->n >= max)
			return NULL;
		i = t->n++;
		array_reserve(t->entries, t->cap, t->n);
		t->entries[i] = key;
		hash_index_add(&t->index, h, i);
	}
	return &t->entries[i];
}

/* What now belongs to the same process is put together. */
static void merge(struct places *t)
{
	size_t n = t->n;

	t->n = 0;
	hash_index_clear(&t->index);
	for (size_t i = 0; i < n; i++) {
		struct place_entry old = t->entries[i];

		add_counts(&entry(t, process_table_now(t->processes, old.process), old.place, n)
				    ->counts,
			   &old.counts);
	}
	t->merged = t->n;
}

void places_count(struct places *t, uint32_t process, uint32_t place, enum place_count what,
		  uint64_t samples)
{
	struct place_entry *e;

	/* Processes become part of groups as time goes on. */
	if (t->n > 2 * t->merged + PLACES_FEW)
		merge(t);
	e = entry(t, process, place, PLACES_MAX);
	/* It is worth another try now and then. */
	if (!e && t->refused++ % PLACES_MAX == 0) {
		merge(t);
		e = entry(t, process, place, PLACES_MAX);
	}
	if (!e) {
		t->left_out += what == PLACE_SELF ? samples : 0;
		return;
	}
	e->counts.self += what == PLACE_SELF ? samples : 0;
	e->counts.total += what == PLACE_TOTAL ? samples : 0;
	e->counts.credit += what == PLACE_CREDIT ? samples : 0;
}

uint64_t places_left_out(const struct places *t)
{
	return t->left_out;
}

static int compare(const void *pa, const void *pb)
{
	const struct place_entry *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

void places_add(const struct places *t, struct place_entry **list, size_t *n)
{
	size_t out = 0;

	*list = xreallocarray(*list, *n + t->n + 1, sizeof(**list));
	for (size_t i = 0; i < t->n; i++) {
		struct place_entry *e = &(*list)[(*n)++];

		*e = t->entries[i];
		e->process = process_table_now(t->processes, e->process);
	}
	if (!*n)
		return;
	qsort(*list, *n, sizeof(**list), compare);
	for (size_t i = 1; i < *n; i++) {
		if (!compare(&(*list)[out], &(*list)[i]))
			add_counts(&(*list)[out].counts, &(*list)[i].counts);
		else
			(*list)[++out] = (*list)[i];
	}
	*n = out + 1;
}

struct places *places_create(struct process_table *p)
{
	struct places *t = xcalloc(1, sizeof(*t));

	t->processes = p;
	return t;
}

void places_destroy(struct places *t)
{
	if (!t)
		return;
	free(t->entries);
	hash_index_deinit(&t->index);
	free(t);
}
