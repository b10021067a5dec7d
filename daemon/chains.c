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
	free(c->slots);
	*c = (struct chains){ 0 };
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t hash(const struct chain *chain)
{
	uint64_t h = mix(chain->pid, (uint64_t)chain->process << 1 | chain->kernel);

	for (int i = 0; i < chain->n; i++)
		h = mix(mix(h, chain->frame[i].place), chain->frame[i].binary);
	return h;
}

static bool same(const struct chain *a, const struct chain *b)
{
	if (a->pid != b->pid || a->process != b->process || a->n != b->n || a->kernel != b->kernel)
		return false;
	for (int i = 0; i < a->n; i++) {
		if (a->frame[i].place != b->frame[i].place ||
		    a->frame[i].binary != b->frame[i].binary)
			return false;
	}
	return true;
}

static struct chain *at(const struct chains *c, uint32_t slot)
{
	return (struct chain *)(c->bytes + (size_t)(slot - 1) * WORD);
}

/* Where it is, or where it belongs. */
static uint32_t *find(const struct chains *c, const struct chain *chain)
{
	size_t i = hash(chain) & (c->n_slots - 1);

	while (c->slots[i] && !same(at(c, c->slots[i]), chain))
		i = (i + 1) & (c->n_slots - 1);
	return &c->slots[i];
}

static void grow_slots(struct chains *c)
{
	free(c->slots);
	c->n_slots = c->n_slots ? c->n_slots * 2 : 256;
	c->slots = xcalloc(c->n_slots, sizeof(*c->slots));
	for (const struct chain *i = NULL; (i = chains_next(c, i));)
		*find(c, i) = ((const char *)i - c->bytes) / WORD + 1;
}

bool chains_add(struct chains *c, const struct chain *chain)
{
	size_t size = (CHAIN_SIZE(chain->n) + WORD - 1) / WORD * WORD;
	uint32_t *slot;

	if ((c->n + 1) * 2 > c->n_slots)
		grow_slots(c);
	slot = find(c, chain);
	if (*slot) {
		at(c, *slot)->count += chain->count;
		return true;
	}
	if (c->used + size > c->max)
		return false;
	array_reserve(c->bytes, c->cap, c->used + size);
	memcpy(c->bytes + c->used, chain, CHAIN_SIZE(chain->n));
	*slot = c->used / WORD + 1;
	c->used += size;
	c->n++;
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
	c->used = c->n = 0;
	if (c->slots)
		memset(c->slots, 0, c->n_slots * sizeof(*c->slots));
}
