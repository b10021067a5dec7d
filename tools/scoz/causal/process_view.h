/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of a profile by process or rank, and those of some processes only. */
#ifndef SCOZ_PROCESS_VIEW_H
#define SCOZ_PROCESS_VIEW_H

#include "profile/profile.h"
#include "tools/scoz/recording/record_model.h"

/* Of one process (or the many of one name), one rank, or all that were chosen. */
struct process_group {
	const struct profile_process *first; /* one of them */
	uint64_t members, samples;
	struct profile_place *places; /* by index of the profile's samples */
};

struct process_view {
	struct process_group *groups; /* most samples first; ranks in their order */
	size_t n;
	struct process_group all; /* those that were chosen, together */
};

/*
 * As the options --per, --process, --pid and --rank say. -ENODATA: the profile does not tell
 * processes apart, or none is chosen; @err says so, and which there are.
 */
int process_view_create(const struct profile *p, const struct record_options *o,
			struct process_view *ret, struct error *err);
void process_view_deinit(struct process_view *v);
/* Are not all of them asked for? */
bool process_view_filters(const struct record_options *o);
/* Is that place @target, or a function of the name that @target has, of any binary? */
bool place_is_of(const char *place, const char *target);
/* "process 4711 (bar), rank 1", "rank 1: 2 processes (bar, sh)"; to be freed. */
char *process_group_name(const struct process_group *g, enum record_per per);
/*
 * Where processes of one program surely differ in how much of their time is in @target: a sentence,
 * else NULL. To be freed.
 */
char *process_difference(const struct profile *p, const char *target);

#endif
