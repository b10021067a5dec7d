// SPDX-License-Identifier: GPL-2.0-or-later
/* include/scoz.h as compilers and linkers treat it: where marks are found, and what they cost. */
#include "test_marks.d/common.h"

#include <fcntl.h>
#include <gelf.h>

static const char *const compilers[] = { "gcc -std=gnu11",   "gcc -std=c99 -D_GNU_SOURCE",
					 "g++ -x c++",	     "g++ -x c++ -std=c++20",
					 "clang -std=gnu11", "clang++ -x c++" };

struct expected {
	const char *name;
	enum mark_kind kind;
	size_t seen;
};

static void check_sites(const char *path, bool cxx, const char *what)
{
	struct expected expect[] = {
		{ "hot", MARK_PROGRESS, 0 },
		{ "request", MARK_BEGIN, 0 },
		{ "request", MARK_END, 0 },
		{ "loop", MARK_PROGRESS, 0 },
		{ "test_marks.d/program.c:", MARK_PROGRESS, 0 },
		{ "odd %d {a|b} \"q\" \\ \xc3\xa9", MARK_PROGRESS, 0 },
		{ "coz", MARK_BEGIN, 0 },
		{ "coz", MARK_END, 0 },
		{ "the end", MARK_PROGRESS, 0 },
		{ "tick", MARK_PROGRESS, 0 },
		{ "step", MARK_PROGRESS, 0 },
		{ "template", MARK_PROGRESS, 0 },
	};
	_cleanup_close_ int fd = open(path, O_RDONLY);
	struct error err = { 0 };
	struct mark_site *sites;
	size_t n, known = 0;

	if (find_sites(path, &sites, &n, &err))
		fail_msg("%s: %s", what, err.text);
	for (size_t i = 0; i < n; i++) {
		unsigned char code[5] = { 0 };
		uint16_t semaphore = 1;

		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(sites[i].probe_offset, sites[k].probe_offset);
			assert_int_not_equal(sites[i].semaphore_offset, sites[k].semaphore_offset);
		}
		for (size_t k = 0; k < ARRAY_SIZE(expect); k++) {
			if (expect[k].kind == sites[i].kind &&
			    strstr(sites[i].name, expect[k].name)) {
				expect[k].seen++;
				known++;
			}
		}
		assert_int_equal(pread(fd, code, 5, sites[i].probe_offset), 5);
#ifdef __x86_64__
		assert_memory_equal(code, "\x0f\x1f\x44\x00\x00", 5);
#endif
		assert_int_equal(pread(fd, &semaphore, 2, sites[i].semaphore_offset), 2);
		assert_int_equal(semaphore, 0);
	}
	if (known != n)
		fail_msg("%s: %zu of %zu sites have unknown names", what, n - known, n);
	for (size_t k = 0; k < ARRAY_SIZE(expect); k++)
		if (!expect[k].seen && (cxx || strcmp(expect[k].name, "template")))
			fail_msg("%s: mark '%s' is missing", what, expect[k].name);
	mark_sites_free(sites, n);
}

static void test_sites(void **state)
{
	static const char *const flags[] = {
		"-O0",
		"-O0 -fno-pie -no-pie",
		"-O2 -fPIE -pie",
		"-O2 -fno-pie -no-pie",
		"-O3 -fPIC -flto",
		"-Os -static",
		"-O1 -g -ffunction-sections -Wl,--gc-sections",
	};

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(compilers); c++) {
		for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
			_cleanup_free_ char *what = xasprintf("%s %s", compilers[c], flags[f]);
			_cleanup_free_ char *path = NULL;

			/* clang needs the linker's plugin for LTO, which may not be there */
			if (strstr(what, "clang") && strstr(what, "-flto"))
				continue;
			path = build(compilers[c], flags[f], "sites");
			if (path)
				check_sites(path, strstr(compilers[c], "++"), what);
		}
	}
}

