// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A unit is a treated window and the nearest usable 0 % windows before and after it: of the same
 * run and target, at most three windows away. Its baseline is their mean (or the one there is), so
 * that every treated window weighs the same in the baseline and a machine that changes speed from
 * one minute to the next cancels out.
 *
 * Two things follow from units being neighbours:
 *
 * Sharing. In 0 s 0 s 0 the middle zero belongs to two units, each with half its weight, so the
 * units are not independent. With equal noise in every window, the variance of the sum of all
 * units is (units + sum over zeros of (total share)^2), of which resampling sees only
 * (units + sum over zeros and units of share^2): the quotient is the inflation.
 *
 * Jumps. Where the machine's speed jumps inside a unit, its baseline says nothing about its
 * treated window. The two zeros show it: a unit whose zeros differ far more than those of the
 * others is set aside, and counted for a warning. What the treated window says plays no part in
 * that, so nothing is selected for its result. Where such differences are common they are not
 * jumps but the program's nature, and nothing is set aside.
 *
 * The placebo. The interval of the 0 % point comes from treating each 0 % window as if it were a
 * treated one: what the method reports when nothing is changed.
 */
#include "stats/units.h"

#include <math.h>

#define MAX_DISTANCE 3
#define MIN_JUMP     0.223 /* log(1.25) */
#define JUMP_MADS    6.0
#define MAX_ASIDE    0.2 /* of all units */
#define WILD_FEWEST  6
#define WILD_MADS    8.0
#define WILD_LEAST   0.1  /* log ratio */
#define WILD_MOST    0.08 /* of the units of a speedup, rounded up */

struct pairing {
	size_t treated; /* index in the work arrays */
	size_t zero[2];
	int n_zero;
	double jump; /* log ratio of the periods of the two zeros */
};

struct builder {
	uint32_t progress;
	const struct profile_window *const *w;
	size_t n;
	double *time, *work; /* of each window; work 0: unusable */
	double *scale;	     /* share of its unstopped time that lies between the visits */
	struct pairing *pairs;
	size_t n_pairs;
	double jump_limit;
	double *share; /* scratch, per window */
};

static bool is_zero(const struct profile_window *w)
{
	return w->speedup < 1e-9;
}

static bool same_kind(const struct profile_window *w, const struct unit_set *set)
{
	return fabs(w->speedup - set->speedup) < 1e-6 && (w->real && !is_zero(w)) == set->real;
}

