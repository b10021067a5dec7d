// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text_fit.h"

#include <langinfo.h>
#include <wchar.h>

#define MIN_WIDTH 8

bool locale_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

const char *locale_ellipsis(void)
{
	return locale_is_utf8() ? ELLIPSIS : "~";
}

char *locale_text(const char *s)
{
	static const struct {
		const char *utf8, *ascii;
	} known[] = { { ELLIPSIS, "..." },     { "\xc2\xb5", "u" },	{ "\xc2\xb1", "+-" },
		      { "\xe2\x80\x93", "-" }, { "\xe2\x80\x94", "-" }, { "\xe2\x86\x92", "->" } };
	char *out = xmalloc(3 * strlen(s) + 1), *to = out;

	if (locale_is_utf8())
		return strcpy(out, s);
	while (*s) {
		const char *plain = "?";
		size_t len = 1;

		if (!(*s & 0x80)) {
			*to++ = *s++;
			continue;
		}
		while ((s[len] & 0xc0) == 0x80)
			len++;
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (!strncmp(s, known[i].utf8, strlen(known[i].utf8)))
				plain = known[i].ascii;
		}
		to = stpcpy(to, plain);
		s += len;
	}
	*to = '\0';
	return out;
}

/* How many columns the character at *@s takes, which moves behind it. */
static size_t pass_character(const char **s)
{
	uint32_t code;
	size_t len = utf8_decode(*s, &code);
	int width = len ? wcwidth(code) : 1;

	*s += len ? len : 1;
	return width < 0 ? 1 : width;
}

size_t text_width(const char *s)
{
	size_t n = 0;

	while (*s)
		n += pass_character(&s);
	return n;
}

/*
 * Where column @n begins: behind all that takes no more, or, where a character of two columns is in
 * the way, before it, or @behind it.
 */
static const char *column(const char *s, size_t n, bool behind)
{
	for (size_t used = 0; *s;) {
		const char *next = s;
		size_t width = pass_character(&next);

		if (used + width > n) {
			if (!behind || used >= n)
				break;
			n = used + width;
		}
		used += width;
		s = next;
	}
	return s;
}

char *text_shorten(char *s, size_t max, const char *ellipsis)
{
	size_t width = text_width(s), head = max / 2;
	char *ret;

	if (width <= max || max < 3)
		return s;
	ret = xasprintf("%.*s%s%s", (int)(column(s, head, false) - s), s, ellipsis,
			column(s, width - (max - head - 1), true));
	free(s);
	return ret;
}

char *text_cut(char *s, size_t max, const char *ellipsis)
{
	char *ret;

	if (text_width(s) <= max)
		return s;
	ret = max ? xasprintf("%.*s%s", (int)(column(s, max - 1, false) - s), s, ellipsis)
		  : xstrdup("");
	free(s);
	return ret;
}

/* "operator<", "operator<<", "operator->" and the like: no brackets. */
static bool is_operator(const char *name, const char *at)
{
	const char *end = at;

	while (at > name && end - at < 3 && strchr("<>-=", at[-1]))
		at--;
	return at - name >= 8 && !strncmp(at - 8, "operator", 8);
}

/* "std::vector<int, std::allocator<int> >::push_back" -> "std::vector<...>::push_back". */
static char *without_arguments(const char *name, const char *ellipsis)
{
	char *out = xmalloc(strlen(name) * (1 + strlen(ellipsis)) + 1), *to = out;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		bool bracket = (*p == '<' || *p == '>') && !is_operator(name, p) &&
			       !(p > name && p[-1] == '-');

		if (bracket && *p == '>' && depth && !--depth)
			to = stpcpy(to, ellipsis);
		if (!depth)
			*to++ = *p;
		if (bracket && *p == '<' && !depth++)
			continue;
	}
	*to = '\0';
	if (!depth)
		return out;
	free(out); /* unbalanced: not what it seemed to be */
	return xstrdup(name);
}

/* Where what was left out meets what was left out. */
static void join_ellipses(char *s, const char *ellipsis)
{
	size_t n = strlen(ellipsis);
	char *at = s;

	while ((at = strstr(at, ellipsis))) {
		while (!strncmp(at + n, ellipsis, n))
			memmove(at, at + n, strlen(at + n) + 1);
		at += n;
	}
}

static char *shorten_alone(const char *name, size_t max, const char *ellipsis)
{
	char *shorter;

	if (text_width(name) <= max)
		return xstrdup(name);
	shorter = text_shorten(without_arguments(name, ellipsis), max, ellipsis);
	join_ellipses(shorter, ellipsis);
	return shorter;
}

/* ---- names that would look alike ---- */

struct group {
	const char *const *full;
	char **shortened;
	size_t n, max;
	const char *ellipsis;
};

