/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that POINT and TARGET are made of (progress/point.h); what is returned as char * is
 * malloc'ed. */
#ifndef SCOZ_PROGRESS_POINT_WORDS_H
#define SCOZ_PROGRESS_POINT_WORDS_H

#include "base/base.h"

#define COMM_MAX 15 /* the kernel keeps no more of a command's name */

/* The first or last ':' that is not escaped, or NULL. */
const char *find_colon(const char *s);
const char *find_last_colon(const char *s);
/* @n bytes of @s, where a '\\' before @what goes. */
char *unescape(const char *s, size_t n, char what);
char *unescape_colons(const char *s, size_t n);
char *escape_colons(const char *s);
bool is_digits(const char *s);
/* Letters, digits, '_' and what is in @extra, and not empty. */
bool is_identifier(const char *s, const char *extra);
/* @text, digits, in @spec that should look like @form: lines are counted from 1. */
int read_line_number(const char *text, const char *spec, const char *form, uint32_t *ret,
		     struct error *err);
/* FILE as tables have it: tools that run in a build directory say "../src/main.c". */
char *read_source_path(const char *s, size_t n);

#endif