static void test_sanitizers_and_dialects(void **state)
{
	static const char *const flags[] = { "-O1 -fsanitize=address,undefined",
					     "-O1 -fsanitize=thread", "-O2 -masm=intel",
					     "-O2 -pedantic -Wconversion -Wshadow",
					     "-O2 -fcf-protection=full" };

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
		for (int clang = 0; clang < 2; clang++) {
			_cleanup_free_ char *path = NULL;

			if (clang && strstr(flags[f], "conversion"))
				continue;
			/* a compiler may be installed without its sanitizers' libraries */
			if (strstr(flags[f], "sanitize") &&
			    run("echo 'int main(void) { return 0; }' | %s %s -x c - -o %s/nothing "
				"2>/dev/null",
				clang ? "clang" : "gcc", flags[f], test_dir)) {
				printf("%s %s: not installed\n", clang ? "clang" : "gcc", flags[f]);
				continue;
			}
			path = build(clang ? "clang" : "gcc", flags[f], "variant");
			if (!path)
				continue;
			check_sites(path, false, flags[f]);
			assert_int_equal(run("%s count 10", path), 0);
		}
	}
}

static void test_disabled(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2 -DSCOZ_DISABLE", "disabled");
	struct mark_site *sites;
	size_t n = 1;

	(void)state;
	assert_int_equal(find_sites(path, &sites, &n, NULL), 0);
	assert_int_equal(n, 0);
	assert_null(sites);
	assert_int_equal(run("%s count 10", path), 0);
}

static void test_stripped(void **state)
{
	static const char *const strips[] = { "strip -s", "strip --strip-unneeded",
					      "llvm-strip --strip-all", "eu-strip" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(strips); i++) {
		_cleanup_free_ char *tool = xstrndup(strips[i], strcspn(strips[i], " "));
		_cleanup_free_ char *path = NULL;

		if (!have(tool))
			continue;
		path = build("gcc", "-O2", "stripped");
		assert_int_equal(run("%s %s", strips[i], path), 0);
		check_sites(path, false, strips[i]);
	}
}

static void write_text(const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", test_dir, name);
	_cleanup_fclose_ FILE *f = fopen(path, "w");

	fputs(text, f);
}

/* One inline function in two translation units: the linker keeps one copy, with all its parts. */
static void test_groups(void **state)
{
	_cleanup_free_ char *path = xasprintf("%s/groups", test_dir);
	struct mark_site *sites;
	size_t n, kept = 0;

	(void)state;
	if (!have("g++"))
		skip();
	write_text("g.h", "#include <scoz.h>\n"
			  "__attribute__((noinline)) inline void shared() {\n"
			  "	SCOZ_PROGRESS_NAMED(\"kept\"); }\n");
	write_text("g1.cc", "#include \"g.h\"\nvoid other();\n"
			    "int main() { shared(); other(); }\n");
	write_text("g2.cc", "#include \"g.h\"\nvoid other() { shared(); }\n");
	for (int lld = 0; lld < 2; lld++) {
		if (lld && !have("ld.lld"))
			continue;
		assert_int_equal(run("cd %s && g++ -O0 -I$OLDPWD/%s/include g1.cc g2.cc -o groups "
				     "%s",
				     test_dir, test_root, lld ? "-fuse-ld=lld" : ""),
				 0);
		assert_int_equal(find_sites(path, &sites, &n, NULL), 0);
		kept = n;
		mark_sites_free(sites, n);
		assert_int_equal(kept, 1);
		assert_int_equal(run("%s", path), 0);
	}
}

/* Programs for COZ need another include path and nothing else. */
static void test_compatibility(void **state)
{
	_cleanup_free_ char *path = xasprintf("%s/compatible", test_dir);
	struct mark_site *sites;
	size_t n;

	(void)state;
	write_text("compatible.c", "#include <coz.h>\n"
				   "int main(int argc, char **argv) { (void)argv;\n"
				   "	if (argc > 1) COZ_PROGRESS_NAMED(\"x\")\n"
				   "	COZ_BEGIN(\"y\"); COZ_PROGRESS; COZ_END(\"y\")\n"
				   "	COZ_PRE_BLOCK; COZ_POST_BLOCK(argc > 1); COZ_CATCH_UP;\n"
				   "	return 0; }\n");
	assert_int_equal(run("gcc -Wall -Wextra -Werror -I%sinclude/scoz-compat %s.c -o %s",
			     test_root, path, path),
			 0);
	assert_int_equal(find_sites(path, &sites, &n, NULL), 0);
	assert_int_equal(n, 4);
	mark_sites_free(sites, n);
}

