/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that are longer than there is room for, in valid UTF-8; a width is a number of a terminal's
 * columns, of which some characters take two, and others none.
 */
#ifndef SCOZ_TEXT_FIT_H
#define SCOZ_TEXT_FIT_H

#include "base/base.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* Is text shown as UTF-8 here? What setlocale(LC_CTYPE) said. */
bool locale_is_utf8(void);
/* ELLIPSIS, or "~" where the locale cannot show it: one column either way. */
const char *locale_ellipsis(void);
/*
 * A copy in valid UTF-8 without control characters, bidirectional overrides and what XML forbids:
 * each is replaced with @replacement.
 */
char *text_clean(const char *s, const char *replacement);
/* Length of the UTF-8 sequence at @s and its code point; 0: it is not valid. */
size_t utf8_decode(const char *s, uint32_t *code);
/* A copy that the locale can show: without UTF-8 "...", "+-", "u" and "?" stand for the rest. */
char *locale_text(const char *s);

size_t text_width(const char *s);
/* At most @max columns: the middle makes way for @ellipsis. Takes @s, returns a new one. */
char *text_shorten(char *s, size_t max, const char *ellipsis);
/* The same at the end. */
char *text_cut(char *s, size_t max, const char *ellipsis);

/*
 * Shortens to at most @max columns (8 at least) each of the @n strings (taken, and replaced)
 * that is longer, so that names which differ still do: template arguments go first, then what the
 * alike ones have in common; where nothing else helps they are numbered.
 */
void names_shorten(char **names, size_t n, size_t max, const char *ellipsis);

#endif
