// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules stand in stats.h. Trying ten speedups of ten targets gives chance a hundred occasions,
 * so a point counts as above or below 0 only when it survives Holm's step-down over all treated
 * points of the same progress point with a known interval: the smallest p value must be at most
 * VERDICT_ALPHA / m, the next VERDICT_ALPHA / (m - 1), and so on. That alpha is not 5 %: whoever
 * acts on a wrong verdict loses days, who has to wait for a right one, minutes. The errors of the
 * method are in the standard errors.
 */
#include "stats/verdict.h"

#include <math.h>

#include "stats/describe.h"
#include "stats/mixture.h"
#include "stats/unjudged.h"

#define WORTHWHILE     1.0 /* percent */
#define NEGLIGIBLE     2.5
#define SURELY_LESS    5.0 /* than that */
#define LEAST_CAPPED   5
#define MUCH_CAPPED    0.25
#define MUCH_CROWDED   0.01
#define ABSOLUTE_WAITS 0.3 /* for each unit of work */
#define MUCH_WAITING   0.1
#define MUCH_SPINNING  0.02 /* of CPU time */
#define LEAST_VISITS   3    /* in a window, on average */
#define MUCH_ALONE     0.1  /* of the time in the target */
#define LEAST_SAMPLED  0.03 /* of all samples, before it is asked whether these were met */
#define LEAST_MET      0.5  /* of them, or it was mostly missed */
#define MUCH_POLLING   0.25 /* of them */
#define FEW_WINDOWS    6
#define LEAST_UNITS    5 /* before anything is concluded */
#define PARTS_MAX      8
#define MARGIN	       1.0   /* points, before an odd shape is worth a warning */
#define FLAWED_PP      100.0 /* expected errors: a period is worth a fifth of that at most */
#define LONGER	       10    /* times as many windows: nobody waits for more */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_OPTIMIZE] = "optimize",
		[VERDICT_NO_EFFECT] = "no effect",
		[VERDICT_CONTENTION] = "contention",
		[VERDICT_UNDECIDED] = "undecided",
	};

	return names[v];
}

static bool known(const struct estimate_point *p)
{
	return isfinite(p->ci_lo) && isfinite(p->ci_hi);
}

/*
 * Where a window is discarded because stops were too much, it was one in which much was inserted:
 * those that are kept say less of what the target does than all would.
 */
static bool are_many(size_t capped, size_t kept, size_t least)
{
	return capped >= least && capped >= MUCH_CAPPED * (capped + kept);
}

/* @least of the windows of a point, and many of them: those of the others may tell all the same. */
static bool lacks_windows(const struct candidate *c, size_t point, size_t least)
{
	for (size_t i = 1; i < c->sets.n; i++) {
		const struct unit_set *set = &c->sets.s[i];

		if (!set->real && fabs(100 * set->speedup - c->e.points[point].speedup_pct) < 1e-4)
			return are_many(set->capped, set->windows, least);
	}
	return false;
}

static bool is_left_out(const struct candidate *c, size_t point)
{
	return lacks_windows(c, point, LEAST_CAPPED);
}

bool may_be_choice(const struct candidate *c)
{
	const struct estimate *e = &c->e;

	for (size_t i = 1; i < e->n_points; i++) {
		bool counts = e->verdict == VERDICT_NO_EFFECT ||
			      e->points[i].speedup_pct == e->best_at_pct;

		if (counts && !is_left_out(c, i) && lacks_windows(c, i, 1))
			return true;
	}
	return false;
}

/* That the true program speedup is 0. */
static double p_value(const struct estimate_point *p)
{
	if (!(p->test_se > 0))
		return p->log_ratio == 0 ? 1 : 0;
	return 2 * blurred_above(fabs(p->log_ratio), p->noise_se, p->noise_df,
				 blur_between(p->noise_se, p->test_se));
}

/*
 * Something may be concluded from it. What a few units have in common by luck nothing tells, least
 * of all where the others' scatter is borrowed.
 */
static bool decides(const struct candidate *c, size_t i)
{
	const struct estimate_point *p = &c->e.points[i];

	return known(p) && p->units >= LEAST_UNITS && !is_left_out(c, i);
}

static bool open_point(const struct candidate *c, size_t i)
{
	return c->e.points[i].decides && !c->distinct[i];
}

