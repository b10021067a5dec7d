// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/describe.h"

#include <math.h>

static enum knowledge knowledge(double lo, double hi, double speedup_pct)
{
	if (!isfinite(lo) || !isfinite(hi))
		return KNOWN_NOTHING;
	if (hi - lo <= LEARNED_PP)
		return KNOWN_VALUE;
	return hi < speedup_pct ? KNOWN_BOUND : KNOWN_NOTHING;
}

enum knowledge estimate_point_knowledge(const struct estimate_point *p)
{
	return knowledge(p->ci_lo, p->ci_hi, p->speedup_pct);
}

const char *doubt_text(enum doubt d)
{
	static const char *const texts[] = {
		[DOUBT_NONE] = "",
		[DOUBT_FLAWED] = "too many probes, or CPUs not sampled",
		[DOUBT_PACED] = "paced from outside",
		[DOUBT_WAITS] = "it waits",
		[DOUBT_LEFT_OUT] = "windows left out",
		[DOUBT_UNSEEN] = "not seen running",
		[DOUBT_MISSED] = "mostly missed",
		[DOUBT_SELDOM] = "reached too seldom",
		[DOUBT_CLOCK] = "a clock may have a say",
		[DOUBT_PACE] = "may be paced from outside",
		[DOUBT_WAITED_FOR] = "perhaps nobody waits for it",
		[DOUBT_CHOICE] = "windows may be a choice",
		[DOUBT_FEW_WINDOWS] = "few windows",
		[DOUBT_ALONE] = "nobody waits for it",
		[DOUBT_STRANGERS] = "strangers on its cores",
		[DOUBT_CHANCE] = "may be chance",
	};

	return texts[d];
}

bool estimate_is_withheld(const struct estimate *e)
{
	return e->doubt >= DOUBT_FLAWED && e->doubt <= DOUBT_SELDOM;
}

bool estimate_is_unjudged(const struct estimate *e)
{
	return e->doubt >= DOUBT_CLOCK && e->doubt <= DOUBT_CHOICE;
}

bool estimate_needs_reason(const struct estimate *e)
{
	return e->doubt != DOUBT_NONE && e->best == KNOWN_VALUE &&
	       (e->best_lo > 0 || e->best_hi < 0);
}

char *percent_text(double v)
{
	return xasprintf("%.1f", fabs(v) < 0.05 ? 0.0 : v);
}

char *less_time_text(double speedup_pct)
{
	if (speedup_pct >= 100)
		return xstrdup("no time at all");
	return xasprintf("%g %% less time", speedup_pct);
}

char *percent_interval_text(double v, double lo, double hi, double speedup_pct)
{
	_cleanup_free_ char *value = percent_text(v), *low = percent_text(lo);
	_cleanup_free_ char *high = percent_text(hi);

	if (!isfinite(lo) || !isfinite(hi))
		return xstrdup("[?]");
	switch (knowledge(lo, hi, speedup_pct)) {
	case KNOWN_VALUE:
		return xasprintf("%s [%s, %s]", value, low, high);
	case KNOWN_BOUND:
		return xasprintf("at most %s", high);
	default:
		return xstrdup("nothing learned");
	}
}

char *estimate_point_text(const struct estimate_point *p)
{
	return percent_interval_text(p->program_speedup_pct, p->ci_lo, p->ci_hi, p->speedup_pct);
}

char *estimate_best_text(const struct estimate *e)
{
	_cleanup_free_ char *value = percent_text(e->best_pct), *low = percent_text(e->best_lo);
	_cleanup_free_ char *high = percent_text(e->best_hi);

	switch (e->best) {
	case KNOWN_VALUE:
		return xasprintf("%s %% [%s, %s] at %g %%", value, low, high, e->best_at_pct);
	case KNOWN_BOUND:
		return xasprintf("at most %s %% at %g %%", high, e->best_at_pct);
	default:
		return xstrdup("nothing learned");
	}
}
