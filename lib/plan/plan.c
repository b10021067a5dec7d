// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds go to the targets in proportion to their weights, while they need any.
 *
 * Looks. Whether a target has been measured enough is asked only when its units have grown by a
 * quarter since the last time, and not before there are MIN_UNITS of each speedup: asking after
 * every window would stop at those moments at which chance makes the interval narrow, and such
 * intervals contain the truth too rarely.
 *
 * Precise. The widest interval of a target is as narrow as asked for: it gets no more windows as
 * long as others need them.
 *
 * No effect. Of several targets one may be dropped early: when at its k-th look (of those at
 * which it is known well enough to ask) every point is surely below 1 % (nothing to be gained) and
 * above -1 % (no contention). A useful target has a point for which that is false, and to drop it
 * this one point's bound must fail; so each bound needs no correction for the number of speedups.
 * For the number of looks the error is spent as 6 alpha / (pi k)^2, which sums up to alpha, and for
 * the number of targets it is divided by those not yet dropped (Holm): the chance that any useful
 * target is dropped is at most alpha.
 *
 * Within a target, windows go to the speedup with the widest interval, as soon as that is known
 * well enough to go by; one of four goes to the speedup that has fewest, so that a width that is
 * small by chance does not stay.
 */
#include "plan/plan.h"

#include <math.h>

#include "stats/resample.h"
#include "stats/stats.h"

#define MIN_UNITS   10	 /* of each speedup, before anything is decided */
#define GROWTH	    1.25 /* of the units, from look to look */
#define ALPHA	    0.04 /* for 5 %: quantiles far out in the tails are not exact */
#define USEFUL	    1.0	 /* percent */
#define ASK_WIDTH   0.6	 /* of that: half width of the bounds */
#define ADAPT_UNITS 6	 /* of each speedup, before widths are compared */
#define FAIR_SHARE  4	 /* one of so many treated windows goes to who has fewest */
#define HOPELESS    8	 /* windows, of which less than a quarter was kept */
#define ZERO_TRIES  2	 /* a discarded 0 % window is repeated once */

struct slot {
	size_t speedup;
	bool real;
};

/* One speedup of one target. */
struct level {
	uint32_t tried, kept;
	uint32_t units; /* usable, at the slowest progress point */
	double width;	/* widest half width over the progress points; INFINITY: not known */
};

struct target {
	char *name;
	double weight;
	bool broken, waiting, no_effect, precise;
	uint32_t rounds, looks, fair;
	uint32_t next_look; /* sum of units */
	struct level *level;
	struct profile_window *w;
	size_t n, cap;
};

struct plan {
	struct plan_options opt;
	double *speedups;
	struct target *t;
	size_t n, cap;

	int current; /* target of the round under way, -1: none */
	struct slot *slot;
	size_t n_slots, at;
	bool zero; /* a 0 % window is due */
	int zero_tries;
	int after; /* the last window was a kept 0 % window of this target; else -1 */
};

static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return h;
}

struct plan *plan_create(const struct plan_options *opt)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	p->opt = *opt;
	p->speedups = xmalloc(opt->n_speedups * sizeof(*p->speedups));
	memcpy(p->speedups, opt->speedups, opt->n_speedups * sizeof(*p->speedups));
	p->opt.speedups = p->speedups;
	p->slot = xcalloc(2 * opt->n_speedups, sizeof(*p->slot));
	p->current = p->after = -1;
	return p;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		struct target *t = &p->t[i];

		for (size_t k = 0; k < t->n; k++)
			free(t->w[k].progress);
		free(t->w);
		free(t->level);
		free(t->name);
	}
	free(p->t);
	free(p->slot);
	free(p->speedups);
	free(p);
}

int plan_add_target(struct plan *p, const char *name, double weight)
{
	struct target t = { .name = xstrdup(name),
			    .weight = weight,
			    .level = xcalloc(p->opt.n_speedups, sizeof(*t.level)),
			    .next_look = MIN_UNITS * p->opt.n_speedups };

	array_reserve(p->t, p->cap, p->n + 1);
	p->t[p->n] = t;
	return p->n++;
}

void plan_set_weight(struct plan *p, int target, double weight)
{
	p->t[target].weight = weight;
}

void plan_set_broken(struct plan *p, int target)
{
	p->t[target].broken = true;
}

void plan_set_waiting(struct plan *p, int target, bool waiting)
{
	p->t[target].waiting = waiting;
}

void plan_interrupt(struct plan *p)
{
	p->current = p->after = -1;
}

struct plan_state plan_state(const struct plan *p, int target)
{
	const struct target *t = &p->t[target];

	return (struct plan_state){ t->broken, t->no_effect, t->precise, t->rounds };
}

/* ---- what is known of a target ---- */

static bool hopeless(const struct level *l)
{
	return l->tried >= HOPELESS && l->kept * 4 < l->tried;
}

