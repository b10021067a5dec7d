/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file with debug information: its sections, and one unit of its .debug_info at a time, whose
 * DIEs can be read. Where DIEs are is told by one number for all files: the offset in .debug_info
 * plus what the file's numbers begin with.
 */
#ifndef SCOZ_ELF_DWARF_FILE_H
#define SCOZ_ELF_DWARF_FILE_H

#include "elf/dwarf_unit.h"
#include "elf/elf_image.h"
#include "elf/section_stream.h"

/* The attributes that matter of a function, an inlined call, a namespace or a class. */
struct attributes {
	const char *name, *linkage;
	struct value low, high, ranges, entry;
	/* DIEs that say more of it, or 0: of all copies of a function; a declaration. */
	uint64_t abstract_origin, specification;
	uint64_t sibling, call_line;
	uint64_t call_file;
	bool has_call_file;
};

struct dwarf_file {
	const char *name; /* for messages */
	uint64_t first;	  /* of the numbers of its DIEs */
	struct section_stream info;
	struct dwarf_sections sec;
	struct abbrevs abbrevs;
	struct unit unit; /* at hand, with strings of its own, until another one is loaded */
};

/* The file's split units (.dwo) or what is no such. @b hears of sections that cannot be read. */
bool dwarf_file_open(struct dwarf_file *f, const struct elf_image *image, bool split,
		     uint64_t first, struct table_builder *b);
void dwarf_file_close(struct dwarf_file *f);

/* Bytes of the unit at @off in .debug_info, or 0: there is none. */
uint64_t dwarf_file_next_unit(struct dwarf_file *f, uint64_t off);
/*
 * Loads that unit, with what its first DIE says; @skeleton: the unit that it is the other half of,
 * or NULL. Returns NULL, or what is wrong; @length is 0 when not even its bytes are to be had.
 */
const char *dwarf_file_load_unit(struct dwarf_file *f, uint64_t off, const struct unit *skeleton,
				 uint64_t *length);

/* Is the DIE of that number in the unit at hand? */
static inline bool dwarf_file_at_hand(const struct dwarf_file *f, uint64_t number)
{
	return number >= f->unit.offset && number < f->unit.end;
}
/* Of a DIE in the unit at hand; false: there is none. */
bool dwarf_file_die(struct dwarf_file *f, uint64_t number, struct attributes *ret);

/* @c is behind the DIE's code. */
void die_attributes(struct dwarf_file *f, struct cursor *c, const struct abbrev *a,
		    struct attributes *ret);
/* Steps over them; returns the DIE's sibling, or 0. */
uint64_t die_skip_attributes(struct dwarf_file *f, struct cursor *c, const struct abbrev *a);

#endif
