/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of lines, read one after the other. */
#ifndef SCOZ_BASE_LINES_H
#define SCOZ_BASE_LINES_H

#include "base/base.h"

struct lines {
	const char *path, *kind; /* for messages; kind: "profile" */
	size_t longest;		 /* what is longer is no such file; bounds the memory */
	int (*line)(const char *line, size_t len, void *arg);
	void *arg;
};

/*
 * Calls l->line() for every line of @fd, without its newline, the last one even if it has none;
 * stops when that returns non-zero, and returns it. @ends_with_newline may be NULL.
 */
int lines_read(const struct lines *l, int fd, bool *ends_with_newline, struct error *err);

#endif
