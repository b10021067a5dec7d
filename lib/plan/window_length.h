/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a window must be: pure. */
#ifndef SCOZ_WINDOW_LENGTH_H
#define SCOZ_WINDOW_LENGTH_H

#include "base/base.h"

struct window_length {
	double settle_s; /* from the change of the speedup until the first window begins */
	double length_s;
	uint32_t hold; /* how many windows follow each other before the speedup changes again */
	bool paused;   /* longer, and later, than as many even visits would make it */
	/*
	 * The pauses between visits are longer than was known (at first: that visits are even): the
	 * windows so far hold what chance put into them, much of it from before the speedup
	 * changed. Where nearly all of them hold something all the same the pauses are rare, and
	 * they are good.
	 */
	bool bursts;
};

#define WINDOW_MAX_HOLD	   4
#define WINDOW_USUAL_PER_S 0.4 /* window_visits_per_s() for which usual windows are long enough */

struct window_tuner;
struct window_tuner *window_tuner_create(void);
void window_tuner_free(struct window_tuner *t);
/*
 * How many visits a second, at random moments, would tell as much as @visits_per_s do between which
 * a random moment finds a pause of @pause_s (pauses.h). At random moments pauses are twice as long
 * as visits are apart, so only what is less even than that counts for less than it is.
 */
double window_visits_per_s(double visits_per_s, double pause_s);
/* Of the progress point that moves at all for which window_visits_per_s() is least. */
struct window_length window_tuner_next(struct window_tuner *t, double visits_per_s, double pause_s);
/*
 * @log_drift: what became of the time per unit of work from the first to the last window of a hold
 * at @speedup, log(last / first). True: windows are longer from now on, and those measured so far
 * say something about the change from one speedup to another, not about the speedup.
 */
bool window_tuner_held(struct window_tuner *t, double speedup, double log_drift);

#endif
