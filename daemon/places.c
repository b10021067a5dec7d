// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples by process and place. The table grows to PLACES_MAX; then what belongs to processes that
 * have become part of a group is put together, and if that makes no room, no new place is begun.
 */
#include "daemon/process_table.h"

#define PLACES_FIRST 1024 /* powers of two */
#define PLACES_MAX   262144

struct places {
	struct process_table *processes;
	struct place_entry *slots; /* free: all counts are 0 */
	size_t n_slots, used;
	uint64_t left_out, refused;
};

static bool is_free(const struct place_entry *e)
{
	return !e->counts.self && !e->counts.total && !e->counts.credit;
}

static struct place_entry *slot(const struct places *t, uint32_t process, uint32_t place)
{
	uint64_t key = (uint64_t)process << 32 | place;
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 32;

	for (;; i++) {
		struct place_entry *e = &t->slots[i & (t->n_slots - 1)];

		if (is_free(e) || (e->process == process && e->place == place))
			return e;
	}
}

static void add_counts(struct place_counts *to, const struct place_counts *c)
{
	to->self += c->self;
	to->total += c->total;
	to->credit += c->credit;
}

static void rebuild(struct places *t, size_t n_slots)
{
	struct place_entry *old = t->slots;
	size_t n_old = t->n_slots;

	t->slots = xcalloc(n_slots, sizeof(*t->slots));
	t->n_slots = n_slots;
	t->used = 0;
	for (size_t i = 0; i < n_old; i++) {
		struct place_entry *e;
		uint32_t now;

		if (is_free(&old[i]))
			continue;
		now = process_table_now(t->processes, old[i].process);
		e = slot(t, now, old[i].place);
		if (is_free(e)) {
			t->used++;
			e->process = now;
			e->place = old[i].place;
		}
		add_counts(&e->counts, &old[i].counts);
	}
	free(old);
}

static bool has_room(struct places *t)
{
	if (t->used < t->n_slots / 2)
		return true;
	if (t->n_slots < PLACES_MAX) {
		rebuild(t, 2 * t->n_slots);
		return true;
	}
	/* Processes become part of groups as time goes on: it is worth another try now and then. */
	if (t->used >= t->n_slots / 4 * 3 && t->refused++ % PLACES_MAX == 0)
		rebuild(t, t->n_slots);
	return t->used < t->n_slots / 4 * 3;
}

void places_count(struct places *t, uint32_t process, uint32_t place, enum place_count what,
		  uint64_t samples)
{
	struct place_entry *e = slot(t, process, place);

	if (is_free(e)) {
		if (!has_room(t)) {
			t->left_out += what == PLACE_SELF ? samples : 0;
			return;
		}
		e = slot(t, process, place);
		t->used += is_free(e);
		e->process = process;
		e->place = place;
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

	*list = xreallocarray(*list, *n + t->used + 1, sizeof(**list));
	for (size_t i = 0; i < t->n_slots; i++) {
		if (is_free(&t->slots[i]))
			continue;
		(*list)[*n] = t->slots[i];
		(*list)[*n].process = process_table_now(t->processes, t->slots[i].process);
		++*n;
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
	t->n_slots = PLACES_FIRST;
	t->slots = xcalloc(t->n_slots, sizeof(*t->slots));
	return t;
}

void places_destroy(struct places *t)
{
	if (!t)
		return;
	free(t->slots);
	free(t);
}
