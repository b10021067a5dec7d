// SPDX-License-Identifier: GPL-2.0-or-later
/* Line programs written byte by byte: what compilers do not produce on demand. */
#include "test_map_util.h"

#include "elf/dwarf_line.h"
#include "elf/dwarf_unit.h"

#include <dwarf.h>

#define TEXT	 0x1000
#define TEXT_END 0x3000

struct bytes {
	uint8_t b[4096];
	size_t n;
};

static void put(struct bytes *o, uint64_t v, size_t n)
{
	memcpy(o->b + o->n, &v, n);
	o->n += n;
}

static void put_uleb(struct bytes *o, uint64_t v)
{
	do {
		put(o, (v & 0x7f) | (v > 0x7f ? 0x80 : 0), 1);
		v >>= 7;
	} while (v);
}

static void put_sleb(struct bytes *o, int64_t v)
{
	bool more = true;

	while (more) {
		uint8_t byte = v & 0x7f;

		v >>= 7;
		more = !((v == 0 && !(byte & 0x40)) || (v == -1 && byte & 0x40));
		put(o, byte | (more ? 0x80 : 0), 1);
	}
}

static void put_string(struct bytes *o, const char *s)
{
	memcpy(o->b + o->n, s, strlen(s) + 1);
	o->n += strlen(s) + 1;
}

static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

/* A version 4 program with files "/src/a.c" (1), "sub/b.c" (2), "c.c" (3); line base -3, range 12.
 */
static void begin(struct bytes *o, uint8_t min_inst, uint8_t max_ops)
{
	size_t header;

	o->n = 0;
	put(o, 0, 4);
	put(o, 4, 2);
	put(o, 0, 4);
	header = o->n;
	put(o, min_inst, 1);
	put(o, max_ops, 1);
	put(o, 1, 1);
	put(o, (uint8_t)-3, 1);
	put(o, 12, 1);
	put(o, 13, 1);
	for (size_t i = 0; i < ARRAY_SIZE(operands); i++)
		put(o, operands[i], 1);
	put_string(o, "/src");
	put_string(o, "sub");
	put(o, 0, 1);
	put_string(o, "a.c");
	put_uleb(o, 1);
	put_uleb(o, 0);
	put_uleb(o, 0);
	put_string(o, "./b.c");
	put_uleb(o, 2);
	put_uleb(o, 0);
	put_uleb(o, 0);
	put_string(o, "../build//../lib/./../c.c");
	put_uleb(o, 2);
	put_uleb(o, 0);
	put_uleb(o, 0);
	put(o, 0, 1);
	header = o->n - header;
	memcpy(o->b + 6, &header, 4);
}

static void finish(struct bytes *o)
{
	uint32_t len = o->n - 4;

	memcpy(o->b, &len, 4);
}

static void set_address(struct bytes *o, uint64_t addr)
{
	put(o, 0, 1);
	put_uleb(o, 9);
	put(o, DW_LNE_set_address, 1);
	put(o, addr, 8);
}

static void end_sequence(struct bytes *o)
{
	put(o, 0, 1);
	put_uleb(o, 1);
	put(o, DW_LNE_end_sequence, 1);
}

/* A row @lines further down and @bytes further on. */
static void row(struct bytes *o, uint64_t bytes, int lines)
{
	put(o, DW_LNS_advance_pc, 1);
	put_uleb(o, bytes);
	put(o, DW_LNS_advance_line, 1);
	put_sleb(o, lines);
	put(o, DW_LNS_copy, 1);
}

static struct maptable *decode(const struct bytes *o, const char **why)
{
	struct table_identity id = { 0 };
	struct line_reader r = { 0 };
	struct table_builder b;
	struct maptable *t;

	builder_init(&b);
	builder_text(&b, TEXT, TEXT_END);
	builder_text_done(&b);
	r.b = &b;
	r.line = (struct section){ o->b, o->n };
	*why = line_program_read(&r, 0, "/comp");
	t = builder_finish(&b, MAP_DWARF, &id);
	t->name = xstrdup("hand-made");
	builder_deinit(&b);
	line_reader_deinit(&r);
	return t;
}

