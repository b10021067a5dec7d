// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the kernel's source files. Compilers tell them as they were given: from the top of the
 * source, from a build directory elsewhere ("../../fs/namei.c"), or absolute, below wherever the
 * package was built. People, and scopes such as fs/ *, mean the path from the top of the source.
 *
 * Every kernel and every module includes headers from include/linux/ and arch/X/include/ of its
 * source, and of its build directory: what comes before these is cut off, wherever it appears.
 */
#include "table/table_build.h"

#define MAX_ROOTS 16

struct roots {
	char *path[MAX_ROOTS];
	size_t length[MAX_ROOTS], n;
};

static void add_root(struct roots *r, const char *path, size_t length)
{
	size_t at = 0;

	if (!length || r->n == MAX_ROOTS)
		return;
	for (size_t i = 0; i < r->n; i++) {
		if (r->length[i] == length && !memcmp(r->path[i], path, length))
			return;
		at += r->length[i] >= length; /* the longest first */
	}
	memmove(&r->path[at + 1], &r->path[at], (r->n - at) * sizeof(*r->path));
	memmove(&r->length[at + 1], &r->length[at], (r->n - at) * sizeof(*r->length));
	r->path[at] = xstrndup(path, length);
	r->length[at] = length;
	r->n++;
}

/* What precedes include/linux/ or arch/X/include/, with its slash. */
static void learn(struct roots *r, const char *path)
{
	const char *at = strstr(path, "include/linux/"), *arch = path, *rest;

	if (at && (at == path || at[-1] == '/') &&
	    !(at - path >= 6 && !strncmp(at - 6, "tools/", 6)) &&
	    !(at - path >= 5 && !strncmp(at - 5, "/usr/", 5)))
		add_root(r, path, at - path);
	while ((arch = strstr(arch, "arch/"))) {
		rest = strchr(arch + 5, '/');
		if ((arch == path || arch[-1] == '/') && rest && rest > arch + 5 &&
		    !strncmp(rest, "/include/", 9) &&
		    !(arch - path >= 6 && !strncmp(arch - 6, "tools/", 6)))
			add_root(r, path, arch - path);
		arch += 5;
	}
}

void kernel_source_paths(struct table_builder *b)
{
	struct roots roots = { 0 };
	char **path = xcalloc(b->n_file, sizeof(*path));

	for (size_t i = 0; i < b->n_file; i++) {
		/* A copy: strings move as they become more. */
		path[i] = xstrdup(path_from_top(b->str.buf + b->file[i]));
		learn(&roots, path[i]);
	}
	for (size_t i = 0; i < b->n_file; i++) {
		const char *name = path[i];

		for (size_t k = 0; k < roots.n; k++) {
			if (!strncmp(name, roots.path[k], roots.length[k]) &&
			    name[roots.length[k]]) {
				name += roots.length[k];
				break;
			}
		}
		b->file[i] = builder_string(b, name);
	}
	for (size_t i = 0; i < b->n_file; i++)
		free(path[i]);
	for (size_t i = 0; i < roots.n; i++)
		free(roots.path[i]);
	free(path);
}
