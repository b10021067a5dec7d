/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same point of two profiles: did it change? */
#ifndef SCOZ_DIFFERENCE_H
#define SCOZ_DIFFERENCE_H

#include "stats/stats.h"

enum difference_answer { DIFFERENCE_CHANGED, DIFFERENCE_SAME, DIFFERENCE_UNKNOWN };

/*
 * That any of all points that are compared is said to have changed, and has not. Whoever looks for
 * why something changed loses days.
 */
#define DIFFERENCE_ALPHA 0.005

struct difference {
	double value, lo, hi; /* program speedup of b less that of a, percentage points, 95 % */
	double p;	      /* that there is none; NAN: nothing is known */
	enum difference_answer answer;
};
/*
 * Two runs are independent, and the errors of the method are taken to be, too (they are in part the
 * same in both, so intervals are rather too wide). @compared: how many points are. Within @same_pp
 * of each other is the same.
 */
struct difference difference_of(const struct estimate_point *a, const struct estimate_point *b,
				size_t compared, double same_pp);
/*
 * The point to compare: that of a's one number, else of b's, else that which is known best; the
 * speedup in percent. NAN: there is none that both know.
 */
double difference_at(const struct estimate *a, const struct estimate *b);

#endif
