// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions in classes that are in functions, or that have no name: what they are called. */
#include "test_map_util.h"

/* Functions that are equal would become one. */
static const char source[] =
	/* clang-format off */
	"#define NI __attribute__((noinline))\n"
	"#define DO(n) for (int i = 0; i < 9; i++) sink += i * n\n"
	"volatile int sink;\n"
	"struct { NI void noname() { DO(3); } } single;\n"
	"struct Host {\n"
	"	struct { NI void part() { DO(4); } } member;\n"
	"	NI void go() const { auto l = [](int x) NI { DO(5); sink += x; }; l(1); l(2); }\n"
	"};\n"
	"void Host_go(const Host &h) { h.go(); }\n"
	"template <class F> NI void apply(F f) { f(1); f(2); }\n"
	"template <class T> NI void shape(T t) {\n"
	"	struct Local { NI void m() { DO(6); } } x;\n"
	"	x.m();\n"
	"	auto l = [&](T q) NI { DO(7); sink += q; };\n"
	"	l(t); l(t + 1);\n"
	"}\n"
	"NI int local(int n) {\n"
	"	struct Local {\n"
	"		int k;\n"
	"		NI int run(int z) { DO(8); return z + k; }\n"
	"		struct Deeper { NI void d() { DO(9); } };\n"
	"	} l{n};\n"
	"	Local::Deeper d;\n"
	"	d.d();\n"
	"	return l.run(n);\n"
	"}\n"
	"int main(int argc, char **) {\n"
	"	Host h;\n"
	"	single.noname(); h.member.part(); Host_go(h); shape(argc);\n"
	"	apply([](int x) NI { DO(10); sink += x; });\n"
	"	apply([&](int x) NI {\n"
	"		DO(11); sink += x;\n"
	"		auto in = [&] NI { DO(12); sink += argc; };\n"
	"		in(); in();\n"
	"	});\n"
	"	return local(argc);\n"
	"}\n";
/* clang-format on */

/* The function that is asked for, by its name or symbol, is shown as @wanted. */
static void expect(const struct maptable *t, const char *compiler, const char *asked,
		   const char *wanted)
{
	struct map_frame f[MAP_MAX_INLINE];
	struct error err = { 0 };
	uint64_t addr;
	int n;

	if (maptable_function_address(t, asked, &addr, &err))
		fail_msg("%s: %s", compiler, err.text);
	n = maptable_lookup(t, addr, f, MAP_MAX_INLINE);
	assert_true(n >= 1);
	if (strcmp(f[n - 1].function, wanted))
		fail_msg("%s: %s, not %s", compiler, f[n - 1].function, wanted);
}

static bool is_bare(const char *function)
{
	static const char *const bare[] = { "operator()", "Local::run", "Local::m", "run",
					    "part",	  "noname",	"m",	    "d" };

	for (size_t i = 0; i < ARRAY_SIZE(bare); i++) {
		if (!strcmp(function, bare[i]))
			return true;
	}
	return false;
}

/* Whatever else it is that the compiler made, nothing is called by its last name alone. */
static void expect_none_bare(const struct maptable *t, const char *compiler)
{
	struct addr_ranges r;

	assert_int_equal(maptable_all_ranges(t, &r, NULL), 0);
	for (size_t i = 0; i < r.n; i++) {
		for (uint64_t at = r.r[i].start; at < r.r[i].end; at++) {
			struct map_frame f[MAP_MAX_INLINE];
			int n = maptable_lookup(t, at, f, MAP_MAX_INLINE);

			for (int k = 0; k < n; k++) {
				if (is_bare(f[k].function))
					fail_msg("%s: %s", compiler, f[k].function);
			}
		}
	}
	addr_ranges_free(&r);
}

static const char *const of_all[] = {
	"local::Local::run",
	"local::Local::Deeper::d",
	"shape<int>::Local::m",
	"shape<int>::{lambda(int)#1}::operator()",
	"Host::go",
};

/* What no other unit can call has no symbol in GCC's debug information. */
static const char *const of_gcc[] = {
	"main::{lambda#1}::operator()",
	"main::{lambda#2}::operator()",
	"main::{lambda#2}::operator()::{lambda#1}::operator()",
};
static const char *const of_clang[] = {
	"Host::{unnamed type#1}::part",
	"$_0::noname",
};

static struct maptable *build(const char *compiler)
{
	_cleanup_free_ char *path = in_scratch("local.cc"), *bin = in_scratch("local");

	write_file(path, source, strlen(source));
	if (try_sh("%s local.cc -o local", compiler)) {
		print_message("not available: %s\n", compiler);
		return NULL;
	}
	return open_with(bin, NULL);
}

static void test_names(void **state)
{
	static const char *const compilers[] = {
		"g++ -O0 -g",
		"g++ -O2 -gdwarf-4",
		"g++ -O2 -gdwarf-5 -fdebug-types-section",
		"g++ -O2 -gdwarf-5 -gsplit-dwarf",
		"g++ -O2 -g -flto",
		"clang++ -O0 -g",
		"clang++ -O2 -gdwarf-5",
		"clang++ -O2 -gdwarf-4 -gsplit-dwarf",
	};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		bool clang = compilers[i][0] == 'c';
		struct maptable *t = build(compilers[i]);

		if (!t)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(of_all); k++)
			expect(t, compilers[i], of_all[k], of_all[k]);
		for (size_t k = 0; !clang && k < ARRAY_SIZE(of_gcc); k++)
			expect(t, compilers[i], of_gcc[k], of_gcc[k]);
		for (size_t k = 0; clang && k < ARRAY_SIZE(of_clang); k++)
			expect(t, compilers[i], of_clang[k], of_clang[k]);
		expect_none_bare(t, compilers[i]);
		maptable_free(t);
		n++;
	}
	if (!n)
		skip();
}

/* Counted by us as by the compiler: what is shown is what other tools show. */
static void test_counted_alike(void **state)
{
	static const char compiler[] = "g++ -O0 -g";
	struct maptable *t = build(compiler);

	(void)state;
	if (!t)
		skip();
	expect(t, compiler, "_ZZ4mainENKUliE_clEi", "main::{lambda#1}::operator()");
	expect(t, compiler, "_ZZ4mainENKUliE0_clEi", "main::{lambda#2}::operator()");
	expect(t, compiler, "_ZZZ4mainENKUliE0_clEiENKUlvE_clEv",
	       "main::{lambda#2}::operator()::{lambda#1}::operator()");
	maptable_free(t);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_counted_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