static void expect(const struct maptable *t, uint64_t addr, const char *file, uint32_t line)
{
	struct map_frame f = { 0 };
	int n = maptable_lookup(t, addr, &f, 1);

	if (!file) {
		assert_int_equal(n, 0);
		return;
	}
	assert_int_equal(n, 1);
	assert_string_equal(f.function, "[unknown]");
	assert_string_equal(f.file, file);
	assert_int_equal(f.line, line);
}

/* 16 bytes further the code ends; the table of it. */
static struct maptable *ended(struct bytes *o)
{
	struct maptable *t;
	const char *why;

	put(o, DW_LNS_advance_pc, 1);
	put_uleb(o, 0x10);
	end_sequence(o);
	finish(o);
	t = decode(o, &why);
	assert_null(why);
	return t;
}

static void test_plain(void **state)
{
	struct bytes o;
	struct maptable *t;

	(void)state;
	begin(&o, 1, 1);
	set_address(&o, TEXT);
	row(&o, 0, 9);			   /* 0x1000: 10 */
	put(&o, 13 + 12 * 4 + (3 + 2), 1); /* special: +4 bytes, +2 lines: 0x1004: 12 */
	put(&o, DW_LNS_const_add_pc, 1);   /* (255 - 13) / 12 = 20 */
	put(&o, DW_LNS_copy, 1);	   /* 0x1018: still 12 */
	put(&o, DW_LNS_fixed_advance_pc, 1);
	put(&o, 8, 2);
	put(&o, DW_LNS_set_file, 1);
	put_uleb(&o, 2);
	put(&o, DW_LNS_copy, 1); /* 0x1020: b.c:12 */
	put(&o, DW_LNS_set_column, 1);
	put_uleb(&o, 77);
	put(&o, DW_LNS_set_isa, 1);
	put_uleb(&o, 3);
	row(&o, 0x10, -11); /* 0x1030: b.c:1 */
	t = ended(&o);
	expect(t, TEXT - 1, NULL, 0);
	expect(t, TEXT, "/src/a.c", 10);
	expect(t, TEXT + 3, "/src/a.c", 10);
	expect(t, TEXT + 4, "/src/a.c", 12);
	expect(t, TEXT + 0x1f, "/src/a.c", 12);
	expect(t, TEXT + 0x20, "/comp/sub/b.c", 12);
	expect(t, TEXT + 0x30, "/comp/sub/b.c", 1);
	expect(t, TEXT + 0x3f, "/comp/sub/b.c", 1);
	expect(t, TEXT + 0x40, NULL, 0);
	maptable_free(t);
}

/* Build systems tell of sources from where they build. */
static void test_paths(void **state)
{
	static const struct {
		const char *given, *path;
	} paths[] = {
		{ "/home/u/A/build/../src/main.c", "/home/u/A/src/main.c" },
		{ "/../a/.././b/c.c", "/b/c.c" },
		{ "/a//b/../../../c.c", "/c.c" },
		{ "a/../c.c", "c.c" },
		{ "./a/./c.c", "a/c.c" },
		{ "../../src/./x/../c.c", "../../src/c.c" },
		{ "a/../../b/../c.c", "../c.c" },
		{ "..a/.../c..c", "..a/.../c..c" },
		{ "c.c", "c.c" },
		{ "", "" },
	};
	struct bytes o;
	struct maptable *t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_free_ char *path = path_normalized(paths[i].given);

		assert_string_equal(path, paths[i].path);
	}
	begin(&o, 1, 1);
	set_address(&o, TEXT);
	put(&o, DW_LNS_set_file, 1);
	put_uleb(&o, 3);
	row(&o, 0, 9);
	t = ended(&o);
	expect(t, TEXT, "/comp/c.c", 10);
	maptable_free(t);
}

/* A form that names itself, in more bits than forms have. */
static void test_indirect_form(void **state)
{
	enum { SIZE = 50 << 20 };
	static const uint8_t number[] = { 0x96, 0x80, 0xfc, 0xff, 0x0f }; /* 0xffff0016 */
	_cleanup_free_ uint8_t *bytes = xmalloc(SIZE);
	struct unit u = { .version = 4, .addr_size = 8, .offset_size = 4 };
	struct cursor c = { .p = bytes, .end = bytes + SIZE };

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = number[i % sizeof(number)];
	unit_skip_value(&u, &c, DW_FORM_indirect);
	assert_true(c.bad);
	assert_int_equal(c.p - bytes, sizeof(number));
}

