// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Binary segmentation of the log periods of all 0 % windows in time order. A split stands when
 * fewer than 1 % of permutations of the series allow one as good, when both sides are long, and
 * when they differ by 5 % or more: less than that the neighbouring baselines cancel anyway.
 *
 * A machine that jumps back and forth for seconds is no program with phases, but permuting single
 * windows would take its runs of equal speed for structure. So blocks are permuted, as long as
 * the windows depend on each other; how long that is, what is left after the best fit of
 * MAX_PHASES levels tells: nothing is where there are phases, much where the machine jumps.
 */
#include "stats/phases.h"

#include <math.h>

#include "stats/resample.h"

#define MAX_PHASES   4
#define MIN_WINDOWS  6	    /* in a phase */
#define MIN_SHARE    0.1    /* of all 0 % windows, in a phase */
#define MIN_CHANGE   0.0488 /* log(1.05) */
#define PERMUTATIONS 999
#define ALPHA	     0.01

struct spot {
	double time;
	double x; /* log period */
	double visits, virtual_s;
};

struct search {
	struct spot *s;
	size_t n, least;
	size_t block;
	struct rng rng;
	size_t cut[MAX_PHASES + 1]; /* starts of phases; cut[n_cuts] = n */
	size_t n_cuts;
};

/* Where the runs before each end, by run. */
static double *run_offsets(const struct profile_window *windows, size_t n)
{
	uint32_t last = 0;
	double *offset, end = 0;

	for (size_t i = 0; i < n; i++)
		last = windows[i].run > last ? windows[i].run : last;
	offset = xcalloc(last + 1ul, sizeof(*offset));
	for (size_t i = 0; i < n; i++) {
		double *end_s = &offset[windows[i].run];

		*end_s = fmax(*end_s, windows[i].start_s + windows[i].wall_s);
	}
	for (uint32_t r = 0; r <= last; r++) {
		double length = offset[r];

		offset[r] = end;
		end += length;
	}
	return offset;
}

static int compare_spots(const void *pa, const void *pb)
{
	const struct spot *a = pa, *b = pb;

	return (a->time > b->time) - (a->time < b->time);
}

/* The gain (sum of squares explained) of the best split of n values, and where it is. */
static double best_split(const double *x, size_t n, size_t least, size_t *at)
{
	double total = 0, left = 0, best = 0;

	*at = 0;
	for (size_t i = 0; i < n; i++)
		total += x[i];
	for (size_t i = 1; i + least <= n; i++) {
		double d, gain;

		left += x[i - 1];
		if (i < least)
			continue;
		d = left / i - (total - left) / (n - i);
		gain = d * d * i * (n - i) / n;
		if (gain > best) {
			best = gain;
			*at = i;
		}
	}
	return best;
}

static void copy_values(const struct search *f, size_t from, size_t n, double *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = f->s[from + i].x;
}

static double mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / n;
}

/* From the lag-1 correlation of what the best fit of MAX_PHASES levels leaves. */
static size_t block_length(const struct search *f)
{
	_cleanup_free_ double *x = xmalloc(f->n * sizeof(*x));
	size_t cut[MAX_PHASES + 1] = { 0, f->n }, n_cuts = 1;
	double square = 0, product = 0, r;

	copy_values(f, 0, f->n, x);
	while (n_cuts < MAX_PHASES) {
		double best = 0;
		size_t where = 0, at;

		for (size_t i = 0; i < n_cuts; i++) {
			double gain = best_split(x + cut[i], cut[i + 1] - cut[i], f->least, &at);

			if (gain > best) {
				best = gain;
				where = cut[i] + at;
			}
		}
		if (!where)
			break;
		cut[++n_cuts] = f->n;
		for (size_t i = n_cuts - 1; i > 0; i--) {
			cut[i] = cut[i - 1] > where ? cut[i - 1] : where;
			if (cut[i - 1] < where)
				break;
		}
	}
	for (size_t i = 0; i < n_cuts; i++) {
		double m = mean(x + cut[i], cut[i + 1] - cut[i]);

		for (size_t k = cut[i]; k < cut[i + 1]; k++)
			x[k] -= m;
	}
	for (size_t i = 0; i < f->n; i++) {
		square += x[i] * x[i];
		product += i ? x[i] * x[i - 1] : 0;
	}
	r = square > 0 ? product / square : 0;
	r += n_cuts * (1 + 3 * r) / f->n; /* what is left of few values correlates less */
	r = fmin(fmax(r, 0), 0.98);
	return ceil(1.5 * (1 + r) / (1 - r) - 0.75);
}

/* The share of permutations of x's blocks with a split at least as good. */
static double permutation_p(struct search *f, const double *x, size_t n, double gain)
{
	size_t blocks = (n + f->block - 1) / f->block, as_good = 1, at;
	_cleanup_free_ size_t *order = xmalloc(blocks * sizeof(*order));
	_cleanup_free_ double *y = xmalloc(n * sizeof(*y));

	for (size_t i = 0; i < blocks; i++)
		order[i] = i;
	for (int k = 0; k < PERMUTATIONS; k++) {
		size_t filled = 0;

		for (size_t i = blocks; i > 1; i--) {
			size_t j = rng_next(&f->rng) % i, swap = order[i - 1];

			order[i - 1] = order[j];
			order[j] = swap;
		}
		for (size_t i = 0; i < blocks; i++) {
			for (size_t j = order[i] * f->block; j < (order[i] + 1) * f->block; j++) {
				if (j < n)
					y[filled++] = x[j];
			}
		}
		as_good += best_split(y, n, f->least, &at) >= gain * (1 - 1e-9);
		if (as_good > ALPHA * (PERMUTATIONS + 1)) /* no need to know how much worse */
			return 1;
	}
	return as_good / (PERMUTATIONS + 1.0);
}

