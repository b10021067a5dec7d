/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that are one find to who reads the source, and so one target: the loop that several lines
 * make, and a line with the only code of any weight that it calls. Pure.
 */
#ifndef SCOZD_FINDS_H
#define SCOZD_FINDS_H

#include "base/base.h"

#define FIND_NO_CALLER SIZE_MAX

/* What was sampled of a line. */
struct find_line {
	const char *name;     /* TARGET notation, "src/rank.c:684" */
	const char *function; /* that it is in; NULL: not known */
	uint64_t self, total, credit;
	size_t caller; /* the line that nearly all of @credit was called by, or FIND_NO_CALLER */
};

/* "FILE:FIRST-LAST", or "FILE:LINE": @file is a part of that text, @length long. */
struct find_span {
	const char *file;
	size_t length;
	uint32_t first, last;
};
/* False: it is no such text. */
bool find_span_parse(const char *name, struct find_span *ret);

/* Which find a line belongs to: FIRST and LAST of its lines, or those of the line that calls it. */
struct find {
	size_t as; /* the line itself, or its caller */
	uint32_t first, last;
};

/*
 * @ret: one of each line. What is called is with its caller if that has a part of its own, and
 * calls little else. Lines of one function that stand close together are one, but not those from
 * which much is called, and not if they are most of @sum, all that is credited: then it matters
 * which. Lines of @kept stay what they are: finds that have been tried already.
 */
void finds_join(const struct find_line *lines, size_t n, uint64_t sum, const struct find_span *kept,
		size_t n_kept, struct find *ret);

#endif
