// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From windows to estimates. units.c pairs treated windows with their baselines, resample.c turns
 * the pairs of one speedup into a ratio with a standard error, curve.c makes one curve of the
 * ratios of all speedups, verdict.c judges. Targets are independent of each other: a window more of
 * one changes no number of another (though, by the correction for many points, perhaps its
 * verdict).
 */
#include "stats/stats.h"

#include <math.h>

#include "stats/control_variate.h"
#include "stats/curve.h"
#include "stats/holds.h"
#include "stats/mixture.h"
#include "stats/paced.h"
#include "stats/precision.h"
#include "stats/resample.h"
#include "stats/spells.h"
#include "stats/strangers.h"
#include "stats/units.h"
#include "stats/verdict.h"

#define SLOW_IN_COMMON 0.8
#define ALONE	       0.1 /* CPU time of strangers, of that of profiled tasks: hardly any */
#define LEAST_CREDIT   1.0 /* point: what a clock may take that is worth a word */
#define WAITS_SHARE    0.1 /* of the target's time: it is no longer code that is asked about */

static int compare_windows(const void *pa, const void *pb)
{
	const struct profile_window *a = *(const struct profile_window *const *)pa;
	const struct profile_window *b = *(const struct profile_window *const *)pb;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return compare_order(pa, pb);
}

/* The placebo: 0 by definition, and how far from it a point of as many windows may fall. */
static struct estimate_point zero_point(size_t zeros, const struct log_ratio *r)
{
	struct estimate_point p = { .ci_lo = -INFINITY, .ci_hi = INFINITY, .windows = zeros };

	if (r->df > 0) {
		p.ci_lo = log_ratio_percent(r->hi - r->value);
		p.ci_hi = log_ratio_percent(r->lo - r->value);
		p.se = r->se;
		p.df = r->df;
	}
	p.alone_lo = p.ci_lo;
	p.alone_hi = p.ci_hi;
	return p;
}

static struct estimate_point treated_point(const struct unit_set *set, const struct log_ratio *r)
{
	return (struct estimate_point){
		.speedup_pct = 100 * set->speedup,
		.program_speedup_pct = log_ratio_percent(r->value),
		.ci_lo = log_ratio_percent(r->hi),
		.ci_hi = log_ratio_percent(r->lo),
		.windows = set->windows,
		.units = set->n,
		.log_ratio = r->value,
		.se = r->se,
		.df = r->df,
		.alone_pct = log_ratio_percent(r->value),
		.alone_lo = log_ratio_percent(r->hi),
		.alone_hi = log_ratio_percent(r->lo),
	};
}

static void add_measured(struct estimate_point *p, const struct unit_set *set,
			 const struct log_ratio *r)
{
	p->measured_pct = log_ratio_percent(r->value);
	p->measured_lo = log_ratio_percent(r->hi);
	p->measured_hi = log_ratio_percent(r->lo);
	p->measured_windows = set->windows;
}

void estimate_point_bounds(const struct estimate_point *p, double alpha, double *lo, double *hi)
{
	double most = p->df > 0 ? blurred_bound(alpha, p->noise_se, p->noise_df,
						blur_between(p->noise_se, p->se))
				: INFINITY;

	*lo = p->df > 0 ? log_ratio_percent(p->log_ratio + most) - p->below_pp + p->low_pp
			: -INFINITY;
	*hi = p->df > 0 ? log_ratio_percent(p->log_ratio - most) + p->above_pp + p->low_pp
			: INFINITY;
}

struct estimate_point *estimate_point_at(const struct estimate *e, double speedup_pct)
{
	for (size_t i = 1; i < e->n_points; i++) {
		if (fabs(e->points[i].speedup_pct - speedup_pct) < 1e-4)
			return &e->points[i];
	}
	return NULL;
}

/* The share of their time able to run that profiled tasks wait behind strangers. */
static double behind_strangers(const struct profile_window *w)
{
	double others = strangers_ran(w);
	double waits = w->ran_s + others > 0 ? w->queued_s * others / (w->ran_s + others) : 0;

	return waits > 0 ? waits / (waits + w->ran_s) : 0;
}