static void test_instruction_lengths(void **state)
{
	struct bytes o;
	const char *why;
	struct maptable *t;

	(void)state;
	begin(&o, 4, 1);
	set_address(&o, TEXT);
	row(&o, 0, 0);
	row(&o, 2, 1); /* 2 instructions of 4 bytes */
	row(&o, 1, 1);
	end_sequence(&o);
	finish(&o);
	t = decode(&o, &why);
	expect(t, TEXT + 7, "/src/a.c", 1);
	expect(t, TEXT + 8, "/src/a.c", 2);
	expect(t, TEXT + 12, NULL, 0);
	maptable_free(t);

	/* Three operations in bundles of 16 bytes. */
	begin(&o, 16, 3);
	set_address(&o, TEXT);
	row(&o, 0, 0);
	row(&o, 4, 1);
	row(&o, 2, 1);
	row(&o, 3, 1);
	end_sequence(&o);
	finish(&o);
	t = decode(&o, &why);
	expect(t, TEXT + 15, "/src/a.c", 1);
	expect(t, TEXT + 16, "/src/a.c", 2);
	expect(t, TEXT + 32, "/src/a.c", 3);
	expect(t, TEXT + 48, NULL, 0);
	maptable_free(t);
}

static void test_discarded(void **state)
{
	static const uint64_t tombstones[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, 0x10 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tombstones); i++) {
		struct bytes o;
		const char *why;
		struct maptable *t;

		begin(&o, 1, 1);
		/* Longer than the way to the text. */
		set_address(&o, tombstones[i]);
		row(&o, 0, 99);
		row(&o, TEXT, 1);
		row(&o, 0x100, 1);
		end_sequence(&o);
		set_address(&o, TEXT + 0x80);
		row(&o, 0, 4);
		row(&o, 0x10, 0);
		end_sequence(&o);
		finish(&o);
		t = decode(&o, &why);
		assert_null(why);
		expect(t, TEXT, NULL, 0);
		expect(t, TEXT + 0x7f, NULL, 0);
		expect(t, TEXT + 0x80, "/src/a.c", 5);
		expect(t, TEXT + 0x90, NULL, 0);
		maptable_free(t);
	}
}

static void test_leaving_the_text(void **state)
{
	struct bytes o;
	const char *why;
	struct maptable *t;

	(void)state;
	begin(&o, 1, 1);
	set_address(&o, TEXT_END - 0x10);
	row(&o, 0, 1);
	row(&o, 0x100, 1);
	row(&o, 0x100, 1);
	end_sequence(&o);
	finish(&o);
	t = decode(&o, &why);
	expect(t, TEXT_END - 1, "/src/a.c", 2);
	expect(t, TEXT_END, NULL, 0);
	maptable_free(t);
}

