/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By how much less time a unit of progress would take: how much earlier the visits of a progress
 * point near the end of a recording would come than those near its beginning, over the time
 * between. A tenth of them is left out before. Threads are looked at one by one.
 */
#ifndef SCOZ_WHATIF_VISITS_H
#define SCOZ_WHATIF_VISITS_H

#include "base/base.h"

struct visits;
/* @n: how many there will be; threads: numbers are below that. */
struct visits *visits_create(size_t n_lanes, uint64_t n, size_t threads);
/* In the order of time; @earlier: ns, by lane. */
void visits_add(struct visits *v, uint32_t thread, uint64_t time, const double *earlier);
/* It comes no more: what it holds is added up. */
void visits_ended(struct visits *v, uint32_t thread);
/* Percent; NAN: there were too few. */
double visits_gain(const struct visits *v, size_t lane);
void visits_free(struct visits *v);

/* Of one number for each lane, that there are. */
size_t visits_rows(const struct visits *v);

#endif