static void note_point(const struct plan *p, struct target *t, const struct estimate_point *point)
{
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		struct level *l = &t->level[i];

		if (fabs(100 * p->speedups[i] - point->speedup_pct) > 1e-4)
			continue;
		l->units = l->units < point->windows ? l->units : point->windows;
		l->width = fmax(l->width, (point->ci_hi - point->ci_lo) / 2);
	}
}

static void estimate(const struct plan *p, struct target *t, struct estimates *ret)
{
	struct stats_options opt = { .seed = p->opt.seed, .exact = true, .bare = true };

	stats_estimate(t->w, t->n, p->opt.n_progress, &opt, ret);
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		t->level[i].units = ret->n ? UINT32_MAX : 0;
		t->level[i].width = 0;
	}
	for (size_t i = 0; i < ret->n; i++) {
		for (size_t k = 1; k < ret->e[i].n_points; k++)
			note_point(p, t, &ret->e[i].points[k]);
	}
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		struct level *l = &t->level[i];

		if (l->units == UINT32_MAX)
			l->units = 0;
		if (!l->units)
			l->width = INFINITY;
	}
}

/* Of the speedups that can be measured at all. */
static uint32_t fewest_units(const struct plan *p, const struct target *t)
{
	uint32_t fewest = UINT32_MAX;

	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		if (!hopeless(&t->level[i]) && t->level[i].units < fewest)
			fewest = t->level[i].units;
	}
	return fewest == UINT32_MAX ? 0 : fewest;
}

static uint32_t sum_units(const struct plan *p, const struct target *t)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < p->opt.n_speedups; i++)
		sum += t->level[i].units;
	return sum;
}

/* ---- looks ---- */

/*
 * Is the target known well enough for the question to be worth a look's share of the error? The
 * answer goes by standard errors alone, so nothing is selected for its result.
 */
static bool worth_asking(const struct plan *p, const struct estimates *e, double alpha)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->e[i].n_points != p->opt.n_speedups + 1)
			return false;
		for (size_t k = 1; k < e->e[i].n_points; k++) {
			double lo, hi;

			estimate_point_bounds(&e->e[i].points[k], alpha, &lo, &hi);
			if (!(hi - lo <= 2 * ASK_WIDTH * USEFUL))
				return false;
		}
	}
	return e->n > 0;
}

static bool surely_useless(const struct estimates *e, double alpha)
{
	for (size_t i = 0; i < e->n; i++) {
		for (size_t k = 1; k < e->e[i].n_points; k++) {
			double lo, hi;

			estimate_point_bounds(&e->e[i].points[k], alpha, &lo, &hi);
			if (lo < -USEFUL || hi > USEFUL)
				return false;
		}
	}
	return true;
}

static void look_for_effect(struct plan *p, struct target *t, const struct estimates *e)
{
	size_t rivals = 0, others = 0;
	double alpha;

	for (size_t i = 0; i < p->n; i++) {
		others += !p->t[i].broken;
		rivals += !p->t[i].broken && !p->t[i].no_effect;
	}
	alpha = 6 * ALPHA / pow(M_PI * (t->looks + 1), 2) / (rivals ? rivals : 1);
	if (others > 1 && worth_asking(p, e, alpha)) {
		t->looks++;
		t->no_effect |= surely_useless(e, alpha);
	}
}

static void look_for_precision(struct plan *p, struct target *t)
{
	bool precise = true;

	for (size_t i = 0; i < p->opt.n_speedups; i++)
		precise &= hopeless(&t->level[i]) || t->level[i].width <= p->opt.precision;
	t->precise |= precise;
}

static void end_round(struct plan *p)
{
	struct target *t = &p->t[p->current];
	struct estimates e;
	uint32_t units;

	p->current = -1;
	estimate(p, t, &e);
	units = sum_units(p, t);
	if (units >= t->next_look && fewest_units(p, t) >= MIN_UNITS) {
		look_for_effect(p, t, &e);
		if (p->opt.precision > 0)
			look_for_precision(p, t);
		t->next_look = ceil(units * GROWTH);
	}
	estimates_free(&e);
}

/* ---- rounds ---- */

/* In which speedup a further window would be used best, given those @extra already planned. */
static size_t next_level(const struct plan *p, const struct target *t, const uint32_t *extra,
			 bool fair)
{
	size_t best = 0;
	double highest = -INFINITY;

	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		const struct level *l = &t->level[i];
		double units = l->units + extra[i];
		double need = fair ? -units : l->width * sqrt(l->units / units);

		if (!hopeless(l) && need > highest) {
			highest = need;
			best = i;
		}
	}
	return best;
}