static void test_statements(void **state)
{
	struct bytes o;
	const char *why;
	struct maptable *t;
	struct error err;
	uint64_t *v;
	size_t n;

	(void)state;
	begin(&o, 1, 1);
	set_address(&o, TEXT);
	row(&o, 0, 9);	  /* 0x1000: 10 */
	row(&o, 0x10, 1); /* 0x1010: 11, without code of its own */
	row(&o, 0, 1);	  /* 0x1010: 12 */
	put(&o, DW_LNS_negate_stmt, 1);
	row(&o, 0x10, -2); /* 0x1020: 10, in the middle of a statement */
	put(&o, DW_LNS_negate_stmt, 1);
	row(&o, 0x10, 0);  /* 0x1030: 10 begins again */
	row(&o, 0x10, 0);  /* and goes on: nothing new */
	row(&o, 0x10, 10); /* 0x1050: 20 */
	put(&o, DW_LNS_advance_pc, 1);
	put_uleb(&o, 1);
	end_sequence(&o);
	finish(&o);
	t = decode(&o, &why);
	expect(t, TEXT + 0x10, "/src/a.c", 12);
	expect(t, TEXT + 0x20, "/src/a.c", 10);
	assert_int_equal(maptable_line_addresses(t, "a.c", 10, &v, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(v[0], TEXT);
	assert_int_equal(v[1], TEXT + 0x30);
	free(v);
	assert_int_equal(maptable_line_addresses(t, "src/a.c", 11, &v, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(v[0], TEXT + 0x10);
	free(v);
	assert_int_equal(maptable_line_addresses(t, "c/a.c", 10, &v, &n, &err), -ENOENT);
	assert_int_equal(maptable_line_addresses(t, "a.c", 15, &v, &n, &err), -ENOENT);
	assert_non_null(strstr(err.text, "12 and 20"));
	maptable_free(t);
}

static void test_overlapping(void **state)
{
	struct bytes o;
	const char *why;
	struct maptable *t;

	(void)state;
	begin(&o, 1, 1);
	/* Out of order, and the second reaches into the first. */
	set_address(&o, TEXT + 0x100);
	row(&o, 0, 0);
	row(&o, 0x80, 1);
	put(&o, DW_LNS_advance_pc, 1);
	put_uleb(&o, 0x80);
	end_sequence(&o);
	set_address(&o, TEXT + 0x180);
	row(&o, 0, 99);
	row(&o, 0x100, 1);
	put(&o, DW_LNS_advance_pc, 1);
	put_uleb(&o, 0x10);
	end_sequence(&o);
	/* Backwards inside a sequence. */
	set_address(&o, TEXT + 0x50);
	row(&o, 0, 49);
	set_address(&o, TEXT + 0x40);
	put(&o, DW_LNS_copy, 1);
	put(&o, DW_LNS_advance_pc, 1);
	put_uleb(&o, 8);
	end_sequence(&o);
	finish(&o);
	t = decode(&o, &why);
	expect(t, TEXT + 0x40, "/src/a.c", 50);
	expect(t, TEXT + 0x48, NULL, 0);
	expect(t, TEXT + 0x100, "/src/a.c", 1);
	expect(t, TEXT + 0x1ff, "/src/a.c", 2);
	expect(t, TEXT + 0x200, "/src/a.c", 100);
	expect(t, TEXT + 0x280, "/src/a.c", 101);
	expect(t, TEXT + 0x28f, "/src/a.c", 101);
	expect(t, TEXT + 0x290, NULL, 0);
	maptable_free(t);
}

static void test_malformed(void **state)
{
	struct bytes good, o;
	const char *why;

	(void)state;
	begin(&good, 1, 1);
	set_address(&good, TEXT);
	row(&good, 0, 9);
	row(&good, 4, 1);
	end_sequence(&good);
	finish(&good);
	/* Cut off anywhere. */
	for (size_t n = 0; n < good.n; n++) {
		o = good;
		o.n = n;
		maptable_free(decode(&o, &why));
		assert_non_null(why);
		if (n > 4) {
			finish(&o);
			maptable_free(decode(&o, &why));
		}
	}
	/* Every byte changed in every way that makes a difference. */
	for (size_t i = 0; i < good.n; i++) {
		for (int v = 0; v < 256; v++) {
			o = good;
			o.b[i] = v;
			maptable_free(decode(&o, &why));
		}
	}
	o = good;
	o.b[4] = 9;
	maptable_free(decode(&o, &why));
	assert_string_equal(why, "version 9: none of 2 to 5");
	o.b[4] = 1;
	o.b[5] = 1;
	maptable_free(decode(&o, &why));
	assert_string_equal(why, "version 257: none of 2 to 5");
	o = good;
	o.b[0]++;
	maptable_free(decode(&o, &why));
	assert_non_null(strstr(why, "its length, 0x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	      cmocka_unit_test(test_paths),
		cmocka_unit_test(test_indirect_form), cmocka_unit_test(test_instruction_lengths),
		cmocka_unit_test(test_discarded),     cmocka_unit_test(test_leaving_the_text),
		cmocka_unit_test(test_statements),    cmocka_unit_test(test_overlapping),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