/* Of what strangers ran, who were real-time tasks. */
static double urgent_strangers(const struct profile_window *w)
{
	double others = strangers_ran(w);

	return others > 0 ? fmin(w->urgent_s / others, 1) : 0;
}

/* What strangers on the cores may do to a prediction, points. */
static double shared_doubt(const struct profile_window *w, const struct profile_window *zero,
			   const struct estimate_point *p)
{
	double shared = w->inserted_s > 0 ? fmin(w->shared_s / w->inserted_s, 1) : 0;
	double behind = behind_strangers(zero), urgent = urgent_strangers(zero), competing;

	competing = hypot(SHARED_DOUBT * shared * p->speedup_pct,
			  QUEUED_DOUBT * behind * fmin(p->speedup_pct / QUEUED_MOST, 1) *
				  fmax(100 - p->program_speedup_pct, p->program_speedup_pct));
	return hypot((1 - urgent) * competing, urgent * URGENT_DOUBT * behind * p->speedup_pct);
}

/*
 * 0 to 1: are waits by spinning shorter than the period? Then what a sample finds has nothing to do
 * with what the one before it found, and those that begin anew are as many as do not spin.
 */
static double brief_spins(const struct unit_sets *sets)
{
	double by_chance = sets->spinning * (1 - fmin(sets->spinning, 1));

	return by_chance > 0 ? fmin(sets->spins_anew / by_chance, 1) : 0;
}

/* What point @p of @e, whose points before it are known, wins beyond FAR_FROM, as straight lines
 * go. */
static double won_far(const struct estimate *e, const struct estimate_point *p)
{
	const struct estimate_point *before = p, *after = p;
	double from = 100 * FAR_FROM, at;

	if (p->speedup_pct <= from)
		return 0;
	while (before > e->points && before->speedup_pct > from)
		after = before--;
	at = (from - before->speedup_pct) / (after->speedup_pct - before->speedup_pct);
	return p->program_speedup_pct - (1 - at) * before->program_speedup_pct -
	       at * after->program_speedup_pct;
}

/* What a CPU quota may do to a prediction, points. */
static double quota_doubt(const struct unit_sets *sets, const struct unit_set *set,
			  const struct estimate_point *p)
{
	const struct unit_set *zero = &sets->s[0];
	double changed;

	if (!sets->quota.known)
		return 100 * sets->quota.throttled * set->speedup;
	changed = set->measured * zero->corrected / (set->corrected * zero->measured);
	return QUOTA_DOUBT * fabs(changed - 1) * (100 - p->program_speedup_pct);
}

static const char *const fixed_causes[] = {
	[FIXED_METHOD] = "the method itself",
	[FIXED_CROWDED] = "more tasks than cores",
	[FIXED_SHARED] = "cores shared with strangers",
	[FIXED_PERIOD] = "samples too coarse for this program",
	[FIXED_STEAL] = "time that the host took",
	[FIXED_SPINS] = "tasks that spin while they wait",
	[FIXED_FAR] = "what else changes without the target",
	[FIXED_QUOTA] = "a CPU quota",
};

/*
 * What does not shrink however long one measures, and the largest part of it. What the period costs
 * goes by how often tasks synchronise at 0 % (@zero): delays change that.
 */
