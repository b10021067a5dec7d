/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions and lines of a recording are asked for. Each sample is credited to one line and
 * one function: of a chain the innermost that is the user's. Those with the most credit are taken,
 * for a caller has all that it calls, and would always come first; but where only functions are
 * asked for, those that most time was spent in or below.
 */
#ifndef SCOZ_WHATIF_CANDIDATES_H
#define SCOZ_WHATIF_CANDIDATES_H

#include "whatif/predict.h"

struct candidates {
	/* PREDICT_TARGETS at most: devices if they are asked for, then code; best first */
	struct predict_target *list;
	size_t n, n_devices;
	uint8_t *polls;	 /* by stack: polls_find() */
	uint64_t *masks; /* by stack: which of these are in it; in none that polls */
};
void candidates_find(const struct trace *t, const struct predict_options *o,
		     struct candidates *ret);
void candidates_free(struct candidates *c);

/* Its function is known by name. */
bool frame_is_function(const struct record_frame *f);
bool frame_is_in_kernel(const struct record_frame *f);
/* It is not the user's code. */
bool frame_is_of_system(const struct record_frame *f);

#endif
