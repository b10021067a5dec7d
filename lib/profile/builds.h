/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that were built anew between runs of one profile. */
#ifndef SCOZ_PROFILE_BUILDS_H
#define SCOZ_PROFILE_BUILDS_H

#include "profile/profile.h"

/*
 * How many runs of @p were of another build of @b than it. 0: none; else @runs is to be freed:
 * "run 1", "runs 1 to 2", "2 of 4 runs".
 */
size_t profile_other_builds(const struct profile *p, const struct profile_binary *b, char **runs);

#endif
