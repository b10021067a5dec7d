/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets of experiments: from a name to address ranges in all known binaries. */
#ifndef SCOZD_TARGETS_H
#define SCOZD_TARGETS_H

#include "daemon/handler.h"
#include "daemon/options.h"
#include "engine/engine.h"
#include "map/map.h"

struct resolved_target {
	const char *kind; /* as in the profile */
	char location[256];
	int n;
	struct engine_part parts[SCOZ_MAX_PARTS];
	struct addr_ranges ranges[SCOZ_MAX_PARTS];
	char *overloads; /* a function's name stands for all of these; NULL: for one */
};

/*
 * Looks the target up in the kernel or in every binary that has been sampled so far (or is named
 * by the target). -ENOENT with an error text when it is nowhere. Waits for no table: where one that
 * may hold the target is still being built it is left out, or with @patient, -EAGAIN.
 */
int target_resolve(const struct target *t, struct maps *maps, struct handlers *handlers,
		   bool patient, struct resolved_target *ret, struct error *err);
/*
 * Before the run: refuses what cannot exist whatever will run (a function of the kernel, or of a
 * program that can be read), with the nearest names that do.
 */
int targets_check(const struct options *opt, struct maps *maps, const struct map_options *map_opt,
		  struct error *err);
void resolved_target_free(struct resolved_target *r);

#endif
