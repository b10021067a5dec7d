/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What replay expected of a target (docs/whatif.md), beside what experiments say. Its bounds are no
 * intervals, and it makes no verdict: where the two differ the experiments count, and that they do
 * tells something about the program.
 */
#ifndef SCOZ_EXPECTED_H
#define SCOZ_EXPECTED_H

#include "profile/beside.h"
#include "tools/scoz/causal/model.h"

/* Of the last run that says something of it; NULL: none does. */
const struct profile_expected *expected_of(const struct profile *p, const char *target,
					   uint32_t progress);

enum expected_says {
	EXPECTED_NOTHING, /* or the experiments do not */
	EXPECTED_AGREES,  /* bounds and interval overlap */
	EXPECTED_MORE,	  /* than experiments say */
	EXPECTED_LESS,
};
/* At the speedup of the row's best; @at: what is expected there. */
enum expected_says expected_beside(const struct model *m, const struct model_row *row,
				   struct profile_expectation *at);
/* Why bounds and interval of a row lie apart, usually; NULL: they do not. To be freed. */
char *expected_difference(const struct model *m, size_t row);

/* The last run's; NULL: none. */
const struct profile_replay *expected_replay(const struct profile *p);

/* For scoz-report/1: of a row; of the profile. */
json_t *expected_row_json(const struct model *m, const struct model_row *row);
json_t *expected_json(const struct model *m);

#endif