/* Of one progress point. */
static void holm_progress(struct candidate *c, size_t n, uint32_t progress)
{
	size_t m = 0;

	for (size_t k = 0; k < n; k++) {
		for (size_t i = 1; c[k].e.progress == progress && i < c[k].e.n_points; i++)
			m += known(&c[k].e.points[i]);
	}
	for (size_t k = 0; k < n; k++) {
		if (c[k].e.progress == progress)
			c[k].compared = m;
	}
	for (; m; m--) {
		struct candidate *least = NULL;
		double least_p = INFINITY;
		size_t at = 0;

		for (size_t k = 0; k < n; k++) {
			for (size_t i = 1; c[k].e.progress == progress && i < c[k].e.n_points;
			     i++) {
				double p = open_point(&c[k], i) ? p_value(&c[k].e.points[i])
								: INFINITY;

				if (p < least_p) {
					least = &c[k];
					least_p = p;
					at = i;
				}
			}
		}
		if (!least || least_p > VERDICT_ALPHA / m)
			break;
		least->distinct[at] = true;
	}
}

void holm(struct candidate *c, size_t n)
{
	uint32_t last = 0;

	for (size_t k = 0; k < n; k++) {
		c[k].distinct = xcalloc(c[k].e.n_points, sizeof(*c[k].distinct));
		for (size_t i = 1; i < c[k].e.n_points; i++)
			c[k].e.points[i].decides = decides(&c[k], i);
		last = c[k].e.progress > last ? c[k].e.progress : last;
	}
	for (uint32_t p = 0; n && p <= last; p++)
		holm_progress(c, n, p);
}

/*
 * Surely above 0, also by what moves that end of the interval alone: right before contention it may
 * be as low as that. What is run by tasks that nobody waits for has no verdict if they count at
 * all.
 */
static bool is_gain(const struct candidate *c, size_t i)
{
	const struct estimate_point *p = &c->e.points[i];
	double lo, hi;

	estimate_point_bounds(p, VERDICT_ALPHA, &lo, &hi);
	return c->distinct[i] && p->log_ratio < 0 &&
	       (!(p->below_pp > 0) || (lo > 0 && c->sets.target_alone < MUCH_ALONE));
}

/* Surely below 0, as well. */
static bool is_loss(const struct candidate *c, size_t i)
{
	const struct estimate_point *p = &c->e.points[i];
	double lo, hi;

	estimate_point_bounds(p, VERDICT_ALPHA, &lo, &hi);
	return c->distinct[i] && p->log_ratio > 0 && (!(p->above_pp > 0) || hi < 0);
}

static enum verdict find_verdict(const struct candidate *c)
{
	const struct estimate *e = &c->e;
	bool above = false, below = false, nothing = e->n_points > 1;

	for (size_t i = 1; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];
		double x = p->program_speedup_pct, lo, hi;

		estimate_point_bounds(p, VERDICT_ALPHA, &lo, &hi);
		above |= is_gain(c, i) && x >= WORTHWHILE;
		below |= is_loss(c, i) && x <= -WORTHWHILE;
		if (is_left_out(c, i))
			continue;
		nothing &= p->decides && fabs(x) < NEGLIGIBLE && lo > -SURELY_LESS &&
			   hi < SURELY_LESS && (!c->distinct[i] || fabs(x) < WORTHWHILE);
	}
	if (above)
		return VERDICT_OPTIMIZE;
	if (below)
		return VERDICT_CONTENTION;
	return nothing ? VERDICT_NO_EFFECT : VERDICT_UNDECIDED;
}

/* As of LONGER times as many windows that say the same; false: it may still say anything. */
static bool measure_longer(struct estimate_point *p)
{
	double fixed = blur_between(p->noise_se, p->se);
	double test = blur_between(p->noise_se, p->test_se);

	if (!known(p))
		return false;
	p->noise_se /= sqrt(LONGER);
	p->noise_df *= LONGER;
	p->se = hypot(p->noise_se, fixed);
	p->test_se = hypot(p->noise_se, test);
	return true;
}