static void find_fixed(const struct unit_sets *sets, const struct unit_set *set,
		       const struct estimate *e, struct estimate_point *p)
{
	const struct profile_window *w = &set->sum.w, *zero = &sets->s[0].sum.w;
	double virtual_s = set->sum.p.virtual_s;
	double crowded = virtual_s > 0 ? w->crowded_s / virtual_s : 0;
	double stolen = w->ran_s > 0 ? fmin(w->stolen_s / w->ran_s, STEAL_MOST) : 0;
	double period = zero->expected_pp / PERIOD_AT_SPEEDUP;
	double spins = fmin(sets->spinning / SPIN_SHARE, 1);
	double brief = brief_spins(sets);
	double most = 0;

	p->fixed_part[FIXED_METHOD] = METHOD_PP;
	p->fixed_part[FIXED_CROWDED] =
		CROWDED_DOUBT * crowded / (1 - fmin(crowded, 0.5)) * (100 - p->program_speedup_pct);
	p->fixed_part[FIXED_SHARED] = shared_doubt(w, zero, p);
	p->fixed_part[FIXED_PERIOD] = PERIOD_DOUBT * period * set->speedup;
	p->fixed_part[FIXED_STEAL] = STEAL_DOUBT * stolen * p->speedup_pct;
	p->low_pp = STEAL_LOW * stolen * p->speedup_pct;
	p->fixed_part[FIXED_SPINS] =
		SPIN_DOUBT * spins * (SPIN_LEAST + brief) * fmin(p->speedup_pct, SPIN_MOST);
	p->fixed_part[FIXED_QUOTA] =
		set->corrected > 0 && sets->s[0].measured > 0 ? quota_doubt(sets, set, p) : 0;
	p->fixed_part[FIXED_FAR] = FAR_DOUBT * fabs(won_far(e, p));
	for (int i = 0; i < N_FIXED_PARTS; i++) {
		p->fixed_pp = hypot(p->fixed_pp, p->fixed_part[i]);
		if (p->fixed_part[i] > most) {
			most = p->fixed_part[i];
			p->fixed_cause = fixed_causes[i];
		}
	}
	if (p->fixed_cause == fixed_causes[FIXED_PERIOD] && 2 * zero->flaws_pp > zero->expected_pp)
		p->fixed_cause = "probes that are hit too often, or CPUs that are not sampled";
}

/* With @fixed, which is known. @points: of the period at 0 %, to a unit of its logarithm. */
static double with_known(const struct estimate_point *p, double fixed, double points)
{
	return hypot(p->noise_se, fixed / Z_975 / points);
}

/* fixed_pp with what the host took on both sides as it is on the far one. */
static double fixed_far(const struct estimate_point *p)
{
	double steal = p->fixed_part[FIXED_STEAL], far = steal + p->low_pp;

	return sqrt(p->fixed_pp * p->fixed_pp - steal * steal + far * far);
}

/* Independent of chance, so it adds to the variance. */
static void add_method_error(struct estimate_point *p)
{
	double half = p->fixed_pp, saves = p->program_speedup_pct, remaining = 100 - saves;
	bool differs = fabs(p->log_ratio) > 1e-6;

	p->se = with_known(p, half, remaining);
	p->test_se = with_known(p, fixed_far(p), differs ? (remaining - 100) / p->log_ratio : 100);
	if (p->df > 0 && p->noise_se > 0)
		p->df *= pow(p->se / p->noise_se, 4);
	else
		p->df = isfinite(p->ci_lo) ? 1e6 : 0;
	p->ci_lo = saves - hypot(saves - p->ci_lo, half) + p->low_pp;
	p->ci_hi = saves + hypot(p->ci_hi - saves, half) + p->low_pp;
	if (isfinite(p->ci_hi))
		p->ci_hi = fmin(p->ci_hi, 100); /* nothing takes less than no time */
}

/* At 0 %, s: what profiled tasks ran, queued, and waited in the target. */
static double tasks_time(const struct unit_sets *sets)
{
	const struct profile_window *w = &sets->s[0].sum.w;

	return w->ran_s + w->queued_s + w->target_waited_s;
}

/*
 * Who does not wait in the target does not queue for a core afterwards, and a real change saves
 * that, too; delays cannot show it. How much of the queueing comes after such waits is not known:
 * up to all that tasks queue, of the time that they run, queue, and wait in the target. And cores
 * that are never idle need not be woken by others, either (WAKING_DOUBT).
 */
static void add_queueing(const struct unit_sets *sets, struct estimate_point *p)
{
	const struct profile_window *zero = &sets->s[0].sum.w;
	double in_target = sets->target_waits + sets->target_runs;
	double all = tasks_time(sets), more, largest = 0;

	if (!sets->waits_sped || !(in_target > 0) || !(all > 0) || !isfinite(p->ci_hi))
		return;
	more = (zero->queued_s + WAKING_DOUBT * zero->woken_s) / all;
	more *= p->speedup_pct * sets->target_waits / in_target;
	more = fmax(fmin(more, 100 - p->ci_hi), 0);
	p->ci_hi += more;
	p->above_pp = more;
	p->fixed_pp += more / 2;
	for (int i = 0; i < N_FIXED_PARTS; i++)
		largest = fmax(largest, p->fixed_part[i]);
	if (more / 2 > largest)
		p->fixed_cause = "queueing after waits in the target";
}

