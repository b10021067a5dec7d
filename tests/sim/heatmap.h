/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SIM_HEATMAP_H
#define SIM_HEATMAP_H

#include "study.h"

/* Errors as colours: a row for each program and speedup, a column for each way of profiling. */
int heatmap_write(const char *path, struct sim_program *const *programs, int n,
		  const struct sim_config *configs, int n_configs, const double *speedups,
		  int n_speedups, const struct sim_result *results);

#endif