/* Would there be a verdict with LONGER times as many windows, if they say the same? */
static bool would_be_decided(const struct candidate *c)
{
	size_t n = c->e.n_points;
	_cleanup_free_ struct estimate_point *points = xcalloc(n, sizeof(*points));
	_cleanup_free_ bool *distinct = xcalloc(n, sizeof(*distinct));
	struct candidate later = *c;

	memcpy(points, c->e.points, n * sizeof(*points));
	later.e.points = points;
	later.distinct = distinct;
	for (size_t i = 1; i < n; i++) {
		struct estimate_point *p = &points[i];

		if (!measure_longer(p))
			return true;
		p->decides = !is_left_out(c, i);
		distinct[i] = p->decides && p_value(p) <= VERDICT_ALPHA / c->compared;
	}
	return find_verdict(&later) != VERDICT_UNDECIDED;
}

/* May the point be the one number? */
static bool eligible(const struct candidate *c, size_t i, enum verdict verdict)
{
	const struct estimate_point *p = &c->e.points[i];

	if (verdict == VERDICT_OPTIMIZE)
		return is_gain(c, i) && p->program_speedup_pct > 0;
	if (verdict == VERDICT_CONTENTION)
		return is_loss(c, i) && p->program_speedup_pct < 0;
	return estimate_point_knowledge(p) != KNOWN_NOTHING && !is_left_out(c, i);
}

/* Surely more of what the verdict says. */
static bool surpasses(const struct estimate_point *p, const struct estimate_point *best,
		      enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_OPTIMIZE:
		return p->ci_lo > best->ci_hi;
	case VERDICT_CONTENTION:
		return p->ci_hi < best->ci_lo;
	default:
		return estimate_point_knowledge(p) > estimate_point_knowledge(best);
	}
}

/* NULL: no point is. */
static void set_best(struct estimate *e, const struct estimate_point *best)
{
	e->best = best ? estimate_point_knowledge(best) : KNOWN_NOTHING;
	e->best_pct = best ? best->program_speedup_pct : NAN;
	e->best_lo = best ? best->ci_lo : NAN;
	e->best_hi = best ? best->ci_hi : NAN;
	e->best_at_pct = best ? best->speedup_pct : NAN;
}

/*
 * That of the highest speedup, unless a lower one is surely better: to choose the largest of points
 * that differ by no more than their errors would be to let luck win. @verdict: by the numbers
 * alone.
 */
static void find_best(struct estimate *e, const struct candidate *c, enum verdict verdict)
{
	const struct estimate_point *best = NULL;

	for (size_t i = e->n_points; i-- > 1;) {
		const struct estimate_point *p = &e->points[i];

		if (eligible(c, i, verdict) && (!best || surpasses(p, best, verdict)))
			best = p;
	}
	set_best(e, best);
}

/* ---- warnings: parts are separated by "; ", so there is none in a part ---- */

struct parts {
	char *part[PARTS_MAX];
	size_t n;
};

static void add_part(struct parts *w, char *text)
{
	if (w->n < PARTS_MAX)
		w->part[w->n++] = text;
	else
		free(text);
}

/* Points that have too few. */
static size_t few_windows(const struct estimate *e)
{
	size_t few = 0;

	for (size_t i = 1; i < e->n_points; i++)
		few += e->points[i].units < FEW_WINDOWS;
	return few;
}

/* "too few windows at 10, 20 and 50 %": the least number counts. */
static void warn_few(struct parts *w, const struct estimate *e)
{
	size_t few = few_windows(e), least = SIZE_MAX;

	for (size_t i = 1; i < e->n_points; i++) {
		if (e->points[i].units < least)
			least = e->points[i].units;
	}
	if (!few)
		return;
	add_part(w, xasprintf("%s for %zu of %zu speedups (least: %zu): run longer",
			      least < 3 ? "too few windows for an interval"
					: "few windows, so wide intervals",
			      few, e->n_points - 1, least));
}

static void warn_unused(struct parts *w, const struct unit_sets *sets)
{
	size_t unpaired = 0, used = 0;

	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		unpaired += sets->s[i].unpaired;
		used += sets->s[i].n;
	}
	if (unpaired)
		add_part(w, xasprintf("%zu of %zu windows not used: there is no 0 %% window "
				      "beside %s",
				      unpaired, used + unpaired, unpaired == 1 ? "it" : "them"));
}

/* For each unit of work. */
static double absolute_waits(const struct unit_sets *sets)
{
	double waits = 0, visits = 0;

	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		waits += sets->s[i].sum.w.absolute_waits;
		visits += sets->s[i].sum.p.visits;
	}
	return visits > 0 ? waits / visits : 0;
}

