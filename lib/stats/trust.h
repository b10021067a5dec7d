/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long until an interval is as narrow as one wants it. A half width has two parts: what noise
 * does, which shrinks with the square root of the time, and what does not shrink however long one
 * measures (estimate_point.fixed_pp).
 */
#ifndef SCOZ_TRUST_H
#define SCOZ_TRUST_H

#include "stats/stats.h"

#define TRUST_LONGEST_S 86400.0 /* more time than that is not proposed */

enum trust_answer {
	TRUST_REACHED, /* it is as narrow as that, or nothing narrower is worth asking for */
	TRUST_MORE,    /* more of the same will do */
	TRUST_NEVER,   /* what does not shrink is in the way */
	TRUST_FAR,     /* more of the same would, but nobody waits that long */
	TRUST_UNKNOWN, /* too few windows to tell how noisy it is */
	TRUST_WITHHELD /* the number is not to be acted on, however narrow its interval is */
};
struct trust {
	enum trust_answer answer;
	double now_pp;		 /* half width of the interval; INFINITY: not known */
	double fixed_pp;	 /* of that, what does not shrink */
	const char *fixed_cause; /* mostly because of that; NULL: not known */
	const char *doubt;	 /* TRUST_WITHHELD: why */
	double goal_pp;
	/* TRUST_MORE: treated windows that are still missing, in those that there are. */
	double more;
};

/*
 * What to ask for next, from @now_pp on, in percentage points: 2, then 1; what can be had where
 * @fixed_pp is in the way of 2. 0: nothing.
 */
double trust_goal(double now_pp, double fixed_pp);
/* @goal_pp: 0: what trust_goal() says. */
struct trust trust_of_point(const struct estimate_point *p, double goal_pp);

/* What would take more than a day is no advice: @more_s, the time for TRUST_MORE, decides. */
void trust_limit(struct trust *t, double more_s);

/* No precision is promised for what time will not tell (estimate_is_withheld()). */
void trust_withhold(struct trust *t, const struct estimate *e);

/* "40 more seconds", "4 more minutes", "3 more hours"; to be freed. */
char *trust_time_text(double seconds);
/* "±7.1 now; ±2 needs about 4 more minutes"; @more_s: with TRUST_MORE. To be freed. */
char *trust_text(const struct trust *t, double more_s);

#endif
