// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/trust.h"

#include <math.h>

#include "stats/describe.h"
#include "stats/resample.h"

#define GOAL_USUAL 2.0
#define GOAL_FINE  1.0
#define COARSE	   1.25 /* times what does not shrink: a goal where the usual one is out of reach */
#define WORTHWHILE 0.9	/* of what is reached, at most: who would wait for ±47 that has ±48? */
#define LEAST_PART 0.1	/* of a goal that noise must be left: less would take forever */
#define STEPS	   50

/* What must be left for noise when the rest is taken off; 0: it is out of reach. */
static double room_for_noise(double goal_pp, double fixed_pp)
{
	double left = sqrt(fmax(goal_pp * goal_pp - fixed_pp * fixed_pp, 0));

	return left < LEAST_PART * goal_pp ? 0 : left;
}

double trust_goal(double now_pp, double fixed_pp)
{
	double coarse = ceil(COARSE * fixed_pp);

	if (now_pp <= GOAL_USUAL)
		return now_pp > GOAL_FINE ? GOAL_FINE : 0;
	if (room_for_noise(GOAL_USUAL, fixed_pp) > 0 || coarse > WORTHWHILE * now_pp)
		return GOAL_USUAL;
	return coarse;
}

/* A half width as if noise were known exactly. */
static double without_doubt(double half, double df)
{
	return half * Z_975 / student_quantile(0.975, df);
}

/*
 * More windows of this point go into its own estimate, by its windows alone; the rest of the curve
 * helps as much as it does now: information adds up.
 */
struct missing {
	double alone, now, goal_pp, df;
};

/* In parts of those there are, with the doubt about noise that @more of them leave. */
static double missing_then(const struct missing *m, double more)
{
	double goal = without_doubt(m->goal_pp, m->df * (1 + more));

	return fmax(m->alone * m->alone * (1 / (goal * goal) - 1 / (m->now * m->now)), 0);
}

/* With more windows there is also less doubt about how noisy they are, so fewer are missing. */
static double windows_missing(const struct estimate_point *p, double noise_pp, double goal_pp)
{
	double alone = fmax((p->alone_hi - p->alone_lo) / 2, noise_pp);
	const struct missing m = { .alone = without_doubt(alone, p->noise_df),
				   .now = without_doubt(noise_pp, p->noise_df),
				   .goal_pp = goal_pp,
				   .df = p->noise_df };
	double least = 0, most = missing_then(&m, 0);

	for (int i = 0; i < STEPS; i++) {
		double more = (least + most) / 2;

		if (missing_then(&m, more) > more)
			least = more;
		else
			most = more;
	}
	return most;
}

struct trust trust_of_point(const struct estimate_point *p, double goal_pp)
{
	struct trust t = { .answer = TRUST_UNKNOWN,
			   .now_pp = (p->ci_hi - p->ci_lo) / 2,
			   .fixed_pp = p->fixed_pp,
			   .fixed_cause = p->fixed_cause };
	double noise_pp, left, one_end = (p->above_pp + p->below_pp) / 2;

	t.goal_pp = goal_pp > 0 ? goal_pp : trust_goal(t.now_pp, t.fixed_pp);
	if (!isfinite(t.now_pp))
		return t;
	t.answer = TRUST_REACHED;
	if (!(t.goal_pp > 0) || t.now_pp <= t.goal_pp)
		return t;
	t.answer = TRUST_NEVER;
	left = t.goal_pp > one_end ? room_for_noise(t.goal_pp - one_end, t.fixed_pp - one_end) : 0;
	noise_pp = sqrt(fmax(pow(t.now_pp - one_end, 2) - pow(t.fixed_pp - one_end, 2), 0));
	if (!(left > 0) || !(p->noise_df > 0))
		return t;
	t.answer = TRUST_MORE;
	t.more = windows_missing(p, noise_pp, left);
	return t;
}

void trust_limit(struct trust *t, double more_s)
{
	if (t->answer == TRUST_MORE && !(more_s <= TRUST_LONGEST_S))
		t->answer = TRUST_FAR;
}

void trust_withhold(struct trust *t, const struct estimate *e)
{
	if (!estimate_is_withheld(e))
		return;
	t->answer = TRUST_WITHHELD;
	t->doubt = doubt_text(e->doubt);
}

char *trust_time_text(double seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "hour", 3600 }, { "minute", 60 }, { "second", 1 } };
	size_t i = 0;
	double n;

	while (i < 2 && seconds < 1.5 * units[i].seconds)
		i++;
	n = fmax(seconds / units[i].seconds, 1);
	/* No more than two figures: it is a guess. */
	n = n < 10 ? round(2 * n) / 2 : n < 100 ? round(n) : round(n / 10) * 10;
	return xasprintf("%g more %s%s", n, units[i].unit, n == 1 ? "" : "s");
}

static char *points_text(double pp)
{
	return xasprintf("\xc2\xb1%.*f", pp < 9.95 ? 1 : 0, pp);
}

char *trust_text(const struct trust *t, double more_s)
{
	_cleanup_free_ char *now = points_text(t->now_pp), *time = NULL, *fixed = NULL;

	switch (t->answer) {
	case TRUST_REACHED:
		return xasprintf("%s now", now);
	case TRUST_MORE:
		time = trust_time_text(more_s);
		return xasprintf("%s now; \xc2\xb1%g needs about %s", now, t->goal_pp, time);
	case TRUST_FAR:
		return xasprintf(
			"%s now; \xc2\xb1%g is out of reach: it would take more than a day", now,
			t->goal_pp);
	case TRUST_NEVER:
		fixed = points_text(fmin(t->fixed_pp, t->now_pp));
		return xasprintf(
			"%s now; \xc2\xb1%g is out of reach: %s of it does not shrink with "
			"time%s%s%s",
			now, t->goal_pp, fixed, t->fixed_cause ? " (" : "",
			t->fixed_cause ? t->fixed_cause : "", t->fixed_cause ? ")" : "");
	case TRUST_WITHHELD:
		return xasprintf("%s; more time makes no advice of it", t->doubt);
	default:
		return xstrdup("too few windows to tell how precise it is");
	}
}
