// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Short windows keep what they compare close together, so that a machine that changes its speed for
 * seconds changes both alike. But a program takes its time to follow a change of speedup: queues
 * that were full run empty at the difference of two rates, and as long as they do, nothing is to be
 * seen of the speedup at the other end. How long that takes cannot be known beforehand.
 *
 * So one in HOLD_EVERY speedups is held for several windows: if the last of them differs from
 * the first, again and again, at the same speedup, the program had not settled, and settling time
 * and windows are doubled. That is a test with a false alarm rate, not a proof. A false alarm costs
 * all windows so far, and a short run its answer: it must be rare, and no drift is worth it that
 * changes less than any prediction is good for.
 *
 * Bursts. A window is measured from the last visit before it to the last one in it. The first of
 * these must have happened at the speedup of the window, so settling takes at least a pause between
 * visits; and a window holds some pauses, or how many fell into it is chance. Few windows that tell
 * something are more than many that do not. How long windows are depends on what was seen before
 * them, never on what happens in them: their ends know nothing of the visits, so sums of visits and
 * of times are right in the long run. And they are of no fixed length, lest a program that does
 * something else in every so many visits keep step with them.
 */
#include "plan/window_length.h"

#include <math.h>

#include "stats/resample.h"

#define WINDOW_VISITS 10
#define WINDOW_MIN_S  0.1
#define WINDOW_MAX_S  10
#define SETTLE_VISITS 4
#define SETTLE_MIN_S  0.1
#define SETTLE_MAX_S  4
#define LEAST_VISITS  4	 /* in a window, however long that takes */
#define LEAST_SETTLE  2	 /* the same: at random moments, that long passes without a visit */
#define LIMIT_S	      60 /* ... but for this */
#define SURELY_LONGER 2	 /* times the shortest windows: these are worth nothing */
#define MAX_DOUBLINGS 4
#define HOLD_FIRST    6	   /* speedups in a row: better found out soon */
#define HOLD_EVERY    5	   /* of those after them; odd: 0 % and treated ones take turns */
#define JITTER	      0.3  /* a window may be longer by that part of it */
#define HOLD_LONG_S   0.25 /* windows up to this length are cheap */
#define MIN_HELD      3
#define DRIFT_DOUBT   3e-4 /* P of a false alarm by one look; a run has dozens, at each speedup */
#define DRIFT_LEAST   0.01
#define MAX_LEVELS    64

/* Drift seen at one speedup: Welford's mean and sum of squares. */
struct level {
	double speedup;
	uint32_t n;
	double mean, m2;
};

struct window_tuner {
	int doublings;
	bool limited;	   /* windows are as long as they may be */
	double shortest_s; /* of the windows so far; 0: there are none */
	uint32_t holds;
	struct rng rng;
	struct level level[MAX_LEVELS];
	int n_levels;
};

static double clamp(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

struct window_tuner *window_tuner_create(void)
{
	struct window_tuner *t = xcalloc(1, sizeof(*t));

	t->rng.state = 1;
	return t;
}

void window_tuner_free(struct window_tuner *t)
{
	free(t);
}

/* Slow programs cannot afford to be looked at for many windows; they settle for many visits. */
static uint32_t hold(const struct window_tuner *t, double length_s)
{
	if (t->holds >= HOLD_FIRST && t->holds % HOLD_EVERY)
		return 1;
	return length_s <= HOLD_LONG_S ? WINDOW_MAX_HOLD : length_s <= 4 * HOLD_LONG_S ? 2 : 1;
}

double window_visits_per_s(double visits_per_s, double pause_s)
{
	return pause_s > 0 ? fmin(visits_per_s, 2 / pause_s) : visits_per_s;
}

/* All that was learnt is of windows that count no more. */
static void start_anew(struct window_tuner *t)
{
	t->n_levels = 0;
	t->holds = 0;
	t->shortest_s = 0;
}

struct window_length window_tuner_next(struct window_tuner *t, double visits_per_s, double pause_s)
{
	double rate = window_visits_per_s(visits_per_s, pause_s);
	double scale = 1 << t->doublings;
	double settle = clamp(SETTLE_VISITS / rate, SETTLE_MIN_S, SETTLE_MAX_S);
	double length = clamp(WINDOW_VISITS / rate, WINDOW_MIN_S, WINDOW_MAX_S);
	double known = t->shortest_s > 0 ? t->shortest_s
					 : clamp(WINDOW_VISITS / visits_per_s, WINDOW_MIN_S,
						 WINDOW_MAX_S); /* visits are even */
	/* By the pauses that were seen: a program that has begun late has a rate that tells little.
	 */
	double least = fmin(fmin(LEAST_VISITS / rate, LEAST_VISITS * pause_s), LIMIT_S);
	struct window_length ret = { .settle_s = fmax(settle * scale,
						      least * LEAST_SETTLE / LEAST_VISITS),
				     .length_s = fmax(fmin(length * scale, WINDOW_MAX_S), least) };

	ret.paused = WINDOW_VISITS / rate > fmax(WINDOW_VISITS / visits_per_s, WINDOW_MIN_S);
	ret.bursts = ret.paused && ret.length_s > SURELY_LONGER * known;
	if (ret.bursts)
		start_anew(t);
	t->shortest_s = t->shortest_s > 0 ? fmin(t->shortest_s, ret.length_s) : ret.length_s;
	t->limited = ret.length_s >= WINDOW_MAX_S;
	ret.hold = hold(t, ret.length_s);
	t->holds++;
	if (ret.length_s <= WINDOW_MAX_S)
		ret.length_s = fmin(ret.length_s, fmax(WINDOW_MAX_S / (1 + JITTER), least));
	ret.length_s *= 1 + JITTER * (rng_next(&t->rng) / 0x1p64);
	return ret;
}

static struct level *find_level(struct window_tuner *t, double speedup)
{
	for (int i = 0; i < t->n_levels; i++) {
		if (fabs(t->level[i].speedup - speedup) < 1e-6)
			return &t->level[i];
	}
	if (t->n_levels == MAX_LEVELS)
		return NULL;
	t->level[t->n_levels] = (struct level){ .speedup = speedup };
	return &t->level[t->n_levels++];
}

static bool drifts(const struct level *l)
{
	double se;

	if (l->n < MIN_HELD || fabs(l->mean) < DRIFT_LEAST)
		return false;
	se = sqrt(l->m2 / (l->n - 1) / l->n);
	return se == 0 || student_two_sided(l->mean / se, l->n - 1) < DRIFT_DOUBT;
}

bool window_tuner_held(struct window_tuner *t, double speedup, double log_drift)
{
	struct level *l = find_level(t, speedup);
	double delta;

	if (!l || !isfinite(log_drift))
		return false;
	delta = log_drift - l->mean;
	l->n++;
	l->mean += delta / l->n;
	l->m2 += delta * (log_drift - l->mean);
	if (!drifts(l) || t->doublings == MAX_DOUBLINGS || t->limited)
		return false;
	t->doublings++;
	start_anew(t);
	return true;
}
