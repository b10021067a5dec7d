// SPDX-License-Identifier: GPL-2.0-or-later
/* read_elf [--kernel] FILE: has the symbolizer make its table. 1: the text says why there is none.
 */
#include "elf/table_make.h"
#include "maps/maps.h"
#include "symbolizer/symbolizer.h"
#include "table/table.h"

int main(int argc, char **argv)
{
	const struct map_options opt = { .kernel = argc > 2 && !strcmp(argv[1], "--kernel"),
					 .debug_root = "/nonexistent" };
	const char *path = argv[argc - 1];
	struct map_frame frames[MAP_MAX_INLINE];
	struct addr_ranges r;
	struct maptable *t;
	struct error err;

	if (argc < 2 || symbolizer_start(&err) || maptable_make(path, path, &opt, &t, &err)) {
		fprintf(stderr, "%s\n", argc < 2 ? "usage: read_elf [--kernel] FILE" : err.text);
		return 1;
	}
	if (!maptable_all_ranges(t, &r, NULL)) {
		for (size_t i = 0; i < r.n && i < 1000; i++)
			maptable_lookup(t, r.r[i].start, frames, MAP_MAX_INLINE);
		addr_ranges_free(&r);
	}
	printf("%zu bytes%s%s\n", t->size, maptable_warning(t) ? ", warning: " : "",
	       maptable_warning(t) ? maptable_warning(t) : "");
	maptable_free(t);
	symbolizer_stop();
	return 0;
}
