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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_again),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
