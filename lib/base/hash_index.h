/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds items of an array by what is in them. The items are the caller's, numbered from 0 and
 * found again by number: the index holds only hashes and numbers, so items may move as their array
 * grows. Look for an item; if there is none, append it to the array and add its number.
 *
 * An index of all zeros is empty. Not for several threads.
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

/* The 32 bits of a hash that an index keeps: of a number below 2^32, all of it. */
static inline uint32_t hash_fold(uint64_t hash)
{
	return hash ^ hash >> 32;
}

static inline size_t hash_home(const struct hash_index *x, uint32_t folded)
{
	folded *= 0x9e3779b1u;
	return (folded ^ folded >> 16) & (x->size - 1);
}

/*
 * The numbers of all items of that hash, one a call, in no order, then HASH_NONE. @at is 0 before
 * the first call. Nothing is added or removed meanwhile.
 */
static inline uint32_t hash_index_next(const struct hash_index *x, uint64_t hash, size_t *at)
{
	uint32_t h = hash_fold(hash);

	while (x->size) {
		const struct hash_slot *s = &x->slots[(hash_home(x, h) + (*at)++) & (x->size - 1)];

		if (!s->number || s->hash == h)
			return s->number - 1;
	}
	return HASH_NONE;
}

/* Is the item of that number in @items what @key asks for? Told only of items of the same hash. */
typedef bool (*hash_same)(const void *items, uint32_t number, const void *key);

/* The number of the item, or HASH_NONE. */
uint32_t hash_index_find(const struct hash_index *x, uint64_t hash, hash_same same,
			 const void *items, const void *key);
/* An item that was not found. @number is below HASH_NONE. */
void hash_index_add(struct hash_index *x, uint64_t hash, uint32_t number);
/* An item that was added with that hash and number. */
void hash_index_remove(struct hash_index *x, uint64_t hash, uint32_t number);
void hash_index_clear(struct hash_index *x);
void hash_index_deinit(struct hash_index *x);

/*
 * Items that are found by a number of 32 bits alone (a process's id, an offset), no two by the
 * same: nothing need be compared.
 */
static inline uint32_t hash_index_find_id(const struct hash_index *x, uint32_t id)
{
	return hash_index_next(x, id, &(size_t){ 0 });
}
static inline void hash_index_add_id(struct hash_index *x, uint32_t id, uint32_t number)
{
	hash_index_add(x, id, number);
}
static inline void hash_index_remove_id(struct hash_index *x, uint32_t id, uint32_t number)
{
	hash_index_remove(x, id, number);
}

/* Hashes, for HASH_START or one that is to be continued. NULL is no text. */
#define HASH_START 14695981039346656037ULL
uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n);
uint64_t hash_text(uint64_t h, const char *s);
/*
 * Of what strangers choose: who does not know @secret cannot choose many that fall on one place.
 * (By the two above they can: some differences cancel out whatever @h is.)
 */
uint64_t hash_secret(uint64_t secret, const void *bytes, size_t n);
/* The same as hash_text(), with a secret of this process. */
uint64_t hash_chosen(uint64_t h, const char *s);
/* A number that nobody else knows. */
uint64_t hash_new_secret(void);
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

#endif
