// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/answer.h"
#include "stats/describe.h"
#include "stats/trust.h"

#include <math.h>

#define ONE_END 0.025 /* of an interval of 95 % */

double answer_key(const struct estimate *e)
{
	switch (e->verdict) {
	case VERDICT_CONTENTION:
		return -e->best_hi;
	case VERDICT_UNDECIDED:
		return e->best_hi;
	default:
		return e->best_lo;
	}
}

/* The first of @verdict. */
static const struct answer_row *first_of(const struct answer_row *rows, size_t n,
					 enum verdict verdict)
{
	const struct answer_row *first = NULL;
	double most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		const struct estimate *e = rows[i].e;
		double key = answer_key(e);

		if (e->verdict != verdict || estimate_is_withheld(e) || e->best != KNOWN_VALUE ||
		    key <= most)
			continue;
		most = key;
		first = &rows[i];
	}
	return first;
}

const struct answer_row *answer_first(const struct answer_row *rows, size_t n)
{
	return first_of(rows, n, VERDICT_OPTIMIZE);
}

const struct answer_row *answer_named(const struct answer_row *rows, size_t n)
{
	const struct answer_row *open = first_of(rows, n, VERDICT_UNDECIDED);

	return answer_first(rows, n) ?: first_of(rows, n, VERDICT_CONTENTION) ?: open;
}

static bool all_worthless(const struct answer_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].e->verdict != VERDICT_NO_EFFECT)
			return false;
	}
	return n > 0;
}

static bool any_doubt(const struct answer_row *rows, size_t n, enum doubt doubt)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].e->doubt == doubt)
			return true;
	}
	return false;
}

double answer_luck(const struct estimate_point *p, size_t n, bool up)
{
	double lo, hi, all_lo, all_hi, more;

	estimate_point_bounds(p, ONE_END, &lo, &hi);
	estimate_point_bounds(p, ONE_END / n, &all_lo, &all_hi);
	more = up ? all_hi - hi : lo - all_lo;
	return isfinite(more) ? fmax(more, 0) : 0;
}

static double luck(const struct estimate *e, size_t n, bool up)
{
	const struct estimate_point *p = estimate_point_at(e, e->best_at_pct);

	return p ? answer_luck(p, n, up) : 0;
}

/* Of an interval that stays too wide for a verdict; NULL: time will tell. */
static const char *in_the_way(const struct estimate *e)
{
	const struct estimate_point *p = estimate_point_at(e, e->best_at_pct);
	struct trust t = p ? trust_of_point(p, 0) : (struct trust){ .answer = TRUST_UNKNOWN };

	return t.answer == TRUST_NEVER && !e->time_tells ? t.fixed_cause : NULL;
}

/* No target is left that time could tell more of. */
static char *nothing_open(const struct answer_row *rows, size_t n, const char *unit)
{
	static const struct {
		enum doubt doubt;
		const char *why;
	} reasons[] = {
		{ DOUBT_FLAWED, "probes are hit too often, or tasks run on CPUs that are not "
				"sampled" },
		{ DOUBT_PACED, "paced from outside, by clocks or peers that inserted delay does "
			       "not move" },
		{ DOUBT_WAITS, "targets wait for devices, timers or the kernel, which is not sped "
			       "up (scozd --waits does)" },
		{ DOUBT_LEFT_OUT, "too many windows were left out, in which cores would have stood "
				  "still too long (lower speedups may do)" },
		{ DOUBT_MISSED, "targets run in processes that are over before much of them can be "
				"sped up, or at other times than their windows" },
		{ DOUBT_UNSEEN, "of what was tried, nothing was seen running" },
		{ DOUBT_SELDOM,
		  "it is reached too seldom for windows (--end-to-end does without)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (any_doubt(rows, n, reasons[i].doubt))
			return xasprintf("What would save some of %s cannot be told: %s", unit,
					 reasons[i].why);
	}
	return xstrdup("Nothing is surely worth it yet: run longer");
}

char *answer_text(const struct answer_row *rows, size_t n, const char *unit, const char *untried)
{
	const struct answer_row *worth = answer_first(rows, n);
	const struct answer_row *harmful = first_of(rows, n, VERDICT_CONTENTION);
	const struct answer_row *open = first_of(rows, n, VERDICT_UNDECIDED);
	_cleanup_free_ char *value = NULL, *low = NULL, *high = NULL, *less = NULL, *yet = NULL;
	_cleanup_free_ char *upto = NULL;
	const char *cause;

	if (!n)
		return xasprintf("Nothing is known about %s", unit);
	if (worth) {
		value = percent_text(worth->e->best_lo - luck(worth->e, n, false));
		less = less_time_text(worth->e->best_at_pct);
		return xasprintf("%s is worth most%s: if it took %s, it would save at least %s %% "
				 "of %s%s%s%s",
				 worth->label, untried ? " of what was tried" : "", less, value,
				 unit, untried ? "; " : "", untried ? untried : "",
				 untried ? " was not tried, and is expected to bring more" : "");
	}
	if (harmful) {
		value = percent_text(-harmful->e->best_hi - luck(harmful->e, n, true));
		less = less_time_text(harmful->e->best_at_pct);
		return xasprintf("Nothing is surely worth it; if %s took %s, %s would even grow by "
				 "at least %s %%",
				 harmful->label, less, unit, value);
	}
	if (all_worthless(rows, n))
		return xasprintf("Nothing of what was tried is worth it: %s stays as it is", unit);
	if (!open)
		return nothing_open(rows, n, unit);
	value = percent_text(open->e->best_pct);
	low = percent_text(open->e->best_lo);
	high = percent_text(open->e->best_hi);
	less = less_time_text(open->e->best_at_pct);
	cause = in_the_way(open->e);
	if (estimate_is_unjudged(open->e))
		yet = xasprintf("Nothing is surely worth it yet (%s)", doubt_text(open->e->doubt));
	else if (cause)
		yet = xasprintf(
			"Nothing is surely worth it, and a longer run will hardly tell (%s)",
			cause);
	else
		yet = xstrdup("Nothing is surely worth it yet");
	/* It is first by its upper end. */
	if (open->e->best_hi <= 0)
		return xasprintf("%s; nothing that was tried seems to save anything: %s, if it "
				 "took %s, %s %% [%s, %s] of %s",
				 yet, open->label, less, value, low, high, unit);
	if (open->e->best_pct <= 0)
		upto = xasprintf(", up to %s %%", high);
	return xasprintf("%s; what may save most is %s%s: if it took %s, it would save %s %% "
			 "[%s, %s] of %s",
			 yet, open->label, upto ? upto : "", less, value, low, high, unit);
}
