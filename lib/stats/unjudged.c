// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/unjudged.h"

#include <math.h>

#include "stats/trust.h"

#define ALONE_SEEN_S 0.5 /* of running, before an engine knows who is on his own */

/* Of a profile in which nothing was ever stopped, waits alone tell of clocks (paced.h). */
static bool pace_is_unjudged(const struct candidate *c)
{
	return c->pace.few && !(c->stretch.tried && !stretch_is_unjudged(&c->stretch));
}

/*
 * Who nobody waits for is known once he has run for a while: until then nobody seems to be so. It
 * matters where it could take all of the gain (ALONE_DOUBT).
 */
static bool alone_is_unjudged(const struct candidate *c)
{
	double most = fmin(c->e.best_pct, unit_sets_queued_pct(&c->sets));

	return c->sets.target_ran > 0 && c->sets.target_ran < ALONE_SEEN_S &&
	       c->e.best_lo <= ALONE_DOUBT * most;
}

enum doubt find_unjudged(const struct candidate *c)
{
	switch (c->e.verdict) {
	case VERDICT_OPTIMIZE:
		if (stretch_is_unjudged(&c->stretch))
			return DOUBT_CLOCK;
		if (pace_is_unjudged(c))
			return DOUBT_PACE;
		if (alone_is_unjudged(c))
			return DOUBT_WAITED_FOR;
		/* fallthrough */
	case VERDICT_NO_EFFECT:
	case VERDICT_CONTENTION:
		return may_be_choice(c) ? DOUBT_CHOICE : DOUBT_NONE;
	default:
		return DOUBT_NONE;
	}
}

double unjudged_more_s(const struct candidate *c, enum doubt doubt)
{
	double more = NAN;

	if (doubt == DOUBT_CLOCK)
		more = stretch_missing(&c->stretch);
	else if (doubt == DOUBT_WAITED_FOR)
		more = ALONE_SEEN_S / c->sets.target_ran - 1;
	return c->spent_s > 0 ? more * c->spent_s : NAN;
}

/* "run longer (about 2 more minutes)"; to be freed. */
static char *longer_text(double more_s)
{
	_cleanup_free_ char *more = NULL;

	if (isnan(more_s))
		return xstrdup("run longer");
	if (more_s >= TRUST_LONGEST_S)
		return xstrdup("that would take more than a day");
	more = trust_time_text(more_s);
	return xasprintf("run longer (about %s)", more);
}

char *unjudged_text(const struct candidate *c, enum doubt doubt)
{
	_cleanup_free_ char *longer = longer_text(unjudged_more_s(c, doubt));

	switch (doubt) {
	case DOUBT_CLOCK:
		return xasprintf("whether a clock has a say in how long this takes (a limit, a "
				 "deadline, a peer that is not profiled) cannot be told yet, and "
				 "if one has, nothing may be saved: everything was stopped for a "
				 "while in %zu windows, which is too few where %s differ that "
				 "much: %s",
				 c->stretch.windows,
				 stretch_slack_is_open(&c->stretch) ? "waits for devices and timers"
								    : "times",
				 longer);
	case DOUBT_PACE:
		return xasprintf("too few windows to tell whether waits for devices and timers "
				 "follow a clock: %s",
				 longer);
	case DOUBT_WAITED_FOR:
		return xasprintf("it ran for %.1f s in all windows, too little to tell whether "
				 "anybody waits for it: %s",
				 c->sets.target_ran, longer);
	default:
		return xasprintf("of the windows with a speedup, a quarter or more were left out "
				 "at some, since cores would have stood still too long, and too "
				 "few are there to tell whether the others are a choice: %s",
				 longer);
	}
}
