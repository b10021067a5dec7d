/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The points of one curve, estimated together; inside lib/stats and tests. */
#ifndef SCOZ_CURVE_H
#define SCOZ_CURVE_H

#include "base/base.h"

struct curve_point {
	double speedup; /* 0 to 1, above 0 */
	/* In: the log ratio by its own windows alone. Out: as the whole curve has it. */
	double value, se, df;
};

/*
 * @p: by speedup, all different, with known standard errors (0: exact). @correlation: n by n, of
 * the errors of the values.
 */
void curve_fit(struct curve_point *p, size_t n, const double *correlation);

#endif
