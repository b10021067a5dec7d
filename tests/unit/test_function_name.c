// SPDX-License-Identifier: GPL-2.0-or-later
/* What people type for functions of C++ and Rust. */
#include "table/function_name.h"
#include "table/table_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static enum function_match match(const char *wanted, const char *name, const char *linkage)
{
	struct function_pattern p;
	enum function_match m;

	function_pattern_init(&p, wanted);
	m = function_pattern_match(&p, name, linkage);
	function_pattern_deinit(&p);
	return m;
}
#define EXACT(...)	 assert_int_equal(match(__VA_ARGS__), FUNCTION_EXACT)
#define UNQUALIFIED(...) assert_int_equal(match(__VA_ARGS__), FUNCTION_UNQUALIFIED)
#define NO(...)		 assert_int_equal(match(__VA_ARGS__), FUNCTION_NO)

static void plain_names(void **state)
{
	(void)state;
	EXACT("work", "work", "");
	EXACT("work.constprop.0", "work", "work.constprop.0");
	EXACT("work", "work", "work.constprop.0");
	NO("work", "rework", "");
	NO("", "work", "");
	NO("work(int)", "work", "");
	UNQUALIFIED("method", "ns::Class::method", "");
	UNQUALIFIED("Class::method", "ns::Class::method", "");
	NO("lass::method", "ns::Class::method", "");
	EXACT("vec<int>::push", "vec<int>::push", "");
	EXACT("push", "push<int>", "");
	EXACT("vec::push", "vec<int>::push<a::b>", "");
	NO("b>", "push<a::b>", "");
	NO("b", "push<a::b>", "");
}

static void signatures(void **state)
{
	static const char name[] = "app::work", link[] = "_ZN3app4workEi";

	(void)state;
	EXACT("app::work(int)", name, link);
	EXACT("app::work( int )", name, link);
	UNQUALIFIED("work(int)", name, link);
	NO("app::work(double)", name, link);
	NO("app::work()", name, link);
	EXACT("app::work", name, link);
	/* const makes another function */
	EXACT("app::K::get() const", "app::K::get", "_ZNK3app1K3getEv");
	NO("app::K::get()", "app::K::get", "_ZNK3app1K3getEv");
	EXACT("app::K::get()", "app::K::get", "_ZN3app1K3getEv");
	/* without debug information the symbol is all there is */
	EXACT("app::Thing<int>::done(int)", "_ZN3app5ThingIiE4doneEi", "");
	EXACT("app::Thing<int>::done", "_ZN3app5ThingIiE4doneEi", "");
	EXACT("app::Thing::done", "_ZN3app5ThingIiE4doneEi", "");
	UNQUALIFIED("done", "_ZN3app5ThingIiE4doneEi", "");
	/* void app::f<int>(int): templates return something */
	EXACT("app::f<int>(int)", "_ZN3app1fIiEEvT_", "");
	EXACT("void app::f<int>(int)", "_ZN3app1fIiEEvT_", "");
	EXACT("app::f<int>", "_ZN3app1fIiEEvT_", "");
	EXACT("app::f", "_ZN3app1fIiEEvT_", "");
	/* operators are no brackets */
	EXACT("app::Thing<int>::operator()", "app::Thing<int>::operator()",
	      "_ZN3app5ThingIiEclEii");
	EXACT("app::Thing<int>::operator()(int, int)", "app::Thing<int>::operator()",
	      "_ZN3app5ThingIiEclEii");
	EXACT("app::K::operator+(int)", "app::K::operator+", "_ZN3app1KplEi");
	EXACT("operator<<(S&, int)", "operator<<", "_ZlsR1Si");
	EXACT("app::K::operator bool() const", "app::K::operator bool", "_ZNK3app1KcvbEv");
	EXACT("(anonymous namespace)::hidden(int)", "_ZN12_GLOBAL__N_16hiddenEi", "");
}

static void rust(void **state)
{
	static const char old[] = "_ZN2ru5Thing14Thing$LT$T$GT$9iter_done17h25d4b59491270932E";
	static const char v0[] = "_RNvMNtCs4mUmuLXSNC_2ru2ruINtB2_5ThinghE9iter_doneB4_";

	(void)state;
	EXACT("ru::Thing::Thing<T>::iter_done", "ru::Thing::Thing<u8>::iter_done<u8>", old);
	UNQUALIFIED("Thing<T>::iter_done", "ru::Thing::Thing<u8>::iter_done<u8>", old);
	UNQUALIFIED("Thing<u8>::iter_done", "ru::Thing::Thing<u8>::iter_done<u8>", old);
	UNQUALIFIED("iter_done", "ru::Thing::Thing<u8>::iter_done<u8>", old);
	EXACT("<ru::ru::Thing<u8>>::iter_done", v0, "");
	EXACT("ru::ru::Thing<u8>::iter_done", v0, "");
	NO("ru::ru::Thing<f64>::iter_done", v0, "");
}

