// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash_index.h"

#include <pthread.h>
#include <sys/random.h>

uint32_t hash_index_find(const struct hash_index *x, uint64_t hash, hash_same same,
			 const void *items, const void *key)
{
	size_t at = 0;
	uint32_t number;

	do
		number = hash_index_next(x, hash, &at);
	while (number != HASH_NONE && !same(items, number, key));
	return number;
}

static void place(struct hash_index *x, struct hash_slot what)
{
	size_t i = hash_home(x, what.hash);

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
	place(x, (struct hash_slot){ hash_fold(hash), number + 1 });
	x->n++;
}

void hash_index_remove(struct hash_index *x, uint64_t hash, uint32_t number)
{
	size_t mask = x->size - 1, i = hash_home(x, hash_fold(hash));

	while (x->slots[i & mask].number != number + 1)
		i++;
	/* What would no longer be reached over a free slot moves into it. */
	for (size_t k = i + 1; x->slots[k & mask].number; k++) {
		size_t home = hash_home(x, x->slots[k & mask].hash);

		if (((k - home) & mask) < ((k - i) & mask))
			continue;
		x->slots[i & mask] = x->slots[k & mask];
		i = k;
	}
	x->slots[i & mask].number = 0;
	x->n--;
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

	for (h ^= n; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		h = (h ^ word) * 0x9fb21c651e98df25ULL;
		h ^= h >> 29;
	}
	while (n--)
		h = (h ^ *p++) * 1099511628211ULL;
	return h;
}

uint64_t hash_secret(uint64_t secret, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = secret ^ n;

	while (n) {
		size_t part = n < 8 ? n : 8;
		uint64_t word = 0;
		unsigned __int128 product;

		memcpy(&word, p, part);
		product = (unsigned __int128)(h ^ word) * (secret | 1);
		h = product ^ product >> 64;
		p += part;
		n -= part;
	}
	return h;
}

uint64_t hash_text(uint64_t h, const char *s)
{
	return s ? hash_bytes(h, s, strlen(s) + 1) : h;
}

uint64_t hash_new_secret(void)
{
	uint64_t secret;

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		secret = hash_mix((uintptr_t)&secret, clock_now_ns());
	return secret;
}

static uint64_t own_secret;

static void make_own_secret(void)
{
	own_secret = hash_new_secret();
}

uint64_t hash_chosen(uint64_t h, const char *s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_own_secret);
	return s ? hash_secret(h ^ own_secret, s, strlen(s) + 1) : h;
}