/* What COZ's header takes: names and types that are expressions, which go by their place. */
static const char by_expressions[] =
	"#include <coz.h>\n"
	"#include <stdlib.h>\n"
	"static const char array[] = \"array\";\n"
	"static const char *const constant = \"constant\";\n"
	"static const char *never(void) { abort(); }\n"
	"static void wrapped(const char *name) {\n"
	"	COZ_PROGRESS_NAMED(name);\n"
	"	COZ_BEGIN(name); }\n"
	"static void typed(int type) {\n"
	"	COZ_INCREMENT_COUNTER(type, \"typed\"); }\n"
	"int main(int argc, char **argv) {\n"
	"	uint32_t n = strlen(argv[0]);\n"
	"	wrapped(argv[0]); typed(argc);\n"
	"	COZ_END(array)\n"
	"	COZ_BEGIN(constant)\n"
	"	COZ_PROGRESS_NAMED(never());\n"
	"	COZ_PROGRESS_NAMED(argc > 1 ? \"more\" : \"one\");\n"
	"	COZ_BEGIN(\"lit\" \"eral\");\n"
	"	COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_THROUGHPUT, \"counter\");\n"
	"	COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_BEGIN, \"counter\")\n"
	"	COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_END, argv[0])\n"
	"	if (argc > 1) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_END, \"counter\")\n"
	"	return n == 0; }\n";

static void check_expressions(const char *path, const char *what)
{
	static const struct {
		const char *name;
		enum mark_kind kind;
	} expect[] = {
		{ "expressions.c:7", MARK_PROGRESS },
		{ "expressions.c:8", MARK_BEGIN },
		{ "typed", MARK_PROGRESS },
		{ "typed", MARK_BEGIN },
		{ "typed", MARK_END },
		{ "expressions.c:14", MARK_END },
		{ "expressions.c:15", MARK_BEGIN },
		{ "expressions.c:16", MARK_PROGRESS },
		{ "expressions.c:17", MARK_PROGRESS },
		{ "literal", MARK_BEGIN },
		{ "counter", MARK_PROGRESS },
		{ "counter", MARK_BEGIN },
		{ "expressions.c:21", MARK_END },
		{ "counter", MARK_END },
	};
	struct error err = { 0 };
	struct mark_site *sites;
	size_t n;

	if (find_sites(path, &sites, &n, &err))
		fail_msg("%s: %s", what, err.text);
	for (size_t k = 0; k < ARRAY_SIZE(expect); k++) {
		bool seen = false;

		for (size_t i = 0; i < n; i++)
			seen |= sites[i].kind == expect[k].kind &&
				mark_name_matches(expect[k].name, sites[i].name);
		if (!seen)
			fail_msg("%s: mark '%s' of kind %u is missing", what, expect[k].name,
				 expect[k].kind);
	}
	/* Nor is there any that is never reached, as those of the other types. */
	if (n != ARRAY_SIZE(expect))
		fail_msg("%s: %zu marks instead of %zu", what, n, ARRAY_SIZE(expect));
	mark_sites_free(sites, n);
}