/*
 * What is won at @p for each percent of line speedup. Where others hold the work up by then, the
 * last stretch of the curve tells; where noise hides whether they do, as much as all of it.
 */
static double won_at_end(const struct estimate *e, const struct estimate_point *p)
{
	const struct estimate_point *before = p - 1;
	double last, all, error, differs;

	while (before > e->points && p->speedup_pct - before->speedup_pct < STRETCH)
		before--;
	last = (p->program_speedup_pct - before->program_speedup_pct) /
	       (p->speedup_pct - before->speedup_pct);
	all = p->program_speedup_pct / p->speedup_pct;
	error = (100 - p->program_speedup_pct) * hypot(p->noise_se, before->noise_se) /
		(p->speedup_pct - before->speedup_pct);
	if (!(error > 0))
		return last;
	differs = fabs(all - last) / error - STRETCH_DIFFERS;
	return all + fmin(fmax(differs, 0), 1) * (last - all);
}

/*
 * Of what may be won so beyond the prediction, as large a part is expected as is won of the
 * target's own time at the end of the curve: where others hold the work up by then, those who queue
 * less do not matter either. Half of it at half of the speedup, where each wait, though shorter, is
 * still there.
 */
static void expect_less_queueing(const struct unit_sets *sets, struct estimate *e)
{
	const struct profile_window *zero = &sets->s[0].sum.w;
	double in_target = zero->target_waited_s + zero->target_ran_s, all = tasks_time(sets);

	/* From the last one: each goes by those before it as they were. */
	for (size_t i = e->n_points - 1; i > 0; i--) {
		struct estimate_point *p = &e->points[i];
		double won = won_at_end(e, p);

		if (p->above_pp > 0 && won > 0)
			p->program_speedup_pct += LESS_QUEUEING * p->above_pp * p->speedup_pct /
						  100 * fmin(won * all / in_target, 1);
	}
}

/* One end of the interval alone is @further away: half of that is its half width. */
static void widen_one_end(struct estimate_point *p, double further, const char *cause)
{
	if (further / 2 > p->fixed_pp)
		p->fixed_cause = cause;
	p->fixed_pp += further / 2;
}

/* It may be better than the interval has it, by @more, as far as that is possible. */
static void reach_up(struct estimate_point *p, double more, const char *cause)
{
	more = fmax(fmin(more, 100 - p->ci_hi), 0);
	p->ci_hi += more;
	p->above_pp += more;
	widen_one_end(p, more, cause);
}

/* It may be worse than the interval has it, by @less. */
static void reach_down(struct estimate_point *p, double less, const char *cause)
{
	p->ci_lo -= less;
	p->below_pp += less;
	widen_one_end(p, less, cause);
}

/*
 * Who finds a lock taken and sleeps for some time before he tries again may not find it taken where
 * it is held for less. He looks in real time, in which who holds it stays in the target as long as
 * ever: in experiments he sleeps as often as before. So all such sleeps may be won, of the time
 * that tasks run, queue, and sleep so.
 */
static void doubt_looks(const struct unit_sets *sets, struct estimate *e)
{
	const struct profile_window *zero = &sets->s[0].sum.w;
	double all = zero->ran_s + zero->queued_s + zero->polled_s;
	double share = all > 0 ? zero->polled_s / all : 0;

	for (size_t i = 1; i < e->n_points; i++) {
		struct estimate_point *p = &e->points[i];

		if (isfinite(p->ci_hi))
			reach_up(p, share * p->speedup_pct, "tasks that look, and sleep again");
	}
}

/* What is left of a program gets cheaper, too, when its target is gone (FAR_ABOVE). */
static void doubt_cheaper_rest(struct estimate *e)
{
	for (size_t i = 1; i < e->n_points; i++) {
		struct estimate_point *p = &e->points[i];
		double won = p->program_speedup_pct / 100, above = p->ci_hi - 100 * won;
		double far = fmax(p->speedup_pct / 100 - FAR_FROM, 0) / (1 - FAR_FROM);
		double cheaper = 100 * FAR_ABOVE * far * fmax(won * (1 - won), 0);

		if (isfinite(p->ci_hi))
			reach_up(p, hypot(above, cheaper) - above, fixed_causes[FIXED_FAR]);
	}
}

