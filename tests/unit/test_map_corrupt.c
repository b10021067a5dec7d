// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are not what they should be: cut off at every length, with bytes changed at random
 * (the same random ones every time), read as main file and as debug file. Each gives a table or an
 * error that names it; what it gives can be asked anything.
 */
#include "elf/table_make.h"
#include "test_map_util.h"

#include <elf.h>

static const char source[] =
	"#include <stdlib.h>\n"
	"volatile int sink;\n"
	"static inline int add(int a, int b) { if (a > 3) return a * b + rand(); return a + b; }\n"
	"static inline int twice(int n) { int r = 0; for (int i = 0; i < n; i++) r += add(r, i);\n"
	"	return r; }\n"
	"__attribute__((noinline)) int work(int x) { sink += twice(x) + twice(sink); return sink; "
	"}\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

/* Asks everything there is to ask. */
static void use(const struct maptable *t)
{
	struct map_frame f[MAP_MAX_INLINE];
	struct addr_ranges r;
	uint64_t *v, addr;
	size_t n;

	if (!maptable_all_ranges(t, &r, NULL)) {
		uint64_t step = (r.r[r.n - 1].end - r.r[0].start) / 200 + 1;

		for (uint64_t i = 0; i < 200; i++) {
			int k = maptable_lookup(t, r.r[0].start + i * step, f, MAP_MAX_INLINE);

			while (k-- > 0)
				assert_non_null(f[k].function);
		}
		addr_ranges_free(&r);
	}
	if (!maptable_function_ranges(t, "work", &r, NULL))
		addr_ranges_free(&r);
	if (!maptable_function_ranges(t, "add", &r, NULL))
		addr_ranges_free(&r);
	if (!maptable_lines_ranges(t, "corrupt.c", 3, 3, &r, NULL))
		addr_ranges_free(&r);
	if (!maptable_file_ranges(t, "*", &r, NULL))
		addr_ranges_free(&r);
	if (!maptable_line_addresses(t, "corrupt.c", 6, &v, &n, NULL))
		free(v);
	maptable_function_address(t, "main", &addr, NULL);
	maptable_offset_to_vaddr(t, 0x1000, &addr);
}

static const struct map_options kernel = { .kernel = true };
static size_t opened, refused;

static void open_any(const char *path, const struct map_options *opt)
{
	struct maptable *t = NULL;
	struct error err = { 0 };
	int rc = maptable_make(path, path, opt, &t, &err);

	if (rc) {
		assert_null(t);
		assert_int_equal(rc, err.code);
		assert_true(rc < 0);
		if (!strstr(err.text, path))
			fail_msg("the error does not name the file: %s", err.text);
		refused++;
	} else {
		use(t);
		maptable_free(t);
		opened++;
	}
}

static char *compile(const char *flags, size_t *size)
{
	_cleanup_free_ char *path = in_scratch("corrupt.c"), *out = in_scratch("corrupt");
	char *data;
	_cleanup_free_ char *gcc = xasprintf("gcc %s", flags);

	write_file(path, source, strlen(source));
	if (try_compile(gcc, "corrupt.c", "corrupt"))
		fail_msg("command failed: %s", gcc);
	data = read_file(out, size);
	assert_non_null(data);
	return data;
}

static const char *const variants[] = {
	"-O2 -gdwarf-5",	  "-O2 -gdwarf-4",	     "-O2 -gdwarf-2",
	"-O2 -gdwarf-5 -gz=zlib", "-O2 -gdwarf-5 -gdwarf64", "-O2 -gdwarf-5 -gz=zstd",
};

