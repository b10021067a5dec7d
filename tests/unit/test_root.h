/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files below a root of a test's own (sysroot). */
#ifndef TEST_ROOT_H
#define TEST_ROOT_H

#include <stdlib.h>

#include "base/base.h"

/* Makes the folders that lead there. */
static inline void root_put(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *make = xasprintf("mkdir -p \"$(dirname '%s/%s')\"", root, path);
	_cleanup_free_ char *file = xasprintf("%s/%s", root, path);
	FILE *f;

	assert_int_equal(system(make), 0);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#endif
