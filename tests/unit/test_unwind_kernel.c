// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind tables as BPF programs read them: the same rule everywhere; and chains that come by rings.
 */
#include "test_map_util.h"

#include "ring/perf_ring.h"
#include "unwind/kernel_tables.h"
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>

/* As engine/bpf/unwind.bpf.h does it. */
static uint32_t search_block(const union unwind_block *b, uint32_t off)
{
	uint32_t i = 0;

	for (uint32_t step = UNWIND_FANOUT / 2; step; step /= 2)
		i += b->off[i + step] <= off ? step : 0;
	return i;
}

static const struct unwind_kernel_rule *find(const union unwind_block *b, size_t n, uint32_t off)
{
	uint32_t number, block;

	if (b->off[0] > off)
		return NULL;
	number = search_block(b, off);
	if (b->root.deep) {
		assert_true(1 + number < n);
		number = number * UNWIND_FANOUT + search_block(&b[1 + number], off);
	}
	block = b->root.leaves + number;
	assert_true(block < n);
	number = b[block].rule[search_block(&b[block], off)];
	block = b->root.rules + number / UNWIND_BLOCK_RULES;
	assert_true(block < n);
	return &b[block].rules[number % UNWIND_BLOCK_RULES];
}

static void assert_same(const struct unwind_table *t, const union unwind_block *b, size_t n,
			uint32_t off)
{
	const struct unwind_rule *want = unwind_table_find(t, t->h->base + off);
	const struct unwind_kernel_rule *got = find(b, n, off);

	if (!got) {
		assert_int_equal(want->cfa, UNWIND_NOTHING);
		return;
	}
	assert_int_equal(got->cfa, want->cfa);
	assert_int_equal(got->cfa_reg, want->cfa_reg);
	assert_int_equal(got->signal, want->signal);
	assert_int_equal(got->cfa_off, want->cfa_off);
	assert_int_equal(got->cfa_add, want->cfa_add);
	for (int i = 0; i < UNWIND_FOLLOWED; i++) {
		assert_int_equal(got->place[i], want->at[i].place);
		assert_int_equal(got->reg[i], want->at[i].reg);
		assert_int_equal(got->off[i], want->at[i].off);
	}
}

static void check_all(const struct unwind_table *t)
{
	union unwind_block *b;
	size_t n = 0;

	b = kernel_tables_lay_out(t, &n);
	assert_non_null(b);
	for (uint32_t i = 0; i < t->h->n_row; i++) {
		assert_same(t, b, n, t->off[i]);
		if (t->off[i])
			assert_same(t, b, n, t->off[i] - 1);
		assert_same(t, b, n, t->off[i] + 1);
	}
	assert_same(t, b, n, UINT32_MAX - 1);
	free(b);
}

static void test_real_tables(void **state)
{
	static const char *const files[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct unwind_table *t;
		struct error err;
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		if (unwind_table_read(fd, files[i], &t, &err))
			fail_msg("%s", err.text);
		check_all(t);
		unwind_table_free(t);
	}
}

/* @n rows, of @rules rules. */
static struct unwind_table *table_of(uint32_t n, uint32_t rules, uint32_t first)
{
	struct unwind_header h = { .magic = UNWIND_MAGIC,
				   .version = UNWIND_VERSION,
				   .endian = UNWIND_ENDIAN,
				   .base = 0x1000,
				   .machine = EM_X86_64,
				   .n_row = n,
				   .n_rule = rules };
	struct unwind_rule *r;
	uint16_t *rule;
	uint32_t *off;
	char *mem;

	h.size = sizeof(h) + rules * sizeof(*r) + (uint64_t)n * 6;
	mem = xcalloc(1, h.size);
	memcpy(mem, &h, sizeof(h));
	r = (void *)(mem + sizeof(h));
	off = (void *)(r + rules);
	rule = (void *)(off + n);
	for (uint32_t i = 0; i < rules; i++)
		r[i] = (struct unwind_rule){ .cfa = UNWIND_REG, .cfa_reg = 7, .cfa_off = (int)i };
	for (uint32_t i = 0; i < n; i++) {
		off[i] = first + 3 * i;
		rule[i] = i % rules;
	}
	return unwind_table_attach(mem, h.size, false);
}

/* Whatever there is at the edges of a block, and of an index. */
static void test_sizes(void **state)
{
	static const uint32_t rows[] = {
		1, 2, 511, 512, 513, 1024, 512 * 512 - 1, 512 * 512, 512 * 512 + 1, 600000
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct unwind_table *t = table_of(rows[i], i % 2 ? 64 : 1000, i % 3);

		assert_non_null(t);
		check_all(t);
		unwind_table_free(t);
	}
}

static int inner_id(int tables, uint32_t number)
{
	uint32_t id = 0;

	return bpf_map_lookup_elem(tables, &number, &id) ? 0 : (int)id;
}

/*
 * The number of a table that nobody needs any more is the next one's, which then is what programs
 * find there; and what the tables take is what they take.
 */
