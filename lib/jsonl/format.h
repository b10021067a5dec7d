/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of JSON lines: one object a line, "type" first, of kinds whose fields are in a table that
 * the reader (jsonl/reader.h) and the writer (jsonl/writer.h) share. Kinds and fields are only ever
 * added: what is absent or null has its default, what is unknown is for later versions.
 */
#ifndef SCOZ_JSONL_FORMAT_H
#define SCOZ_JSONL_FORMAT_H

#include "base/base.h"

enum field_type {
	FIELD_U64,  /* below 2^63 */
	FIELD_BITS, /* any 64 bits: from 2^63 on a negative integer in the file */
	FIELD_U32,
	FIELD_I32,
	FIELD_COUNT,   /* int32_t that is not negative */
	FIELD_ID,      /* uint32_t; UINT32_MAX is -1 in the file */
	FIELD_REAL,    /* double; what is not finite is null in the file */
	FIELD_TEXT,    /* const char *; NULL is written as its default */
	FIELD_FLAG,    /* bool; written only when it is set */
	FIELD_TEXTS,   /* struct jsonl_list of const char * */
	FIELD_OBJECTS, /* struct jsonl_list of structs, each an object with the fields @of */
	FIELD_ROWS,    /* the same, each a list of all the values of @of, then later ones */
};

/* When reading the items are the store's; those of absent fields are 0. */
struct jsonl_list {
	void *items;
	size_t n;
};

struct field {
	const char *key; /* NULL ends the table; no more than 64 in one */
	enum field_type type;
	size_t offset;
	enum {
		FIELD_OPTIONAL = 1, /* not written when it has its default; integers and texts */
		FIELD_REQUIRED = 2, /* a line that lacks it is damaged */
	} flags;
	const struct field *of;
	size_t size; /* of an item */
};

/* clang-format off */
/* A member of @line; behind it, if need be, flags, @of and @size. */
#define FIELD(line, name, kind, member, ...) \
	{ .key = name, .type = FIELD_##kind, .offset = offsetof(line, member), ##__VA_ARGS__ }
/* clang-format on */

struct line_kind {
	const char *type;
	const struct field *fields;
	const void *defaults;
};

/* Kind 0 is "header": the first line of each file, and of what is appended to it. It begins with */
struct jsonl_header {
	const char *format;
	uint64_t version;
};

struct jsonl_format {
	const char *name;    /* "scoz-profile": how its header lines begin */
	uint64_t version;    /* newer ones are refused */
	const char *noun;    /* "profile", for messages */
	const char *command; /* what writes them, up to the name of the file: "scozd -p POINT -o" */
	size_t line_size;    /* of what a line is read into, and of the defaults of each kind */
	const struct line_kind *kinds;
	size_t n_kinds;
};

/* What every file begins with: half of it at the end of a file can be told from garbage. */
#define JSONL_START(name) "{\"type\":\"header\",\"format\":\"" name "\""

#endif