static void test_truncated(void **state)
{
	_cleanup_free_ char *path = in_scratch("cut");

	(void)state;
	for (size_t v = 0; v < ARRAY_SIZE(variants); v++) {
		size_t size;
		_cleanup_free_ char *data = compile(variants[v], &size);

		opened = refused = 0;
		for (size_t n = 0; n < size; n += 83) {
			write_file(path, data, n);
			open_any(path, NULL);
		}
		/* The section headers come last: without them it is always an error. */
		assert_int_equal(opened, 0);
		assert_true(refused > 100);
		for (size_t n = 0; n < size; n += 83) {
			write_file(path, data, n);
			open_any(path, &kernel);
		}
		assert_int_equal(opened, 0);
		write_file(path, data, size);
		open_any(path, NULL);
		open_any(path, &kernel);
		assert_int_equal(opened, 2);
	}
}

/* Where the interesting bytes are: headers, symbols and debug sections. */
static size_t interesting(const char *data, size_t size, size_t *at, size_t *len, size_t max)
{
	const Elf64_Ehdr *e = (const void *)data;
	const Elf64_Shdr *s = (const void *)(data + e->e_shoff);
	const char *names = data + s[e->e_shstrndx].sh_offset;
	size_t n = 0;

	at[n] = 0;
	len[n++] = sizeof(*e) + e->e_phnum * sizeof(Elf64_Phdr);
	at[n] = e->e_shoff;
	len[n++] = size - e->e_shoff;
	for (int i = 0; i < e->e_shnum && n < max; i++) {
		const char *name = names + s[i].sh_name;

		if (!s[i].sh_size || s[i].sh_type == SHT_NOBITS)
			continue;
		if (!strncmp(name, ".debug", 6) || !strcmp(name, ".symtab") ||
		    !strncmp(name, ".note", 5) || !strcmp(name, ".eh_frame")) {
			at[n] = s[i].sh_offset;
			len[n++] = s[i].sh_size;
		}
	}
	return n;
}

static Elf64_Shdr *section(char *data, const char *name)
{
	Elf64_Ehdr *e = (void *)data;
	Elf64_Shdr *s = (void *)(data + e->e_shoff);
	const char *names = data + s[e->e_shstrndx].sh_offset;

	for (int i = 0; i < e->e_shnum; i++) {
		if (!strcmp(names + s[i].sh_name, name))
			return &s[i];
	}
	fail_msg("no section %s", name);
	return NULL;
}

static void expect_warning(const char *path, const struct map_options *opt, const char *name,
			   const char *words)
{
	struct maptable *t = open_with(path, opt);
	const char *w = maptable_warning(t);

	if (!w || !strstr(w, path) || !strstr(w, words))
		fail_msg("%s: no \"%s\" in: %s", name, words, w ? w : "(no warning)");
	use(t);
	maptable_free(t);
}

/* What a damaged section is called, of programs and of kernel images. */
static void test_compressed(void **state)
{
	static const char *const names[] = { ".debug_info", ".debug_line", ".debug_abbrev",
					     ".debug_str" };
	_cleanup_free_ char *path = in_scratch("compressed"), *data = NULL;
	size_t size;

	(void)state;
	data = compile("-O2 -gdwarf-5 -gz=zstd", &size);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		/* In a file so small, not all sections are worth compressing. */
		Elf64_Shdr *s = section(data, names[i]), saved = *s;
		Elf64_Chdr *head = (void *)(data + s->sh_offset), good = *head;
		unsigned char *bytes = (void *)(head + 1), *copy;
		size_t n = s->sh_size - sizeof(*head);

		if (!(s->sh_flags & SHF_COMPRESSED)) {
			assert_true(i >= 2);
			continue;
		}
		assert_int_equal(head->ch_type, 2);
		copy = xmalloc(n);
		memcpy(copy, bytes, n);
		for (int k = 0; k < 2; k++) {
			const struct map_options *opt = k ? &kernel : NULL;

			memset(bytes, 0xff, n);
			write_file(path, data, size);
			expect_warning(path, opt, names[i], "its compressed data are damaged");
			memcpy(bytes, copy, n);

			s->sh_size -= n / 2;
			write_file(path, data, size);
			expect_warning(path, opt, names[i], "its compressed data end too early");
			*s = saved;

			head->ch_size += 1000;
			write_file(path, data, size);
			/* Line programs that no unit names are not missed in a stream. */
			if (i != 1)
				expect_warning(path, opt, names[i],
					       "its compressed data end too early");
			head->ch_size = 1ULL << 40;
			write_file(path, data, size);
			expect_warning(path, opt, names[i], "larger than it can be");
			*head = good;

			head->ch_type = 17;
			write_file(path, data, size);
			open_any(path, opt);
			*head = good;
		}
		free(copy);
	}
}