static bool surely_harmful(const struct estimate_point *p)
{
	return isfinite(p->ci_lo) && p->ci_hi < 0;
}

/*
 * A lock that goes to whoever comes first is contended from some speedup on, and once it is, stays
 * so: the curve has a cliff, and delays may hold its edge further out than it is. So a point right
 * before one that is surely harmful may be as low as that, however high it seems.
 */
static void doubt_before_contention(struct estimate *e)
{
	for (size_t i = 1; i + 1 < e->n_points; i++) {
		struct estimate_point *p = &e->points[i];
		const struct estimate_point *next = &e->points[i + 1];

		if (!isfinite(p->ci_lo) || p->ci_hi < 0 || !surely_harmful(next))
			continue;
		reach_down(p, fmax(p->ci_lo - next->ci_lo, 0), "contention that begins nearby");
	}
}

/* What was inserted, and taken off, for a unit of work, points. */
static double credited(const struct unit_sets *sets, const struct estimate_point *p)
{
	for (size_t i = 1; i < sets->n; i++) {
		const struct unit_set *set = &sets->s[i];
		double inserted = 0;

		if (set->real || fabs(100 * set->speedup - p->speedup_pct) > 1e-4)
			continue;
		for (size_t k = 0; k < set->n; k++)
			inserted += set->u[k].inserted;
		return set->sum.p.virtual_s > 0
			       ? inserted / set->sum.p.virtual_s * (100 - p->program_speedup_pct)
			       : 0;
	}
	return 0;
}

/* By @less, but no further than to nothing, but for chance. */
static void reach_to_nothing(struct estimate_point *p, double less, const char *cause)
{
	reach_down(p, fmin(less, fmax(p->ci_lo + METHOD_PP, 0)), cause);
}

/* What was credited, of the part of the delay that cost nothing when all was stopped. */
static double lost(const struct stretch *s, double credit)
{
	return (1 - fmin(fmax(s->part, 0), 1)) * credit;
}

/*
 * A clock (stretch.h) takes gains away: as large a part of what was credited as of the delay when
 * all was stopped, or more, up to all.
 */
static void take_by_clock(const struct stretch *s, double credit, struct estimate_point *p)
{
	p->program_speedup_pct -= fmin(lost(s, credit), fmax(p->program_speedup_pct, 0));
	reach_to_nothing(p, credit, "a clock that has a say in it");
}

/*
 * Less than all of it, though not by so much that a clock is the reason: so much less was saved, if
 * effects add up (stretch.h).
 */
static void doubt_by_clock(const struct stretch *s, double credit, struct estimate_point *p)
{
	reach_to_nothing(p, lost(s, credit), "a clock that may have a say in it");
}

static void give_by_cost(const struct stretch *s, double credit, struct estimate_point *p)
{
	reach_up(p, (s->hi - 1) * credit, "stops that cost more than they last");
}

/*
 * What windows in which all was stopped tell of those in which all but the target was. What a quota
 * does with stops is settled (quota.h). True: a clock took something from some point.
 */
static bool calibrate(const struct unit_sets *sets, const struct stretch *s, struct estimate *e)
{
	const struct profile_window *zero = &sets->s[0].sum.w;
	bool costs = stretch_costs_more(s) && strangers_ran(zero) < ALONE * zero->ran_s &&
		     !(sets->quota.throttled > 0);
	bool taken = false;

	for (size_t i = 1; i < e->n_points; i++) {
		struct estimate_point *p = &e->points[i];
		double credit = credited(sets, p);

		if (!isfinite(p->ci_lo) || !isfinite(p->ci_hi))
			continue;
		if (stretch_by_clock(s)) {
			taken |= credit >= LEAST_CREDIT && p->ci_hi > LEAST_CREDIT;
			take_by_clock(s, credit, p);
		} else if (stretch_falls_short(s)) {
			doubt_by_clock(s, credit, p);
		} else if (costs) {
			give_by_cost(s, credit, p);
		}
	}
	if (!(estimate_half_width(e) <= PRECISION_PP))
		e->precision_s = INFINITY;
	return taken;
}

