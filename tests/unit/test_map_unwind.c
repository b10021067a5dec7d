// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs without symbols: functions by what unwinds the stack, and the linker's stubs. */
#include "test_map_util.h"

#include <elf.h>

static const char source[] = "#include <stdlib.h>\n"
			     "volatile int sink;\n"
			     "__attribute__((noinline)) static int work(int x)\n"
			     "{ for (int i = 0; i < x; i++) sink += rand() % x; return sink; }\n"
			     "__attribute__((noinline)) static int other(int x)\n"
			     "{ sink += x; return sink * work(x); }\n"
			     "int main(int argc, char **argv)\n"
			     "{ (void)argv; return work(argc) + other(argc); }\n";

struct program {
	char *path;
	struct addr_range work, other; /* as the symbol table tells */
};

static struct addr_range symbol(const char *path, const char *name)
{
	struct maptable *t = open_with(path, NULL);
	struct addr_ranges r;
	struct addr_range ret;

	assert_int_equal(maptable_function_ranges(t, name, &r, NULL), 0);
	assert_int_equal(r.n, 1);
	ret = r.r[0];
	addr_ranges_free(&r);
	maptable_free(t);
	return ret;
}

static struct program compile(const char *name, const char *flags)
{
	struct program p = { .path = in_scratch("%s", name) };
	_cleanup_free_ char *file = in_scratch("bare.c"), *full = in_scratch("%s.full", name);

	write_file(file, source, strlen(source));
	sh("gcc -O2 -fno-ipa-cp %s bare.c -o %s.full && strip -o %s %s.full", flags, name, name,
	   name);
	p.work = symbol(full, "work");
	p.other = symbol(full, "other");
	return p;
}

static void check(const struct program *p, const struct maptable *t)
{
	_cleanup_free_ char *name = xasprintf("0x%llx", (unsigned long long)p->work.start);
	_cleanup_free_ char *inside = xasprintf("0x%llx", (unsigned long long)p->other.start + 1);
	struct map_frame f[2];
	struct addr_ranges r;
	struct error err;

	assert_int_equal(maptable_source(t), MAP_UNWIND);
	assert_true(maptable_is_stripped(t));
	assert_int_equal(maptable_lookup(t, p->work.start, f, 2), 1);
	assert_string_equal(f[0].function, name);
	assert_null(f[0].file);
	assert_int_equal(maptable_lookup(t, p->work.end - 1, f, 2), 1);
	assert_string_equal(f[0].function, name);
	/* What a lookup says can be asked for; so can any address. */
	assert_int_equal(maptable_function_ranges(t, name, &r, &err), 0);
	assert_int_equal(r.n, 1);
	assert_memory_equal(r.r, &p->work, sizeof(p->work));
	addr_ranges_free(&r);
	assert_int_equal(maptable_function_ranges(t, inside, &r, &err), 0);
	assert_memory_equal(r.r, &p->other, sizeof(p->other));
	addr_ranges_free(&r);
	assert_int_equal(maptable_function_ranges(t, "0x1", &r, &err), -ENOENT);
	assert_int_equal(maptable_function_ranges(t, "0x", &r, &err), -ENOENT);
	assert_int_equal(maptable_function_ranges(t, "work", &r, &err), -ENOENT);
}

static void test_program(void **state)
{
	static const char *const flags[] = { "", "-no-pie", "-static" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct program p = compile("bare", flags[i]);
		struct maptable *t = open_with(p.path, NULL);

		check(&p, t);
		assert_true(maptable_is_program(t));
		maptable_free(t);
		free(p.path);
	}
}

static void test_library(void **state)
{
	struct program p = compile("libbare.so", "-shared -fPIC -fvisibility=hidden");
	struct maptable *t = open_with(p.path, NULL);

	(void)state;
	check(&p, t);
	assert_false(maptable_is_program(t));
	maptable_free(t);
	free(p.path);
}

/* Names that are known come first, and do not make the program less stripped. */
static void test_some_names(void **state)
{
	struct program p = compile("some", "-rdynamic");
	struct maptable *t = open_with(p.path, NULL);
	struct map_frame f[2];
	struct addr_ranges r;

	(void)state;
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	assert_true(maptable_is_stripped(t));
	assert_int_equal(maptable_function_ranges(t, "main", &r, NULL), 0);
	assert_int_equal(maptable_lookup(t, r.r[0].start, f, 2), 1);
	assert_string_equal(f[0].function, "main");
	addr_ranges_free(&r);
	assert_int_equal(maptable_lookup(t, p.work.start, f, 2), 1);
	assert_int_equal(strncmp(f[0].function, "0x", 2), 0);
	maptable_free(t);
	free(p.path);
}

/* Without section headers only the program header leads there. */
static void test_no_sections(void **state)
{
	struct program p = compile("headless", "");
	size_t size;
	_cleanup_free_ char *data = read_file(p.path, &size);
	Elf64_Ehdr *e = (void *)data;
	struct maptable *t;

	(void)state;
	e->e_shoff = 0;
	e->e_shnum = e->e_shstrndx = 0;
	write_file(p.path, data, size);
	t = open_with(p.path, NULL);
	check(&p, t);
	maptable_free(t);
	free(p.path);
}

static void test_stubs(void **state)
{
	struct program p = compile("stubs", "");
	size_t size;
	_cleanup_free_ char *data = read_file(p.path, &size);
	const Elf64_Ehdr *e = (const void *)data;
	const Elf64_Shdr *s = (const void *)(data + e->e_shoff);
	const char *names = data + s[e->e_shstrndx].sh_offset;
	struct maptable *t = open_with(p.path, NULL);
	struct map_frame f[2];
	int seen = 0;

	(void)state;
	for (int i = 0; i < e->e_shnum; i++) {
		if (strncmp(names + s[i].sh_name, ".plt", 4))
			continue;
		seen++;
		assert_int_equal(maptable_lookup(t, s[i].sh_addr + s[i].sh_size - 1, f, 2), 1);
		assert_string_equal(f[0].function, "[plt]");
	}
	assert_true(seen > 0);
	maptable_free(t);
	free(p.path);
}

/* Debug information knows names: nothing goes by its address then. */
static void test_with_debug_information(void **state)
{
	struct program p = compile("bare", "-g");
	_cleanup_free_ char *full = in_scratch("bare.full");
	struct maptable *t = open_with(full, NULL);
	struct map_frame f[2];

	(void)state;
	assert_false(maptable_is_stripped(t));
	for (uint64_t a = p.work.start; a < p.work.end; a++) {
		assert_int_equal(maptable_lookup(t, a, f, 2), 1);
		assert_string_equal(f[0].function, "work");
	}
	maptable_free(t);
	free(p.path);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),	   cmocka_unit_test(test_library),
		cmocka_unit_test(test_some_names), cmocka_unit_test(test_no_sections),
		cmocka_unit_test(test_stubs),	   cmocka_unit_test(test_with_debug_information),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
