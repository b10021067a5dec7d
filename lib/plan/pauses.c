// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/pauses.h"

#include <math.h>

/*
 * A pause lasts from the look that saw the counter move until the last one that saw it stand still:
 * at least that long. Where each look sees it move there are none, however seldom is looked.
 */
static double pause_s(const struct pauses *p)
{
	return p->moved ? p->seen_s - p->moved_s : 0;
}

static void end_pause(struct pauses *p)
{
	p->squares += pause_s(p) * pause_s(p);
	p->longest_s = fmax(p->longest_s, pause_s(p));
}

void pauses_see(struct pauses *p, double now_s, uint64_t visits)
{
	if (visits != p->visits) {
		end_pause(p);
		if (!p->moved)
			p->first_s = now_s;
		p->moved = true;
		p->moved_s = now_s;
	}
	p->visits = visits;
	p->seen_s = now_s;
}

void pauses_interrupt(struct pauses *p, double now_s, uint64_t visits)
{
	pauses_see(p, now_s, visits);
	if (p->moved)
		p->before_s += p->moved_s - p->first_s;
	p->moved = false;
}

double pauses_longest_s(const struct pauses *p)
{
	return fmax(p->longest_s, pause_s(p));
}

double pauses_length_s(const struct pauses *p)
{
	double now = pause_s(p), longest = pauses_longest_s(p);
	double rest_s = p->before_s + (p->moved ? p->seen_s - p->first_s : 0) - longest;

	return rest_s > 0 ? fmax(p->squares + now * now - longest * longest, 0) / rest_s : 0;
}