/*
 * Tasks that nobody waits for, nor they for others, may as well do more of what they do in the same
 * time, if it gets cheaper (a compaction in the background): then nothing is won of the CPU time
 * that they take from others, and some may be lost, for they come more often. Delays take for
 * granted that they do as much for each unit of work as before. That is about what the others queue
 * for a core: who has one gains by what such tasks leave for him in memory.
 */
static void doubt_alone(const struct unit_sets *sets, struct estimate *e)
{
	double queued = unit_sets_queued_pct(sets);

	for (size_t i = 1; i < e->n_points; i++) {
		struct estimate_point *p = &e->points[i];
		double won = fmin(fmax(p->program_speedup_pct, 0), queued);
		double least = p->program_speedup_pct - ALONE_DOUBT * sets->target_alone * won;
		double less = p->ci_lo - least;

		if (isfinite(p->ci_lo) && less > 0)
			reach_down(p, less, "tasks that nobody waits for");
	}
}

/*
 * It may be the target itself that all go by: a disk that is never idle. Who waits for it while all
 * is stopped loses nothing; that is no more of the time than is waited for it, nor waits more.
 */
static bool target_is_a_clock(const struct unit_sets *sets, const struct stretch *s)
{
	return sets->waits_sped &&
	       sets->target_waits > WAITS_SHARE * (sets->target_runs + sets->target_waits) &&
	       sets->target_waits >= fmax(1 - s->hi, stretch_uses_slack(s) ? s->gone : 0);
}

/* Sets @from to @to, excluding the latter: their scatter. */
static void find_scatter(const struct unit_sets *sets, size_t from, size_t to,
			 const struct control *control, struct log_ratio *r, double *slow)
{
	_cleanup_free_ struct scatter *s = xcalloc(to - from, sizeof(*s));
	_cleanup_free_ double **deviation = xcalloc(to - from, sizeof(*deviation));

	for (size_t i = from; i < to; i++) {
		const struct unit_set *set = &sets->s[i];
		double *d = deviation[i - from] = xcalloc(set->n, sizeof(*d));

		if (set->n >= 3)
			log_ratio_deviations(set->u, set->n, d);
		if (control)
			control_deviations(control, sets, set, d);
		s[i - from] = (struct scatter){ set, d };
	}
	spells_apply(s, to - from, sets->n_windows, r + from, slow + from);
	for (size_t i = 0; i < to - from; i++)
		free(deviation[i]);
}

/* What lasts for long makes all speedups err in the same direction, more or less. */
static double error_correlation(const struct unit_sets *sets, const double *slow, size_t i,
				size_t k)
{
	if (i == k)
		return 1;
	return unit_sets_correlation(sets, i, k) * sqrt((1 - slow[i]) * (1 - slow[k])) +
	       SLOW_IN_COMMON * sqrt(slow[i] * slow[k]);
}

/* Replaces what each speedup says alone with what the whole curve says. */
static void fit_curve(const struct unit_sets *sets, const double *slow, struct log_ratio *r)
{
	_cleanup_free_ struct curve_point *p = xcalloc(sets->n, sizeof(*p));
	_cleanup_free_ double *correlation = xcalloc(sets->n * sets->n, sizeof(*correlation));
	_cleanup_free_ size_t *from = xcalloc(sets->n, sizeof(*from));
	size_t n = 0;

	for (size_t i = 1; i < sets->n && !sets->s[i].real; i++) {
		if (r[i].df > 0)
			from[n++] = i;
	}
	for (size_t i = 0; i < n; i++) {
		const struct log_ratio *x = &r[from[i]];

		p[i] = (struct curve_point){ sets->s[from[i]].speedup, x->value, x->se, x->df };
		for (size_t k = 0; k < n; k++)
			correlation[i * n + k] = error_correlation(sets, slow, from[i], from[k]);
	}
	curve_fit(p, n, correlation);
	for (size_t i = 0; i < n; i++)
		log_ratio_set(&r[from[i]], p[i].value, p[i].se, p[i].df);
}

