/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is best done after the best: to fix one thing moves the critical path, so gains do not add
 * up. The best target was tried together with others; what such an experiment gains beyond the
 * best alone, at the same speedup, is what the other one is worth then.
 */
#ifndef SCOZ_NEXT_STEP_H
#define SCOZ_NEXT_STEP_H

#include "stats/difference.h"

/* Less than that is not worth a step, percentage points. */
#define NEXT_LEAST_PP 1.0

enum next_answer {
	NEXT_NONE,    /* nothing was tried with it, or it is not surely worth anything itself */
	NEXT_MORE,    /* of those with which surely more is gained, that of which most is sure */
	NEXT_NOTHING, /* surely none of them is worth a step */
	NEXT_OPEN
};

/* The best target and another one, together. */
struct next_joint {
	const struct estimate *e;
	const char *label; /* of the other one, for people */
};

struct next_step {
	enum next_answer answer;
	double speedup_pct;		    /* of each */
	const struct estimate_point *first; /* of the best alone, at that; but with NEXT_NONE */
	size_t second;			    /* of the joints, with NEXT_MORE ... */
	struct difference more;		    /* ... and what it gains beyond the first */
};

/*
 * Both were measured in windows of their own, with baselines of their own, so the errors by chance
 * are independent. Those of the method are in part the same in both and taken to be independent,
 * too, which makes the interval rather too wide.
 */
struct next_step next_step_find(const struct estimate *first, const struct next_joint *joint,
				size_t n);
/*
 * "After work, io is next: if both took 50 % less time, io would save 11.0 % [9.8, 12.1] on top of
 * the 18.0 % [17.1, 18.9] of work". NULL: there is nothing to say. Without a full stop; to be
 * freed.
 */
char *next_step_text(const struct next_step *s, const char *first, const struct next_joint *joint,
		     size_t n);
/*
 * Of a target that is two together, "A + B", the other one's name, where one of them is @part;
 * NULL: none is. To be freed.
 */
char *next_other_part(const char *target, const char *part);

#endif
