/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The targets that are tried: as named, or what is sampled most. lib/plan orders them. */
#ifndef SCOZD_TRIALS_H
#define SCOZD_TRIALS_H

#include "daemon/choose.h"
#include "plan/plan.h"

/* What others may know of a target under experiment; its number is that in the plan. */
struct trial {
	const char *name; /* TARGET notation */
	uint32_t id;	  /* in the profile; valid when told, as is: */
	const char *kind;
	bool told, broken;
	bool joint; /* two of the others together, for the next step */
	uint64_t hits;
	uint64_t others_hits; /* in the same windows, by tasks that are not profiled */
	/* Where its source is, once it is told, and of which program; NULL: not known. */
	char *location;
	const char *binary; /* the path; lives as long as the maps */
	struct file_id file;
};

struct trials;
/* @max_windows: of an end-to-end run; 0: no limit. */
struct trials *trials_create(struct session *s, uint32_t max_windows);
void trials_destroy(struct trials *l);
size_t trials_count(const struct trials *l);
const struct trial *trials_get(const struct trials *l, int i);
struct plan_state trials_state(const struct trials *l, int i);

/* What a hit stands for from now on. */
void trials_set_period(struct trials *l, uint64_t period_ns);
/* What follows is no neighbour of the windows so far. */
void trials_interrupt(struct trials *l);
/* What to measure next, with targets named or chosen from what was sampled. */
enum plan_answer trials_next(struct trials *l, struct plan_window *ret);
/* What it would choose from now, most sampled first; also where targets are named. */
void trials_choices(const struct trials *l, struct choices *ret);
/* Nothing is left to be tried: every named target is broken. */
bool trials_are_over(const struct trials *l);
/* Makes it the engine's target, once a round, and publishes its mappings. */
int trials_select(struct trials *l, int i, struct error *err);
/* Not to be tried for a moment, as its binary is being read. */
void trials_retry(struct trials *l, int i);
/*
 * Not to be tried for some time, longer each time, as its code has not been seen: what was named
 * may begin to run at any time, and it is said once where that takes long. False: what was chosen
 * has been seen, so it is broken.
 */
bool trials_postpone(struct trials *l, int i, const char *why);
/* Not to be tried for some time, longer each time, where the plan says that it is not seen. */
void trials_rest(struct trials *l, int i);
/* Not to be tried again. */
void trials_break(struct trials *l, int i, const char *why);
/* Of the targets that were asked for: all are seen, none is sampled; of some that is not known yet.
 */
bool trials_are_seen(const struct trials *l);
bool trials_may_be_seen(const struct trials *l);
/* After windows of it: false: what was inserted in them was not what it had run. */
bool trials_trust(struct trials *l, int i);
/* While a run goes on. */
void trials_look(struct trials *l, int i);
/* @more: follows the one before at the same speedup. */
void trials_record(struct trials *l, int i, const struct profile_window *w, bool more);
/* All windows so far are worth nothing. */
void trials_forget(struct trials *l);
/* It is one of those that can be measured now: a round of it, whatever the plan needs. */
bool trials_can_go_on(const struct trials *l, int i);
void trials_go_on(struct trials *l, int i);
/* Is it anywhere in what was sampled? As target_resolve(), without waiting. */
int trials_find(const struct trials *l, int i, struct error *err);
/* By any thread: the current target's mappings are published as they appear. */
void trials_on_mapping(struct trials *l, uint32_t binary, const struct maps_mapping *m);

#endif