static void full_names(void **state)
{
	_cleanup_free_ char *full = function_full_name("app::work", "_ZN3app4workEi");
	_cleanup_free_ char *clone = function_full_name("app::work", "_ZN3app4workEi.constprop.0");
	_cleanup_free_ char *plain = function_full_name("work", "work.isra.0");
	_cleanup_free_ char *symbol = function_symbol("work", "work.isra.0");

	(void)state;
	assert_string_equal(full, "app::work(int)");
	assert_string_equal(clone, "app::work(int)");
	assert_string_equal(plain, "work");
	assert_string_equal(symbol, "work");
}

/* The class of a lambda, which debug information does not name. */
static void outer_names(void **state)
{
	static const struct {
		const char *symbol, *name;
	} all[] = {
		{ "_ZN3app4workEi", "app" },
		{ "_ZZ4mainENKUliE0_clEi", "main::{lambda(int)#2}" },
		{ "_ZZNK4Host2goEvENKUliE_clEi.isra.0", "Host::go::{lambda(int)#1}" },
		{ "_ZZNK4HostplEiENKUliE_clEi", "Host::operator+::{lambda(int)#1}" },
		{ "_ZZZ4mainENKUlRT_E0_clIiEEDaS0_ENKUlvE_clEv",
		  "main::{lambda(auto:1&)#2}::operator()<int>::{lambda()#1}" },
		{ "_ZZN12_GLOBAL__N_11fEiENKUlvE_clEv", "(anonymous namespace)::f::{lambda()#1}" },
		{ "_ZNK4Host3$_1clEi", "Host::$_1" },
		{ "_Z4worki", NULL },
		{ "work", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_free_ char *outer = function_outer_name(all[i].symbol);

		if (all[i].name)
			assert_string_equal(outer, all[i].name);
		else
			assert_null(outer);
	}
}

/* By what is shown and by what is demangled, the same suffixes are the compiler's. */
static void suffixes(void **state)
{
	static const struct {
		const char *symbol, *name;
		bool cold;
	} all[] = {
		{ "work.constprop.0", "work", false },
		{ "work.clone.0", "work", false },
		{ "work.part.0.isra.1.cold", "work", true },
		{ "work.cold.3", "work", true },
		{ "work.localalias", "work", false },
		{ "work.llvm.17293822569102704640", "work", false },
		{ "main.clone", "main.clone", false },
		{ "main.part", "main.part", false },
		{ "work.avx2", "work.avx2", false },
		{ ".cold", ".cold", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_free_ char *symbol = function_symbol("", all[i].symbol);
		uint64_t work = 1 << 20;
		bool cold;
		_cleanup_free_ char *shown = symbol_display_name(all[i].symbol, &cold, &work);

		assert_string_equal(symbol, all[i].name);
		assert_string_equal(shown, all[i].name);
		assert_int_equal(cold, all[i].cold);
	}
}

/* Symbols without debug information are shown as that would call them. */
static void shown_names(void **state)
{
	static const struct {
		const char *symbol, *name;
	} all[] = {
		{ "_ZN3app4workEi", "app::work" },
		{ "_ZNK3app1K3getEv.constprop.0", "app::K::get" },
		{ "_ZL6hiddeni", "hidden" },
		{ "_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden" },
		{ "_ZN3app1KC2Ev", "app::K::K" },
		{ "_ZN3app1KD1Ev", "app::K::~K" },
		{ "_ZN3app5ThingIiE4doneEi", "app::Thing<int>::done" },
		{ "_ZN3app1fIiEEvT_", "app::f<int>" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN3app5ThingIiEclEii", "app::Thing<int>::operator()" },
		{ "_ZNK3app1KcvbEv", "app::K::operator bool" },
		{ "_ZZ4mainENKUliE0_clEi", "main::{lambda(int)#2}::operator()" },
		{ "_Z4nameB5cxx11i", "name" },
		{ "_ZN4core3fmt9Formatter3pad17h25d4b59491270932E", "core::fmt::Formatter::pad" },
		{ "_RNvMNtCs4mUmuLXSNC_2ru2ruINtB2_5ThinghE9iter_doneB4_",
		  "<ru::ru::Thing<u8>>::iter_done" },
		{ "_Zebra", "_Zebra" },
		{ "_Round", "_Round" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		uint64_t work = 1 << 20;
		bool cold;
		_cleanup_free_ char *shown = symbol_display_name(all[i].symbol, &cold, &work);

		assert_string_equal(shown, all[i].name);
	}
}

/* Whatever is typed must not upset it. */
static void nonsense(void **state)
{
	static const char *const all[] = { ")",	   "(",	   "<",		">",
					   "::",   "<>",   "()",	"a(",
					   "<a::", "<a>b", "::<",	"operator",
					   "  ",   "a ",   "const",	"a() const const",
					   "_Z",   "_R",   "operator(", "(a)" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
			match(all[i], all[k], "");
			match(all[i], "app::work", "_ZN3app4workEi");
		}
	}
}

/* 0 is nothing at all, 1 is "0". */
static void add_number(char **text, unsigned int n, unsigned int base, const char *digits)
{
	char out[16];
	size_t at = sizeof(out);

	out[--at] = '\0';
	if (n) {
		n--;
		do
			out[--at] = digits[n % base];
		while (n /= base);
	}
	text_add(text, "%s_", out + at);
}

/* @n templates, each with the one before as both arguments; @sub: the first's substitution. */
static void add_doubled(char **text, unsigned int n, unsigned int sub)
{
	text_add(text, "1aIiiE");
	for (unsigned int i = 1; i < n; i++, sub += 2) {
		text_add(text, "1aI");
		for (int k = 0; k < 2; k++) {
			text_add(text, "S");
			add_number(text, sub, 36, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		}
		text_add(text, "E");
	}
}

/* Ten bytes more of a symbol make what it stands for twice as long. */
static void doubled_names(void **state)
{
	_cleanup_free_ char *shown = xstrdup("_ZN1x1fE"), *silent = xstrdup("_Z1fIiEvDp1zI");
	_cleanup_free_ char *rust = xstrdup("_RINvC1a1f"), *small = xstrdup("_ZN1x1fE");
	_cleanup_free_ char *guessed = xstrdup("_ZN1xcvT_I");
	char *symbol[] = { NULL, NULL, NULL, NULL };

	(void)state;
	alarm(5);
	add_doubled(&small, 4, 2);
	assert_int_equal(match("x::f", small, ""), FUNCTION_EXACT);
	add_doubled(&shown, 60, 2);
	add_doubled(&silent, 60, 3);
	text_add(&silent, "E");
	for (unsigned int i = 0, last = 0; i < 60; i++) {
		unsigned int at = strlen(rust) - 2;

		text_add(&rust, "T");
		for (int k = 0; k < 2; k++) {
			text_add(&rust, i ? "B" : "m");
			if (i)
				add_number(&rust, last, 62,
					   "0123456789abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		}
		text_add(&rust, "E");
		last = at;
	}
	text_add(&rust, "E");
	for (int i = 0; i < 40; i++)
		text_add(&guessed, "T_I");
	text_add(&guessed, "i");
	for (int i = 0; i < 40; i++)
		text_add(&guessed, "E");
	text_add(&guessed, "EIiEEv");
	symbol[3] = guessed;
	symbol[0] = shown;
	symbol[1] = silent;
	symbol[2] = rust;
	for (size_t i = 0; i < ARRAY_SIZE(symbol); i++) {
		_cleanup_free_ char *full = function_full_name(symbol[i], "");

		assert_string_equal(full, symbol[i]);
		assert_int_equal(match("x::f", symbol[i], ""), FUNCTION_NO);
		assert_int_equal(match(symbol[i], symbol[i], ""), FUNCTION_EXACT);
	}
	alarm(0);
}

/* Nor do many of them, in a file: there is so much work for it. */
static void doubled_in_file(void **state)
{
	_cleanup_free_ char *symbol = xstrdup("_ZN1xI"), *small = xstrdup("_ZN1xI");
	uint64_t work = 4 << 20;
	bool cold;

	(void)state;
	add_doubled(&symbol, 60, 2);
	text_add(&symbol, "E1fEv");
	add_doubled(&small, 2, 2);
	text_add(&small, "E1fEv");
	alarm(5);
	for (int i = 0; i < 100000; i++) {
		_cleanup_free_ char *name = symbol_display_name(symbol, &cold, &work);

		assert_string_equal(name, symbol);
	}
	alarm(0);
	assert_int_equal(work, 0);
	work = strlen(small);
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *name = symbol_display_name(small, &cold, &work);

		assert_string_equal(name,
				    i ? small : "x<a<int, int>, a<a<int, int>, a<int, int> > >::f");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names),	 cmocka_unit_test(signatures),
		cmocka_unit_test(rust),		 cmocka_unit_test(full_names),
		cmocka_unit_test(outer_names),	 cmocka_unit_test(nonsense),
		cmocka_unit_test(suffixes),	 cmocka_unit_test(shown_names),
		cmocka_unit_test(doubled_names), cmocka_unit_test(doubled_in_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
