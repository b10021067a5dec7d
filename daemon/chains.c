// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/chains.h"

#define WORD 8

void chains_init(struct chains *c, size_t max)
{
	*c = (struct chains){ .max = max };
}

void chains_deinit(struct chains *c)
{
	free(c->bytes);
	hash_index_deinit(&c->index);
	*c = (struct chains){ 0 };
}

static uint64_t hash(const struct chain *chain)
{
	uint64_t h = hash_mix(chain->pid,
			      (uint64_t)chain->process << 2 | chain->spins << 1 | chain->kernel);

	for (int i = 0; i < chain->n; i++)
		h = hash_mix(hash_mix(h, chain->frame[i].place), chain->frame[i].binary);
	return h;
}

static bool same(const void *bytes, uint32_t word, const void *key)
{
	const struct chain *a = (const void *)((const char *)bytes + (size_t)word * WORD), *b = key;

	if (a->pid != b->pid || a->process != b->process || a->n != b->n ||
	    a->kernel != b->kernel || a->spins != b->spins)
		return false;
	for (int i = 0; i < a->n; i++) {
		if (a->frame[i].place != b->frame[i].place ||
		    a->frame[i].binary != b->frame[i].binary)
			return false;
	}
	return true;
}

bool chains_add(struct chains *c, const struct chain *chain)
{
	size_t size = (CHAIN_SIZE(chain->n) + WORD - 1) / WORD * WORD;
	uint64_t h = hash(chain);
	uint32_t at = hash_index_find(&c->index, h, same, c->bytes, chain);

	if (at != HASH_NONE) {
		((struct chain *)(c->bytes + (size_t)at * WORD))->count += chain->count;
		return true;
	}
	if (c->used + size > c->max)
		return false;
	array_reserve(c->bytes, c->cap, c->used + size);
	memcpy(c->bytes + c->used, chain, CHAIN_SIZE(chain->n));
	hash_index_add(&c->index, h, c->used / WORD);
	c->used += size;
	return true;
}

struct chain *chains_next(const struct chains *c, const struct chain *last)
{
	char *next =
		last ? (char *)last + (CHAIN_SIZE(last->n) + WORD - 1) / WORD * WORD : c->bytes;

	return next && next < c->bytes + c->used ? (struct chain *)next : NULL;
}

void chains_clear(struct chains *c)
{
	c->used = 0;
	hash_index_clear(&c->index);
}
