// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/latency.h"

static int by_start(const void *a, const void *b)
{
	const struct profile_latency_bin *x = a, *y = b;

	return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

/* Evenly spread in its bin, which is a sixteenth of its value wide at most. */
static double quantile(const struct profile_latency_bin *bins, size_t n, uint64_t all, double q)
{
	double rank = q * all, before = 0;

	for (size_t i = 0; i < n; i++) {
		if (before + bins[i].count >= rank)
			return bins[i].from_s +
			       (bins[i].to_s - bins[i].from_s) * (rank - before) / bins[i].count;
		before += bins[i].count;
	}
	return n ? bins[n - 1].to_s : 0;
}

/* The bins of all runs are the same ones: they are only put side by side. */
static void join(const struct profile *p, uint32_t progress, struct model_latency *ret)
{
	_cleanup_free_ struct profile_latency_bin *bins = NULL;
	size_t n = 0, cap = 0;

	ret->why = "the profile does not tell";
	for (size_t i = 0; i < p->n_latencies; i++) {
		const struct profile_latency *l = &p->latencies[i];

		if (l->progress != progress)
			continue;
		ret->elsewhere += l->elsewhere;
		ret->why = *l->why ? l->why : ret->why;
		array_reserve(bins, cap, n + l->n_bins);
		for (size_t k = 0; k < l->n_bins; k++) {
			ret->measured += l->bins[k].count;
			if (l->bins[k].count)
				bins[n++] = l->bins[k];
		}
	}
	if (!ret->measured)
		return;
	ret->why = NULL;
	qsort(bins, n, sizeof(*bins), by_start);
	ret->p50_s = quantile(bins, n, ret->measured, 0.5);
	ret->p90_s = quantile(bins, n, ret->measured, 0.9);
	ret->p99_s = quantile(bins, n, ret->measured, 0.99);
	ret->max_s = bins[n - 1].to_s;
}

struct model_latency *latency_of(const struct profile *p)
{
	struct model_latency *ret = xcalloc(p->n_progress, sizeof(*ret));

	for (size_t i = 0; i < p->n_progress; i++) {
		if (p->progress[i].kind == PROGRESS_LATENCY)
			join(p, i, &ret[i]);
	}
	return ret;
}

static char *duration_text(double s)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (s >= units[i].unit)
			return xasprintf("%.3g %s", s / units[i].unit, units[i].name);
	}
	return xasprintf("%.0f ns", s * 1e9);
}

char *model_latency_text(const struct model *m, size_t progress)
{
	const struct model_latency *l = &m->latency[progress];
	_cleanup_free_ char *p50 = duration_text(l->p50_s), *p90 = duration_text(l->p90_s);
	_cleanup_free_ char *p99 = duration_text(l->p99_s), *max = duration_text(l->max_s);
	_cleanup_free_ char *elsewhere = NULL;

	if (m->profile->progress[progress].kind != PROGRESS_LATENCY)
		return NULL;
	if (l->why)
		return xasprintf("no distribution: %s", l->why);
	if (l->elsewhere)
		elsewhere = xasprintf(", %llu ended in another thread than they began in",
				      (unsigned long long)l->elsewhere);
	return xasprintf("p50 %s, p90 %s, p99 %s, max %s (%llu measured at 0 %%%s)", p50, p90, p99,
			 max, (unsigned long long)l->measured, elsewhere ? elsewhere : "");
}
