/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long a device had something to do: the time that its requests cover, each from its issue
 * to its end. So one whose end was lost covers nothing, and does not have the device busy for ever.
 */
#ifndef SCOZ_TRACE_BUSY_H
#define SCOZ_TRACE_BUSY_H

#include "base/base.h"

#define BUSY_SPELLS 256 /* that are remembered, the last ones */

struct busy {
	struct busy_spell {
		uint64_t from, to;
	} v[BUSY_SPELLS];  /* in a circle; apart from each other */
	uint64_t first, n; /* of those that are remembered, and all */
	uint64_t settled;  /* what was before is only in the sum */
	uint64_t sum;
	uint64_t longest; /* that a request took */
};

/* How long a request has been open that ended as most of its device's do, at most. */
#define BUSY_LOST_NS	(10 * NSEC_PER_SEC)
#define BUSY_LOST_TIMES 10 /* ... the longest one of the device, ... */
#define BUSY_LOST_AFTER 32 /* ... if so many that were given after it have ended */

/*
 * Of a request that has been open for @age; @after: that many have ended since that were given
 * after it. Its end has likely been lost; it surely has.
 */
static inline bool busy_is_doubtful(const struct busy *b, uint64_t age, uint32_t after)
{
	return age > BUSY_LOST_NS || (after && age > BUSY_LOST_TIMES * b->longest);
}

static inline bool busy_is_lost(const struct busy *b, uint64_t age, uint32_t after)
{
	return age > BUSY_LOST_NS ||
	       (after >= BUSY_LOST_AFTER && age > BUSY_LOST_TIMES * b->longest);
}

/* A request has ended at @to; in the order of these times. */
static inline void busy_add(struct busy *b, uint64_t from, uint64_t to)
{
	b->longest = to - from > b->longest ? to - from : b->longest;
	from = from > b->settled ? from : b->settled;
	while (b->n > b->first) {
		const struct busy_spell *last = &b->v[(b->n - 1) % BUSY_SPELLS];

		if (last->to < from)
			break;
		from = last->from < from ? last->from : from;
		b->sum -= last->to - last->from;
		b->n--;
	}
	if (to <= from)
		return;
	if (b->n - b->first == BUSY_SPELLS)
		b->settled = b->v[b->first++ % BUSY_SPELLS].to;
	b->v[b->n++ % BUSY_SPELLS] = (struct busy_spell){ from, to };
	b->sum += to - from;
}

static inline uint64_t busy_common(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	a = a > from ? a : from;
	b = b < to ? b : to;
	return b > a ? b - a : 0;
}

/* Of @from to @to; @open: the issue of the first that is open, UINT64_MAX: none is. */
static inline uint64_t busy_between(const struct busy *b, uint64_t open, uint64_t from, uint64_t to)
{
	uint64_t sum = busy_common(open, UINT64_MAX, from, to);

	for (uint64_t i = b->n; i > b->first; i--) {
		const struct busy_spell *s = &b->v[(i - 1) % BUSY_SPELLS];

		if (s->to <= from)
			break;
		sum += busy_common(s->from, s->to < open ? s->to : open, from, to);
	}
	return sum;
}

/* Until @now. */
static inline uint64_t busy_in_all(const struct busy *b, uint64_t open, uint64_t now)
{
	open = open > b->settled ? open : b->settled;
	if (open >= now)
		return b->sum;
	return b->sum + now - open - busy_between(b, UINT64_MAX, open, now);
}

#endif