static void test_numbers(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_INNER_MAP);
	LIBBPF_OPTS(bpf_map_create_opts, outer);
	struct kernel_tables k = { 0 };
	struct unwind_table *small = table_of(10, 1, 0), *large = table_of(5000, 1, 0);
	uint32_t a, b, c, d, serial;
	uint64_t one, both;
	int id;

	(void)state;
	outer.inner_map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", 4,
					    sizeof(union unwind_block), 1, &inner);
	if ((int)outer.inner_map_fd < 0)
		skip(); /* root only */
	k.maps.tables = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", 4, 4, 16, &outer);
	assert_true(k.maps.tables >= 0);
	assert_int_equal(kernel_tables_add(&k, small, "small", &a, NULL), 0);
	one = k.bytes;
	assert_int_equal(kernel_tables_add(&k, small, "small", &b, NULL), 0);
	assert_int_equal(kernel_tables_flush(&k), 0);
	both = k.bytes;
	assert_true(both == 2 * one);
	serial = k.table[b].serial;
	assert_true(k.table[a].serial && serial && serial != k.table[a].serial);
	id = inner_id(k.maps.tables, b);
	assert_true(id && id != inner_id(k.maps.tables, a));
	kernel_tables_drop(&k, b);
	assert_int_equal(kernel_tables_count(&k), 1);
	assert_int_equal(kernel_tables_add(&k, large, "large", &c, NULL), 0);
	assert_int_equal(c, b);
	assert_true(k.table[c].serial != serial && k.table[c].serial != k.table[a].serial);
	assert_int_equal(kernel_tables_flush(&k), 0);
	assert_true(inner_id(k.maps.tables, c) && inner_id(k.maps.tables, c) != id);
	assert_true(k.bytes > both);
	/* One that programs have never known. */
	both = k.bytes;
	assert_int_equal(kernel_tables_add(&k, large, "large", &d, NULL), 0);
	kernel_tables_drop(&k, d);
	assert_int_equal(k.bytes, both);
	assert_int_equal(kernel_tables_flush(&k), 0);
	assert_int_equal(inner_id(k.maps.tables, d), 0);
	assert_int_equal(kernel_tables_count(&k), 2);
	kernel_tables_deinit(&k);
	close(k.maps.tables);
	close(outer.inner_map_fd);
	unwind_table_free(small);
	unwind_table_free(large);
}

struct record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t n, kernel[2];
	uint32_t raw, words;
	uint64_t user[4];
};

static struct unwind_space space_of(uint32_t n, const struct unwind_mapping *map)
{
	struct unwind_space s = { .start_code = 0x1000, .start_stack = 0x9000, .n = n };

	memcpy(s.map, map, n * sizeof(*map));
	return s;
}

/* Records are late: what programs have learned meanwhile is not written over by less. */
static void test_space_lacks(void **state)
{
	const struct unwind_mapping map[] = {
		{ .start = 0x1000, .end = 0x2000, .table = 1 },
		{ .start = 0x3000, .end = 0x5000, .table = 2 },
	};
	const struct unwind_mapping other = { .start = 0x4000, .end = 0x6000 };
	struct unwind_space early = space_of(1, map), late = space_of(2, map), theirs;

	(void)state;
	assert_true(unwind_space_lacks(&early, &late));
	assert_false(unwind_space_lacks(&late, &early));
	assert_false(unwind_space_lacks(&late, &late));

	theirs = late;
	theirs.map[1].table = 0; /* worth nothing */
	assert_false(unwind_space_lacks(&early, &theirs));
	theirs = late;
	theirs.start_stack = 0x9010; /* another image */
	assert_false(unwind_space_lacks(&early, &theirs));
	late.map[1] = other; /* something else has come there */
	theirs = space_of(2, map);
	assert_false(unwind_space_lacks(&late, &theirs));

	/* They know that there is more, but not yet what. */
	theirs = early;
	theirs.n_maps = UNWIND_MAPS_GROWN;
	assert_true(unwind_space_lacks(&early, &theirs));
	assert_false(unwind_space_lacks(&late, &theirs));
}

static void test_chain_in_a_ring(void **state)
{
	struct record r = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(r) },
			    .pid = 7,
			    .n = 2,
			    .raw = sizeof(uint32_t) + 4 * sizeof(uint64_t),
			    .words = 3,
			    .user = { 1, 2, 3, 4 } };
	struct ring_sample s;

	(void)state;
	assert_true(ring_decode_sample(&r.header, &s));
	assert_int_equal(s.n_chain, 2);
	assert_ptr_equal(s.user, r.user);
	assert_int_equal(s.n_user, 3);
	/* As perf writes it: nothing follows. */
	r.header.size = offsetof(struct record, raw);
	assert_true(ring_decode_sample(&r.header, &s));
	assert_null(s.user);
	r.header.size = sizeof(r);
	/* More words than there are bytes; more bytes than the record has; none. */
	r.words = 5;
	assert_true(ring_decode_sample(&r.header, &s));
	assert_null(s.user);
	r.words = UINT32_MAX;
	assert_true(ring_decode_sample(&r.header, &s));
	assert_null(s.user);
	r.words = 3;
	r.raw = sizeof(uint32_t) + 5 * sizeof(uint64_t);
	assert_true(ring_decode_sample(&r.header, &s));
	assert_null(s.user);
	r.raw = 0;
	assert_true(ring_decode_sample(&r.header, &s));
	assert_null(s.user);
	r.n = 8; /* the chain takes it all */
	assert_false(ring_decode_sample(&r.header, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_tables),	cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers),		cmocka_unit_test(test_space_lacks),
		cmocka_unit_test(test_chain_in_a_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
