/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Sleeps until a point in time. Whoever goes on at times that a clock has fixed is paced by it,
 * whatever is inserted. But a run-time library may say "for 5 ms" as "until 5 ms from now"
 * (Python's and Rust's sleeps do): then what is the same from sleep to sleep is the time that is
 * left as it begins, up to what it takes to ask for it, and the points in time are as irregular as
 * the work between them. For the clock's own it is the other way round: the points keep their
 * distance.
 *
 * So a sleep is relative if it begins as long before its end as one of the last few, and the
 * distance to the last end is less constant than that by far. All others are taken for the clock's:
 * sleeps of random lengths, too.
 */
#ifndef SCOZ_DEADLINE_H
#define SCOZ_DEADLINE_H

#include "account/account.h"

#define SCOZ_DEADLINE_LENGTHS 4	      /* different sleeps of a task that take turns */
#define SCOZ_DEADLINE_SAME    50000LL /* ns; asking for it takes as long as before, up to that, */
#define SCOZ_DEADLINE_PART    16      /* and up to that part of it */
#define SCOZ_DEADLINE_FAR     4	      /* so much less constant is the distance */

/* Of a task; zero-initialised is valid: no sleep yet. */
struct scoz_deadlines {
	__s64 last, distance; /* ns: the last end, and how long after the one before */
	__s64 lengths[SCOZ_DEADLINE_LENGTHS]; /* ns: left when the last sleeps began */
	__u32 next;
	__u32 pad;
};

static __always_inline __s64 scoz_deadline_apart(__s64 a, __s64 b)
{
	return a < b ? b - a : a - b;
}

/* It sleeps until @end, from @now: is that a length of time that a library gives as a point? */
static __always_inline __u32 scoz_deadline_relative(struct scoz_deadlines *d, __s64 end, __s64 now)
{
	__s64 length = end - now, distance = end - d->last;
	__s64 irregular = scoz_deadline_apart(distance, d->distance);
	__s64 nearest = length, apart;

	for (__u32 i = 0; i < SCOZ_DEADLINE_LENGTHS; i++) {
		apart = scoz_deadline_apart(length, d->lengths[i]);
		if (apart < nearest)
			nearest = apart;
	}
	d->lengths[d->next++ % SCOZ_DEADLINE_LENGTHS] = length;
	d->last = end;
	d->distance = distance;
	return length > 0 && nearest < SCOZ_DEADLINE_SAME &&
	       nearest * SCOZ_DEADLINE_PART < length && nearest * SCOZ_DEADLINE_FAR < irregular;
}

#endif
