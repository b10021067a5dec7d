/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which window comes next. Pure: no clock, no files, no engine; the same options, targets and
 * recorded windows give the same plan, in whatever order the targets were added.
 *
 * A round of a target is 0 %, s1, 0 %, s2, ... 0 % with the treated windows in random order, so
 * that each stands between two of its baselines, seconds apart at most. Rounds of the same target
 * that follow each other share the 0 % window between them.
 *
 * A cell is one speedup of one target. Not all are tried from the beginning (widen.c): what can be
 * learnt in the time there is goes to few of them first.
 *
 * The order. Of the n-th round of a target it is a function of seed, name of the target and n: any
 * two speedups follow each other the same way whatever else is tried, and n counts what was begun.
 * Windows that are thrown away shift nothing; none is repeated for it. What depends on what was
 * measured is only when cells are added, and when a cell or target has been measured enough.
 *
 * Joints (joints.c). Fixing one target moves the critical path, so what the others are worth then
 * is measured with it: a joint is the best target and another one, at one speedup. Joints get a
 * small part of the windows, decide nothing about their parts, and keep no run from its end.
 */
#ifndef SCOZ_PLAN_H
#define SCOZ_PLAN_H

#include "stats/window.h"

struct plan_options {
	const double *speedups; /* above 0, at most 1; copied */
	size_t n_speedups;
	size_t n_progress; /* progress points of the recorded windows */
	bool truth;	   /* of each treated window a real one, too */
	double precision;  /* half width in percentage points at which to stop; 0: never */
	bool exact;	   /* as stats_options.exact has it: without errors that do not shrink */
	double seconds;	   /* when the run ends, on the clock of start_s; 0: not known */
	uint32_t windows;  /* after how many it ends; 0: not known */
	size_t asked;  /* speedups that every target gets at once, whatever the time suffices for */
	uint64_t seed; /* of the order */
	bool next;     /* joints are wanted */
};

/*
 * Which of @speedups (one or more) every target is tried at first: that nearest to a half, which
 * tells most for a window's worth of noise.
 */
size_t plan_first_speedup(const double *speedups, size_t n);

struct plan;
struct plan *plan_create(const struct plan_options *opt);
void plan_free(struct plan *p);

/* Returns the number by which the target goes from now on; @name must be unique. */
int plan_add_target(struct plan *p, const char *name, double weight);
void plan_set_weight(struct plan *p, int target, double weight);
/* It cannot be measured, ever. */
void plan_set_broken(struct plan *p, int target);
/* It cannot be measured for now. */
void plan_set_waiting(struct plan *p, int target, bool waiting);
/* It goes with no other. */
void plan_set_single(struct plan *p, int target);
/*
 * A joint is wanted now, with plan_add_joint(): returns the target that is surely the best, by the
 * rules of a report's ranking, and sets @second to what it should be tried with next. -1: none is,
 * as no target is surely worth anything yet, or the time does not suffice, or enough were tried.
 * @worth: what both are expected to be worth, to be compared with others of the same first; NAN:
 * not known. NULL, or nothing is expected of any: the next in the ranking.
 */
typedef double plan_worth(int first, int second, void *arg);
int plan_wants_joint(struct plan *p, plan_worth *worth, void *arg, int *second);
/* As plan_add_target(). */
int plan_add_joint(struct plan *p, const char *name, int first, int second);
/* What follows is no neighbour of the windows so far (the command was started again, say). */
void plan_interrupt(struct plan *p);
/* A round of that target comes next, which has been tried, though none needs it any more. */
void plan_begin_round(struct plan *p, int target);
/* What a hit of a window stands for, ns; 0: not known. */
void plan_set_period(struct plan *p, uint64_t period_ns);

struct plan_window {
	int target;
	double speedup;
	bool real; /* really make the target cheaper, do not insert delays */
};
enum plan_answer {
	PLAN_MEASURE,
	PLAN_WAIT,   /* no target can be measured now */
	PLAN_PRECISE /* every target is measured as precisely as asked for, or can be, or has no
			effect */
};
/* The same answer until something is recorded or changed. */
enum plan_answer plan_next(struct plan *p, struct plan_window *ret);
/* The window just asked for, kept or discarded. Copied. */
void plan_record(struct plan *p, int target, const struct profile_window *w);
/* One more of the same kind right after it. Copied. */
void plan_record_more(struct plan *p, int target, const struct profile_window *w);
/* All windows so far are worth nothing (they were too short, say). */
void plan_forget(struct plan *p);

struct plan_state {
	bool broken, no_effect, precise;
	/*
	 * Its windows of two treatments and more held no sample of it, or so few that it cannot
	 * matter: whoever executes the plan should let it wait for some time.
	 */
	bool unseen;
	uint64_t hits;	  /* in all its windows */
	double watched_s; /* their length */
	uint32_t rounds;  /* begun */
	size_t open;	  /* of its speedups: tried by now */
	double fixed;	  /* > 0: that is what errors that do not shrink leave at best, in points,
			     where more was asked for */
};
struct plan_state plan_state(const struct plan *p, int target);

#endif
