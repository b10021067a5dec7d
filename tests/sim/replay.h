/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What replay (lib/whatif) says of a simulated run, beside what really happens. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "study.h"

struct sim_replay {
	double truth; /* program speedup in percent */
	double middle, low, high;
	double zero; /* what is said of a speedup of 0: must be 0 */
	bool stuck;
};
/* @named: it is known what is spun for. */
struct sim_replay replay_study(const struct sim_program *p, const struct sim_config *c,
			       double speedup, double seconds, bool named);

#endif
