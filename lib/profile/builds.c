// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/builds.h"

static bool is_other_build(const struct profile_header *h, const struct profile_binary *b)
{
	for (size_t i = 0; i < h->n_binaries; i++) {
		const struct profile_binary *old = &h->binaries[i];

		if (!strcmp(old->path, b->path))
			return *old->build && b->build && *b->build &&
			       strcmp(old->build, b->build) != 0;
	}
	return false;
}

size_t profile_other_builds(const struct profile *p, const struct profile_binary *b, char **runs)
{
	size_t n = 0, first = 0, last = 0;

	for (size_t i = 0; i < p->n_runs; i++) {
		if (!is_other_build(&p->runs[i].header, b))
			continue;
		first = n++ ? first : i + 1;
		last = i + 1;
	}
	if (!n)
		return 0;
	*runs = n == 1			? xasprintf("run %zu", first)
		: last - first + 1 == n ? xasprintf("runs %zu to %zu", first, last)
					: xasprintf("%zu of %zu runs", n, p->n_runs);
	return n;
}