static double worst_crowded(const struct unit_sets *sets)
{
	double worst = 0;

	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		if (sets->s[i].sum.p.virtual_s > 0)
			worst = fmax(worst,
				     sets->s[i].sum.w.crowded_s / sets->s[i].sum.p.virtual_s);
	}
	return worst;
}

static void warn_crowded(struct parts *w, const struct unit_sets *sets)
{
	double worst = worst_crowded(sets);

	if (worst > MUCH_CROWDED)
		add_part(w, xasprintf("cores stood still for what one task owed, up to %.1f %% of "
				      "the time of others that wanted them: corrected for, with "
				      "wider intervals (fewer tasks, or more cores, would do "
				      "better)",
				      100 * worst));
}

static void warn_alone(struct parts *w, const struct unit_sets *sets)
{
	if (sets->target_alone >= MUCH_ALONE)
		add_part(w,
			 xasprintf("%.0f %% of it is run by tasks that nobody waits for, nor they "
				   "for others: if it takes less time, they may just do more of "
				   "it, and then the rest gains nothing, so intervals reach "
				   "further down",
				   100 * sets->target_alone));
}

static void warn_spins(struct parts *w, const struct unit_sets *sets)
{
	if (sets->spinning >= MUCH_SPINNING)
		add_part(w,
			 xasprintf("tasks spin for %.0f %% of their CPU time while they wait, and "
				   "for whom is not seen, so intervals are wider",
				   100 * sets->spinning));
}

static bool many_left_out(const struct candidate *c)
{
	bool all = c->e.n_points > 1;

	for (size_t i = 1; i < c->e.n_points; i++)
		all &= is_left_out(c, i);
	return all;
}

static void warn_left_out(struct parts *w, const struct candidate *c)
{
	if (many_left_out(c)) {
		add_part(w,
			 xasprintf("%zu of %zu windows with a speedup were left out, since cores "
				   "would have stood still too long; the others are a choice, "
				   "and predictions from them not to be trusted: try lower "
				   "speedups",
				   c->sets.capped, c->sets.capped + c->sets.treated));
		return;
	}
	for (size_t i = 1; i < c->e.n_points; i++) {
		if (is_left_out(c, i))
			add_part(w, xasprintf("many windows at %g %% were left out, since cores "
					      "would have stood still too long: nothing is "
					      "concluded from the others",
					      c->e.points[i].speedup_pct));
	}
}

/* A higher line speedup that gives clearly less than a lower one: the steepest such fall. */
static void warn_falling(struct parts *w, const struct estimate *e)
{
	const struct estimate_point *from = NULL, *to = NULL;
	double fall = MARGIN;

	for (size_t i = 1; i < e->n_points; i++) {
		for (size_t j = i + 1; j < e->n_points; j++) {
			const struct estimate_point *a = &e->points[i], *b = &e->points[j];

			if (known(a) && known(b) && a->ci_lo - b->ci_hi > fall) {
				fall = a->ci_lo - b->ci_hi;
				from = a;
				to = b;
			}
		}
	}
	/* That it falls all the way is what contention means. */
	if (from && e->verdict != VERDICT_CONTENTION)
		add_part(w, xasprintf("the curve is not monotone: %.1f %% at %g %%, but %.1f %% at "
				      "%g %%",
				      from->program_speedup_pct, from->speedup_pct,
				      to->program_speedup_pct, to->speedup_pct));
}

/* A line that takes s % less time cannot save more than s %. (Queues, and so latencies, can.) */
static void warn_impossible(struct parts *w, const struct estimate *e)
{
	for (size_t i = 1; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];

		if (known(p) && p->ci_lo > p->speedup_pct + MARGIN) {
			add_part(w,
				 xasprintf("%.1f %% at %g %% is more than is possible: paced "
					   "from outside, or delays too coarse for this program?",
					   p->program_speedup_pct, p->speedup_pct));
			return;
		}
	}
}

/* Nobody gains more by it than the time that was waited for. */
static bool waits_matter(const struct estimate *e)
{
	double gain = 0;

	for (size_t i = 1; i < e->n_points; i++)
		gain = fmax(gain, e->points[i].speedup_pct * e->target_waits);
	return gain >= SURELY_LESS;
}

