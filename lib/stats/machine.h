/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the machine was like while windows were measured, and what that did to an interval. */
#ifndef SCOZ_STATS_MACHINE_H
#define SCOZ_STATS_MACHINE_H

#include "stats/stats.h"

/*
 * Shares are of the profiled cores' time, means over kept windows; _sd: how much windows differ.
 * NAN: not known.
 */
struct machine_effect {
	double stolen, stolen_sd;
	double speed_sd;	  /* relative */
	double visit_cpu_sd;	  /* of a visit's CPU time in 0 % windows, relative: caches,
				     neighbours on a core, and how much there is to do */
	double others, others_sd; /* busy with what is not profiled */
	double stopped;
	double ticks; /* accounting, of the time in which cores were busy */
	/*
	 * Of the noise between the units of one estimate (what a treated window says, less its
	 * baselines, and less what CPU times explain already) the share that differences in stolen
	 * time, speed and others' load explain, by regression; 0: none that is distinguishable from
	 * chance; NAN: too few units to tell. And how much narrower the part of the interval that
	 * noise makes would be without it: 1 - sqrt(1 - explained).
	 */
	double explained, of_width;
	/* What strangers took explained so much of that noise before, and is taken off
	 * (strangers.h). */
	double taken_off;
	size_t units;
};

/* @cores: how many are profiled; @tick_cost_s: 0: not known. */
void machine_effect(const struct profile_window *w, size_t n, int cores, double tick_cost_s,
		    const struct estimate *e, struct machine_effect *ret);
/*
 * "the host took 14 % (±6 between windows), speed varied by ±9 %, CPU time per visit by ±11 %,
 * other programs 12 %, held still to measure 5 %, sampling 4 % of busy time"; NULL: nothing is
 * known. "it makes about 50 % of the interval's width", and what was taken off. To be freed.
 */
char *machine_effect_text(const struct machine_effect *m);
char *machine_effect_verdict(const struct machine_effect *m);

#endif
