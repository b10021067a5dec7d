/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source files, for profiles and pages that others may read. */
#ifndef SCOZ_SOURCE_LINES_H
#define SCOZ_SOURCE_LINES_H

#include "base/base.h"

#define SOURCE_LINES_AROUND 8 /* a place, that are shown */

struct source_lines {
	char *text;	   /* of the whole file */
	size_t first, n;   /* line numbers, from 1 */
	const char **line; /* ended by a newline or the end of the text */
};
/* "src/bar.c:8": the length of the path in it, and the line; 0: it is no such thing. */
size_t source_location(const char *location, size_t *line);
/*
 * Up to @around lines before and after @line of the file that @fd reads. False: it is no regular
 * file, is large or no text, or has not as many lines: another file, or another version of it.
 */
bool source_lines_read(int fd, size_t line, size_t around, struct source_lines *ret);
void source_lines_free(struct source_lines *s);
/* Of a line, without its newline. */
size_t source_line_length(const char *line);

#endif