static void flip(const char *flags, int rounds, const char *path, const struct map_options *opt,
		 const char *open_path)
{
	size_t size, at[64], len[64], n;
	_cleanup_free_ char *data = compile(flags, &size), *bad = xmalloc(size);

	n = interesting(data, size, at, len, ARRAY_SIZE(at));
	for (int i = 0; i < rounds; i++) {
		static const unsigned char favourites[] = { 0, 1, 0x7f, 0x80, 0xff };

		memcpy(bad, data, size);
		for (int k = 1 << random() % 5; k > 0; k--) {
			/* Headers less often: after damage there, little else is read. */
			size_t s = random() % 16 ? 2 + random() % (n - 2) : (size_t)random() % 2;
			unsigned char byte = random() % 2 ? favourites[random() % 5] : random();

			bad[at[s] + random() % len[s]] = byte;
		}
		write_file(path, bad, size);
		open_any(open_path, opt);
	}
}

static void test_flipped(void **state)
{
	_cleanup_free_ char *path = in_scratch("flipped");
	const char *more = getenv("SCOZ_FUZZ_ROUNDS");

	(void)state;
	srandom(1);
	opened = refused = 0;
	for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
		flip(variants[v], more ? atoi(more) : 400, path, NULL, path);
	print_message("%zu opened, %zu refused\n", opened, refused);
	assert_true(opened > refused);
}

/* The reader for kernel images is another one; modules are relocated besides. */
static void test_flipped_kernel(void **state)
{
	_cleanup_free_ char *path = in_scratch("flipped");
	const char *more = getenv("SCOZ_FUZZ_ROUNDS");

	(void)state;
	srandom(3);
	opened = refused = 0;
	for (size_t v = 0; v < ARRAY_SIZE(variants); v++) {
		_cleanup_free_ char *module = xasprintf("-c %s", variants[v]);

		flip(variants[v], more ? atoi(more) : 400, path, &kernel, path);
		flip(module, more ? atoi(more) : 400, path, &kernel, path);
	}
	flip("-c -O2 -g -ffunction-sections", more ? atoi(more) : 400, path, &kernel, path);
	print_message("%zu opened, %zu refused\n", opened, refused);
	assert_true(opened > refused);
}

static void test_flipped_debug_file(void **state)
{
	_cleanup_free_ char *path = in_scratch("stripped"), *root = in_scratch("root"),
			    *debug = NULL, *id = NULL;
	const char *more = getenv("SCOZ_FUZZ_ROUNDS");
	struct map_options opt = { .debug_root = root };
	size_t size;

	(void)state;
	srandom(2);
	free(compile("-O2 -gdwarf-5 -Wl,--build-id=0x0123456789abcdef", &size));
	sh("strip -o stripped corrupt; mkdir -p root/.build-id/01");
	debug = in_scratch("root/.build-id/01/23456789abcdef.debug");
	id = build_id_of(path);
	assert_string_equal(id, "0123456789abcdef");
	opened = refused = 0;
	flip("-O2 -gdwarf-5 -Wl,--build-id=0x0123456789abcdef", more ? atoi(more) : 300, debug,
	     &opt, path);
	assert_int_equal(refused, 0);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),	   cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_flipped_kernel),	   cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_flipped_debug_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	if (sizeof(void *) != 8) {
		printf("skipped: written for 64-bit ELF files\n");
		return 77;
	}
	return run_in_scratch(run, true);
}
