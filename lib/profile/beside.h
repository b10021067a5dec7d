/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments beside what a replay of the beginning makes expect (docs/whatif.md): what was not
 * measured, and may be worth more than what was; what is best done after the best (next_step.h).
 * For whoever tells what a run comes to: scozd when it ends, and reports.
 */
#ifndef SCOZ_BESIDE_H
#define SCOZ_BESIDE_H

#include "profile/profile.h"
#include "stats/answer.h"
#include "stats/next_step.h"

/* Of the last run in @list that says something of it; NULL: none does. */
const struct profile_expected *expected_find(const struct profile_expected *list, size_t n,
					     const char *target, uint32_t progress);
/* At a speedup between those that were asked for, too. False: it is above the largest. */
bool expected_at(const struct profile_expected *e, double speedup_pct,
		 struct profile_expectation *ret);

/* What was measured. */
struct beside_row {
	const struct estimate *e;
	const char *target, *kind; /* as a profile_target's */
	const char *label;	   /* for people */
	bool joint;		   /* two of the others together, for the next step */
};

struct beside {
	struct beside_row *rows;
	size_t n_rows;
	const struct profile_expected *expected; /* of all runs */
	size_t n_expected;
	const struct profile_expected *next; /* those with after */
	size_t n_next;
	const struct profile_replay *replay; /* of the last run; NULL: none */
};

/*
 * Those that no experiment has a value for, of one progress point, best first; to be freed. What
 * replay surely expects to bring nothing is left out.
 */
const struct profile_expected **beside_unmeasured(const struct beside *b, uint32_t progress,
						  size_t *n);
/* The row of the answer that @pick finds (answer.h), of those of @progress that are no joints. */
const struct beside_row *beside_pick(const struct beside *b, uint32_t progress,
				     const struct answer_row *(*pick)(const struct answer_row *rows,
								      size_t n));
/* For answer_text(), of which @first is the best: the target beyond it; NULL: none. */
const char *beside_untried(const struct beside *b, const struct beside_row *first);

/* The best of one progress point, and what it was tried with. */
struct steps {
	const struct beside_row *first; /* NULL: nothing is surely worth it */
	struct next_joint *joint;
	const struct beside_row **row; /* of the joints */
	char **other;		       /* names */
	size_t n;
	struct next_step found;
	/* By replay, where experiments do not tell: of the first at that speedup, and of both. */
	const struct estimate_point *at;
	const struct profile_expected *expected; /* NULL: nothing is */
	struct profile_expectation alone;	 /* of the first, by replay as well */
};
void steps_find(const struct beside *b, uint32_t progress, struct steps *s);
void steps_deinit(struct steps *s);
/* "After A, B is next: ...", without a full stop; NULL: it was not asked. To be freed. */
char *steps_text(const struct beside *b, const struct steps *s);
/* "11.2, between -0.4 and 53.8"; to be freed. */
char *expected_text(const struct profile_expectation *at);

#endif
