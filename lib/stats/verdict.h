/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judging the points of all targets; inside lib/stats only. */
#ifndef SCOZ_VERDICT_H
#define SCOZ_VERDICT_H

#include "stats/paced.h"
#include "stats/stats.h"
#include "stats/stretch.h"
#include "stats/units.h"

/* An estimate, and what it was made from. Arrays go with e.points. */
struct candidate {
	struct estimate e;
	struct unit_sets sets;
	struct pace pace;
	double sampled, polled; /* shares of all samples; 0: not known */
	struct stretch stretch; /* of the whole profile; empty where it says nothing of this */
	double spent_s;		/* profiling, on all targets */
	bool clocked;		/* a clock may have taken some of it away */
	bool *distinct;		/* from 0, surely */
	size_t compared;	/* points of its progress point, of which that is said */
};

/* Sets distinct[]. */
void holm(struct candidate *c, size_t n);
/* Sets best, verdict and (with @warn) warning. @only: the one phase of the run it was seen in. */
void judge(struct candidate *c, const struct phase *only, bool warn);

/*
 * As many windows as elsewhere would make those that are kept a choice were left out at the point
 * that the verdict goes by, of so few that it may be chance.
 */
bool may_be_choice(const struct candidate *c);

#endif
