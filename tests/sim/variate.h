/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Would replay serve the experiments as control variate? Of each pair of a window with a speedup
 * and its neighbours without: what the times differ by, what CPU times do, and what replays of
 * recordings of these windows do. Noise that they have in common could be taken off.
 */
#ifndef SIM_VARIATE_H
#define SIM_VARIATE_H

#include "study.h"

struct sim_variate {
	int pairs;
	double noise;		/* standard deviation of the times' differences, in percent */
	double cpu;		/* share of their variance that CPU times explain; 0 to 1 */
	double replay;		/* of the variance that these leave, what replays explain */
	double alone;		/* of all variance, what replays explain without CPU times */
	double shift, shift_se; /* by how much replays differ between the windows, in percent */
};

void variate_study(const struct sim_program *p, const struct sim_config *c, double speedup,
		   double seconds, double window_s, struct sim_variate *ret);

#endif
