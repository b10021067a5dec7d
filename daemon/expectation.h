/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a replay of the run's beginning expects of its targets. */
#ifndef SCOZD_EXPECTATION_H
#define SCOZD_EXPECTATION_H

#include "daemon/options.h"
#include "profile/profile.h"

#define EXPECTED_SPEEDUPS 8
#define EXPECTED_WAITERS  5

struct expectation {
	char target[512], location[256]; /* as in the profile */
	char function[512];		 /* that a line is in, or "" */
	enum target_kind kind;
	bool has_lines; /* a function of which lines are known */
	uint32_t progress;
	double share; /* 0 to 1 */
	uint64_t samples;
	size_t n_at;
	struct profile_expectation at[EXPECTED_SPEEDUPS];
	char after[512]; /* of both, it and that target, at one speedup; "": of it alone */
};

/* Who waited for a target while the beginning was recorded. */
struct awaited {
	char target[512];
	size_t n;
	struct awaited_by {
		char name[64], wait[32];
		uint32_t threads;
		double share;
		uint64_t samples;
	} by[EXPECTED_WAITERS];
};

struct expectations {
	struct profile_replay replay; /* why and through: in @why and @through */
	char why[256], through[32];
	struct expectation *list;
	size_t n, cap;
	struct expectation *next; /* those after another one */
	size_t n_next, cap_next;
	struct awaited *awaited;
	size_t n_awaited, cap_awaited;
};
/* At half the target's time, or next to that; NULL: nothing. */
const struct profile_expectation *expectation_half(const struct expectation *e);
/*
 * The same of @target, for whichever progress point most is possible; NULL: nothing is expected of
 * it. @e may be NULL.
 */
const struct profile_expectation *expectations_half(const struct expectations *e,
						    const char *target);
/*
 * Of how many progress points something is known of code: one of which nothing is known (but that
 * there are disks, say) is no point for which nothing matters.
 */
size_t expectations_points_known(const struct expectations *e, size_t n_points);
/*
 * How much more, or less, time a target gets than its samples alone would give it: where more may
 * be saved, and where that is less sure, more; 0.5 to 2. @most: the highest bound of all; NULL,
 * or nothing to be saved anywhere: 1.
 */
double expectation_favour(const struct profile_expectation *x, double most);
/* Is something gained even by the lowest bound, so that it is worth trying with few samples, too?
 */
bool expectation_is_sure(const struct profile_expectation *x);
/* What @first and @second are worth together; NULL: nothing is expected. @e may be NULL. */
const struct profile_expectation *expectations_of_both(const struct expectations *e,
						       const char *first, const char *second);
void expectations_free(struct expectations *e);

#endif
