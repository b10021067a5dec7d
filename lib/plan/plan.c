// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds go to targets of which some cell is not yet known well enough to be of use (widen.c), the
 * one with the fewest rounds first; when there is none, to the targets in proportion to their
 * weights, while they need any (known.c). A round holds the speedups that need it, each as often.
 */
#include "plan/plan_internal.h"

#include <math.h>

#include "stats/resample.h"

#define UNSEEN_TREATED	2     /* treated windows after which it is asked whether there were hits */
#define UNSEEN_SHARE	0.002 /* of the time in which it ran, surely less: it cannot matter */
#define SURELY_FEWER(n) ((n) + 2 * sqrt(n) + 3) /* upper bound of a count, 95 % */

static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return h;
}

uint32_t target_id(const struct target *t)
{
	return hash(t->name); /* seeds the bootstrap: not by the order of adding */
}

struct plan *plan_create(const struct plan_options *opt)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	p->opt = *opt;
	p->speedups = xmalloc(opt->n_speedups * sizeof(*p->speedups));
	memcpy(p->speedups, opt->speedups, opt->n_speedups * sizeof(*p->speedups));
	p->opt.speedups = p->speedups;
	p->ladder = ladder_create(p->speedups, opt->n_speedups);
	p->slot = xcalloc(2 * (opt->n_speedups + ROUND_TREATED), sizeof(*p->slot));
	p->current = p->after = p->first = -1;
	p->started_s = -1;
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
	free(p->ladder);
	free(p->speedups);
	free(p);
}