/* Nearest usable 0 % window of the same run in direction @step, at most MAX_DISTANCE away. */
static bool find_zero(const struct builder *b, size_t from, int step, size_t *ret)
{
	for (size_t i = from + step; i < b->n; i += step) {
		const struct profile_window *x = b->w[from], *y = b->w[i];
		uint32_t distance = step > 0 ? y->seq - x->seq : x->seq - y->seq;

		if (x->run != y->run || distance > MAX_DISTANCE)
			return false;
		if (is_zero(y) && b->work[i] > 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static struct pairing pair_up(const struct builder *b, size_t i)
{
	struct pairing p = { .treated = i };

	if (find_zero(b, i, -1, &p.zero[p.n_zero]))
		p.n_zero++;
	if (find_zero(b, i, 1, &p.zero[p.n_zero]))
		p.n_zero++;
	if (p.n_zero == 2)
		p.jump = fabs(log(b->time[p.zero[0]] / b->work[p.zero[0]]) -
			      log(b->time[p.zero[1]] / b->work[p.zero[1]]));
	return p;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Above which a difference between the two zeros of a unit is a jump; INFINITY: never. */
static double jump_limit(const struct builder *b)
{
	_cleanup_free_ double *jumps = xmalloc(b->n_pairs * sizeof(*jumps));
	size_t n = 0, above = 0;
	double limit;

	for (size_t i = 0; i < b->n_pairs; i++) {
		if (b->pairs[i].n_zero == 2)
			jumps[n++] = b->pairs[i].jump;
	}
	if (n < 5)
		return INFINITY;
	qsort(jumps, n, sizeof(*jumps), compare_double);
	limit = fmax(MIN_JUMP, JUMP_MADS * 1.4826 * jumps[n / 2]);
	while (above < n && jumps[n - 1 - above] > limit)
		above++;
	return above > MAX_ASIDE * n ? INFINITY : limit;
}

static double log_ratio(const struct unit *u)
{
	return log(u->time / u->work) - log(u->time0 / u->work0);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_double);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/*
 * Few units far from all the others, on whichever side, tell of a disturbance (the host, a disk);
 * many of them are how the program is.
 */
static void leave_out_wild(struct unit_set *set)
{
	_cleanup_free_ double *dev = xmalloc(set->n * sizeof(*dev));
	double centre, limit;
	size_t wild = 0, kept = 0;

	if (set->n < WILD_FEWEST)
		return;
	for (size_t i = 0; i < set->n; i++)
		dev[i] = log_ratio(&set->u[i]);
	centre = median(dev, set->n);
	for (size_t i = 0; i < set->n; i++)
		dev[i] = fabs(log_ratio(&set->u[i]) - centre);
	limit = fmax(WILD_LEAST, WILD_MADS * 1.4826 * median(dev, set->n));
	for (size_t i = 0; i < set->n; i++)
		wild += fabs(log_ratio(&set->u[i]) - centre) > limit;
	if (!wild || wild > ceil(WILD_MOST * set->n))
		return;
	for (size_t i = 0; i < set->n; i++) {
		if (fabs(log_ratio(&set->u[i]) - centre) <= limit)
			set->u[kept++] = set->u[i];
	}
	set->n = kept;
	set->wild = wild;
}

/* Only pairings of windows with @speedup go into the set. */
static void fill_set(struct builder *b, struct unit_set *set)
{
	double seen = 0, real = 0;

	memset(b->share, 0, b->n * sizeof(*b->share));
	set->u = xcalloc(b->n_pairs, sizeof(*set->u));
	for (size_t i = 0; i < b->n_pairs; i++) {
		const struct pairing *p = &b->pairs[i];
		struct unit *u = &set->u[set->n];

		if (!same_kind(b->w[p->treated], set))
			continue;
		if (!p->n_zero) {
			set->unpaired++;
			continue;
		}
		if (p->jump > b->jump_limit) {
			set->set_aside++;
			continue;
		}
		u->time = b->time[p->treated];
		u->work = b->work[p->treated];
		u->external = b->scale[p->treated] * b->w[p->treated]->external_s;
		u->waits = b->scale[p->treated] * b->w[p->treated]->external_waits;
		set->absolute_waits += b->w[p->treated]->absolute_waits;
		set->visits += b->w[p->treated]->progress[b->progress].visits;
		set->crowded += b->w[p->treated]->crowded_s;
		set->time += b->w[p->treated]->progress[b->progress].virtual_s;
		u->inserted = b->scale[p->treated] * b->w[p->treated]->inserted_s;
		for (int k = 0; k < p->n_zero; k++) {
			double part = 1.0 / p->n_zero;

			u->time0 += part * b->time[p->zero[k]];
			u->work0 += part * b->work[p->zero[k]];
			u->external0 += part * b->scale[p->zero[k]] * b->w[p->zero[k]]->external_s;
			u->waits0 += part * b->scale[p->zero[k]] * b->w[p->zero[k]]->external_waits;
			b->share[p->zero[k]] += part;
			seen += part * part;
		}
		set->n++;
	}
	for (size_t i = 0; i < b->n; i++)
		real += b->share[i] * b->share[i];
	set->inflation = set->n ? (set->n + real) / (set->n + seen) : 1;
	leave_out_wild(set);
}

static struct unit_set *find_set(struct unit_sets *s, const struct profile_window *w)
{
	for (size_t i = 0; i < s->n; i++) {
		if (same_kind(w, &s->s[i]))
			return &s->s[i];
	}
	return NULL;
}

static int compare_set(const void *pa, const void *pb)
{
	const struct unit_set *a = pa, *b = pb;

	if (a->real != b->real)
		return a->real ? 1 : -1;
	return (a->speedup > b->speedup) - (a->speedup < b->speedup);
}

void unit_sets_build(const struct profile_window *const *w, size_t n, uint32_t progress,
		     struct unit_sets *ret)
{
	struct builder b = { .progress = progress, .w = w, .n = n };
	size_t cap = 1;

	memset(ret, 0, sizeof(*ret));
	ret->s = xcalloc(1, sizeof(*ret->s)); /* 0 % */
	ret->n = 1;
	b.time = xcalloc(n, sizeof(*b.time));
	b.work = xcalloc(n, sizeof(*b.work));
	b.scale = xcalloc(n, sizeof(*b.scale));
	b.share = xcalloc(n, sizeof(*b.share));
	b.pairs = xcalloc(n, sizeof(*b.pairs));
	for (size_t i = 0; i < n; i++)
		ret->latency |=
			progress < w[i]->n_progress && w[i]->progress[progress].inflight > 0;
	for (size_t i = 0; i < n; i++) {
		const struct window_progress *p;

		if (w[i]->discard || progress >= w[i]->n_progress)
			continue;
		p = &w[i]->progress[progress];
		b.time[i] = p->virtual_s - fmin(w[i]->crowded_s, p->virtual_s / 2);
		if (ret->latency)
			b.time[i] *= p->inflight;
		b.work[i] =
			b.time[i] > 0 && isfinite(b.time[i]) && isfinite(p->visits) ? p->visits : 0;
		if (w[i]->wall_s > w[i]->inserted_s)
			b.scale[i] = p->virtual_s / (w[i]->wall_s - w[i]->inserted_s);
		if (b.work[i] > 0 && is_zero(w[i]))
			ret->zeros++;
	}
	for (size_t i = 0; i < n; i++) {
		if (!(b.work[i] > 0))
			continue;
		b.pairs[b.n_pairs++] = pair_up(&b, i);
		if (!find_set(ret, w[i])) {
			array_reserve(ret->s, cap, ret->n + 1);
			ret->s[ret->n++] =
				(struct unit_set){ .speedup = w[i]->speedup, .real = w[i]->real };
		}
	}
	b.jump_limit = jump_limit(&b);
	for (size_t i = 0; i < ret->n; i++)
		fill_set(&b, &ret->s[i]);
	qsort(ret->s, ret->n, sizeof(*ret->s), compare_set);
	free(b.time);
	free(b.work);
	free(b.scale);
	free(b.share);
	free(b.pairs);
}

void unit_sets_free(struct unit_sets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->s[i].u);
	free(s->s);
	memset(s, 0, sizeof(*s));
}
