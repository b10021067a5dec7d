// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that are too long: short enough, and never two that look the same. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/text_fit.h"

static const char *const long_names[] = {
	"func:std::vector<int, std::allocator<int> >::push_back(int const&)@server",
	"func:std::vector<long, std::allocator<long> >::push_back(long const&)@server",
	"func:std::vector<char, std::allocator<char> >::push_back(char const&)@server",
	"func:std::vector<int, std::allocator<int> >::push_back(int&&)@server",
	"func:std::map<std::string, Order, std::less<std::string> >::operator[](std::string "
	"const&)@server",
	"func:std::map<std::string, Price, std::less<std::string> >::operator[](std::string "
	"const&)@server",
	"func:exchange::matching::engine::OrderBook<exchange::Buy>::match(exchange::Order&)@server",
	"func:exchange::matching::engine::OrderBook<exchange::Sell>::match(exchange::Order&)@"
	"server",
	"func:exchange::matching::engine::operator<(exchange::Order const&, exchange::Order "
	"const&)@server",
	"func:exchange::matching::engine::operator<<(std::ostream&, exchange::Order const&)@server",
};

static char **copies(const char *const *names, size_t n)
{
	char **ret = xcalloc(n, sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = xstrdup(names[i]);
	return ret;
}

static void free_all(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static void expect_apart(const char *const *full, size_t n, size_t max)
{
	char **s = copies(full, n);

	names_shorten(s, n, max, ELLIPSIS);
	for (size_t i = 0; i < n; i++) {
		if (text_width(s[i]) > max)
			fail_msg("more than %zu characters: %s", max, s[i]);
		for (size_t j = 0; j < n; j++) {
			if (!strcmp(s[i], s[j]) != !strcmp(full[i], full[j]))
				fail_msg("%zu characters: %s for %s and %s", max, s[i], full[i],
					 full[j]);
		}
	}
	free_all(s, n);
}

static void all_stay_apart(void **state)
{
	(void)state;
	for (size_t max = 8; max < 110; max++)
		expect_apart(long_names, ARRAY_SIZE(long_names), max);
}

static void hopeless_ones_are_numbered(void **state)
{
	static const char *const names[] = { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	(void)state;
	expect_apart(names, ARRAY_SIZE(names), 12);
}

static void looks(void **state)
{
	static const char *const golden[] = {
		"func:std::vector<\xe2\x80\xa6>::push_back(int const&)@server",
		"func:std::vector<\xe2\x80\xa6>::push_back(long const&)@server",
		"func:std::vector<\xe2\x80\xa6>::push_back(char const&)@server",
		"func:std::vector<\xe2\x80\xa6>::push_back(int&&)@server",
	};
	char **s = copies(long_names, ARRAY_SIZE(golden));
	char *one[] = { xstrdup("func:a::operator->(int)@b and so on and on") };
	char *same[] = { xstrdup("short"), xstrdup("short") };

	(void)state;
	names_shorten(s, ARRAY_SIZE(golden), 50, ELLIPSIS);
	for (size_t i = 0; i < ARRAY_SIZE(golden); i++)
		assert_string_equal(s[i], golden[i]);
	free_all(s, ARRAY_SIZE(golden));
	names_shorten(one, 1, 30, "~");
	assert_string_equal(one[0], "func:a::operato~d so on and on");
	free(one[0]);
	names_shorten(same, 2, 8, "~");
	assert_string_equal(same[0], "short");
	assert_string_equal(same[1], "short");
	free(same[0]);
	free(same[1]);
}

static void brackets_that_are_none(void **state)
{
	static const char *const names[] = {
		"func:ns::operator<(ns::Thing const&, ns::Thing const&)@binary",
		"func:ns::operator->*(ns::Thing const&)@binary-of-a-long-name",
		"func:<impl core::iter::Iterator for ru::Thing<T>>::next@binary",
		"src/very/long/path/to/a/file/with<unbalanced.cc:123456",
	};

	(void)state;
	for (size_t max = 20; max < 60; max++)
		expect_apart(names, ARRAY_SIZE(names), max);
}

static void characters_stay_whole(void **state)
{
	static const char *const names[] = {
		"func:"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa8\xc3\xa9"
		"\xc3\xa9",
		"func:"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9",
	};
	char **s;

	(void)state;
	for (size_t max = 8; max < 16; max++) {
		s = copies(names, 2);
		names_shorten(s, 2, max, ELLIPSIS);
		for (size_t i = 0; i < 2; i++) {
			for (const unsigned char *p = (unsigned char *)s[i]; *p; p++) {
				int follow = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : 2;

				while (follow--)
					assert_int_equal(*++p & 0xc0, 0x80);
			}
		}
		free_all(s, 2);
		expect_apart(names, 2, max);
	}
}

static void plain_locales(void **state)
{
	_cleanup_free_ char *plain = NULL, *rich = NULL;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C"));
	assert_string_equal(locale_ellipsis(), "~");
	plain = locale_text(
		"\xc2\xb1 5 \xc2\xb5s \xe2\x80\xa6 \xe2\x80\x94 a \xe2\x86\x92 b \xc3\xa9");
	assert_string_equal(plain, "+- 5 us ... - a -> b ?");
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return;
	assert_string_equal(locale_ellipsis(), ELLIPSIS);
	rich = locale_text("\xc2\xb1 5");
	assert_string_equal(rich, "\xc2\xb1 5");
}

/* Of two columns each, and of none: what stands over another one. */
static void widths(void **state)
{
	static const char wide[] = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae"
				   "\xe9\x96\xa2\xe6\x95\xb0";
	static const char over[] = "e\xcc\x81x";
	char *s;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return;
	assert_int_equal(text_width(wide), 12);
	assert_int_equal(text_width(over), 2);
	for (size_t max = 3; max < 14; max++) {
		char *names[] = { xasprintf("%s1", wide), xasprintf("%s2", wide) };

		s = text_shorten(xstrdup(wide), max, ELLIPSIS);
		assert_true(text_width(s) <= max && text_width(s) + 2 >= (max < 12 ? max : 12));
		free(s);
		s = text_cut(xstrdup(wide), max, ELLIPSIS);
		assert_true(text_width(s) <= max && text_width(s) + 1 >= (max < 12 ? max : 12));
		free(s);
		names_shorten(names, 2, max, ELLIPSIS);
		assert_true(text_width(names[0]) <= (max < 8 ? 8 : max));
		assert_string_not_equal(names[0], names[1]);
		free(names[0]);
		free(names[1]);
	}
	s = text_cut(xasprintf("%syz", over), 2, ELLIPSIS);
	assert_string_equal(s, "e\xcc\x81" ELLIPSIS);
	free(s);
}

static void cutting(void **state)
{
	char *s = text_cut(xstrdup("abcdef"), 4, ELLIPSIS);

	(void)state;
	assert_string_equal(s, "abc" ELLIPSIS);
	s = text_cut(s, 4, ELLIPSIS);
	assert_string_equal(s, "abc" ELLIPSIS);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_stay_apart),
		cmocka_unit_test(hopeless_ones_are_numbered),
		cmocka_unit_test(looks),
		cmocka_unit_test(widths),
		cmocka_unit_test(brackets_that_are_none),
		cmocka_unit_test(characters_stay_whole),
		cmocka_unit_test(plain_locales),
		cmocka_unit_test(cutting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
