// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

#include <fnmatch.h>

bool glob_match(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

bool path_ends_with(const char *path, const char *suffix)
{
	size_t np = strlen(path), ns = strlen(suffix);

	if (ns > np || strcmp(path + np - ns, suffix) != 0)
		return false;
	return ns == np || suffix[0] == '/' || path[np - ns - 1] == '/';
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
