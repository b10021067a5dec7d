// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/top/top_pool.h"

void pool_init(struct pool *p, size_t item_size)
{
	*p = (struct pool){ .item_size = item_size, .free = POOL_NONE };
}

void pool_deinit(struct pool *p)
{
	free(p->items);
	hash_index_deinit(&p->index);
	*p = (struct pool){};
}

static struct pool_node *node(const struct pool *p, uint32_t index)
{
	return (struct pool_node *)(p->items + index * p->item_size);
}

uint32_t pool_find(const struct pool *p, uint64_t hash, pool_equal equal, const void *key)
{
	size_t at = 0;
	uint32_t i;

	do
		i = hash_index_next(&p->index, hash, &at);
	while (i != POOL_NONE && !equal(node(p, i), key));
	return i;
}

uint32_t pool_add(struct pool *p, uint64_t hash)
{
	uint32_t index = p->free;

	if (index != POOL_NONE) {
		p->free = node(p, index)->next_free;
	} else {
		if (p->n == p->cap) {
			p->cap = p->cap ? p->cap * 2 : 64;
			p->items = xreallocarray(p->items, p->cap, p->item_size);
		}
		index = p->n++;
	}
	memset(node(p, index), 0, p->item_size);
	node(p, index)->hash = hash_fold(hash);
	node(p, index)->used = true;
	hash_index_add(&p->index, hash, index);
	return index;
}

void pool_remove(struct pool *p, uint32_t index)
{
	hash_index_remove_id(&p->index, node(p, index)->hash, index);
	node(p, index)->used = false;
	node(p, index)->next_free = p->free;
	p->free = index;
}
