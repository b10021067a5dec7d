/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests that could forbid a verdict, and have not had the data yet that they need: until they have,
 * there is none. Inside lib/stats only.
 */
#ifndef SCOZ_UNJUDGED_H
#define SCOZ_UNJUDGED_H

#include "stats/verdict.h"

/*
 * What keeps c->e.verdict back, whose best is found; DOUBT_NONE: nothing. Only what could turn that
 * verdict does: of a program in which nothing is won a clock takes nothing away.
 */
enum doubt find_unjudged(const struct candidate *c);
/* Profiling until it can be told; NAN: not known. */
double unjudged_more_s(const struct candidate *c, enum doubt doubt);
/* What is missing, and for how long, where that is known; to be freed. */
char *unjudged_text(const struct candidate *c, enum doubt doubt);

#endif
