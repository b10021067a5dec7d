/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often to sample: pure. */
#ifndef SCOZ_PERIOD_H
#define SCOZ_PERIOD_H

#include "base/base.h"

struct period_input {
	double syncs_per_s;  /* wake-ups of profiled tasks by tasks */
	double spins_per_s;  /* waits for locks that keep the core */
	double spin_ns;	     /* their mean length */
	double visits_per_s; /* of the busiest progress point; 0: not known */
	double busy_cores;   /* mean number */
	double tick_cost_ns; /* what a sample takes from the program; 0: not known */
	double frequency_hz; /* what the user wants; 0: choose */
};

struct period_choice {
	uint64_t period_ns;
	double sync_interval_s; /* between synchronisations of the same tasks; INFINITY: none */
	bool coarse;		/* no allowed period is fine enough */
};

struct period_choice period_choose(const struct period_input *in);

#endif
