/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the program paced from outside? Inside lib/stats only. */
#ifndef SCOZ_PACED_H
#define SCOZ_PACED_H

#include "stats/units.h"

struct pace {
	double slope;  /* how much of the inserted delay waits for devices and timers took up */
	double lo, hi; /* 95 % interval; infinite with fewer than PACE_LEAST units */
	bool few;      /* there are waits, and fewer than that */
};

#define PACE_LEAST 6

/* Over all treated units of one (target, progress). */
struct pace pace_estimate(const struct unit_sets *sets);
/* Surely, so that its predictions are worth nothing. */
bool pace_from_outside(const struct pace *p);

#endif
