// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is best done after the best. Once a target is the best of those that are surely worth it,
 * by the verdicts and the order of a report (stats.h), it is tried together with others, at the
 * speedup that every target is tried at first: what the two save beyond the one is what the other
 * is worth then.
 *
 * The price. Rounds of joints take at most SHARE of all windows, so what is known of the targets
 * one by one gets wider by a twelfth at most. None is begun without a sure best one, or where so
 * small a part of what is left of the run does not suffice to know it.
 *
 * With whom. Whatever is expected to be worth most then; without expectations the next in the
 * ranking: what is worth it, then what may be, then what is worth nothing by itself but has many
 * samples, for it may be the next to be waited for. Not what is surely harmful. One after the
 * other: the next one when those before are known to within a few points, MOST at most.
 */
#include "plan/plan_internal.h"

#include <math.h>

#include "stats/answer.h"
#include "stats/describe.h"

#define SHARE 0.15 /* of the windows */
#define MOST  3	   /* joints of one first target */

/* What the ranking says of a target. */
struct rank {
	int target;
	enum { RANK_WORTH, RANK_UNCLEAR, RANK_IDLE, RANK_HARMFUL } kind;
	double key; /* the larger the earlier */
};

static bool is_due(const struct plan *p)
{
	uint32_t round = 2 * ROUND_TREATED + 1;

	return p->opt.next && !p->opt.truth &&
	       p->joint_windows + round <= SHARE * (p->windows + round);
}

static bool is_of(const struct target *joint, int part)
{
	return joint->joint && (joint->part[0] == part || joint->part[1] == part);
}

static bool may_go(const struct plan *p, int target)
{
	return !p->t[target].broken && !p->t[target].waiting;
}

/* ---- the ranking ---- */

static struct profile_window *all_windows(const struct plan *p, size_t *n)
{
	struct profile_window *all;
	size_t sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->t[i].joint ? 0 : p->t[i].n;
	all = xcalloc(sum + 1, sizeof(*all));
	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct target *t = &p->t[i];

		if (t->joint || !t->n)
			continue;
		memcpy(all + *n, t->w, t->n * sizeof(*all));
		*n += t->n;
	}
	return all;
}

static const struct estimate *estimate_of(const struct estimates *e, const struct target *t,
					  uint32_t progress)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->e[i].target == target_id(t) && e->e[i].progress == progress)
			return &e->e[i];
	}
	return NULL;
}

static struct rank rank_of(const struct plan *p, int target, const struct estimate *e)
{
	struct rank r = { target, RANK_IDLE, p->t[target].weight };

	if (!e || estimate_is_withheld(e) || e->best != KNOWN_VALUE)
		return r;
	if (e->verdict == VERDICT_OPTIMIZE)
		r = (struct rank){ target, RANK_WORTH, answer_key(e) };
	else if (e->verdict == VERDICT_UNDECIDED)
		r = (struct rank){ target, RANK_UNCLEAR, answer_key(e) };
	else if (e->verdict == VERDICT_CONTENTION)
		r.kind = RANK_HARMFUL;
	return r;
}

static int compare_ranks(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->key != b->key ? (a->key > b->key ? -1 : 1) : a->target - b->target;
}

/* Does it surely gain something at the speedup that joints are tried at? */
static bool gains_there(const struct plan *p, const struct estimate *e)
{
	double speedup_pct = 100 * p->speedups[p->ladder[0]];
	const struct estimate_point *x = e ? estimate_point_at(e, speedup_pct) : NULL;

	return x && estimate_point_knowledge(x) == KNOWN_VALUE && x->ci_lo > 0;
}

/*
 * All targets, best first, for the first progress point of which one is surely the best. NULL: of
 * none. To be freed.
 */
static struct rank *rank_all(const struct plan *p, size_t *n)
{
	struct stats_options opt = { .seed = p->opt.seed, .exact = p->opt.exact, .bare = true };
	size_t n_windows;
	_cleanup_free_ struct profile_window *w = all_windows(p, &n_windows);
	struct rank *list = xcalloc(p->n + 1, sizeof(*list));
	struct estimates e;
	bool found = false;

