/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows that were measured one after the other at one speedup; inside lib/stats only. */
#ifndef SCOZ_HOLDS_H
#define SCOZ_HOLDS_H

#include "stats/window.h"

/* Can something be said of the progress point by it? */
bool window_is_usable(const struct profile_window *w, uint32_t progress);

/* Several windows of one speedup, as one. */
struct hold {
	struct profile_window w; /* sums, and means where the field is a rate */
	struct window_progress p;
	uint32_t last; /* seq of the last window */
	size_t windows;
	bool usable; /* as its windows are */
};

/* Adds what can be added up, to { 0 } at first; what is a rate is the mean. */
void hold_add(struct hold *h, const struct profile_window *w, const struct window_progress *p);

struct holds {
	struct hold *h;
	size_t n;
};

/*
 * @w: windows of one target, by run and seq. In the holds, @progress is the only progress point,
 * number 0.
 */
void holds_build(const struct profile_window *const *w, size_t n, uint32_t progress,
		 struct holds *ret);
void holds_free(struct holds *h);

#endif
