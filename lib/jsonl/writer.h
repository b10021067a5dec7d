/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing files of JSON lines. A file is only ever appended to, whole lines at a time; when the
 * disk is full, what got through of a line is taken back, so that the file stays readable.
 */
#ifndef SCOZ_JSONL_WRITER_H
#define SCOZ_JSONL_WRITER_H

#include <sys/types.h>

#include "jsonl/format.h"

/* Whole lines. All zeros: none; buf is malloc'ed. */
struct jsonl_text {
	char *buf;
	size_t len, cap;
};
/* Appends @line. NULL for a text, and what no JSON can hold, becomes the default. */
void jsonl_put(struct jsonl_text *t, const struct line_kind *kind, const void *line);

struct jsonl_file {
	const char *noun;
	char *path;
	int fd; /* also readable */
	bool regular;
	bool created; /* by us */
	off_t before; /* its size when it was opened */
	bool broken;  /* a half line could not be taken back: nothing may follow it */
};
#define JSONL_FILE_INIT ((struct jsonl_file){ .fd = -1 })

/*
 * Opens or creates; private (files/output_file.h) and locked until it is closed: -EBUSY while
 * another writer has it. Devices such as /dev/null and /dev/stdout will do, FIFOs will not.
 */
int jsonl_file_open(struct jsonl_file *f, const struct jsonl_format *format, const char *path,
		    struct error *err);
/* A process that sets RLIMIT_FSIZE must ignore SIGXFSZ to see that error. */
int jsonl_file_write(struct jsonl_file *f, const char *lines, size_t len, struct error *err);
/* To the disk: some file systems report that it is full only then. */
int jsonl_file_sync(struct jsonl_file *f, struct error *err);
int jsonl_file_error(const struct jsonl_file *f, int errnum, struct error *err);
void jsonl_file_close(struct jsonl_file *f);

#endif