	*n = 0;
	if (stats_estimate(w, n_windows, p->opt.n_progress, &opt, &e)) {
		free(list);
		return NULL;
	}
	for (uint32_t k = 0; k < p->opt.n_progress && !found; k++) {
		*n = 0;
		for (size_t i = 0; i < p->n; i++) {
			if (!p->t[i].joint)
				list[(*n)++] = rank_of(p, i, estimate_of(&e, &p->t[i], k));
		}
		qsort(list, *n, sizeof(*list), compare_ranks);
		found = *n && list[0].kind == RANK_WORTH &&
			gains_there(p, estimate_of(&e, &p->t[list[0].target], k));
	}
	estimates_free(&e);
	if (found)
		return list;
	free(list);
	return NULL;
}

/* ---- joints ---- */

static bool is_settled(const struct plan *p, const struct target *joint)
{
	return level_is_settled(p, joint, &joint->level[p->ladder[0]]);
}

/* Those of @first that are not known yet, and how many there are at all. */
static size_t count_joints(const struct plan *p, int first, size_t *open)
{
	size_t n = 0;

	*open = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (!is_of(&p->t[i], first) || p->t[i].broken)
			continue;
		n++;
		*open += !is_settled(p, &p->t[i]);
	}
	return n;
}

static bool are_joined(const struct plan *p, int a, int b)
{
	for (size_t i = 0; i < p->n; i++) {
		if (is_of(&p->t[i], a) && is_of(&p->t[i], b))
			return true;
	}
	return false;
}

static int choose_second(const struct plan *p, const struct rank *list, size_t n, plan_worth *worth,
			 void *arg)
{
	int next = -1, expected = -1;
	double most = -INFINITY;

	for (size_t i = 1; i < n; i++) {
		int t = list[i].target;
		double x;

		if (p->t[t].single || !may_go(p, t) || list[i].kind == RANK_HARMFUL ||
		    are_joined(p, list[0].target, t))
			continue;
		next = next < 0 ? t : next;
		x = worth ? worth(list[0].target, t, arg) : NAN;
		if (x > most) {
			most = x;
			expected = t;
		}
	}
	return expected >= 0 ? expected : next;
}

int plan_wants_joint(struct plan *p, plan_worth *worth, void *arg, int *second)
{
	_cleanup_free_ struct rank *list = NULL;
	size_t n, open;

	/* Every window changes what is known, but not by much. */
	if (p->current >= 0 || !is_due(p) || p->windows < p->ranked_at + ROUND_TREATED)
		return -1;
	p->ranked_at = p->windows;
	list = rank_all(p, &n);
	p->first = list ? list[0].target : -1;
	if (p->first < 0 || p->t[p->first].single || !may_go(p, p->first) ||
	    SHARE * plan_units_left(p) < plan_units_needed(p) ||
	    count_joints(p, p->first, &open) >= MOST || open)
		return -1;
	*second = choose_second(p, list, n, worth, arg);
	return *second < 0 ? -1 : p->first;
}

int plan_add_joint(struct plan *p, const char *name, int first, int second)
{
	int i = plan_add_target(p, name, 0);

	p->t[i].joint = true;
	p->t[i].part[0] = first;
	p->t[i].part[1] = second;
	p->t[i].open = 1;
	return i;
}

/* Not known yet first, then that with the fewest rounds. */
int joint_due(struct plan *p)
{
	int best = -1;

	if (!is_due(p))
		return -1;
	for (size_t i = 0; i < p->n; i++) {
		const struct target *t = &p->t[i], *b = best < 0 ? NULL : &p->t[best];

		if (!is_of(t, p->first) || !may_go(p, i) || !may_go(p, t->part[0]) ||
		    !may_go(p, t->part[1]))
			continue;
		if (!b || is_settled(p, t) < is_settled(p, b) ||
		    (is_settled(p, t) == is_settled(p, b) && t->rounds < b->rounds))
			best = i;
	}
	return best;
}
