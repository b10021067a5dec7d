/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the errors of many programs come to, for each way of profiling. */
#ifndef SIM_SUMMARY_H
#define SIM_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#define SUMMARY_SPEEDUPS 32

/* Zero-initialised is valid; summary_free() it. */
struct sim_summary {
	struct {
		double *error; /* percentage points */
		size_t n, cap;
	} at[SUMMARY_SPEEDUPS];
	double paid; /* how often a core paid what was inserted, at most */
};

void summary_note(struct sim_summary *s, int speedup_nr, double error);
/* @s: @n of them, side by side; @paid: that, too. */
void summaries_print(const struct sim_summary *s, int n, const double *speedup, int n_speedups,
		     bool paid);
void summary_free(struct sim_summary *s);

#endif