static void take_joint(struct estimate_point *p, const struct log_ratio *r)
{
	if (!(r->df > 0))
		return;
	p->program_speedup_pct = log_ratio_percent(r->value);
	p->ci_lo = log_ratio_percent(r->hi);
	p->ci_hi = log_ratio_percent(r->lo);
	p->log_ratio = r->value;
	p->se = r->se;
	p->df = r->df;
}

static void estimate_points(const struct unit_sets *sets, bool exact, struct estimate *e)
{
	_cleanup_free_ struct log_ratio *r = xcalloc(sets->n, sizeof(*r));
	_cleanup_free_ struct log_ratio *joint = xcalloc(sets->n, sizeof(*joint));
	_cleanup_free_ double *slow = xcalloc(sets->n, sizeof(*slow));
	size_t real = 1;

	for (size_t i = 0; i < sets->n; i++)
		r[i] = log_ratio_estimate(sets->s[i].u, sets->s[i].n, sets->s[i].inflation);
	while (real < sets->n && !sets->s[real].real)
		real++;
	control_fit(sets, &e->control);
	find_scatter(sets, 0, 1, NULL, r, slow);
	find_scatter(sets, 1, real, &e->control, r, slow);
	find_scatter(sets, real, sets->n, &e->control, r, slow);
	control_apply(sets, &e->control, r);
	memcpy(joint, r, sets->n * sizeof(*r));
	fit_curve(sets, slow, joint);
	for (size_t i = 0; i < sets->n; i++) {
		const struct unit_set *set = &sets->s[i];
		struct estimate_point *p;

		if (!i) {
			e->points[e->n_points++] = zero_point(sets->zeros, &r[i]);
		} else if (set->real && set->n) {
			p = estimate_point_at(e, 100 * set->speedup);
			if (p)
				add_measured(p, set, &r[i]);
		} else if (set->n) {
			p = &e->points[e->n_points++];
			*p = treated_point(set, &r[i]);
			take_joint(p, &joint[i]);
			p->noise_df = p->df;
			p->noise_se = p->test_se = p->se;
			find_fixed(sets, set, e, p);
			if (!exact) {
				add_method_error(p);
				add_queueing(sets, p);
			}
		}
	}
	if (!exact) {
		doubt_before_contention(e);
		expect_less_queueing(sets, e);
		doubt_cheaper_rest(e);
		doubt_looks(sets, e);
	}
}

/* Does any window with a speedup tell of that progress point? Of many targets and points few do. */
static bool is_told(const struct profile_window *const *w, size_t n, uint32_t progress)
{
	for (size_t i = 0; i < n; i++) {
		if (window_is_treated(w[i]) && window_is_usable(w[i], progress))
			return true;
	}
	return false;
}

static void find_shares(const struct stats_sampled *s, struct candidate *c)
{
	if (s->n < STATS_ENOUGH_SAMPLED || !s->all)
		return;
	c->sampled = (double)s->n / s->all;
	c->polled = (double)s->polled / s->all;
}

/* Returns false when there is nothing to estimate from. */
static bool estimate_pair(const struct profile_window *const *w, size_t n, uint32_t progress,
			  const struct stats_options *opt, struct candidate *c)
{
	struct estimate *e = &c->e;
	struct unit_sets *sets = &c->sets;
	size_t treated = 0;

	memset(c, 0, sizeof(*c));
	if (!is_told(w, n, progress))
		return false;
	unit_sets_build(w, n, progress, sets);
	for (size_t i = 1; i < sets->n; i++)
		treated += sets->s[i].real ? 0 : sets->s[i].n;
	if (!treated) {
		unit_sets_free(sets);
		return false;
	}
	e->target = w[0]->target;
	e->progress = progress;
	e->precision_s = INFINITY;
	e->points = xcalloc(sets->n, sizeof(*e->points));
	for (size_t i = 0; i < n; i++)
		e->samples += w[i]->real ? 0 : w[i]->hits;
	estimate_points(sets, opt->exact, e);
	c->pace = pace_estimate(sets);
	if (e->target < opt->n_sampled)
		find_shares(&opt->sampled[e->target], c);
	return true;
}