static void test_expressions(void **state)
{
	static const char *const flags[] = { "-O0", "-O0 -fPIC -pie", "-O1 -fno-inline",
					     "-Og -fno-inline" };
	_cleanup_free_ char *path = xasprintf("%s/expressions", test_dir);

	(void)state;
	write_text("expressions.c", by_expressions);
	write_text("linkage.cc", "extern \"C\" {\n#include <coz.h>\n}\n"
				 "int f(const char *name) { COZ_BEGIN(name); return 0; }\n");
	if (have("g++"))
		assert_int_equal(run("g++ -I%sinclude/scoz-compat -c %s/linkage.cc -o %s",
				     test_root, test_dir, path),
				 0);
	for (size_t c = 0; c < ARRAY_SIZE(compilers); c++) {
		_cleanup_free_ char *tool = xstrndup(compilers[c], strcspn(compilers[c], " "));

		for (size_t f = 0; have(tool) && f < ARRAY_SIZE(flags); f++) {
			_cleanup_free_ char *what = xasprintf("%s %s", compilers[c], flags[f]);

			if (run("%s -Wall -Werror -I%sinclude/scoz-compat %s.c -o %s", what,
				test_root, path, path))
				fail_msg("%s: does not compile", what);
			check_expressions(path, what);
			/* Names are not asked for. */
			assert_int_equal(run("%s", path), 0);
		}
		assert_int_equal(!have(tool) ||
					 !run("%s -O2 -DSCOZ_DISABLE -I%sinclude/scoz-compat %s.c "
					      "-o %s",
					      compilers[c], test_root, path, path),
				 1);
	}
}

/* The header must not trouble anybody's warnings or language standard. */
static void test_standards(void **state)
{
	static const char *const ways[] = {
		"gcc -std=c89 -pedantic -DSCOZ_LINT",
		"gcc -std=c99 -pedantic -DSCOZ_LINT",
		"gcc -std=c17 -Wconversion -Wcast-align -Wmissing-prototypes -Wstrict-prototypes",
		"clang -std=c11 -Weverything -Wno-poison-system-directories",
		"gcc -mcmodel=large -Wno-unused-function",
		"g++ -x c++ -std=c++98 -pedantic -Wold-style-cast",
		"g++ -x c++ -std=c++20 -pedantic -Wold-style-cast -Wuseless-cast "
		"-Wzero-as-null-pointer-constant",
		"clang++ -x c++ -std=c++17 -Wold-style-cast -Wzero-as-null-pointer-constant",
	};

	(void)state;
	/* Many programs have a macro of that name. */
	write_text("standard.c",
		   "#define unused __attribute__((__unused__))\n"
		   "#include <scoz.h>\n"
		   "extern int f(int x, int y);\n"
		   "int f(int x, int y unused) { SCOZ_BEGIN(\"a\"); SCOZ_END(\"a\");\n"
		   "	SCOZ_PROGRESS(); return x; }\n");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		_cleanup_free_ char *tool = xstrndup(ways[i], strcspn(ways[i], " "));

		if (have(tool))
			assert_int_equal(run("%s -Wall -Wextra -Werror -O1 -I%sinclude -c "
					     "%s/standard.c -o %s/standard.o",
					     ways[i], test_root, test_dir, test_dir),
					 0);
	}
	write_text("standard.c", "#include <scoz.h>\n"
				 "int f(const char *name) { SCOZ_BEGIN(name); return 0; }\n");
	assert_int_not_equal(run("gcc -I%sinclude -c %s/standard.c -o %s/standard.o 2>/dev/null",
				 test_root, test_dir, test_dir),
			     0);
}

static void test_shared_library(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2 -fPIC -shared", "libmarks.so");

	(void)state;
	check_sites(path, false, "shared library");
}

static void test_other_architecture(void **state)
{
	_cleanup_free_ char *path = NULL;

	(void)state;
	if (!have("aarch64-linux-gnu-gcc"))
		skip();
	path = xasprintf("%s/aarch64", test_dir);
	for (int i = 0; i < 3; i++) {
		static const char *const flags[] = { "-O0", "-O2 -fPIC -pie",
						     "-O2 -fno-pie -no-pie" };
		struct mark_site *sites;
		size_t n;

		assert_int_equal(run("aarch64-linux-gnu-gcc -DSCOZ_LINT -Wall -Wextra -Werror %s "
				     "-I%sinclude -pthread %stests/unit/test_marks.d/program.c "
				     "-o %s",
				     flags[i], test_root, test_root, path),
				 0);
		assert_int_equal(find_sites(path, &sites, &n, NULL), 0);
		assert_true(n >= 11);
		mark_sites_free(sites, n);
	}
}

