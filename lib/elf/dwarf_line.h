/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_ELF_DWARF_LINE_H
#define SCOZ_ELF_DWARF_LINE_H

#include "elf/dwarf_cursor.h"
#include "table/table_build.h"

/*
 * Decodes .debug_line, one program after the other, into a builder. `line` may be only the part of
 * the section that begins at `origin`; then `total` is the size of the whole. That part must stay
 * until the file table read from it is no longer asked.
 */
struct line_reader {
	struct table_builder *b;
	struct section line, line_str, str;
	uint64_t origin, total;
	const char *comp_dir;
	struct hash_index done; /* of programs, whose rows are in the builder */
	uint64_t *programs;	/* where they begin */
	size_t cap_programs;
	uint64_t header_bytes;
	uint16_t version;
	const char **dir;
	size_t n_dir, cap_dir;
	struct line_file {
		const char *name;
		uint64_t dir;
		uint32_t id; /* NONE: not asked for yet */
	} * file;
	size_t n_file, cap_file;
};

/*
 * Loads the file table of the program at @offset and, the first time, adds its rows to the
 * builder. Returns NULL, or what is wrong with the program; what came before that is kept.
 */
const char *line_program_read(struct line_reader *r, uint64_t offset, const char *comp_dir);
/* The builder's file for an index as DIEs use it (DW_AT_call_file), or NONE. */
uint32_t line_program_file(struct line_reader *r, uint64_t index);
void line_reader_deinit(struct line_reader *r);

#endif
