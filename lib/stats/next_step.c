// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/next_step.h"
#include "stats/describe.h"

#include "base/joint.h"

#include <math.h>

#define USUAL_PCT 50.0 /* scozd's, where there is a choice */

char *next_other_part(const char *target, const char *part)
{
	size_t n = strlen(target), k = strlen(part), p = strlen(TARGETS_TOGETHER);

	if (!k || n <= k + p)
		return NULL;
	if (!strncmp(target, part, k) && !strncmp(target + k, TARGETS_TOGETHER, p))
		return xstrdup(target + k + p);
	if (!strcmp(target + n - k, part) && !strncmp(target + n - k - p, TARGETS_TOGETHER, p))
		return xstrndup(target, n - k - p);
	return NULL;
}

static const struct estimate_point *known_at(const struct estimate *e, double speedup_pct)
{
	const struct estimate_point *p = estimate_point_at(e, speedup_pct);

	return p && estimate_point_knowledge(p) == KNOWN_VALUE ? p : NULL;
}

/* That of the first which it has in common with a joint, surely gains something, and is usual. */
static const struct estimate_point *common_point(const struct estimate *first,
						 const struct next_joint *joint, size_t n)
{
	const struct estimate_point *best = NULL;

	for (size_t i = 1; i < first->n_points; i++) {
		const struct estimate_point *p = known_at(first, first->points[i].speedup_pct);
		bool common = false;

		for (size_t k = 0; p && k < n; k++)
			common |= known_at(joint[k].e, p->speedup_pct) != NULL;
		if (common && p->ci_lo > 0 &&
		    (!best ||
		     fabs(p->speedup_pct - USUAL_PCT) < fabs(best->speedup_pct - USUAL_PCT)))
			best = p;
	}
	return best;
}

/* No joint is known yet: the first at what the joints are tried at. */
static const struct estimate_point *point_tried(const struct estimate *first,
						const struct next_joint *joint, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 1; i < joint[k].e->n_points; i++) {
			const struct estimate_point *p =
				known_at(first, joint[k].e->points[i].speedup_pct);

			if (p && p->ci_lo > 0)
				return p;
		}
	}
	return NULL;
}

struct next_step next_step_find(const struct estimate *first, const struct next_joint *joint,
				size_t n)
{
	struct next_step s = { .answer = NEXT_NONE, .first = common_point(first, joint, n) };
	bool nothing = true;

	if (!s.first)
		s.first = point_tried(first, joint, n);
	if (!s.first || estimate_is_withheld(first))
		return s;
	s.speedup_pct = s.first->speedup_pct;
	s.answer = NEXT_OPEN;
	for (size_t k = 0; k < n; k++) {
		const struct estimate_point *p = known_at(joint[k].e, s.speedup_pct);
		struct difference d = difference_of(s.first, p, n, NEXT_LEAST_PP);

		if (!p || estimate_is_withheld(joint[k].e) || !isfinite(d.hi)) {
			nothing = false;
			continue;
		}
		nothing &= d.hi < NEXT_LEAST_PP;
		if (d.answer == DIFFERENCE_CHANGED && d.value > 0 &&
		    (s.answer != NEXT_MORE || d.lo > s.more.lo)) {
			s.answer = NEXT_MORE;
			s.second = k;
			s.more = d;
		}
	}
	if (s.answer == NEXT_OPEN && nothing)
		s.answer = NEXT_NOTHING;
	return s;
}

/* "18.0 % [17.1, 18.9]"; to be freed. */
static char *gain_text(double v, double lo, double hi)
{
	_cleanup_free_ char *value = percent_text(v), *low = percent_text(lo);
	_cleanup_free_ char *high = percent_text(hi);

	return xasprintf("%s %% [%s, %s]", value, low, high);
}

static char *others_text(const struct next_joint *joint, size_t n)
{
	char *text = xstrdup("");

	for (size_t k = 0; k < n; k++)
		text_add(&text, "%s%s", !k ? "" : k + 1 < n ? ", " : " or ", joint[k].label);
	return text;
}

char *next_step_text(const struct next_step *s, const char *first, const struct next_joint *joint,
		     size_t n)
{
	const struct estimate_point *p = s->first;
	_cleanup_free_ char *gain = NULL, *more = NULL, *others = NULL, *less = NULL;

	if (s->answer == NEXT_NONE)
		return NULL;
	gain = gain_text(p->program_speedup_pct, p->ci_lo, p->ci_hi);
	less = less_time_text(s->speedup_pct);
	switch (s->answer) {
	case NEXT_MORE:
		more = gain_text(s->more.value, s->more.lo, s->more.hi);
		return xasprintf(
			"After %s, %s is next: if both took %s, %s would save %s on top of "
			"the %s of %s",
			first, joint[s->second].label, less, joint[s->second].label, more, gain,
			first);
	case NEXT_NOTHING:
		others = others_text(joint, n);
		return xasprintf(
			"After %s, nothing that was tried is next: if %s took %s, too, that would "
			"save less than %g %% on top of the %s of %s",
			first, others, less, NEXT_LEAST_PP, gain, first);
	default:
		return xasprintf("What is worth most after %s is not known yet: run longer", first);
	}
}
