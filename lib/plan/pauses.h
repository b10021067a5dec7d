/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How unevenly a progress point is reached: by what is seen of its counter every now and then.
 * Pure.
 *
 * A thousand visits at once, and nothing for five seconds, are 200 a second, and a window of half
 * a second holds nearly always none of them. What counts is the length of the pause that a random
 * moment falls into: for even visits it is the time between two of them, for random ones twice as
 * much, for bursts the time from one to the next. A pause is known when two of about its length
 * were seen: the longest is left out, as every program has one (it starts, it is idle, it ends).
 */
#ifndef SCOZ_PAUSES_H
#define SCOZ_PAUSES_H

#include "base/base.h"

struct pauses {
	bool moved;
	uint64_t visits;
	double first_s, moved_s, seen_s; /* when the counter moved first, and last; last look */
	double squares, longest_s;	 /* of the pauses that are over */
	double before_s;		 /* how long it was looked at before an interruption */
};

/* The counter is @visits at @now_s: looked at often, compared with the pauses that matter. */
void pauses_see(struct pauses *p, double now_s, uint64_t visits);
/*
 * What follows is no continuation (the command was started again, say): from @visits on, what has
 * come since the last look belongs to what was before.
 */
void pauses_interrupt(struct pauses *p, double now_s, uint64_t visits);
/* 0: not known. */
double pauses_length_s(const struct pauses *p);
/* With the one that lasts. */
double pauses_longest_s(const struct pauses *p);

#endif
