/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a block of code_loads.h is made of, by the readers of files. */
#ifndef SCOZ_TABLE_CODE_LOADS_BUILD_H
#define SCOZ_TABLE_CODE_LOADS_BUILD_H

#include "base/hash_index.h"
#include "table/code_loads.h"

#define LOADS_MAX_NAME 1024

struct loads_builder {
	struct code_load *load;
	struct code_load_line *line;
	char *text;
	size_t n_load, n_line, n_text, cap_load, cap_line, cap_text;
	struct hash_index names; /* by where they begin */
	uint64_t next;
	bool foreign, more;
};

/* There is room for no more: the rest is for the next block. */
bool loads_full(const struct loads_builder *b);
/* Returns where it is; @n bytes, cut at LOADS_MAX_NAME and where one is 0. */
uint32_t loads_text(struct loads_builder *b, const char *text, size_t n);
/* What cannot be is left out; false. */
bool loads_add(struct loads_builder *b, const struct code_load *load);

/* The readers; a negative errno: the file cannot be read. */
int loads_of_perf_map(struct loads_builder *b, int fd, uint64_t from);
int loads_of_jitdump(struct loads_builder *b, int fd, uint64_t from);

#endif
