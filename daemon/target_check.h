/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What options ask of targets, before anything runs. */
#ifndef SCOZD_TARGET_CHECK_H
#define SCOZD_TARGET_CHECK_H

#include "daemon/targets.h"

/*
 * Before the run: refuses what cannot exist whatever will run (a function of the kernel, or of a
 * program that can be read), with the nearest names that do.
 */
int targets_check(const struct options *opt, struct maps *maps, const struct map_options *map_opt,
		  struct error *err);
/* 1: begin and end of all targets that were asked for can be seen: none will be sampled. Else 0. */
double targets_seen(const struct options *opt, const struct engine *engine);
/* Are all that are named nothing but waits? 1 or 0. */
double targets_wait(const struct options *opt, const struct engine *engine);

#endif
