// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/unnamed.h"

#define LONG_ENOUGH_NS (20 * NSEC_PER_SEC)
#define SOON_NS	       (2 * NSEC_PER_SEC) /* where they are wanted soon */
#define TRY_NS	       (NSEC_PER_SEC / 2) /* between tries of those that come late */
#define MANY	       100000

struct unnamed_event *unnamed_add(struct unnamed *u, struct symbols_later *later)
{
	array_reserve(u->v, u->cap, u->n + 1);
	u->v[u->n] = (struct unnamed_event){ .later = later, .since = clock_now_ns() };
	return &u->v[u->n++];
}

static bool is_enough(const struct unnamed *u, const struct unnamed_event *e, uint64_t at)
{
	if (u->impatient)
		return at - e->since > SOON_NS;
	return at - e->since > LONG_ENOUGH_NS && !e->late;
}

size_t unnamed_settle(struct unnamed *u, struct symbols *s, bool now,
		      void (*fn)(struct unnamed_event *e, bool broken, void *arg), void *arg)
{
	uint64_t at = clock_now_ns();
	size_t kept = 0, awaited = 0;

	now |= u->n > MANY;
	for (size_t i = 0; i < u->n; i++) {
		struct unnamed_event e = u->v[i];
		enum symbols_settled settled = SYMBOLS_LATE;
		uint32_t stack;
		bool broken;

		if (now || at >= e.try_at)
			settled = symbols_settle(s, e.later, now || is_enough(u, &e, at), &stack,
						 &broken);
		if (settled != SYMBOLS_SETTLED) {
			if (settled == SYMBOLS_LATE && at >= e.try_at) {
				e.late = true;
				e.try_at = at + TRY_NS;
			}
			awaited += settled == SYMBOLS_AWAITED;
			u->v[kept++] = e;
			continue;
		}
		symbols_later_free(e.later);
		for (int k = 0; k < e.n; k++)
			e.sample[k].stack = stack;
		fn(&e, broken, arg);
	}
	u->n = kept;
	return awaited;
}

void unnamed_try_now(struct unnamed *u)
{
	for (size_t i = 0; i < u->n; i++)
		u->v[i].try_at = 0;
}

void unnamed_free(struct unnamed *u)
{
	for (size_t i = 0; i < u->n; i++)
		symbols_later_free(u->v[i].later);
	free(u->v);
	*u = (struct unnamed){ 0 };
}
