// SPDX-License-Identifier: GPL-2.0-or-later
/* What people type for functions of C++ and Rust. */
#include "table/function_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names), cmocka_unit_test(signatures), cmocka_unit_test(rust),
		cmocka_unit_test(full_names),  cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
