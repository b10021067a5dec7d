/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Visits of a progress point by who is not followed: other programs, interrupts. Nothing is known
 * of what they wait for, so nothing can be said of progress that is theirs.
 */
#ifndef SCOZ_WHATIF_STRANGERS_H
#define SCOZ_WHATIF_STRANGERS_H

#include "trace/trace.h"

#define STRANGERS_MOST 0.05 /* of all visits; so few are left out */

struct strangers {
	uint32_t point;
	bool *followed; /* by thread */
	bool any;	/* somebody is followed: what was before is of before the recording */
	uint64_t theirs, others;
};

static inline void strangers_begin(struct strangers *s, const struct trace *t, uint32_t point)
{
	*s = (struct strangers){ .point = point,
				 .followed = xcalloc(t->n_threads + 1, sizeof(*s->followed)) };
}

/* Every event in its turn; true: it is a visit that does not count. */
static inline bool strangers_visit(struct strangers *s, const struct trace_event *e)
{
	bool known = e->thread != TRACE_NONE;

	switch (e->type) {
	case TRACE_FOLLOW:
	case TRACE_FORK:
	case TRACE_ENTER:
	case TRACE_LEAVE:
		if (known)
			s->followed[e->thread] = s->any = true;
		return false;
	case TRACE_PROGRESS:
		if (e->other != s->point)
			return false;
		if (known && s->followed[e->thread]) {
			s->theirs++;
			return false;
		}
		s->others += s->any;
		return true;
	}
	return false;
}

/* The share of visits that are not theirs, 0 to 1. */
static inline double strangers_share(const struct strangers *s)
{
	return s->others ? (double)s->others / (s->others + s->theirs) : 0;
}

static inline void strangers_end(struct strangers *s)
{
	free(s->followed);
	s->followed = NULL;
}

#endif
