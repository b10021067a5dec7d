/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions and lines of a recording are asked for: the functions that most time was spent
 * in or below, and the lines that most samples are credited to, each sample to one line (of a chain
 * the innermost that is the user's; a caller's line has all that it calls, so it would always come
 * first).
 */
#ifndef SCOZ_WHATIF_CANDIDATES_H
#define SCOZ_WHATIF_CANDIDATES_H

#include "whatif/predict.h"

struct candidates {
	struct predict_target *list; /* PREDICT_TARGETS at most; best first */
	size_t n;
	uint64_t *masks; /* by stack: which of these are in it */
};
void candidates_find(const struct trace *t, enum predict_grain grain, struct candidates *ret);
void candidates_free(struct candidates *c);

#endif
