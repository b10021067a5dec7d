/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "study.h"

/*
 * The smallest program found by leaving things out of @p one after the other for which the error at
 * @speedup is still above @limit points. The caller frees it.
 */
struct sim_program *shrink(const struct sim_program *p, const struct sim_config *c, double speedup,
			   double seconds, double limit);

#endif
