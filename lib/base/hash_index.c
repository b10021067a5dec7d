// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash_index.h"

static uint32_t fold(uint64_t hash)
{
	return hash ^ hash >> 32;
}

uint32_t hash_index_find(const struct hash_index *x, uint64_t hash, hash_same same,
			 const void *items, const void *key)
{
	uint32_t h = fold(hash);

	if (!x->size)
		return HASH_NONE;
	for (size_t i = h;; i++) {
		const struct hash_slot *s = &x->slots[i & (x->size - 1)];

		if (!s->number)
			return HASH_NONE;
		if (s->hash == h && same(items, s->number - 1, key))
			return s->number - 1;
	}
}

static void place(struct hash_index *x, struct hash_slot what)
{
	size_t i = what.hash;

	while (x->slots[i & (x->size - 1)].number)
		i++;
	x->slots[i & (x->size - 1)] = what;
}

static void grow(struct hash_index *x)
{
	struct hash_index old = *x;

	x->size = old.size ? 2 * old.size : 64;
	x->slots = xcalloc(x->size, sizeof(*x->slots));
	for (size_t i = 0; i < old.size; i++) {
		if (old.slots[i].number)
			place(x, old.slots[i]);
	}
	free(old.slots);
}

void hash_index_add(struct hash_index *x, uint64_t hash, uint32_t number)
{
	if (2 * (x->n + 1) > x->size)
		grow(x);
	place(x, (struct hash_slot){ fold(hash), number + 1 });
	x->n++;
}

void hash_index_clear(struct hash_index *x)
{
	if (x->size)
		memset(x->slots, 0, x->size * sizeof(*x->slots));
	x->n = 0;
}

void hash_index_deinit(struct hash_index *x)
{
	free(x->slots);
	*x = (struct hash_index){ 0 };
}

uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211ULL;
	return h;
}

uint64_t hash_text(uint64_t h, const char *s)
{
	return s ? hash_bytes(h, s, strlen(s) + 1) : h;
}
