// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

#include <fnmatch.h>

bool glob_match(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

const char *text_after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) ? NULL : text + n;
}

bool path_ends_with(const char *path, const char *suffix)
{
	size_t np = strlen(path), ns = strlen(suffix);

	if (ns > np || strcmp(path + np - ns, suffix) != 0)
		return false;
	return ns == np || suffix[0] == '/' || path[np - ns - 1] == '/';
}

char *path_normalized(const char *path)
{
	char *out = xmalloc(strlen(path) + 2), *to = out, *kept;
	bool absolute = *path == '/';

	if (absolute)
		*to++ = '/';
	for (kept = to; *path;) {
		size_t n = strcspn(path, "/");
		bool up = n == 2 && !memcmp(path, "..", 2);

		if (up && to > kept) {
			for (to--; to > kept && to[-1] != '/'; to--)
				;
		} else if (n && !(n == 1 && *path == '.') && !(up && absolute)) {
			memcpy(to, path, n);
			to += n;
			if (path[n] == '/')
				*to++ = '/';
			if (up)
				kept = to;
		}
		path += n + (path[n] == '/');
	}
	*to = '\0';
	return out;
}

const char *path_from_top(const char *path)
{
	while (!strncmp(path, "../", 3))
		path += 3;
	return path;
}

int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
