/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items that come and go, found by a hash: an item is named by its index, which stays while it
 * lives. Pointers to items hold until the next pool_add().
 */
#ifndef SCOZ_TOP_POOL_H
#define SCOZ_TOP_POOL_H

#include "base/hash_index.h"

#define POOL_NONE HASH_NONE

/* The first member of every item. */
struct pool_node {
	uint32_t hash, next_free;
	bool used;
};

struct pool {
	size_t item_size;
	char *items;
	size_t n, cap; /* n: used and free ones */
	uint32_t free;
	struct hash_index index;
};

typedef bool (*pool_equal)(const void *item, const void *key);

void pool_init(struct pool *p, size_t item_size);
void pool_deinit(struct pool *p);
/* POOL_NONE: there is none. */
uint32_t pool_find(const struct pool *p, uint64_t hash, pool_equal equal, const void *key);
/* A new item, all zero but its node. */
uint32_t pool_add(struct pool *p, uint64_t hash);
void pool_remove(struct pool *p, uint32_t index);

/* NULL: no item with that index lives. */
static inline void *pool_item(const struct pool *p, uint32_t index)
{
	struct pool_node *node;

	if (index >= p->n)
		return NULL;
	node = (struct pool_node *)(p->items + index * p->item_size);
	return node->used ? node : NULL;
}

#endif
