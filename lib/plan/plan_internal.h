/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What plan.c (rounds), known.c (what the windows say), widen.c (cells) and joints.c share.
 */
#ifndef SCOZ_PLAN_INTERNAL_H
#define SCOZ_PLAN_INTERNAL_H

#include "plan/plan.h"

/* A cell: one speedup of one target. */
struct level {
	uint32_t tried, kept;
	uint32_t units; /* usable, at the slowest progress point */
	double width;	/* widest half width over the progress points; INFINITY: not known */
	double fixed;	/* what does not shrink, beside that */
	bool precise;	/* as asked for, or as can be */
	bool limited;	/* only as can be */
};

struct target {
	char *name;
	double weight;
	bool broken, waiting, no_effect, precise, unseen;
	bool single; /* goes with no other */
	bool joint;  /* it is of two others: */
	int part[2];
	uint32_t rounds, looks;
	uint32_t next_look; /* sum of units */
	uint32_t zeros_tried, zeros_kept;
	uint64_t hits;
	double watched_s;
	double in_target_s;  /* waiting in it, where that is sped up */
	size_t open;	     /* of plan.ladder: the first so many */
	struct level *level; /* by speedup */
	struct profile_window *w;
	size_t n, cap;
};

struct slot {
	size_t speedup;
	bool real;
	uint64_t key; /* slots are taken in its order */
};

struct plan {
	struct plan_options opt;
	double *speedups;
	size_t *ladder; /* speedups, in the order in which they are added */
	struct target *t;
	size_t n, cap;
	uint64_t period_ns;

	double started_s, now_s; /* of the windows recorded; started_s < 0: none yet */
	uint32_t windows;	 /* recorded */
	uint32_t treated;	 /* kept, virtually treated */
	uint32_t joint_windows;	 /* of those recorded */
	uint32_t ranked_at;	 /* windows when targets were ranked (joints.c) ... */
	int first;		 /* ... and that was the best; -1: none surely is */

	int current; /* target of the round under way, -1: none */
	struct slot *slot;
	size_t n_slots, at;
	bool zero; /* a 0 % window is due */
	int after; /* the last window was a 0 % window of this target; else -1 */
};

/* It is about targets one by one: joints go their own way. */
static inline bool target_is_live(const struct target *t)
{
	return !t->broken && !t->no_effect && !t->waiting && !t->joint;
}

#define ROUND_TREATED 4	  /* treated windows of a round at least */
#define MIN_UNITS     10  /* of each speedup, before anything is decided */
#define LITTLE_NOISE  0.5 /* of what does not shrink */

/* plan.c */
uint32_t target_id(const struct target *t); /* in its windows */

/* known.c */
/* Brings widths up to date; decides, if it is time to, what needs no more windows. */
void target_reestimate(struct plan *p, struct target *t);
/* Its windows are discarded far more often than those without treatment: it will not be known. */
bool level_is_hopeless(const struct target *t, const struct level *l);
void target_forget(struct plan *p, struct target *t);

/* widen.c */
size_t *ladder_create(const double *speedups, size_t n);
/* Known well enough to be of use, or tried so often that others should have their turn. */
bool level_is_settled(const struct plan *p, const struct target *t, const struct level *l);
bool target_is_settled(const struct plan *p, const struct target *t);
void plan_widen(struct plan *p);
/* Units until a cell is known, by the noise of those that have been tried. */
double plan_units_needed(const struct plan *p);
/* Treated windows that will still be kept; INFINITY: no end is known. */
double plan_units_left(const struct plan *p);

/* joints.c */
/* The joint whose turn it is; -1: the targets one by one. */
int joint_due(struct plan *p);

#endif