/* ------------------------------------------------------------------------------------------ */

static void find_phases(const struct profile_window *windows, size_t n_windows, size_t n_progress,
			uint64_t seed, struct estimates *ret)
{
	ret->phases = xcalloc(n_progress, sizeof(*ret->phases));
	ret->n_phases = n_progress;
	for (size_t p = 0; p < n_progress; p++)
		phases_find(windows, n_windows, p, seed, &ret->phases[p]);
}

static void judge_all(struct candidate *c, size_t n, const struct profile_window *windows,
		      size_t n_windows, size_t n_progress, const struct stats_options *opt,
		      double spent_s, struct estimates *ret)
{
	_cleanup_free_ struct stretch *stretches = xcalloc(n_progress, sizeof(*stretches));

	for (size_t i = 0; i < n_progress; i++)
		stretches[i] = stretch_estimate(windows, n_windows, i);
	holm(c, n);
	ret->e = xcalloc(n, sizeof(*ret->e));
	ret->n = n;
	for (size_t i = 0; i < n; i++) {
		const struct phase *only = NULL;

		if (!opt->bare)
			only = phases_only(&ret->phases[c[i].e.progress], windows, n_windows,
					   c[i].e.target);
		if (!target_is_a_clock(&c[i].sets, &stretches[c[i].e.progress]))
			c[i].stretch = stretches[c[i].e.progress];
		if (!opt->exact) {
			c[i].clocked = calibrate(&c[i].sets, &c[i].stretch, &c[i].e);
			doubt_alone(&c[i].sets, &c[i].e);
		}
		c[i].spent_s = spent_s;
		judge(&c[i], only, !opt->bare);
		ret->e[i] = c[i].e;
		free(c[i].distinct);
		unit_sets_free(&c[i].sets);
	}
}

int stats_estimate(const struct profile_window *windows, size_t n_windows, size_t n_progress,
		   const struct stats_options *opt, struct estimates *ret)
{
	struct stats_options o = opt ? *opt : (struct stats_options){ 0 };
	_cleanup_free_ const struct profile_window **w = xmalloc(n_windows * sizeof(*w));
	_cleanup_free_ double *spent = o.bare ? NULL : precision_time_spent(windows, n_windows);
	_cleanup_free_ double *own = xcalloc(n_windows, sizeof(*own));
	_cleanup_free_ struct candidate *c = NULL;
	size_t cap = 0, n = 0, end;
	double spent_s = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n_windows; i++)
		w[i] = &windows[i];
	qsort(w, n_windows, sizeof(*w), compare_windows);
	for (size_t i = 0; spent && i < n_windows; i++)
		spent_s += own[i] = spent[w[i] - windows];
	if (!o.bare)
		find_phases(windows, n_windows, n_progress, o.seed, ret);
	for (size_t start = 0; start < n_windows; start = end) {
		end = start;
		while (end < n_windows && w[end]->target == w[start]->target)
			end++;
		for (size_t p = 0; p < n_progress; p++) {
			array_reserve(c, cap, n + 1);
			if (!estimate_pair(w + start, end - start, p, &o, &c[n]))
				continue;
			if (!o.bare) {
				precision_spent(w + start, own + start, end - start, &c[n].e);
				c[n].e.precision_s = precision_reached(w + start, own + start,
								       end - start, &c[n].e);
			}
			n++;
		}
	}
	judge_all(c, n, windows, n_windows, n_progress, &o, spent_s, ret);
	return 0;
}

void estimates_free(struct estimates *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->e[i].points);
		free(e->e[i].warning);
	}
	free(e->e);
	for (size_t i = 0; i < e->n_phases; i++)
		phases_free(&e->phases[i]);
	free(e->phases);
	memset(e, 0, sizeof(*e));
}

double estimate_half_width(const struct estimate *e)
{
	double widest = e->n_points > 1 ? 0 : INFINITY;

	for (size_t i = 1; i < e->n_points; i++)
		widest = fmax(widest, (e->points[i].ci_hi - e->points[i].ci_lo) / 2);
	return widest;
}
