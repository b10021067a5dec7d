/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a model as an answer: what is worth optimising, in the order of what is sure. */
#ifndef SCOZ_RANKING_H
#define SCOZ_RANKING_H

#include "tools/scoz/causal/model.h"

/* One for each verdict. */
enum section { SECTION_WORTH, SECTION_HARMFUL, SECTION_WORTHLESS, SECTION_UNCLEAR, SECTIONS };
enum section section_of(const struct model_row *row);
const char *section_title(enum section s); /* "Worth it" */

/* An interval as wide as that stretches no axis where it is no result; its value does. */
#define STRETCHING 24.0

enum ranking_sort {
	SORT_BOUND, /* what is sure to be gained; each section as suits it */
	SORT_ESTIMATE,
	SORT_SAMPLES,
	SORT_NAME,
	SORT_DOUBT, /* widest interval first */
	SORTS
};
#define RANKING_SORT_WORDS "bound, estimate, samples, name and doubt"
/* By its name ("bound"); -1: there is none. */
int ranking_sort_named(const char *name);

/* Of all rows of a model, those that are asked for. */
struct ranking_choice {
	const char *target; /* NULL: all; else whatever has it in its name or place */
	const char *filter; /* NULL: none */
	bool sorted;	    /* by @sort, not as they come */
	enum ranking_sort sort;
	size_t limit; /* rows of a section; 0: all, SIZE_MAX: not given */
};
/* Of all progress points; to be freed. */
const struct model_row **ranking_choose(const struct model *m, const struct ranking_choice *c,
					size_t *n);

/* Of one progress point. */
struct ranking {
	const struct model *m;
	const struct profile_progress *progress;
	const struct model_row **rows; /* section by section */
	size_t n;
	size_t start[SECTIONS + 1]; /* in rows[] */
	size_t others;		    /* that the filter left out */
};
/*
 * @filter: NULL, or part of a target's name or location, or a pattern of them (with * or ?), in
 * capitals or not.
 */
void ranking_init(struct ranking *r, const struct model *m, uint32_t progress,
		  enum ranking_sort sort, const char *filter);
void ranking_deinit(struct ranking *r);

/* Of the row, percent of all samples; NAN: it is not known. */
double ranking_share(const struct model_row *row);

/* "the time per \"iter\"", "the latency of \"request\"", "the run time"; to be freed. */
char *ranking_unit(const struct model *m, const struct profile_progress *p);
/*
 * What to do, and how sure that is, in one sentence. @labels: by the model's row. @counts: and how
 * many there are of each kind, in another one. To be freed.
 */
char *ranking_headline(const struct ranking *r, char *const *labels, bool counts);
/* What was not tried, and is expected to save more than what the headline names; NULL: nothing. */
const char *ranking_untried(const struct ranking *r);
/* "2 functions tried", "2 functions tried: 1 worth it, 1 unclear"; to be freed. */
char *ranking_tried(const struct ranking *r);
char *ranking_counts(const struct ranking *r);
/* Where nothing is known well because the machine was busy otherwise; NULL: not so. To be freed. */
char *ranking_excuse(const struct ranking *r);

#endif
