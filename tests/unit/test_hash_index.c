// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash_index.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool same_number(const void *items, uint32_t i, const void *key)
{
	return ((const uint64_t *)items)[i] == *(const uint64_t *)key;
}

/* Every item is found while the index grows, and nothing that is not there. */
static void fill(struct hash_index *x, uint64_t hash_mask)
{
	uint64_t *items = xcalloc(5000, sizeof(*items));

	for (uint32_t i = 0; i < 5000; i++) {
		uint64_t key = 3 * i, h = hash_mix(HASH_START, key) & hash_mask;

		assert_int_equal(hash_index_find(x, h, same_number, items, &key), HASH_NONE);
		items[i] = key;
		hash_index_add(x, h, i);
		assert_true(x->size >= 2 * x->n);
		if (hash_mask != UINT64_MAX && i > 500)
			break;
	}
	assert_true(x->n > 500);
	for (uint64_t key = 0; key < 3 * x->n; key++) {
		uint64_t h = hash_mix(HASH_START, key) & hash_mask;

		assert_int_equal(hash_index_find(x, h, same_number, items, &key),
				 key % 3 ? HASH_NONE : key / 3);
	}
	free(items);
}

static void test_found_again(void **state)
{
	struct hash_index x = { 0 };

	(void)state;
	fill(&x, UINT64_MAX);
	hash_index_clear(&x);
	assert_int_equal(x.n, 0);
	fill(&x, UINT64_MAX);
	hash_index_deinit(&x);
	assert_null(x.slots);
}

/* Bad hashes cost time, no more. */
static void test_collisions(void **state)
{
	struct hash_index x = { 0 };

	(void)state;
	fill(&x, 0);
	hash_index_clear(&x);
	fill(&x, 0xffffffff00000003ULL);
	hash_index_deinit(&x);
}

/* What stays is found after anything else has gone, and comes and goes again. */
static void come_and_go(uint64_t hash_mask)
{
	enum { MANY = 700 };
	struct hash_index x = { 0 };
	bool there[MANY] = { 0 };
	uint64_t items[MANY], state = 1;
	size_t n = 0;

	for (uint64_t i = 0; i < MANY; i++)
		items[i] = i;
	for (int step = 0; step < 20000; step++) {
		uint64_t h, i;

		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		i = (state >> 33) % MANY;
		h = hash_mix(HASH_START, i) & hash_mask;
		assert_int_equal(hash_index_find(&x, h, same_number, items, &i),
				 there[i] ? i : HASH_NONE);
		if (there[i])
			hash_index_remove(&x, h, i);
		else
			hash_index_add(&x, h, i);
		n += there[i] ? -1 : 1;
		there[i] = !there[i];
		assert_int_equal(x.n, n);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t h = hash_mix(HASH_START, i) & hash_mask;

		assert_int_equal(hash_index_find(&x, h, same_number, items, &i),
				 there[i] ? i : HASH_NONE);
		if (there[i])
			hash_index_remove(&x, h, i);
	}
	assert_int_equal(x.n, 0);
	for (size_t i = 0; i < x.size; i++)
		assert_int_equal(x.slots[i].number, 0);
	hash_index_deinit(&x);
}

static void test_removed(void **state)
{
	(void)state;
	come_and_go(UINT64_MAX);
	come_and_go(0x1f); /* long runs of slots */
}

/* Numbers that are their own hashes need no comparing. */
static void test_ids(void **state)
{
	struct hash_index x = { 0 };

	(void)state;
	assert_int_equal(hash_index_find_id(&x, 0), HASH_NONE);
	for (uint32_t i = 0; i < 3000; i++)
		hash_index_add_id(&x, i << 20 | i >> 12, i);
	for (uint32_t i = 0; i < 3000; i++) {
		assert_int_equal(hash_index_find_id(&x, i << 20 | i >> 12), i);
		assert_int_equal(hash_index_find_id(&x, i << 20 | i >> 12 | 0x80000), HASH_NONE);
	}
	hash_index_deinit(&x);
}

/* All of one hash are told, each once. */
static void test_same_hash(void **state)
{
	struct hash_index x = { 0 };
	size_t at = 0;
	uint32_t seen = 0, i;

	(void)state;
	for (i = 0; i < 60; i++)
		hash_index_add(&x, i % 3, i);
	while ((i = hash_index_next(&x, 1, &at)) != HASH_NONE) {
		assert_int_equal(i % 3, 1);
		seen++;
	}
	assert_int_equal(seen, 20);
	hash_index_deinit(&x);
}

static void test_hashes(void **state)
{
	(void)state;
	assert_true(hash_text(HASH_START, "a") != hash_text(HASH_START, "b"));
	assert_true(hash_text(HASH_START, "") != hash_text(HASH_START, NULL));
	/* Where one text ends and the next begins makes a difference. */
	assert_true(hash_text(hash_text(HASH_START, "ab"), "c") !=
		    hash_text(hash_text(HASH_START, "a"), "bc"));
	assert_true(hash_bytes(HASH_START, "ab", 2) == hash_bytes(HASH_START, "abc", 2));
	assert_true(hash_mix(hash_mix(HASH_START, 1), 2) != hash_mix(hash_mix(HASH_START, 2), 1));
}

/* By differences that cancel out whatever comes before, one name makes as many as one likes. */
static void test_chosen(void **state)
{
	uint64_t a[2] = { 0x6161616161616161, 0x6262626262626262 }, b[2];

	(void)state;
	b[0] = a[0] ^ 1ULL << 63;
	b[1] = a[1] ^ 1ULL << 63 ^ 1ULL << 34;
	assert_true(hash_bytes(1, a, sizeof(a)) == hash_bytes(1, b, sizeof(b)));
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t secret = hash_mix(HASH_START, i);

		assert_true(hash_secret(secret, a, sizeof(a)) != hash_secret(secret, b, sizeof(b)));
		assert_true(hash_secret(secret, a, 15) != hash_secret(secret, a, 16));
	}
	assert_true(hash_chosen(1, "a") == hash_chosen(1, "a"));
	assert_true(hash_chosen(1, "a") != hash_chosen(2, "a"));
	assert_true(hash_chosen(7, NULL) == 7);
	assert_true(hash_new_secret() != hash_new_secret());
	assert_true(hash_secret(1, a, sizeof(a)) != hash_secret(77, a, sizeof(a)));
	assert_true(hash_secret(1, a, sizeof(a)) == hash_secret(1, a, sizeof(a)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_again), cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_removed),	    cmocka_unit_test(test_ids),
		cmocka_unit_test(test_same_hash),   cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