static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (n && (a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static size_t common_suffix(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b), n = 0;

	while (n < x && n < y && a[x - n - 1] == b[y - n - 1])
		n++;
	while (n && (a[x - n] & 0xc0) == 0x80)
		n--;
	return n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How wide the last part is, the function of a class, the file of a directory; 0: there is none.
 * What stands in brackets is no part.
 */
static size_t last_part(const char *name)
{
	const char *last = NULL;
	size_t depth = 0;

	for (const char *p = name; *p; p++) {
		depth += *p == '<' || *p == '(';
		depth -= depth && (*p == '>' || *p == ')');
		if (!depth && (*p == '/' || (*p == ':' && p > name && p[-1] == ':')))
			last = p + 1;
	}
	return last ? text_width(last) : 0;
}

/*
 * Its beginning, what tells it from others (from byte @from to @to) with what is around, its end:
 * all of the last part, if there is room.
 */
static char *show_difference(const struct group *g, const char *name, size_t from, size_t to)
{
	_cleanup_free_ char *before = xstrndup(name, from), *until = xstrndup(name, to);
	size_t total = text_width(name), a = text_width(before), b = text_width(until);
	size_t head = least(a, g->max / 4), last = last_part(name), tail, room, left, right;
	const char *begin, *end;

	b = b < a ? a : b;
	tail = least(total - b, g->max / 4);
	/* With an ellipsis on either side. */
	if (last > tail && last <= total - b && last + b - a + 2 <= g->max) {
		tail = last;
		head = least(head, g->max - last - (b - a) - 2);
	}
	room = g->max - head - tail - 2;
	if (b - a > room)
		b = a + room;
	room -= b - a;
	left = least(a - head, room / 2);
	right = least(total - tail - b, room - left);
	left = least(a - head, room - right);
	a -= left;
	b += right;
	begin = column(name, a, true);
	end = column(name, b, false);
	return xasprintf("%.*s%s%.*s%s%s", (int)(column(name, head, false) - name), name,
			 a > head ? g->ellipsis : "", end > begin ? (int)(end - begin) : 0, begin,
			 b < total - tail ? g->ellipsis : "", column(name, total - tail, true));
}

static bool alike(const struct group *g, size_t i, size_t j)
{
	return !strcmp(g->shortened[i], g->shortened[j]) && strcmp(g->full[i], g->full[j]) != 0;
}

static void tell_apart(const struct group *g)
{
	_cleanup_free_ char **better = xcalloc(g->n, sizeof(*better));

	for (size_t i = 0; i < g->n; i++) {
		size_t prefix = SIZE_MAX, suffix = SIZE_MAX, len = strlen(g->full[i]);

		for (size_t j = 0; j < g->n; j++) {
			size_t p, s;

			if (!alike(g, i, j))
				continue;
			p = common_prefix(g->full[i], g->full[j]);
			s = common_suffix(g->full[i], g->full[j]);
			prefix = p < prefix ? p : prefix;
			suffix = s < suffix ? s : suffix;
		}
		if (prefix != SIZE_MAX && text_width(g->full[i]) > g->max)
			better[i] = show_difference(g, g->full[i], prefix,
						    len > suffix ? len - suffix : 0);
	}
	for (size_t i = 0; i < g->n; i++) {
		if (!better[i])
			continue;
		free(g->shortened[i]);
		g->shortened[i] = better[i];
	}
}

static bool is_taken(const struct group *g, size_t i, const char *text)
{
	for (size_t j = 0; j < g->n; j++) {
		if (j != i && !strcmp(g->shortened[j], text) && strcmp(g->full[i], g->full[j]) != 0)
			return true;
	}
	return false;
}

/* All that are the same name take the same number. */
static void number(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		_cleanup_free_ char *old = xstrdup(g->shortened[i]);
		char *text = NULL;

		if (!is_taken(g, i, old) || text_width(g->full[i]) <= g->max)
			continue;
		for (size_t k = 2; !text || is_taken(g, i, text); k++) {
			_cleanup_free_ char *mark = xasprintf("#%zu", k);
			char *head = text_cut(xstrdup(old), g->max - strlen(mark), "");

			free(text);
			text = xasprintf("%s%s", head, mark);
			free(head);
		}
		for (size_t j = 0; j < g->n; j++) {
			if (strcmp(g->full[i], g->full[j]) != 0)
				continue;
			free(g->shortened[j]);
			g->shortened[j] = xstrdup(text);
		}
		free(text);
	}
}

void names_shorten(char **names, size_t n, size_t max, const char *ellipsis)
{
	_cleanup_free_ char **shortened = xcalloc(n, sizeof(*shortened));
	const struct group g = { (const char *const *)names, shortened, n,
				 max < MIN_WIDTH ? MIN_WIDTH : max, ellipsis };

	for (size_t i = 0; i < n; i++)
		shortened[i] = shorten_alone(names[i], g.max, ellipsis);
	tell_apart(&g);
	number(&g);
	for (size_t i = 0; i < n; i++) {
		free(names[i]);
		names[i] = shortened[i];
	}
}
