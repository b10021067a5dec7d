/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds items of an array by what is in them. The items are the caller's, numbered from 0 and
 * found again by number: the index holds only hashes and numbers, so items may move as their array
 * grows. Look for an item; if there is none, append it to the array and add its number.
 *
 * Nothing is removed but all at once. An index of all zeros is empty. Not for several threads.
 */
#ifndef SCOZ_BASE_HASH_INDEX_H
#define SCOZ_BASE_HASH_INDEX_H

#include "base/base.h"

#define HASH_NONE UINT32_MAX

struct hash_index {
	struct hash_slot {
		uint32_t hash, number; /* number plus one; 0: free */
	} * slots;
	size_t n, size; /* size: 0 or a power of two, at least twice n */
};

/* Is the item of that number in @items what @key asks for? Told only of items of the same hash. */
typedef bool (*hash_same)(const void *items, uint32_t number, const void *key);

/* The number of the item, or HASH_NONE. */
uint32_t hash_index_find(const struct hash_index *x, uint64_t hash, hash_same same,
			 const void *items, const void *key);
/* An item that was not found. @number is below HASH_NONE. */
void hash_index_add(struct hash_index *x, uint64_t hash, uint32_t number);
void hash_index_clear(struct hash_index *x);
void hash_index_deinit(struct hash_index *x);

/* Hashes, for HASH_START or one that is to be continued. NULL is no text. */
#define HASH_START 14695981039346656037ULL
uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n);
uint64_t hash_text(uint64_t h, const char *s);
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

#endif
