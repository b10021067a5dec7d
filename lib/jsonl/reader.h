/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading files of JSON lines, which anybody may have written.
 *
 * What may be wrong with an honest file: it ends in the middle of a line (crash, full disk, power
 * loss that left NUL bytes), and it may have been extended after that, so that the half line is
 * followed by a header. A run of unreadable lines is therefore forgiven exactly where a header or
 * the end of the file follows, and counted. Everything else is damage, and reading on would mean to
 * guess: an error with the line number.
 */
#ifndef SCOZ_JSONL_READER_H
#define SCOZ_JSONL_READER_H

#include "base/hash_index.h"
#include "jsonl/format.h"

#define JSONL_MAX_LINE (16u << 20)

/* Owns the strings, each once, and the lists. All zeros: empty. */
struct jsonl_store {
	struct jsonl_block *blocks;
	const char **text; /* only while a file is read, as the index */
	size_t n, cap;
	struct hash_index index;
};
void jsonl_store_deinit(struct jsonl_store *s);

struct jsonl_reader {
	/* For the caller to fill in. */
	const struct jsonl_format *format;
	const char *path; /* for messages */
	struct jsonl_store *store;
	void *line; /* what each line is read into */
	/* A line of that kind, for the caller to check. 0, or a negative errno with an error. */
	int (*take)(struct jsonl_reader *r, size_t kind);
	struct error *err;

	/* Results, also while reading. */
	size_t number;	/* of the line being read, from 1 */
	size_t skipped; /* unreadable lines that were forgiven */
	size_t unknown; /* lines of kinds that a later scoz added */
	bool cut_off;	/* the last line is unreadable */
	bool ends_with_newline;

	bool started;
	size_t bad_line, n_bad; /* unreadable lines before this one */
	char bad_why[160];
};

/*
 * Opens a file to read: a regular one, without waiting and without opening anything else, or what
 * is open already (/dev/stdin, /dev/fd/N). Returns a descriptor or a negative errno.
 */
int jsonl_open(const struct jsonl_format *format, const char *path, struct error *err);
/* Does the file at @path begin like one? false: no, or it cannot be read twice. */
bool jsonl_is(const struct jsonl_format *format, const char *path);

/*
 * Reads all lines of @fd. -EINVAL with the line for what is no such file, or damaged; -ENODATA:
 * empty, or cut off within the first line; -ENOTSUP: written by a newer scoz. Errors hold no
 * control characters, whatever the file holds.
 */
int jsonl_read(struct jsonl_reader *r, int fd);
/* The field @key of this line is damaged: "... \"key\" @what: ...". Returns -EINVAL. */
int jsonl_bad(struct jsonl_reader *r, const char *key, const char *what);
void jsonl_error_clean(struct error *err);

#endif
