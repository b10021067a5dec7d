/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text for people. Strings of a profile are not trusted: whoever made it chose them. What goes to
 * a terminal or into a page passes through text_clean() or text_xml().
 */
#ifndef SCOZ_TEXT_H
#define SCOZ_TEXT_H

#include "base/text_fit.h"

/* Cleaned as text_clean() does, and escaped for XML and HTML, attributes included. */
void text_xml(FILE *out, const char *s);

/* A page that needs nothing else, up to its title, which the caller goes on with. */
void page_begin(FILE *out);
/* A heading and a list below it; nothing where @n is 0. */
void page_list(FILE *out, const char *title, char *const *texts, size_t n);

/* Cleaned, and in the terminal's character set; to be freed. */
char *text_shown(const char *s);
/* The same words; only numbers may differ. */
bool text_alike(const char *a, const char *b);
/* On stdout, broken at blanks, each line after the first with @indent. */
void text_put_wrapped(const char *text, size_t indent, size_t width);

/* A table: strings are taken (and freed), columns are padded, cells may be NULL. */
struct table {
	size_t cols, rows, cap;
	char **cell;
	bool *right; /* by column: aligned to the right */
};
void table_init(struct table *t, size_t cols);
/* With a first row: @heads, with | between them, > before those of columns to be aligned right. */
void table_init_heads(struct table *t, const char *heads);
void table_deinit(struct table *t);
char **table_row(struct table *t); /* a new row; valid until the next one */
size_t table_width(const struct table *t);
/* Names in a column, but for the first row: at most @max wide, and those that differ still do. */
void table_shorten(struct table *t, size_t col, size_t max);
/* Of each column, to be freed. */
size_t *table_widths(const struct table *t);
/* On stdout. */
void table_print_row(const struct table *t, const size_t *widths, size_t row);
/* All of it on stdout, which is its end. */
void table_print(struct table *t);

/* How many columns a line on stdout may have. */
size_t output_width(void);
/* Of sentences: as many, but whole where no person reads them on a terminal. */
size_t prose_width(void);

/*
 * Where output goes: @path, or stdout for NULL and "-". output_close() returns an exit code and
 * says what went wrong. Profiles and recordings are not replaced: what is written is made of them.
 */
FILE *output_open(const char *path);
/* What is made is told by the end of the name; "-" is a page. */
bool output_ends_with(const char *path, const char *end);
bool output_is_page(const char *path);
int output_close(FILE *out, const char *path);

#endif