/* Nobody profiles: a handful of instructions and no call before the function returns. */
static void test_hot_path(void **state)
{
	static const char *const list[] = { "gcc", "g++ -x c++", "clang", "clang++ -x c++" };

	(void)state;
	if (!have("objdump"))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		_cleanup_free_ char *path = build(list[i], "-O2", "hot"), *command = NULL;
		char line[512];
		int n = 0, calls = 0;
		FILE *f;

		if (!path)
			continue;
		command = xasprintf("objdump -d --no-show-raw-insn --disassemble=hot %s | "
				    "sed '1,/<hot>:/d'",
				    path);
		f = popen(command, "r");
		while (fgets(line, sizeof(line), f)) {
			n++;
			calls += strstr(line, "call") != NULL;
			if (strstr(line, "ret"))
				break;
		}
		while (fgets(line, sizeof(line), f))
			;
		pclose(f);
		print_message("%s: %d instructions, of which 4 or so are the mark's\n", list[i], n);
		assert_int_equal(calls, 0);
		assert_in_range(n, 4, 14);
	}
}

static void test_names(void **state)
{
	char longer[300];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_true(mark_name_matches("x", "x"));
	assert_false(mark_name_matches("x", "a/x"));
	assert_true(mark_name_matches("main.c:12", "src/main.c:12"));
	assert_true(mark_name_matches("src/main.c:12", "src/main.c:12"));
	assert_false(mark_name_matches("main.c:12", "domain.c:12"));
	assert_false(mark_name_matches("main.c:1", "main.c:12"));
	assert_true(mark_name_matches(longer, longer + sizeof(longer) - 120));
	assert_false(mark_name_matches(":12", "a/:12"));
}

static void test_bad_files(void **state)
{
	_cleanup_free_ char *path = xasprintf("%s/bad", test_dir);
	struct mark_site *sites;
	struct error err;
	size_t n;

	(void)state;
	assert_int_equal(find_sites("/nonexistent", &sites, &n, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent"));
	write_text("bad", "#!/bin/sh\n");
	assert_int_equal(find_sites(path, &sites, &n, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, path));
	assert_null(sites);
	assert_int_equal(find_sites(test_dir, &sites, &n, &err), -EISDIR);
}

/* Bytes of a program changed at random: an answer or an error that names the file, no crash. */
static void test_damaged(void **state)
{
	_cleanup_free_ char *good = build("gcc", "-O1 -s", "good"), *bytes = NULL;
	_cleanup_free_ char *path = xasprintf("%s/damaged", test_dir);
	unsigned int seed = 7;
	size_t len, failures = 0;

	(void)state;
	bytes = read_file(good, &len);
	assert_non_null(bytes);
	for (int i = 0; i < 1500; i++) {
		_cleanup_free_ char *copy = xmalloc(len);
		int changes = 1 + rand_r(&seed) % 8;
		size_t keep = rand_r(&seed) % 4 ? len : rand_r(&seed) % len;
		struct mark_site *sites;
		struct error err = { 0 };
		FILE *f = fopen(path, "w");
		size_t n;

		memcpy(copy, bytes, len);
		while (changes--) {
			/* the headers, the notes near the start, the section headers at the end */
			size_t where = rand_r(&seed) % 3, r = rand_r(&seed), at = r % len;

			if (where == 0)
				at = r % 0x900;
			else if (where == 1)
				at = len - 1 - r % 2200;
			copy[at] = rand_r(&seed) % 2 ? rand_r(&seed) : 0xff;
		}
		fwrite(copy, 1, keep, f);
		fclose(f);
		if (find_sites(path, &sites, &n, &err)) {
			failures++;
			assert_non_null(strstr(err.text, path));
		}
		mark_sites_free(sites, n);
	}
	assert_in_range(failures, 100, 1400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_sites),	  cmocka_unit_test(test_sanitizers_and_dialects),
		cmocka_unit_test(test_disabled),  cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_groups),	  cmocka_unit_test(test_shared_library),
		cmocka_unit_test(test_hot_path),  cmocka_unit_test(test_other_architecture),
		cmocka_unit_test(test_damaged),	  cmocka_unit_test(test_compatibility),
		cmocka_unit_test(test_standards), cmocka_unit_test(test_expressions),
	};
	int failed;

	setup_or_skip();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	teardown();
	return failed;
}
