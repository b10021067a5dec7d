/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One unit of .debug_info at a time: its header, its abbreviations, values and ranges. */
#ifndef SCOZ_ELF_DWARF_UNIT_H
#define SCOZ_ELF_DWARF_UNIT_H

#include "elf/dwarf_cursor.h"

/* What the numbers of DIEs begin with: 0 for the file itself, these for its partners. */
#define DWARF_SPLIT  (1ULL << 61)
#define DWARF_COMMON (1ULL << 62) /* of dwz */
#define DWARF_FIRST  (DWARF_SPLIT | DWARF_COMMON)

/* The sections that units point into; these are small enough to be held. */
struct dwarf_sections {
	struct section abbrev, str, line_str, str_offsets, addr, ranges, rnglists;
	const struct dwarf_sections *common; /* those of the common file (dwz), or NULL */
};

struct abbrev_attr {
	uint16_t at, form;
	int64_t implicit;
};

struct abbrev {
	uint16_t tag; /* 0: there is none */
	bool children;
	int32_t fixed; /* bytes that a DIE takes behind its code; -1: its values tell */
	uint32_t first, n;
};

struct abbrevs {
	struct abbrev *abbrev; /* by code */
	size_t n, cap;
	struct abbrev_attr *attr;
	size_t n_attr, cap_attr;
	uint64_t offset; /* in .debug_abbrev; with sizes: what it was made for */
	uint8_t version, offset_size, addr_size;
	bool valid;
};

enum value_kind {
	VALUE_NONE,
	VALUE_ADDR,
	VALUE_CONST,
	VALUE_STRING,
	VALUE_REF,
	VALUE_OFFSET,
	VALUE_RANGE_INDEX,
	VALUE_OTHER
};

struct value {
	enum value_kind kind;
	uint64_t u;    /* references: number of a DIE */
	const char *s; /* NULL: missing or damaged */
};

struct unit {
	const struct dwarf_sections *sec;
	uint64_t offset, end; /* in .debug_info, as its DIEs are numbered */
	const uint8_t *start; /* its first byte; valid only while the unit is at hand */
	struct cursor c;      /* at its first DIE */
	uint8_t version, type, offset_size, addr_size;
	uint64_t abbrev_offset;

	/* From its first DIE. */
	bool has_lines;
	uint64_t line_offset, low_pc;
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	uint32_t language;
	const char *comp_dir, *dwo_name;
	uint64_t dwo_id; /* what it and its other half have in common */
};

/* How long the unit is whose first @n bytes (at least 12, or all there are) are at @p. */
bool unit_length(const uint8_t *p, size_t n, uint64_t *length);
#define NO_ABBREV "it uses abbreviation %llu, which does not exist"
/* All these return NULL, or what is wrong. */
const char *unit_read_header(struct unit *u, const struct dwarf_sections *sec, const uint8_t *p,
			     size_t n, uint64_t offset);
const char *abbrevs_read(struct abbrevs *a, const struct unit *u);
void abbrevs_free(struct abbrevs *a);
static inline const struct abbrev *abbrev_find(const struct abbrevs *a, uint64_t code)
{
	return code < a->n && a->abbrev[code].tag ? &a->abbrev[code] : NULL;
}
/* The first DIE, which tells how to read the others. */
const char *unit_read_root(struct unit *u, struct cursor *c, const struct abbrevs *a,
			   const struct abbrev *root);

void unit_value(const struct unit *u, struct cursor *c, const struct abbrev_attr *attr,
		struct value *ret);
void unit_skip_value(const struct unit *u, struct cursor *c, uint16_t form);

/* Calls @fn for each range of a DW_AT_ranges. @budget bounds how many there may be. */
const char *unit_ranges(const struct unit *u, const struct value *v, uint64_t *budget,
			void (*fn)(uint64_t start, uint64_t end, void *arg), void *arg);

#endif