static void plan_levels(struct plan *p, struct target *t, size_t *levels)
{
	size_t n = p->opt.n_speedups;
	_cleanup_free_ uint32_t *extra = xcalloc(n, sizeof(*extra));
	bool adapt = fewest_units(p, t) >= ADAPT_UNITS;

	for (size_t i = 0; i < n; i++) {
		levels[i] = i;
		if (adapt) {
			levels[i] = next_level(p, t, extra, t->fair % FAIR_SHARE == 0);
			extra[levels[i]]++;
			t->fair++;
		}
	}
}

static void begin_round(struct plan *p, int target)
{
	struct target *t = &p->t[target];
	struct rng rng = { rng_mix(rng_mix(p->opt.seed, hash(t->name)), t->rounds) };
	_cleanup_free_ size_t *levels = xcalloc(p->opt.n_speedups, sizeof(*levels));

	plan_levels(p, t, levels);
	p->n_slots = 0;
	for (size_t i = 0; i < p->opt.n_speedups; i++) {
		p->slot[p->n_slots++] = (struct slot){ levels[i], false };
		if (p->opt.truth)
			p->slot[p->n_slots++] = (struct slot){ levels[i], true };
	}
	for (size_t i = p->n_slots; i > 1; i--) {
		size_t j = rng_next(&rng) % i;
		struct slot swap = p->slot[i - 1];

		p->slot[i - 1] = p->slot[j];
		p->slot[j] = swap;
	}
	p->zero = p->after != target;
	p->zero_tries = 0;
	p->at = 0;
	p->current = target;
	t->rounds++;
}

static bool needy(const struct plan *p, const struct target *t)
{
	return !t->broken && !t->no_effect && !(p->opt.precision > 0 && t->precise);
}

static bool before(const struct target *a, const struct target *b)
{
	double x = a->weight / (a->rounds + 1), y = b->weight / (b->rounds + 1);

	return x != y ? x > y : strcmp(a->name, b->name) < 0;
}

static int choose(const struct plan *p, bool only_needy)
{
	int best = -1;

	for (size_t i = 0; i < p->n; i++) {
		const struct target *t = &p->t[i];

		if (t->broken || t->waiting || (only_needy && !needy(p, t)))
			continue;
		if (best < 0 || before(t, &p->t[best]))
			best = i;
	}
	return best;
}

static bool all_precise(const struct plan *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		if (needy(p, &p->t[i]))
			return false;
		any |= !p->t[i].broken;
	}
	return any && p->opt.precision > 0;
}

enum plan_answer plan_next(struct plan *p, struct plan_window *ret)
{
	if (p->current >= 0 && (p->t[p->current].broken || p->t[p->current].waiting))
		p->current = -1;
	if (p->current < 0) {
		int target;

		if (all_precise(p))
			return PLAN_PRECISE;
		target = choose(p, true);
		if (target < 0)
			target = choose(p, false);
		if (target < 0)
			return PLAN_WAIT;
		begin_round(p, target);
	}
	*ret = (struct plan_window){ .target = p->current };
	if (!p->zero) {
		ret->speedup = p->speedups[p->slot[p->at].speedup];
		ret->real = p->slot[p->at].real;
	}
	return PLAN_MEASURE;
}

static void keep_window(struct target *t, const struct profile_window *w)
{
	struct profile_window *copy;

	array_reserve(t->w, t->cap, t->n + 1);
	copy = &t->w[t->n++];
	*copy = *w;
	copy->progress = xcalloc(w->n_progress, sizeof(*w->progress));
	memcpy(copy->progress, w->progress, w->n_progress * sizeof(*w->progress));
	copy->discard = w->discard ? "" : NULL;
	copy->target = hash(t->name); /* seeds the bootstrap: not by the order of adding */
}

void plan_record_more(struct plan *p, int target, const struct profile_window *w)
{
	keep_window(&p->t[target], w);
	p->after = w->speedup < 1e-9 && !w->discard ? target : -1;
}

void plan_forget(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct target *t = &p->t[i];

		for (size_t k = 0; k < t->n; k++)
			free(t->w[k].progress);
		t->n = 0;
		memset(t->level, 0, p->opt.n_speedups * sizeof(*t->level));
		t->next_look = MIN_UNITS * p->opt.n_speedups;
		t->precise = false;
	}
	plan_interrupt(p);
}

void plan_record(struct plan *p, int target, const struct profile_window *w)
{
	struct target *t = &p->t[target];
	bool treated;

	keep_window(t, w);
	p->after = w->speedup < 1e-9 && !w->discard ? target : -1;
	if (p->current != target)
		return;
	treated = !p->zero;
	if (treated) {
		struct level *l = &t->level[p->slot[p->at].speedup];

		if (!p->slot[p->at].real) {
			l->tried++;
			l->kept += !w->discard;
		}
		p->at++;
		p->zero = true;
		p->zero_tries = 0;
		return;
	}
	if (w->discard && ++p->zero_tries < ZERO_TRIES)
		return;
	p->zero = false;
	if (p->at == p->n_slots)
		end_round(p);
}
