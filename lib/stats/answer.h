/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all estimates of one progress point come to, in one sentence. */
#ifndef SCOZ_ANSWER_H
#define SCOZ_ANSWER_H

#include "stats/stats.h"

/*
 * What those of one verdict that have a value are ordered by, the larger the earlier: by what is
 * sure, the undecided by what may yet turn out.
 */
double answer_key(const struct estimate *e);

struct answer_row {
	const struct estimate *e;
	const char *label; /* the target, for people */
};
/* The one that answer_text() names; NULL: it names none. */
const struct answer_row *answer_named(const struct answer_row *rows, size_t n);
/* Of those that are worth it the one of which most is sure; NULL: none is. */
const struct answer_row *answer_first(const struct answer_row *rows, size_t n);
/*
 * By how much an end of the interval is to be moved, for it is that of the best of @n: the more
 * were tried, the luckier that one is.
 */
double answer_luck(const struct estimate_point *p, size_t n, bool up);
/*
 * "work is worth most: if it took 50 % less time, it would save at least 17.6 % of UNIT": of what
 * is worth it the one of which most is sure, less what chance makes of the best of so many. @unit:
 * "the time per request". @untried: what was not tried and is expected to save more than that one,
 * or NULL. Without a full stop; to be freed.
 */
char *answer_text(const struct answer_row *rows, size_t n, const char *unit, const char *untried);

#endif
