// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/prior_message.h"

#include <math.h>

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static bool is_amount(double x)
{
	return isfinite(x) && x >= 0;
}

static bool is_expectation(const struct expectation *x, size_t n_points)
{
	if (!is_text(x->target, sizeof(x->target)) || !is_text(x->location, sizeof(x->location)) ||
	    !is_text(x->function, sizeof(x->function)) || !is_text(x->after, sizeof(x->after)) ||
	    x->kind < TARGET_LINE || x->kind > TARGET_CLASS || x->progress >= n_points ||
	    x->n_at > EXPECTED_SPEEDUPS || !isfinite(x->share))
		return false;
	for (size_t i = 0; i < x->n_at; i++) {
		const struct profile_expectation *a = &x->at[i];

		if (!(a->speedup > (i ? x->at[i - 1].speedup : 0) && a->speedup <= 1) ||
		    !isfinite(a->pct) || !isfinite(a->low) || !isfinite(a->high) ||
		    a->low > a->high)
			return false;
	}
	return true;
}

static bool is_awaited(const struct awaited *a)
{
	if (!is_text(a->target, sizeof(a->target)) || a->n > EXPECTED_WAITERS)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct awaited_by *b = &a->by[i];

		if (!is_text(b->name, sizeof(b->name)) || !is_text(b->wait, sizeof(b->wait)) ||
		    !is_amount(b->share))
			return false;
	}
	return true;
}

static bool is_end(const struct prior_done *d)
{
	return is_text(d->why, sizeof(d->why)) && is_text(d->through, sizeof(d->through)) &&
	       is_amount(d->replay.seconds) && is_amount(d->replay.crowded) &&
	       is_amount(d->replay.spun) && is_amount(d->replay.disk_waits) &&
	       is_amount(d->replay.through_share);
}

bool prior_message_is_sound(const struct prior_message *m, size_t size, size_t n_points)
{
	if (size < sizeof(m->type) ||
	    size != (m->type == PRIOR_READY ? sizeof(m->type) : sizeof(*m)))
		return false;
	switch (m->type) {
	case PRIOR_READY:
		return true;
	case PRIOR_EXPECTED:
		return is_expectation(&m->expected, n_points);
	case PRIOR_AWAITED:
		return is_awaited(&m->awaited);
	case PRIOR_DONE:
		return is_end(&m->done);
	default:
		return false;
	}
}
