/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often to sample: pure. */
#ifndef SCOZ_PERIOD_H
#define SCOZ_PERIOD_H

#include "base/base.h"

struct period_input {
	double syncs_per_s;  /* wake-ups of profiled tasks by tasks */
	double polls_per_s;  /* sleeps of who looks now and then for what others have done */
	double spins_per_s;  /* waits for locks that keep the core */
	double spin_ns;	     /* their mean length */
	double visits_per_s; /* of the busiest progress point; 0: not known */
	double busy_cores;   /* mean number */
	double runnable;     /* profiled tasks that run or want to, mean number; 0: not known */
	double tick_cost_ns; /* what a sample takes from the program; 0: not known */
	double seen;	     /* share of hits whose begin and end are seen: no samples */
	double waits; /* share of the target's time that is waits, each a hit of its length */
	double frequency_hz; /* what the user wants; 0: choose */
	uint64_t least_ns;   /* the kernel allows no shorter period; 0: any */
};

struct period_choice {
	uint64_t period_ns;
	double sync_interval_s; /* between synchronisations of the same tasks; INFINITY: none */
	double interval_s;	/* ... or half a unit of work, where that is shorter; looks too */
	double tick_share;	/* of a busy core's time that goes into ticks; 0: not known */
	double error_pp; /* what to expect of predictions, on average, in percentage points */
	bool coarse;	 /* that is more than PERIOD_ERROR_PP: say so */
	/* The period that would be most accurate, whatever ticks take, and what it has. */
	uint64_t finest_ns;
	double finest_share, finest_error_pp;
};
#define PERIOD_ERROR_PP	 1.0
#define PERIOD_MAX_SHARE 0.05 /* unless the user wants a frequency */

struct period_choice period_choose(const struct period_input *in);
/* What to expect of predictions at @period_ns, in percentage points; frequency_hz is not used. */
double period_expected_pp(const struct period_input *in, uint64_t period_ns);
/* Why, with numbers, and what can be done; NULL when there is nothing to warn of. To be freed. */
char *period_describe(const struct period_input *in, const struct period_choice *c);

#endif
