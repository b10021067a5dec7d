// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/profile.h"

#include <math.h>

const struct profile_expectation *profile_expectation_half(const struct profile_expectation *at,
							   size_t n)
{
	const struct profile_expectation *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!best || fabs(at[i].speedup - 0.5) < fabs(best->speedup - 0.5))
			best = &at[i];
	}
	return best;
}
