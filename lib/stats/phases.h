/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Did the program or the machine change its speed by itself? Inside lib/stats and the reports. */
#ifndef SCOZ_PHASES_H
#define SCOZ_PHASES_H

#include "stats/window.h"

struct phase {
	double start_s, end_s;	/* the runs of a file count one after the other */
	double first_s, last_s; /* its outermost 0 % windows */
	double rate_per_s;	/* in its 0 % windows */
};

/* Of one progress point, in time order; 0 or 1: no change was found. */
struct phases {
	struct phase *p;
	size_t n;
};

/* Deterministic for equal input and seed; the order of @windows does not matter. */
void phases_find(const struct profile_window *windows, size_t n, uint32_t progress, uint64_t seed,
		 struct phases *ret);
void phases_free(struct phases *p);
/* "iter: 811/s until 12.3 s, then 420/s"; NULL when there is only one. */
char *phases_describe(const struct phases *p, const char *progress);
/*
 * The one phase in which all kept treated windows of @target lie; NULL: in several, or there is
 * only one.
 */
const struct phase *phases_only(const struct phases *p, const struct profile_window *windows,
				size_t n, uint32_t target);

#endif