int plan_add_target(struct plan *p, const char *name, double weight)
{
	struct target t = { .name = xstrdup(name),
			    .weight = weight,
			    .open = p->opt.asked,
			    .level = xcalloc(p->opt.n_speedups, sizeof(*t.level)) };

	target_forget(p, &t);
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

void plan_set_single(struct plan *p, int target)
{
	p->t[target].single = true;
}

void plan_interrupt(struct plan *p)
{
	p->current = p->after = -1;
}

void plan_set_period(struct plan *p, uint64_t period_ns)
{
	p->period_ns = period_ns;
}

struct plan_state plan_state(const struct plan *p, int target)
{
	const struct target *t = &p->t[target];
	double fixed = 0;

	for (size_t i = 0; i < p->opt.n_speedups; i++)
		fixed = fmax(fixed, t->level[i].limited ? t->level[i].fixed : 0);
	return (struct plan_state){ .broken = t->broken,
				    .no_effect = t->no_effect,
				    .precise = t->precise,
				    .unseen = t->unseen,
				    .hits = t->hits,
				    .watched_s = t->watched_s,
				    .rounds = t->rounds,
				    .open = t->open,
				    .fixed = fixed };
}

/* ---- rounds ---- */

static int compare_slot(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

static void add_slots(struct plan *p, const struct target *t, size_t speedup, size_t copies)
{
	uint64_t key = rng_mix(rng_mix(p->opt.seed, hash(t->name)), t->rounds);

	key = rng_mix(key, llround(p->speedups[speedup] * 1e6));
	for (size_t i = 0; i < copies; i++) {
		for (int real = 0; real <= p->opt.truth; real++) {
			struct rng rng = { rng_mix(rng_mix(key, i), real) };

			p->slot[p->n_slots++] = (struct slot){ speedup, real, rng_next(&rng) };
		}
	}
}

/* Those not yet known, if there are any; else those that are not as precise as asked for; else all.
 */
static size_t *levels_due(const struct plan *p, const struct target *t, size_t *n)
{
	size_t *due = xcalloc(t->open, sizeof(*due));
	bool settled = target_is_settled(p, t);

	*n = 0;
	for (int any = 0; !*n && any < 2; any++) {
		for (size_t k = 0; k < t->open; k++) {
			const struct level *l = &t->level[p->ladder[k]];

			if (any || (settled ? !l->precise : !level_is_settled(p, t, l)))
				due[(*n)++] = p->ladder[k];
		}
	}
	return due;
}

void plan_begin_round(struct plan *p, int target)
{
	struct target *t = &p->t[target];
	size_t n;
	_cleanup_free_ size_t *due = levels_due(p, t, &n);

	p->n_slots = 0;
	for (size_t i = 0; i < n; i++)
		add_slots(p, t, due[i], (ROUND_TREATED + n - 1) / n);
	qsort(p->slot, p->n_slots, sizeof(*p->slot), compare_slot);
	p->zero = p->after != target;
	p->at = 0;
	p->current = target;
	t->rounds++;
}

static void end_round(struct plan *p)
{
	target_reestimate(p, &p->t[p->current]);
	p->current = -1;
	plan_widen(p);
}

static bool needy(const struct plan *p, const struct target *t)
{
	return !t->broken && !t->joint && !t->no_effect && !(p->opt.precision > 0 && t->precise);
}

static bool before(const struct plan *p, const struct target *a, const struct target *b)
{
	bool settled = target_is_settled(p, a);
	double x = a->weight / (a->rounds + 1), y = b->weight / (b->rounds + 1);

	if (settled != target_is_settled(p, b))
		return !settled;
	if (!settled && a->rounds != b->rounds)
		return a->rounds < b->rounds;
	return x != y ? x > y : strcmp(a->name, b->name) < 0;
}

static int next_target(const struct plan *p, bool only_needy)
{
	int best = -1;

	for (size_t i = 0; i < p->n; i++) {
		const struct target *t = &p->t[i];

		if (t->broken || t->waiting || t->joint || !t->open || (only_needy && !needy(p, t)))
			continue;
		if (best < 0 || before(p, t, &p->t[best]))
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
		any |= !p->t[i].broken && !p->t[i].joint;
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
		target = joint_due(p);
		if (target < 0)
			target = next_target(p, true);
		if (target < 0) { /* those with open cells may all have gone */
			plan_widen(p);
			target = next_target(p, true);
		}
		if (target < 0)
			target = next_target(p, false);
		if (target < 0)
			return PLAN_WAIT;
		plan_begin_round(p, target);
	}
	*ret = (struct plan_window){ .target = p->current };
	if (!p->zero) {
		ret->speedup = p->speedups[p->slot[p->at].speedup];
		ret->real = p->slot[p->at].real;
	}
	return PLAN_MEASURE;
}

/* ---- records ---- */

static void keep_window(struct plan *p, int target, const struct profile_window *w)
{
	struct target *t = &p->t[target];
	struct profile_window *copy;

	array_reserve(t->w, t->cap, t->n + 1);
	copy = &t->w[t->n++];
	*copy = *w;
	copy->progress = xcalloc(w->n_progress, sizeof(*w->progress));
	memcpy(copy->progress, w->progress, w->n_progress * sizeof(*w->progress));
	copy->target = target_id(t);

	t->hits += w->hits;
	t->in_target_s += w->waits_sped ? w->target_waited_s : 0;
	t->watched_s += w->wall_s;
	p->after = w->speedup < 1e-9 ? target : -1;
	if (p->started_s < 0)
		p->started_s = w->start_s;
	p->now_s = fmax(p->now_s, w->start_s + w->wall_s);
	p->windows++;
	p->joint_windows += t->joint;
	p->treated += window_is_treated(w) && !w->discard;
}

void plan_record_more(struct plan *p, int target, const struct profile_window *w)
{
	keep_window(p, target, w);
}

void plan_forget(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		target_forget(p, &p->t[i]);
	p->first = -1;
	/* What comes may take longer, or shorter. */
	p->treated = 0;
	p->started_s = -1;
	plan_interrupt(p);
}

/* Samples are seen at any speedup; windows that others spoilt tell of them as well. */
static bool is_unseen(const struct plan *p, const struct target *t)
{
	uint32_t tried = 0;

	for (size_t i = 0; i < p->opt.n_speedups; i++)
		tried += t->level[i].tried;
	if (tried < UNSEEN_TREATED || !p->period_ns)
		return false;
	if (t->in_target_s >= UNSEEN_SHARE * t->watched_s) /* a hit may be a long wait */
		return false;
	return !t->hits || SURELY_FEWER(t->hits) * p->period_ns / 1e9 < UNSEEN_SHARE * t->watched_s;
}

void plan_record(struct plan *p, int target, const struct profile_window *w)
{
	struct target *t = &p->t[target];

	keep_window(p, target, w);
	if (p->current != target)
		return;
	if (p->zero) {
		t->zeros_tried++;
		t->zeros_kept += !w->discard;
		p->zero = false;
		if (p->at == p->n_slots)
			end_round(p);
		return;
	}
	if (!p->slot[p->at].real) {
		struct level *l = &t->level[p->slot[p->at].speedup];

		l->tried++;
		l->kept += !w->discard;
	}
	p->at++;
	p->zero = true;
	t->unseen = is_unseen(p, t);
}
