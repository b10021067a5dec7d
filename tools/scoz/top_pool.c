// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/top_pool.h"

void pool_init(struct pool *p, size_t item_size)
{
	*p = (struct pool){ .item_size = item_size, .free = POOL_NONE };
}

void pool_deinit(struct pool *p)
{
	free(p->items);
	free(p->heads);
	*p = (struct pool){};
}

static struct pool_node *node(const struct pool *p, uint32_t index)
{
	return (struct pool_node *)(p->items + index * p->item_size);
}

static void insert(struct pool *p, uint32_t index)
{
	uint32_t *head = &p->heads[node(p, index)->hash & (p->n_heads - 1)];

	node(p, index)->next = *head;
	*head = index;
}

static void grow(struct pool *p)
{
	p->n_heads = p->n_heads ? p->n_heads * 2 : 64;
	p->heads = xreallocarray(p->heads, p->n_heads, sizeof(*p->heads));
	memset(p->heads, 0xff, p->n_heads * sizeof(*p->heads));
	for (uint32_t i = 0; i < p->n; i++) {
		if (node(p, i)->used)
			insert(p, i);
	}
}

uint32_t pool_find(const struct pool *p, uint64_t hash, pool_equal equal, const void *key)
{
	uint32_t i;

	if (!p->n_heads)
		return POOL_NONE;
	for (i = p->heads[(uint32_t)hash & (p->n_heads - 1)]; i != POOL_NONE;
	     i = node(p, i)->next) {
		if (node(p, i)->hash == (uint32_t)hash && equal(node(p, i), key))
			break;
	}
	return i;
}

uint32_t pool_add(struct pool *p, uint64_t hash)
{
	uint32_t index = p->free;

	if (p->used >= p->n_heads)
		grow(p);
	if (index != POOL_NONE) {
		p->free = node(p, index)->next;
	} else {
		if (p->n == p->cap) {
			p->cap = p->cap ? p->cap * 2 : 64;
			p->items = xreallocarray(p->items, p->cap, p->item_size);
		}
		index = p->n++;
	}
	memset(node(p, index), 0, p->item_size);
	node(p, index)->hash = hash;
	node(p, index)->used = true;
	insert(p, index);
	p->used++;
	return index;
}

void pool_remove(struct pool *p, uint32_t index)
{
	uint32_t *link = &p->heads[node(p, index)->hash & (p->n_heads - 1)];

	while (*link != index)
		link = &node(p, *link)->next;
	*link = node(p, index)->next;
	node(p, index)->used = false;
	node(p, index)->next = p->free;
	p->free = index;
	p->used--;
}
