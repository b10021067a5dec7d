// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of programs compiled in many ways. The strongest check asks both ways: for every address
 * of the program, whatever a lookup reports must be what the ranges of a target say, and nothing
 * else may be in them.
 */
#include "elf/table_make.h"
#include "test_map_util.h"

#define PAD   "	asm volatile(\".skip 0x20, 0x90\");\n	sink++;\n"
#define PAD4  PAD PAD PAD PAD
#define PAD16 PAD4 PAD4 PAD4 PAD4

static const char sample[] =
	"#include <stdlib.h>\n"
	"volatile int sink, flag;\n"
	"__attribute__((always_inline)) static inline int inner(int x)\n"
	"{\n"
	"	for (int i = 0; i < x; i++)\n"
	"		sink += i * x; /* @inner */\n"
	"	return sink;\n"
	"}\n"
	"__attribute__((always_inline)) static inline int middle(int x)\n"
	"{\n"
	"	int y = inner(x + 1); /* @call-inner */\n"
	"	return y * 3; /* @middle */\n"
	"}\n"
	"__attribute__((noinline)) int work(int x)\n"
	"{\n"
	"	int a = middle(x); /* @call-middle */\n"
	"	if (flag) { /* @if */\n"
	"		sink = 1;\n"
	"		abort(); /* @cold */\n"
	"	}\n"
	"	sink = a; /* @store */\n"
	"	return a + inner(7); /* @call-inner-again */\n"
	"}\n"
	"__attribute__((noinline)) int other(int x)\n"
	"{\n"
	"	sink = x * 2; /* @other */\n"
	"	return middle(x - 1);\n"
	"}\n"
	"int unused(int x)\n"
	"{\n"
	"	sink += x; /* @unused */\n"
	/* If discarded and taken for code at 0, it would reach over all of the text. */
	"	asm volatile(\".skip 0xf00, 0x90\");\n" PAD16 PAD16 PAD16 PAD16
	"	return sink + x;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	return work(argc) + other(argc); /* @main */\n"
	"}\n";

static char *compile(const char *name, const char *flags)
{
	_cleanup_free_ char *source = in_scratch("sample.c");

	write_file(source, sample, strlen(sample));
	sh("gcc %s sample.c -o %s", flags, name);
	return in_scratch("%s", name);
}

static bool chain_has_function(const struct maptable *t, uint64_t addr, const char *function)
{
	struct map_frame f[MAP_MAX_INLINE];
	int n = maptable_lookup(t, addr, f, MAP_MAX_INLINE);

	for (int i = 0; i < n; i++) {
		if (!strcmp(f[i].function, function))
			return true;
	}
	return false;
}

static bool chain_has_line(const struct maptable *t, uint64_t addr, const char *file, uint32_t line)
{
	struct map_frame f[MAP_MAX_INLINE];
	int n = maptable_lookup(t, addr, f, MAP_MAX_INLINE);

	for (int i = 0; i < n; i++) {
		if (f[i].file && path_ends_with(f[i].file, file) && f[i].line == line)
			return true;
	}
	return false;
}

static void check_function_both_ways(const struct maptable *t, const char *function)
{
	struct addr_ranges all, r;
	struct error err;

	assert_int_equal(maptable_all_ranges(t, &all, &err), 0);
	if (maptable_function_ranges(t, function, &r, &err))
		fail_msg("%s", err.text);
	assert_true(r.n > 0);
	for (size_t i = 0; i < all.n; i++) {
		for (uint64_t a = all.r[i].start; a < all.r[i].end; a++)
			assert_int_equal(in_ranges(&r, a), chain_has_function(t, a, function));
	}
	addr_ranges_free(&all);
	addr_ranges_free(&r);
}

