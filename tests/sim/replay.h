/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What replay (lib/whatif) says of a simulated run, beside what really happens. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "study.h"

struct sim_replay {
	double truth; /* program speedup in percent */
	double middle, low, high;
	double zero; /* what is said of a speedup of 0: must be 0 */
	bool stuck;  /* or it cannot be asked for: nothing is the target, or sleeps are */
	double fit;  /* replay_cpus(): cpus_fit() */
};
enum {
	SIM_NAMED = 1,	   /* it is known what is spun for */
	SIM_NO_KERNEL = 2, /* threads of the kernel are not recorded: only whom they wake */
};
/* @how: of these. */
struct sim_replay replay_study(const struct sim_program *p, const struct sim_config *c,
			       double speedup, double seconds, int how);
/* The most likely gain, in percent, by these @n events alone; NAN: not known. */
double replay_gain_of(struct trace_event *v, size_t n, const struct sim_program *p, double speedup);
/* The same of more cores. */
struct sim_replay replay_cpus(const struct sim_program *p, const struct sim_config *c, int cores,
			      double seconds);

#endif