static bool find_cut(struct search *f, size_t from, size_t n, size_t *ret)
{
	_cleanup_free_ double *x = xmalloc(n * sizeof(*x));
	double gain;
	size_t at;

	copy_values(f, from, n, x);
	gain = best_split(x, n, f->least, &at);
	if (!at || fabs(mean(x, at) - mean(x + at, n - at)) < MIN_CHANGE ||
	    permutation_p(f, x, n, gain) > ALPHA)
		return false;
	*ret = from + at;
	return true;
}

static void segment(struct search *f, size_t from, size_t n)
{
	size_t at;

	if (f->n_cuts < MAX_PHASES && n >= 2 * f->least && find_cut(f, from, n, &at)) {
		segment(f, from, at - from);
		if (f->n_cuts < MAX_PHASES)
			f->cut[f->n_cuts++] = at;
		segment(f, at, from + n - at);
	}
}

static void make_phases(const struct search *f, struct phases *ret)
{
	ret->p = xcalloc(f->n_cuts, sizeof(*ret->p));
	ret->n = f->n_cuts;
	for (size_t i = 0; i < f->n_cuts; i++) {
		struct phase *p = &ret->p[i];
		double visits = 0, virtual_s = 0;

		for (size_t k = f->cut[i]; k < f->cut[i + 1]; k++) {
			visits += f->s[k].visits;
			virtual_s += f->s[k].virtual_s;
		}
		p->first_s = f->s[f->cut[i]].time;
		p->last_s = f->s[f->cut[i + 1] - 1].time;
		p->end_s = INFINITY;
		if (i)
			p->start_s = p[-1].end_s = (p[-1].last_s + p->first_s) / 2;
		p->rate_per_s = visits / virtual_s;
	}
}

void phases_find(const struct profile_window *windows, size_t n, uint32_t progress, uint64_t seed,
		 struct phases *ret)
{
	struct search f = { .rng = { rng_mix(seed, progress + 0x70686173) }, .n_cuts = 1 };
	_cleanup_free_ double *offset = run_offsets(windows, n);

	memset(ret, 0, sizeof(*ret));
	f.s = xmalloc(n * sizeof(*f.s));
	for (size_t i = 0; i < n; i++) {
		const struct profile_window *w = &windows[i];
		const struct window_progress *p;

		if (w->discard || w->speedup >= 1e-9 || progress >= w->n_progress)
			continue;
		p = &w->progress[progress];
		if (p->visits > 0 && p->virtual_s > 0 && isfinite(p->visits / p->virtual_s))
			f.s[f.n++] = (struct spot){ .time = offset[w->run] + w->start_s,
						    .x = log(p->virtual_s / p->visits),
						    .visits = p->visits,
						    .virtual_s = p->virtual_s };
	}
	f.least = fmax(MIN_WINDOWS, MIN_SHARE * f.n);
	if (f.n >= 2 * f.least) {
		qsort(f.s, f.n, sizeof(*f.s), compare_spots);
		f.block = block_length(&f);
		segment(&f, 0, f.n);
		f.cut[f.n_cuts] = f.n;
		if (f.n_cuts > 1)
			make_phases(&f, ret);
	}
	free(f.s);
}

void phases_free(struct phases *p)
{
	free(p->p);
	memset(p, 0, sizeof(*p));
}

char *phases_describe(const struct phases *p, const char *progress)
{
	char *text = NULL;

	for (size_t i = 0; p->n > 1 && i < p->n; i++) {
		char *more;

		if (!i)
			more = xasprintf("%s: %.4g/s until %.1f s", progress, p->p[i].rate_per_s,
					 p->p[i].end_s);
		else if (i + 1 < p->n)
			more = xasprintf("%s, then %.4g/s until %.1f s", text, p->p[i].rate_per_s,
					 p->p[i].end_s);
		else
			more = xasprintf("%s, then %.4g/s", text, p->p[i].rate_per_s);
		free(text);
		text = more;
	}
	return text;
}

const struct phase *phases_only(const struct phases *p, const struct profile_window *windows,
				size_t n, uint32_t target)
{
	const struct phase *only = NULL, *last;
	_cleanup_free_ double *offset = NULL;

	if (p->n < 2)
		return NULL;
	offset = run_offsets(windows, n);
	last = &p->p[p->n - 1];
	for (size_t i = 0; i < n; i++) {
		const struct profile_window *w = &windows[i];
		const struct phase *in = NULL;
		double time;

		if (w->target != target || w->discard || !window_is_treated(w))
			continue;
		time = offset[w->run] + w->start_s;
		for (const struct phase *x = p->p; x <= last; x++) {
			if ((time >= x->first_s || x == p->p) && (time <= x->last_s || x == last))
				in = x;
		}
		if (!in) /* just where it changed */
			continue;
		if (only && only != in)
			return NULL;
		only = in;
	}
	return only;
}