static void check_line_both_ways(const struct maptable *t, const char *mark)
{
	uint32_t line = line_of(sample, mark);
	struct addr_ranges all, r;
	struct error err;

	assert_int_equal(maptable_all_ranges(t, &all, &err), 0);
	if (maptable_lines_ranges(t, "sample.c", line, line, &r, &err))
		fail_msg("@%s: %s", mark, err.text);
	assert_true(r.n > 0);
	for (size_t i = 0; i < all.n; i++) {
		for (uint64_t a = all.r[i].start; a < all.r[i].end; a++)
			assert_int_equal(in_ranges(&r, a), chain_has_line(t, a, "sample.c", line));
	}
	for (size_t i = 1; i < r.n; i++)
		assert_true(r.r[i - 1].end < r.r[i].start);
	addr_ranges_free(&all);
	addr_ranges_free(&r);
}

static bool is_in(const struct addr_ranges *r, uint64_t addr)
{
	for (size_t i = 0; i < r->n; i++)
		if (addr >= r->r[i].start && addr < r->r[i].end)
			return true;
	return false;
}

/* Of several lines: all that each of them has, with or without code between them. */
static void check_lines(const struct maptable *t)
{
	uint32_t first = line_of(sample, "inner"), last = line_of(sample, "call-middle");
	struct addr_ranges all, one;
	uint64_t sum = 0, covered = 0;
	struct error err;

	if (first > last) {
		uint32_t l = first;

		first = last;
		last = l;
	}
	assert_int_equal(maptable_lines_ranges(t, "sample.c", first, last, &all, &err), 0);
	for (size_t i = 0; i < all.n; i++)
		sum += all.r[i].end - all.r[i].start;
	for (uint32_t line = first; line <= last; line++) {
		if (maptable_lines_ranges(t, "sample.c", line, line, &one, &err))
			continue;
		for (size_t i = 0; i < one.n; i++) {
			for (uint64_t a = one.r[i].start; a < one.r[i].end; a++) {
				assert_true(is_in(&all, a));
				covered++;
			}
		}
		addr_ranges_free(&one);
	}
	assert_true(sum > 0 && covered >= sum); /* lines share what is inlined into one of them */
	addr_ranges_free(&all);
	assert_int_equal(maptable_lines_ranges(t, "sample.c", 900, 999, &all, &err), -ENOENT);
}

/* work() -> middle() -> inner(), with the right line in every frame. */
static void check_chain(const struct maptable *t)
{
	struct map_frame f[MAP_MAX_INLINE];
	uint32_t line = line_of(sample, "inner");
	struct addr_ranges r;
	struct error err;
	bool found = false;

	assert_int_equal(maptable_lines_ranges(t, "sample.c", line, line, &r, &err), 0);
	for (size_t i = 0; i < r.n; i++) {
		for (uint64_t a = r.r[i].start; a < r.r[i].end; a++) {
			int n = maptable_lookup(t, a, f, MAP_MAX_INLINE);

			assert_true(n >= 1);
			assert_string_equal(f[0].function, "inner");
			if (n == 3 && !strcmp(f[2].function, "work")) {
				assert_string_equal(f[1].function, "middle");
				assert_int_equal(f[0].line, line);
				assert_int_equal(f[1].line, line_of(sample, "call-inner"));
				assert_int_equal(f[2].line, line_of(sample, "call-middle"));
				assert_true(path_ends_with(f[2].file, "sample.c"));
				/* Too little room: the ends of the chain are kept. */
				assert_int_equal(maptable_lookup(t, a, f, 2), 2);
				assert_string_equal(f[0].function, "inner");
				assert_string_equal(f[1].function, "work");
				found = true;
			}
		}
	}
	assert_true(found);
	addr_ranges_free(&r);
}

