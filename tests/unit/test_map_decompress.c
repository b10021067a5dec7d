// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The methods of decompression: fed and drained in pieces of any size, and with damaged data; and
 * sections of a file that pass through them.
 */
#include "test_map_util.h"

#include "elf/decompress.h"
#include "elf/section_stream.h"

#define SIZE (3u << 20)

static const enum elf_compression methods[] = { ELF_ZLIB, ELF_ZSTD };

static uint8_t *make_text(void)
{
	uint8_t *text = xmalloc(SIZE);

	srandom(1);
	for (size_t i = 0; i < SIZE; i++)
		text[i] = i > 5000 && random() % 100 ? text[i - 4999] : random();
	return text;
}

static uint8_t *compress_by(enum elf_compression how, const uint8_t *text, size_t *n)
{
	uint8_t *out = xmalloc(2 * SIZE);
	uLongf room = 2 * SIZE;

	if (how == ELF_ZLIB) {
		assert_int_equal(compress(out, &room, text, SIZE), Z_OK);
		*n = room;
		return out;
	}
	/* Two frames, as linkers make them that compress on several cores. */
	*n = ZSTD_compress(out, 2 * SIZE, text, SIZE / 3, 3);
	assert_false(ZSTD_isError(*n));
	*n += ZSTD_compress(out + *n, 2 * SIZE - *n, text + SIZE / 3, SIZE - SIZE / 3, 19);
	return out;
}

/* Returns how much came out; that is compared with @text. */
static size_t run_through(enum elf_compression how, const uint8_t *in, size_t n_in, size_t feed,
			  size_t drain, const uint8_t *text, bool *damaged)
{
	struct decompressor d;
	size_t made = 0, idle = 0;
	_cleanup_free_ uint8_t *piece = xmalloc(drain);

	*damaged = false;
	assert_true(decompress_begin(&d, how));
	while (idle < 2) {
		size_t take = feed < n_in ? feed : n_in, out;

		if (!d.n_in) {
			d.in = in;
			d.n_in = take;
			in += take;
			n_in -= take;
		}
		take = d.n_in;
		d.out = piece;
		d.n_out = drain;
		if (!decompress_step(&d)) {
			*damaged = true;
			d.out = piece;
			d.n_out = drain;
			assert_false(decompress_step(&d)); /* and stays so */
			assert_int_equal(d.n_out, drain);
			break;
		}
		out = drain - d.n_out;
		if (text) {
			assert_true(made + out <= SIZE);
			assert_memory_equal(piece, text + made, out);
		}
		made += out;
		idle = !out && d.n_in == take ? idle + 1 : 0;
	}
	decompress_end(&d);
	decompress_end(&d); /* does no harm */
	return made;
}

static void test_pieces(void **state)
{
	static const size_t pieces[][2] = {
		{ 1 << 16, 1 << 20 }, { 2 * SIZE, 2 * SIZE }, { 7, 64 },
		{ 1, 2 * SIZE },      { 2 * SIZE, 100 },      { 1, 13 }
	};
	_cleanup_free_ uint8_t *text = make_text();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t n;
		_cleanup_free_ uint8_t *in = compress_by(methods[i], text, &n);

		for (size_t k = 0; k < ARRAY_SIZE(pieces); k++) {
			bool damaged;

			assert_int_equal(run_through(methods[i], in, n, pieces[k][0], pieces[k][1],
						     text, &damaged),
					 SIZE);
			assert_false(damaged);
		}
	}
}

static void test_cut_off(void **state)
{
	_cleanup_free_ uint8_t *text = make_text();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t n;
		_cleanup_free_ uint8_t *in = compress_by(methods[i], text, &n);

		for (size_t cut = 1; cut < n; cut += n / 40) {
			bool damaged;

			assert_true(run_through(methods[i], in, n - cut, 1 << 16, 1 << 18, text,
						&damaged) <= SIZE);
			assert_false(damaged);
		}
	}
}

static void test_damaged(void **state)
{
	_cleanup_free_ uint8_t *text = make_text();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t n, found = 0;
		_cleanup_free_ uint8_t *in = compress_by(methods[i], text, &n);

		for (int round = 0; round < 60; round++) {
			_cleanup_free_ uint8_t *bad = xmalloc(n);
			bool damaged;

			memcpy(bad, in, n);
			for (int k = 0; k < 4; k++)
				bad[random() % n] = random();
			run_through(methods[i], bad, n, 1 << 16, 1 << 18, NULL, &damaged);
			found += damaged;
		}
		assert_true(found > 20);
	}
}

static void test_unknown(void **state)
{
	struct decompressor d;

	(void)state;
	assert_false(decompress_begin(&d, ELF_PLAIN));
	assert_false(decompress_begin(&d, ELF_OTHER));
	decompress_end(&d);
}

static struct elf_image *open_image(const char *name)
{
	_cleanup_free_ char *path = in_scratch("%s", name);
	struct elf_image *image;

	assert_int_equal(elf_image_open(path, path, ELF_PROGRAMS, &image, NULL), 0);
	return image;
}

/* Forwards and backwards, in pieces small and large. */
static void compare_streams(const char *name, const char *other)
{
	struct elf_image *plain = open_image(name), *image = open_image(other);
	struct section_stream s;
	size_t size, refused = 0;
	const uint8_t *want = elf_image_section(plain, "debug_info", &size);

	assert_int_equal(size, SIZE);
	assert_null(section_stream_open(&s, image, "debug_info"));
	assert_true(s.compression != ELF_PLAIN);
	assert_int_equal(s.size, size);
	srandom(1);
	for (int i = 0; i < 60; i++) {
		size_t off = random() % size, n = random() % (size - off) >> random() % 8;
		const uint8_t *got = section_stream_get(&s, off, n + 1);

		assert_non_null(got);
		assert_memory_equal(got, want + off, n + 1);
	}
	assert_null(section_stream_get(&s, size, 1));
	assert_null(section_stream_get(&s, 5, size - 4));
	assert_null(s.trouble);
	/* But not backwards without end. */
	for (int i = 0; i < 200; i++)
		refused += !section_stream_get(&s, i % 2 ? 0 : size - 1, 1);
	assert_true(refused > 0);
	assert_non_null(s.trouble);
	section_stream_close(&s);
	elf_image_close(plain);
	elf_image_close(image);
}

static void test_streams(void **state)
{
	_cleanup_free_ char *path = in_scratch("bytes");
	_cleanup_free_ uint8_t *text = make_text();

	(void)state;
	write_file(path, text, SIZE);
	sh("echo 'int main(void) { return 0; }' >x.c && gcc x.c -o x && "
	   "objcopy --add-section .debug_info=bytes x large && for how in zlib zstd; do "
	   "objcopy --compress-debug-sections=$how large large-$how || exit 1; done");
	compare_streams("large", "large-zlib");
	compare_streams("large", "large-zstd");
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),	cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
