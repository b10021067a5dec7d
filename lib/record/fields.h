/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of record.scoz into a struct, by tables. There may be millions of lines, so objects as
 * our writer prints them are taken apart by hand; whatever else a line holds (escapes, spaces,
 * nested values) goes through jansson, which also has the last word on what is JSON.
 */
#ifndef SCOZ_RECORD_FIELDS_H
#define SCOZ_RECORD_FIELDS_H

#include "base/hash_index.h"

/* Distinct strings. */
struct strings {
	char **text;
	size_t n, cap;
	struct hash_index index;
};

enum field_type {
	FIELD_U64,
	FIELD_U32,
	FIELD_I32,
	FIELD_ID, /* -1: UINT32_MAX */
	FIELD_TEXT,
	FIELD_FLAG
};

struct field {
	const char *key; /* NULL ends the table */
	enum field_type type;
	size_t offset;
};

struct line_kind {
	const char *type;
	const struct field *fields;
	const void *defaults;
};

struct fields {
	const struct line_kind *kinds;
	size_t n_kinds;
	struct strings strings; /* owns what FIELD_TEXT points to */
	void *line;		/* what a line is read into */
	size_t line_size;
	const char *bad_key, *bad_what; /* why -EINVAL */
};

enum { FIELDS_UNREADABLE = 1 };

/*
 * 0, FIELDS_UNREADABLE when the line is not an object with a type, or -EINVAL when a field is not
 * of the type it must have. *kind: which of the kinds, NULL for one that a later scoz added.
 */
int fields_read(struct fields *f, const char *line, size_t len, const struct line_kind **kind);
void fields_deinit(struct fields *f);

#endif
