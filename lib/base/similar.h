/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that somebody may have meant: those with the fewest letters changed. */
#ifndef SCOZ_BASE_SIMILAR_H
#define SCOZ_BASE_SIMILAR_H

#include "base/base.h"

#define SIMILAR_NAMES 3
#define SIMILAR_LONG  128 /* names are told apart by so many letters */

struct similar {
	char wanted[SIMILAR_LONG + 1];
	size_t n;
	struct {
		unsigned int distance;
		char name[SIMILAR_LONG + 1];
	} best[SIMILAR_NAMES];
};
void similar_init(struct similar *s, const char *wanted);
/* Considers a name, which is copied if it is among the best. */
void similar_add(struct similar *s, const char *name);
/* "; the nearest names are a, b and c", or "" when none is near; malloc'ed. */
char *similar_text(const struct similar *s);
/* Letters to add, drop, change or swap with their neighbour; @limit + 1 when more than @limit. */
unsigned int edit_distance(const char *a, const char *b, unsigned int limit);

#endif