static void warn_waits(struct parts *w, const struct estimate *e)
{
	double share = e->target_waits / (e->target_runs + e->target_waits);

	if (e->target_waits > 0 && share >= MUCH_WAITING && waits_matter(e))
		add_part(w, xasprintf("%.0f %% of the target's time is waiting for devices, timers "
				      "or the kernel (%.2g tasks at any time), which is %s",
				      100 * share, e->target_waits,
				      e->waits_sped ? "sped up, too, also where it is for somebody "
						      "outside (a client elsewhere, a clock)"
						    : "not sped up: the prediction is for its CPU "
						      "time only (--waits speeds it up, too)"));
}

static void warn_clock(struct parts *w, const struct stretch *s)
{
	_cleanup_free_ char *shorter = stretch_shorter_text(s);
	_cleanup_free_ char *told =
		stretch_takes_less(s)
			? xasprintf("it took longer by %.0f %% [%.0f, %.0f] of that only, so what "
				    "it seems to save may be time that was inserted",
				    100 * s->part, 100 * s->lo, 100 * s->hi)
			: xasprintf("its %s, so what it seems to save may be waited for then",
				    shorter);

	add_part(w, xasprintf("a clock has a say in how long this takes (a limit, a deadline, a "
			      "peer that is not profiled): when everything was stopped for a "
			      "while, %s: try it with all the work it can do at a time, and count "
			      "what gets done",
			      told));
}

static char *join(struct parts *w)
{
	char *text = NULL;

	for (size_t i = 0; i < w->n; i++) {
		char *t = text ? xasprintf("%s; %s", text, w->part[i]) : xstrdup(w->part[i]);

		free(text);
		free(w->part[i]);
		text = t;
	}
	return text;
}

static bool any_distinct(const struct candidate *c)
{
	for (size_t i = 1; i < c->e.n_points; i++) {
		if (c->distinct[i])
			return true;
	}
	return false;
}

static double share_met(const struct candidate *c)
{
	return c->e.samples ? c->sets.target_share : 0;
}

/*
 * What samples lie in and what was sped up are told by different readers of the same moments. Where
 * processes are over before the engine knows where their libraries are, or what runs in them has no
 * callers that can be followed, the second is less; the speedup is then that of a part.
 */
static bool is_mostly_missed(const struct candidate *c)
{
	double sampled = c->sampled - c->polled;

	return sampled >= LEAST_SAMPLED && share_met(c) < LEAST_MET * sampled;
}

/* Samples that are no hits: who sees the target often must know why little of it is sped up. */
static void warn_polls(struct parts *w, const struct candidate *c)
{
	if (c->sampled >= LEAST_SAMPLED && c->polled >= MUCH_POLLING * c->sampled)
		add_part(w, xasprintf("of the %.1f %% of the samples that lie in it %.0f %% wait "
				      "for other ranks by polling in MPI: that is not sped up, for "
				      "whoever waits less for others brings nothing",
				      100 * c->sampled, 100 * c->polled / c->sampled));
}

static void warn_missed(struct parts *w, const struct candidate *c)
{
	if (is_mostly_missed(c))
		add_part(w,
			 xasprintf("%.1f %% of the samples lie in it, but only %.1f %% of what ran "
				   "in its windows was "
				   "known to be in it, and sped up: it runs in processes that are "
				   "over too soon to "
				   "know their files in time, or at other times than its windows",
				   100 * (c->sampled - c->polled), 100 * share_met(c)));
}

/*
 * Windows are for a point that is reached more often. They begin at the last visit before them,
 * when the speedup may have been another one, or hold none, and then are not counted.
 */
static bool is_seldom(const struct candidate *c)
{
	return c->sets.visits < LEAST_VISITS;
}

static void warn_seldom(struct parts *w, const struct candidate *c)
{
	if (is_seldom(c))
		add_part(w, xasprintf("the progress point is reached %.2g times in a window: what "
				      "windows say of it cannot be trusted (profile it by itself, "
				      "or whole runs with --end-to-end)",
				      c->sets.visits));
}

/* scozd says of most windows that nothing can be concluded from them. */
static bool is_flawed(const struct candidate *c)
{
	double expected = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->sets.n && !c->sets.s[i].real; i++) {
		const struct hold *sum = &c->sets.s[i].sum;

		expected += sum->windows * sum->w.expected_pp;
		n += sum->windows;
	}
	return n && expected / n >= FLAWED_PP;
}

