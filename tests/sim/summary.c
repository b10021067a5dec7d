// SPDX-License-Identifier: GPL-2.0-or-later
#include "summary.h"

#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 0.9 /* of the programs */

void summary_note(struct sim_summary *s, int speedup_nr, double error)
{
	array_reserve(s->at[speedup_nr].error, s->at[speedup_nr].cap, s->at[speedup_nr].n + 1);
	s->at[speedup_nr].error[s->at[speedup_nr].n++] = error;
}

void summary_free(struct sim_summary *s)
{
	for (int k = 0; k < SUMMARY_SPEEDUPS; k++)
		free(s->at[k].error);
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return x < y ? -1 : x > y;
}

enum figure { MEAN, BIAS, WITHIN, WORST, N_FIGURES };

/* Of the speedups from @from to @to, excluding the latter. */
static double figure(const struct sim_summary *s, enum figure f, int from, int to)
{
	_cleanup_free_ double *all = NULL;
	size_t n = 0, cap = 0;
	double sum = 0, size = 0;

	for (int k = from; k < to; k++) {
		for (size_t i = 0; i < s->at[k].n; i++) {
			array_reserve(all, cap, n + 1);
			all[n++] = s->at[k].error[i];
			sum += s->at[k].error[i];
			size += fabs(s->at[k].error[i]);
		}
	}
	if (!n)
		return NAN;
	qsort(all, n, sizeof(*all), by_size);
	switch (f) {
	case MEAN:
		return size / n;
	case BIAS:
		return sum / n;
	case WITHIN:
		return fabs(all[(size_t)(MOST * (n - 1))]);
	default:
		return fabs(all[n - 1]);
	}
}

static void print_row(const struct sim_summary *s, int n, const char *name, enum figure f, int from,
		      int to)
{
	printf("%-36s", name);
	for (int c = 0; c < n; c++)
		printf(f == BIAS ? "  %+8.2f      " : "  %8.2f      ", figure(&s[c], f, from, to));
	printf("\n");
}

void summaries_print(const struct sim_summary *s, int n, const double *speedup, int n_speedups,
		     bool paid)
{
	static const char *const names[] = { [MEAN] = "mean of the absolute errors",
					     [BIAS] = "mean of the errors",
					     [WITHIN] = "nine of ten within",
					     [WORST] = "worst" };

	for (int k = 0; k < n_speedups && n_speedups > 1; k++) {
		for (enum figure f = MEAN; f < N_FIGURES; f++) {
			char name[64];

			snprintf(name, sizeof(name), "%s, at %.0f %%", names[f], 100 * speedup[k]);
			print_row(s, n, name, f, k, k + 1);
		}
	}
	for (enum figure f = MEAN; f < N_FIGURES; f++)
		print_row(s, n, names[f], f, 0, n_speedups);
	if (!paid)
		return;
	printf("%-36s", "most paid of what was inserted");
	for (int c = 0; c < n; c++)
		printf("  %8.2f      ", s[c].paid);
	printf("\n");
}
