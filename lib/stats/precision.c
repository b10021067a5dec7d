// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/precision.h"

#include <math.h>

#include "stats/resample.h"
#include "stats/units.h"

#define MAX_PREFIXES 128 /* looks at how the precision grew */
#define MAX_SETTLE_S 64	 /* more than that between two windows was not settling */

/* Widest half width over @n_speedups treated points; INFINITY while one lacks its interval. */
static double prefix_half_width(const struct profile_window *const *w, size_t n, uint32_t progress,
				size_t n_speedups)
{
	struct unit_sets sets;
	double widest = 0;
	size_t known = 0;

	unit_sets_build(w, n, progress, &sets);
	for (size_t i = 1; i < sets.n && isfinite(widest); i++) {
		const struct unit_set *set = &sets.s[i];
		struct log_ratio r;

		if (set->real || !set->n)
			continue;
		r = log_ratio_estimate(set->u, set->n, set->inflation);
		widest = fmax(widest, (log_ratio_percent(r.lo) - log_ratio_percent(r.hi)) / 2);
		known++;
	}
	unit_sets_free(&sets);
	return known < n_speedups ? INFINITY : widest;
}

double precision_reached(const struct profile_window *const *w, const double *spent, size_t n,
			 const struct estimate *e)
{
	double sum = 0, since = INFINITY;
	size_t step = (n + MAX_PREFIXES - 1) / MAX_PREFIXES;

	if (!(estimate_half_width(e) <= PRECISION_PP))
		return INFINITY;
	for (size_t i = 0; i < n; i++) {
		sum += w[i]->real ? 0 : spent[i];
		if (i + 1 < n && (i + 1) % step)
			continue;
		if (prefix_half_width(w, i + 1, e->progress, e->n_points - 1) > PRECISION_PP)
			since = INFINITY;
		else if (isinf(since))
			since = sum;
	}
	/* The curve's interval may be a trifle narrower than this one. */
	return isfinite(since) ? since : sum;
}

void precision_spent(const struct profile_window *const *w, const double *spent, size_t n,
		     struct estimate *e)
{
	double zeros = 0;
	size_t n_zeros = 0;

	for (size_t i = 0; i < n; i++) {
		if (!window_is_treated(w[i]) && !w[i]->real) {
			zeros += spent[i];
			n_zeros++;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct estimate_point *p =
			window_is_treated(w[i]) ? estimate_point_at(e, 100 * w[i]->speedup) : NULL;

		if (p)
			p->spent_s += spent[i] + (n_zeros ? zeros / n_zeros : 0);
	}
}

double *precision_time_spent(const struct profile_window *windows, size_t n)
{
	_cleanup_free_ const struct profile_window **w = xmalloc(n * sizeof(*w));
	double *spent = xcalloc(n, sizeof(*spent));

	for (size_t i = 0; i < n; i++)
		w[i] = &windows[i];
	qsort(w, n, sizeof(*w), compare_order);
	for (size_t i = 0; i < n; i++) {
		double settle = 0;

		if (i && w[i]->run == w[i - 1]->run)
			settle = w[i]->start_s - w[i - 1]->start_s - w[i - 1]->wall_s;
		spent[w[i] - windows] = w[i]->wall_s + fmin(fmax(settle, 0), MAX_SETTLE_S);
	}
	return spent;
}
