/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole profile in simulated time: the windows that lib/plan asks for, measured as scozd measures
 * them (daemon/window.c), estimated by lib/stats.
 */
#ifndef SIM_EXPERIMENT_H
#define SIM_EXPERIMENT_H

#include "machine.h"
#include "stats/stats.h"

struct sim_experiment {
	const double *speedups;
	int n_speedups;
	double seconds;	  /* at most */
	double precision; /* 0: all the time there is */
	/* Of a window; 0: as scozd chooses. */
	double settle_s, length_s;
	uint64_t seed;
	bool method; /* intervals have the allowance for the method, as those of reports */
};

struct sim_estimate {
	struct estimates e; /* of one target and one progress point: at most one */
	double seconds;
	size_t windows, discarded;
	int lengthened; /* how often windows turned out too short */
};
void experiment(const struct sim_program *p, const struct sim_options *o,
		const struct sim_experiment *x, struct sim_estimate *ret);

#endif