/* What forbids a verdict whatever the windows say. */
static enum doubt find_forbidding(const struct candidate *c, bool paced, bool waits, bool left_out)
{
	if (is_flawed(c))
		return DOUBT_FLAWED;
	if (paced)
		return DOUBT_PACED;
	if (waits)
		return DOUBT_WAITS;
	if (left_out)
		return DOUBT_LEFT_OUT;
	if (is_mostly_missed(c))
		return DOUBT_MISSED;
	/* Nothing was inserted: what the windows differ by is chance. */
	if (!c->e.samples)
		return DOUBT_UNSEEN;
	return is_seldom(c) ? DOUBT_SELDOM : DOUBT_NONE;
}

/* Why they have none. */
static enum doubt find_open(const struct candidate *c)
{
	if (few_windows(&c->e))
		return DOUBT_FEW_WINDOWS;
	if (c->sets.target_alone >= MUCH_ALONE)
		return DOUBT_ALONE;
	return worst_crowded(&c->sets) > MUCH_CROWDED ? DOUBT_STRANGERS : DOUBT_CHANCE;
}

void judge(struct candidate *c, const struct phase *only, bool warn)
{
	struct estimate *e = &c->e;
	double sleeps = absolute_waits(&c->sets);
	bool clock = stretch_by_clock(&c->stretch) && (c->clocked || any_distinct(c));
	bool paced = (pace_from_outside(&c->pace) || sleeps > ABSOLUTE_WAITS) && any_distinct(c);
	bool waits, left_out = many_left_out(c);
	struct parts w = { .n = 0 };

	e->verdict = find_verdict(c);
	find_best(e, c, e->verdict);
	e->target_runs = c->sets.target_runs;
	e->target_waits = c->sets.target_waits;
	e->waits_sped = c->sets.waits_sped;
	waits = e->verdict != VERDICT_OPTIMIZE && !e->waits_sped && waits_matter(e);
	if (!e->samples || (left_out && e->best == KNOWN_BOUND))
		set_best(e, NULL);
	e->doubt = find_forbidding(c, paced || clock, waits, left_out);
	if (e->doubt == DOUBT_NONE)
		e->doubt = e->verdict == VERDICT_UNDECIDED ? find_open(c) : find_unjudged(c);
	if (e->doubt != DOUBT_NONE)
		e->verdict = VERDICT_UNDECIDED;
	e->time_tells = e->verdict == VERDICT_UNDECIDED && !estimate_is_withheld(e) &&
			(estimate_is_unjudged(e) || would_be_decided(c));
	e->more_s = estimate_is_unjudged(e) ? unjudged_more_s(c, e->doubt) : NAN;
	if (!warn)
		return;
	if (!e->samples && !is_mostly_missed(c))
		add_part(&w, xstrdup("the target was not seen running in any window"));
	if (estimate_is_unjudged(e))
		add_part(&w, unjudged_text(c, e->doubt));
	if (clock)
		warn_clock(&w, &c->stretch);
	else if (paced && sleeps > ABSOLUTE_WAITS)
		add_part(&w,
			 xasprintf("paced from outside: for each unit of work, tasks sleep %.2g "
				   "times until a point in time, which does not move when delay "
				   "is inserted, so predictions are not to be trusted",
				   sleeps));
	else if (paced)
		add_part(&w, xasprintf("paced from outside: waits for devices and timers took up "
				       "%.0f %% [%.0f, %.0f] of the inserted delay, so the program "
				       "follows a clock that is not delayed, and the predictions "
				       "are not to be trusted",
				       100 * c->pace.slope, 100 * c->pace.lo, 100 * c->pace.hi));
	if (only && isfinite(only->end_s))
		add_part(&w, xasprintf("all its windows lie between %.1f s and %.1f s, when the "
				       "speed was %.4g/s",
				       only->start_s, only->end_s, only->rate_per_s));
	else if (only)
		add_part(&w, xasprintf("all its windows lie after %.1f s, when the speed was "
				       "%.4g/s",
				       only->start_s, only->rate_per_s));
	warn_missed(&w, c);
	warn_polls(&w, c);
	warn_seldom(&w, c);
	warn_few(&w, e);
	warn_unused(&w, &c->sets);
	warn_left_out(&w, c);
	warn_crowded(&w, &c->sets);
	warn_waits(&w, e);
	warn_spins(&w, &c->sets);
	warn_alone(&w, &c->sets);
	warn_falling(&w, e);
	if (!c->sets.latency)
		warn_impossible(&w, e);
	e->warning = join(&w);
}
