// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/point_words.h"

#include <ctype.h>

const char *find_colon(const char *s)
{
	for (; *s; s++) {
		if (s[0] == '\\' && s[1] == ':')
			s++;
		else if (*s == ':')
			return s;
	}
	return NULL;
}

const char *find_last_colon(const char *s)
{
	const char *last = NULL;

	while ((s = find_colon(s)))
		last = s++;
	return last;
}

char *unescape(const char *s, size_t n, char what)
{
	char *out = xmalloc(n + 1), *p = out;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n && s[i + 1] == what)
			i++;
		*p++ = s[i];
	}
	*p = '\0';
	return out;
}

char *unescape_colons(const char *s, size_t n)
{
	return unescape(s, n, ':');
}

char *escape_colons(const char *s)
{
	char *out = xmalloc(2 * strlen(s) + 1), *p = out;

	for (; *s; *p++ = *s++) {
		if (*s == ':')
			*p++ = '\\';
	}
	*p = '\0';
	return out;
}

bool is_digits(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

bool is_identifier(const char *s, const char *extra)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && !strchr(extra, *s))
			return false;
	return true;
}

int read_line_number(const char *text, const char *spec, const char *form, uint32_t *ret,
		     struct error *err)
{
	unsigned long v;

	errno = 0;
	v = strtoul(text, NULL, 10);
	if (errno || v > UINT32_MAX)
		return error_set(err, EINVAL, "'%s': line %s is too large (%s)", spec, text, form);
	if (!v)
		return error_set(err, EINVAL, "'%s': lines are counted from 1 (%s)", spec, form);
	*ret = v;
	return 0;
}

char *read_source_path(const char *s, size_t n)
{
	_cleanup_free_ char *given = unescape_colons(s, n), *path = path_normalized(given);
	const char *rest = path_from_top(path);

	return xstrdup(*rest ? rest : given);
}