static void check_dwarf(const struct maptable *t)
{
	static const char *const marks[] = { "inner", "call-inner",	  "middle", "call-middle",
					     "store", "call-inner-again", "other",  "main" };
	static const char *const functions[] = { "inner", "middle", "work", "other", "main" };
	struct error err;
	const char *named;
	uint64_t addr, *v;
	size_t n;

	assert_int_equal(maptable_source(t), MAP_DWARF);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		check_line_both_ways(t, marks[i]);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		check_function_both_ways(t, functions[i]);
	check_chain(t);
	check_lines(t);
	assert_int_equal(maptable_function_address(t, "work", &addr, &err), 0);
	assert_true(chain_has_function(t, addr, "work"));
	assert_int_equal(maptable_function_address(t, "inner", &addr, &err), -ENOENT);
	assert_non_null(strstr(err.text, "inlined everywhere"));
	/* The line that it names is one of it. */
	named = strstr(err.text, "which counts all calls: ");
	assert_non_null(named);
	assert_int_equal(
		maptable_line_addresses(t, "sample.c", atoi(strrchr(named, ':') + 1), &v, &n, &err),
		0);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_true(chain_has_function(t, v[i], "inner"));
	free(v);
	assert_int_equal(
		maptable_line_addresses(t, "sample.c", line_of(sample, "store"), &v, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(chain_has_line(t, v[i], "sample.c", line_of(sample, "store")));
	free(v);
	assert_int_equal(maptable_line_addresses(t, "sample.c", 9999, &v, &n, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nearest line"));
	assert_int_equal(maptable_line_addresses(t, "nowhere.c", 1, &v, &n, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nowhere.c"));
}

static void test_flags(void **state)
{
	static const char *const flags[] = {
		"-O1 -gdwarf-2",
		"-O1 -gdwarf-3",
		"-O1 -gdwarf-4",
		"-O1 -gdwarf-5",
		"-O2 -gdwarf-5 -gdwarf64",
		"-O2 -gdwarf-4 -gdwarf64",
		"-O2 -g",
		"-O3 -g -fno-reorder-functions",
		"-O2 -g -gz=zlib",
		"-O2 -g -gz=zlib-gnu",
		"-O2 -g -gz=zstd",
		"-O2 -gdwarf-4 -gz=zstd -flto",
		"-O2 -gdwarf-5 -gz=zstd -gsplit-dwarf -g",
		"-O2 -gdwarf-4 -gsplit-dwarf -g",
		"-O2 -gdwarf-5 -gsplit-dwarf -g",
		"-O2 -g -flto -ffat-lto-objects",
		"-O2 -g -static",
		"-O2 -g -no-pie",
		"-O2 -gdwarf-4 -ffunction-sections -Wl,--gc-sections",
		"-O2 -gdwarf-5 -ffunction-sections -Wl,--gc-sections",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *path = NULL, *source = in_scratch("sample.c");
		_cleanup_free_ char *compiler = xasprintf("gcc %s", flags[i]);
		struct maptable *t;

		write_file(source, sample, strlen(sample));
		if (try_compile(compiler, "sample.c", "flags")) {
			print_message("left out, this gcc cannot: %s\n", flags[i]);
			continue;
		}
		print_message("gcc %s\n", flags[i]);
		path = in_scratch("flags");
		t = open_with(path, NULL);
		if (maptable_warning(t))
			fail_msg("warning: %s", maptable_warning(t));
		check_dwarf(t);
		maptable_free(t);
	}
}

static void test_discarded_sections(void **state)
{
	_cleanup_free_ char *path = NULL;
	uint32_t first = line_of(sample, "unused"), last = line_of(sample, "main");
	struct addr_ranges r;
	struct maptable *t;
	struct error err;

	(void)state;
	path = compile("gc", "-O1 -g -ffunction-sections -Wl,--gc-sections");
	t = open_with(path, NULL);
	for (uint32_t line = first; line < last - 5; line++)
		assert_int_equal(maptable_lines_ranges(t, "sample.c", line, line, &r, &err),
				 -ENOENT);
	assert_int_equal(maptable_function_ranges(t, "unused", &r, &err), -ENOENT);
	check_dwarf(t);
	maptable_free(t);
}

static void test_statements(void **state)
{
	_cleanup_free_ char *path = compile("O0", "-O0 -g");
	struct maptable *t = open_with(path, NULL);
	struct error err;
	uint64_t *v;
	size_t n;

	(void)state;
	assert_int_equal(
		maptable_line_addresses(t, "sample.c", line_of(sample, "store"), &v, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_true(chain_has_line(t, v[0], "sample.c", line_of(sample, "store")));
	/* The address before belongs to something else: it is where the line begins. */
	assert_false(chain_has_line(t, v[0] - 1, "sample.c", line_of(sample, "store")));
	free(v);
	maptable_free(t);
}

static void test_cold_part(void **state)
{
	_cleanup_free_ char *path = compile("cold", "-O2 -g -freorder-blocks-and-partition");
	_cleanup_free_ char *bare = in_scratch("cold-bare");
	struct maptable *t = open_with(path, NULL);
	struct addr_ranges dwarf, symtab;
	struct error err;
	uint64_t addr;

	(void)state;
	if (try_sh("nm cold | grep -q work.cold"))
		skip();
	assert_int_equal(maptable_function_ranges(t, "work", &dwarf, &err), 0);
	assert_int_equal(dwarf.n, 2);
	check_function_both_ways(t, "work");
	maptable_free(t);

	/* From the symbol table alone it is the same. */
	sh("objcopy --strip-debug cold cold-bare");
	t = open_with(bare, NULL);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	assert_int_equal(maptable_function_ranges(t, "work", &symtab, &err), 0);
	assert_int_equal(symtab.n, dwarf.n);
	assert_memory_equal(symtab.r, dwarf.r, dwarf.n * sizeof(*dwarf.r));
	assert_int_equal(maptable_function_address(t, "work", &addr, &err), 0);
	assert_true(addr == dwarf.r[0].start || addr == dwarf.r[1].start);
	addr_ranges_free(&dwarf);
	addr_ranges_free(&symtab);
	assert_int_equal(maptable_lines_ranges(t, "sample.c", 1, 1, &symtab, &err), -ENOENT);
	assert_non_null(strstr(err.text, "-g"));
	maptable_free(t);
}

static void test_stripped(void **state)
{
	_cleanup_free_ char *path = compile("stripped", "-O1 -s -rdynamic");
	struct maptable *t = open_with(path, NULL);
	struct map_frame f[2];
	struct error err;
	uint64_t addr;

	(void)state;
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	assert_int_equal(maptable_function_address(t, "work", &addr, &err), 0);
	assert_int_equal(maptable_lookup(t, addr + 1, f, 2), 1);
	assert_string_equal(f[0].function, "work");
	assert_null(f[0].file);
	assert_int_equal(maptable_function_address(t, "nothing", &addr, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(maptable_lookup(t, 0, f, 2), 0);
	assert_int_equal(maptable_lookup(t, UINT64_MAX, f, 2), 0);
	maptable_free(t);
}

static void test_offsets(void **state)
{
	_cleanup_free_ char *path = compile("offsets", "-O1 -g");
	struct maptable *t = open_with(path, NULL);
	uint64_t vaddr, offset, back;
	struct error err;

	(void)state;
	assert_int_equal(maptable_function_address(t, "work", &vaddr, &err), 0);
	assert_true(vaddr >= maptable_code_vaddr(t));
	assert_true(maptable_vaddr_to_offset(t, vaddr, &offset));
	assert_true(maptable_offset_to_vaddr(t, offset, &back));
	assert_int_equal(back, vaddr);
	assert_false(maptable_vaddr_to_offset(t, 1ULL << 60, &offset));
	assert_false(maptable_offset_to_vaddr(t, 1ULL << 60, &vaddr));
	assert_string_equal(maptable_name(t), path);
	maptable_free(t);
}

static void test_file_ranges(void **state)
{
	_cleanup_free_ char *path = compile("file", "-O2 -g");
	struct maptable *t = open_with(path, NULL);
	struct addr_ranges file, work;
	struct error err;

	(void)state;
	assert_int_equal(maptable_file_ranges(t, "*samp*.c", &file, &err), 0);
	assert_int_equal(maptable_function_ranges(t, "work", &work, &err), 0);
	for (size_t i = 0; i < work.n; i++) {
		for (uint64_t a = work.r[i].start; a < work.r[i].end; a++)
			assert_true(in_ranges(&file, a));
	}
	addr_ranges_free(&file);
	addr_ranges_free(&work);
	assert_int_equal(maptable_file_ranges(t, "sample.c", &file, &err), 0);
	addr_ranges_free(&file);
	assert_int_equal(maptable_file_ranges(t, "*.rs", &file, &err), -ENOENT);
	maptable_free(t);
}

static uint64_t the_one(const struct maptable *t, const char *function)
{
	_cleanup_free_ uint64_t *vaddrs = NULL;
	struct error err;
	size_t n;

	if (maptable_function_addresses(t, function, &vaddrs, &n, &err))
		fail_msg("%s", err.text);
	assert_int_equal(n, 1);
	return vaddrs[0];
}

/* Each overload by its parameters; all of them by none, and then they are listed. */
static void check_overloads(const struct maptable *t)
{
	uint64_t of_int = the_one(t, "ns::Thing::method(int)"), *vaddrs;
	_cleanup_free_ char *list = maptable_function_overloads(t, "Thing::method");
	struct addr_ranges r;
	struct error err;
	size_t n;

	assert_int_equal(the_one(t, "_ZN2ns5Thing6methodEi"), of_int);
	assert_int_equal(the_one(t, "method( int )"), of_int);
	assert_true(the_one(t, "ns::Thing::method(double)") != of_int);
	assert_true(the_one(t, "ns::Box<int>::get(int)") == the_one(t, "Box::get"));
	assert_int_equal(maptable_function_addresses(t, "ns::Thing::method", &vaddrs, &n, &err),
			 -ENOTUNIQ);
	assert_non_null(strstr(err.text, "ns::Thing::method(int)"));
	assert_non_null(strstr(err.text, "ns::Thing::method(double)"));
	assert_non_null(strstr(list, "ns::Thing::method(double)"));
	assert_null(maptable_function_overloads(t, "ns::Thing::method(int)"));
	assert_int_equal(maptable_function_ranges(t, "ns::Thing::method(int)", &r, &err), 0);
	assert_int_equal(r.r[0].start, of_int);
	addr_ranges_free(&r);
	assert_int_equal(maptable_function_addresses(t, "ns::Thing::methd", &vaddrs, &n, &err),
			 -ENOENT);
	assert_non_null(strstr(strstr(err.text, "the nearest name"), " ns::Thing::method"));
}

static void test_cplusplus(void **state)
{
	static const char source[] =
		"volatile int sink;\n"
		"namespace ns {\n"
		"template <class T> struct Box {\n"
		"	T v;\n"
		"	__attribute__((noinline)) T get(int x) { sink += x; return v; }\n"
		"};\n"
		"class Thing {\n"
		"public:\n"
		"	__attribute__((noinline)) int method(int x);\n"
		"	__attribute__((noinline)) int method(double x) { sink += x; return 2; }\n"
		"	static inline int quick(int x) { sink += x; return x * 3; }\n"
		"	__attribute__((noinline)) ~Thing() { sink++; }\n"
		"};\n"
		"int Thing::method(int x) { sink += quick(x); return sink; }\n"
		"}\n"
		"namespace { __attribute__((noinline)) int hidden(int x) { sink -= x; return sink; "
		"} }\n"
		"int main(int argc, char **)\n"
		"{\n"
		"	ns::Thing t; ns::Box<int> b; b.v = argc;\n"
		"	return t.method(argc) + t.method(1.5) + b.get(3) + hidden(argc);\n"
		"}\n";
	static const char *const same[] = { "ns::Thing::method", "Thing::method", "method" };
	_cleanup_free_ char *path = NULL, *bin = NULL, *bare = NULL;
	struct addr_ranges first = { 0 }, r;
	struct map_frame f[4];
	struct maptable *t;
	struct error err;
	uint64_t addr;

	(void)state;
	if (system("g++ --version >/dev/null 2>&1")) {
		print_message("skipped: no g++\n");
		skip();
	}
	path = in_scratch("cpp.cc");
	bin = in_scratch("cpp");
	bare = in_scratch("cpp-bare");
	write_file(path, source, strlen(source));
	for (int version = 3; version <= 5; version++) {
		sh("g++ -O2 -gdwarf-%d cpp.cc -o cpp", version);
		t = open_with(bin, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
			if (maptable_function_ranges(t, same[i], &r, &err))
				fail_msg("%s", err.text);
			if (i) {
				assert_int_equal(r.n, first.n);
				assert_memory_equal(r.r, first.r, r.n * sizeof(*r.r));
				addr_ranges_free(&r);
			} else {
				first = r;
			}
		}
		addr_ranges_free(&first);
		assert_int_equal(maptable_function_address(t, "_ZN2ns5Thing6methodEi", &addr, &err),
				 0);
		assert_true(maptable_lookup(t, addr, f, 4) >= 1);
		assert_string_equal(f[maptable_lookup(t, addr, f, 4) - 1].function,
				    "ns::Thing::method");
		assert_int_equal(maptable_function_ranges(t, "ns::Thing::quick", &r, &err), 0);
		addr_ranges_free(&r);
		assert_int_equal(maptable_function_address(t, "hidden", &addr, &err), 0);
		assert_int_equal(maptable_lookup(t, addr, f, 4), 1);
		assert_string_equal(f[0].function, "(anonymous namespace)::hidden");
		assert_int_equal(maptable_function_address(t, "ns::Box<int>::get", &addr, &err), 0);
		check_overloads(t);
		maptable_free(t);
	}
	sh("objcopy --strip-debug cpp cpp-bare");
	t = open_with(bare, NULL);
	assert_int_equal(maptable_function_address(t, "ns::Thing::method", &addr, &err), 0);
	assert_int_equal(maptable_function_address(t, "hidden", &addr, &err), 0);
	assert_int_equal(maptable_lookup(t, addr, f, 4), 1);
	assert_string_equal(f[0].function, "(anonymous namespace)::hidden");
	assert_int_equal(maptable_function_address(t, "ns::Box<int>::get", &addr, &err), 0);
	assert_int_equal(maptable_lookup(t, addr, f, 4), 1);
	assert_string_equal(f[0].function, "ns::Box<int>::get");
	check_overloads(t);
	maptable_free(t);
}

static const char chosen[] =
	"volatile int sink;\n"
	"static int work_fast(int x) { return sink += x; }\n"
	"int __work_slow(int x) { return sink -= x; }\n"
	"static void *choose(void) { return sink ? (void *)work_fast : (void *)__work_slow; }\n"
	"int work(int) __attribute__((ifunc(\"choose\")));\n"
	"#ifdef OLD\n"
	"int old_work(int x) { return sink = x; }\n"
	"__asm__(\".symver old_work, work@V1\");\n"
	"#endif\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

static const char copies[] =
	"volatile int sink;\n"
	"__attribute__((target_clones(\"avx2\", \"default\"), noinline)) int work(int x)\n"
	"{ return sink += x; }\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

static const char parallel[] =
	"#define LOOP _Pragma(\"omp parallel for\") for (int i = 0; i < n; i++)\n"
	"__attribute__((noinline)) void work(double *a, int n) { LOOP a[i] = a[i] * 1.5 + i; }\n"
	"__attribute__((noinline)) void worker(double *a, int n) { LOOP a[i] += i; }\n"
	"int main(int argc, char **argv) { (void)argv; double a[8] = { 0 };\n"
	"work(a, argc); worker(a, argc); return (int)a[1]; }\n";

static bool names_in(const struct maptable *t, const struct addr_ranges *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++) {
		for (uint64_t at = r->r[i].start; at < r->r[i].end; at++) {
			if (chain_has_function(t, at, name))
				return true;
		}
	}
	return false;
}

/* What threads enter without the function that it is a part of is a part of it all the same. */
static void test_outlined(void **state)
{
	static const char *const flags[] = { "-O2", "-O2 -g", "-x c++ -O2 -g" };
	_cleanup_free_ char *source = in_scratch("parallel.c");

	(void)state;
	write_file(source, parallel, strlen(parallel));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *path = in_scratch("parallel");
		_cleanup_free_ uint64_t *vaddrs = NULL;
		bool cpp = strstr(flags[i], "c++");
		const char *its = cpp ? "_Z4workPdi._omp_fn.0" : "work._omp_fn.0";
		const char *other = cpp ? "_Z6workerPdi._omp_fn.0" : "worker._omp_fn.0";
		struct addr_ranges ranges;
		struct error err = { 0 };
		struct maptable *t;
		size_t n;

		if (try_sh("gcc %s -fopenmp parallel.c -o parallel", flags[i])) {
			print_message("left out: no gcc with OpenMP for %s\n", flags[i]);
			continue;
		}
		t = open_with(path, NULL);
		assert_int_equal(maptable_function_ranges(t, "work", &ranges, &err), 0);
		assert_true(names_in(t, &ranges, "work"));
		assert_true(names_in(t, &ranges, its));
		assert_false(names_in(t, &ranges, other));
		addr_ranges_free(&ranges);
		/* Alone it can be asked for as well, and nobody calls it. */
		assert_int_equal(maptable_function_ranges(t, its, &ranges, &err), 0);
		assert_false(names_in(t, &ranges, "work"));
		addr_ranges_free(&ranges);
		assert_int_equal(maptable_function_addresses(t, "work", &vaddrs, &n, &err), 0);
		assert_int_equal(n, 1);
		maptable_free(t);
	}
}

/* A choice among copies of one function: debug information calls them all by its name. */
static void check_copies(void)
{
	_cleanup_free_ char *source = in_scratch("copies.c"), *path = in_scratch("copies");
	_cleanup_free_ uint64_t *vaddrs = NULL;
	struct addr_ranges ranges;
	struct error err = { 0 };
	struct maptable *t;
	size_t n;

	write_file(source, copies, strlen(copies));
	if (try_sh("gcc -O1 -g copies.c -o copies")) {
		print_message("left out: this gcc has no target_clones\n");
		return;
	}
	t = open_with(path, NULL);
	if (maptable_function_addresses(t, "work", &vaddrs, &n, &err))
		fail_msg("%s", err.text);
	assert_true(n > 0);
	assert_int_equal(maptable_function_ranges(t, "work", &ranges, &err), 0);
	assert_true(in_ranges(&ranges, vaddrs[0]) && in_ranges(&ranges, vaddrs[1]));
	addr_ranges_free(&ranges);
	maptable_free(t);
}

/* The symbol of an IFUNC is that of code that runs once, and no function that does its work. */
static void test_ifunc(void **state)
{
	static const char *const flags[] = {
		"-O1", "-O1 -g", "-O1 -s -rdynamic",
		"-O1 -DOLD -fPIC -shared -Wl,--version-script=chosen.map"
	};
	static const char versions[] = "V1 { work; }; V2 { work; __work_slow; };";
	_cleanup_free_ char *source = in_scratch("chosen.c"), *map = in_scratch("chosen.map");

	(void)state;
	check_copies();
	write_file(map, versions, strlen(versions));
	write_file(source, chosen, strlen(chosen));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *path = in_scratch("chosen");
		struct addr_ranges ranges;
		struct error err = { 0 };
		struct maptable *t;
		uint64_t vaddr;

		sh("gcc %s chosen.c -o chosen", flags[i]);
		t = open_with(path, NULL);
		assert_int_equal(maptable_function_ranges(t, "work", &ranges, &err), -ENOENT);
		if (!strstr(err.text, "chosen when the program starts") ||
		    !strstr(err.text, "__work_slow") || strstr(err.text, ".resolver") ||
		    !strstr(err.text, "bin:*/chosen") ||
		    !strstr(err.text, "work_fast") != !!strstr(flags[i], " -s "))
			fail_msg("%s: %s", flags[i], err.text);
		assert_int_equal(maptable_function_address(t, "work", &vaddr, &err), -ENOENT);
		assert_int_equal(maptable_function_ranges(t, "work.resolver", &ranges, &err), 0);
		addr_ranges_free(&ranges);
		assert_int_equal(maptable_function_ranges(t, "__work_slow", &ranges, &err), 0);
		addr_ranges_free(&ranges);
		maptable_free(t);
	}
}

static void test_errors(void **state)
{
	_cleanup_free_ char *missing = in_scratch("missing"), *text = in_scratch("text"),
			    *fifo = in_scratch("fifo"), *object = in_scratch("object.o");
	struct maptable *t;
	struct error err;

	(void)state;
	assert_int_equal(maptable_make(missing, missing, NULL, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, missing));
	write_file(text, "#!/bin/sh\n", 10);
	assert_int_equal(maptable_make(text, "shown-name", NULL, &t, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "): not an ELF file"));
	write_file(text, "", 0);
	assert_true(maptable_make(text, text, NULL, &t, &err) < 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(maptable_make(fifo, fifo, NULL, &t, &err), -ENOEXEC);
	assert_int_equal(maptable_make(scratch, scratch, NULL, &t, NULL), -ENOEXEC);
	sh("gcc -g -x c -c sample.c -o object.o");
	assert_int_equal(maptable_make(object, object, NULL, &t, &err), -ENOEXEC);
}

static void test_kallsyms(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 T startup\n"
				   "ffffffff81000100 t helper.isra.0\n"
				   "ffffffff81000200 T schedule\n"
				   "ffffffff81000280 D some_data\n"
				   "ffffffffc0001000 t mod_fn\t[ext4]\n"
				   "ffffffffc0001040 t mod_last\t[ext4]\n"
				   "not a line\n";
	static const char zeros[] = "0000000000000000 T _stext\n0000000000000000 T schedule\n";
	_cleanup_free_ char *path = in_scratch("proc/kallsyms");
	struct map_frame f[2];
	struct addr_ranges r;
	struct maptable *t;
	struct error err;

	(void)state;
	sysroot = scratch;
	assert_true(maptable_make_kallsyms(&t, &err) < 0);
	sh("mkdir -p proc");
	write_file(path, zeros, strlen(zeros));
	assert_int_equal(maptable_make_kallsyms(&t, &err), -EACCES);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	write_file(path, text, strlen(text));
	assert_int_equal(maptable_make_kallsyms(&t, &err), 0);
	assert_int_equal(maptable_source(t), MAP_KALLSYMS);
	assert_string_equal(maptable_name(t), "[kernel]");
	assert_int_equal(maptable_function_ranges(t, "schedule", &r, &err), 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.r[0].start, 0xffffffff81000200);
	assert_int_equal(r.r[0].end, 0xffffffff81000280);
	addr_ranges_free(&r);
	assert_int_equal(maptable_function_ranges(t, "helper", &r, &err), 0);
	addr_ranges_free(&r);
	assert_int_equal(maptable_lookup(t, 0xffffffff81000010, f, 2), 1);
	assert_string_equal(f[0].function, "startup");
	assert_int_equal(maptable_lookup(t, 0xffffffffc0001008, f, 2), 1);
	assert_string_equal(f[0].function, "mod_fn");
	assert_int_equal(maptable_lookup(t, 0xffffffff90000000, f, 2), 0);
	maptable_free(t);
	sysroot = "";
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags),	   cmocka_unit_test(test_discarded_sections),
		cmocka_unit_test(test_statements), cmocka_unit_test(test_cold_part),
		cmocka_unit_test(test_outlined),   cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_offsets),	   cmocka_unit_test(test_file_ranges),
		cmocka_unit_test(test_cplusplus),  cmocka_unit_test(test_ifunc),
		cmocka_unit_test(test_errors),	   cmocka_unit_test(test_kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
