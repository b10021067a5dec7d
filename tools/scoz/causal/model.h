/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What report, plot and export show: a profile, its estimates, and what can be said about both. */
#ifndef SCOZ_MODEL_H
#define SCOZ_MODEL_H

#include <jansson.h>

#include "profile/beside.h"
#include "stats/machine.h"
#include "stats/stats.h"
#include "stats/stretch.h"
#include "stats/trust.h"
#include "tools/scoz/causal/process_view.h"

/* How precise a row's number is, and what it takes for a better one. */
struct model_trust {
	struct trust t;
	double speedup_pct; /* of which point */
	double more_s;	    /* of profiling; with TRUST_MORE, else a guess */
	bool for_verdict;   /* more time, for a verdict alone: the number would be no better */
	char *command;	    /* that gets there; NULL: none does, or scozd's own is not known */
};

struct model_row {
	const struct estimate *e;
	const struct profile_target *target;
	const struct profile_progress *progress;
	uint64_t samples; /* where it was seen at all; else the hits in its windows */
	uint64_t of;	  /* the former, of so many; 0: the latter */
	struct model_trust trust;
	bool joint; /* two of the targets together: in no ranking, see next.h */
};

struct model_discard {
	enum discard why;
	const char *name;
	size_t n;
};

/* Sums over the kept windows. */
struct model_progress {
	char *label; /* a short name for people, different for different points */
	double visits;
	double rate_per_s;	/* in 0 % windows, where there are any */
	struct stretch stretch; /* of all windows: does a clock have a say? */
};

/* How long a latency point took, over all runs. Seconds. */
struct model_latency {
	uint64_t measured, elsewhere;
	const char *why; /* nothing was measured; NULL: it was */
	double p50_s, p90_s, p99_s, max_s;
};

struct text_list {
	char **text;
	size_t n, cap;
};
/* Once, if it is there already; takes @text. */
void text_list_add(struct text_list *l, char *text);
void text_list_free(struct text_list *l);

struct model {
	struct profile *profile;
	struct estimates estimates;
	/*
	 * "optimize" first, by best_lo, then by best_pct, then what is not known; joints come last.
	 */
	struct model_row *rows;
	size_t n_rows;
	char **labels; /* by row: short names for people, different for different targets */
	struct beside beside;
	struct model_progress *progress; /* by id */
	struct model_latency *latency;	 /* by id; of those that are no latency, empty */
	double *speedups;		 /* percent: all that any row has, but 0 */
	size_t n_speedups;
	bool measured; /* some point has a measured value, too (scozd --truth) */

	double duration_s;
	double inserted_s, kept_wall_s; /* in kept windows */
	double owed_s;
	uint64_t samples_total, samples_lost, samples_unnamed;
	size_t kept;
	struct model_discard *discards; /* "steal", "lost" and "few_visits" always */
	size_t n_discards;

	/* On the row of model_trust_row(); of_width is of its whole interval. */
	struct machine_effect machine;
	double tick_cost_s; /* 0: not known */

	struct text_list reasons;  /* why there are no rows; empty when there are some */
	struct text_list warnings; /* about the profile as a whole */
	bool processes_differ;	   /* the first notes tell so */
	struct text_list notes;	   /* worth knowing, and nothing wrong */

	/* By model_choose(): */
	const struct record_options *options; /* NULL: none */
	bool chosen;			      /* samples are those of some processes only */
	enum record_per per;
	struct process_view view; /* without groups: not asked for */
};

int model_load(const char *path, struct model **ret, struct error *err);
/* --per, --process, --pid and --rank; -ENODATA as process_view_create(). */
int model_choose(struct model *m, const struct record_options *o, struct error *err);
/* Windows; those that were for something else are neither kept nor discarded. */
size_t model_discarded(const struct model *m);
/* There is a row for each progress point: is it the first of its target? */
bool model_row_is_first(const struct model *m, size_t row);
/* Of a group, in all places of that name. False: there are none, it was counted by itself. */
bool model_samples_in(const struct profile *p, const struct process_group *g, const char *target,
		      struct profile_place *ret);
/* What windows in which all was stopped tell of it; NULL: there were none, or too few. */
char *model_stretch_text(const struct model *m, size_t progress);
void model_free(struct model *m);
/* The point of a row at @speedup_pct, or NULL. */
const struct estimate_point *model_point(const struct model_row *row, double speedup_pct);
/* Prints why nothing can be concluded, to stderr. */
void model_print_reasons(const struct model *m);

/* ---- model_trust.c ---- */
void model_find_trust(struct model *m);
void model_find_machine(struct model *m);
/*
 * That of the answer, if more time makes it better or nothing is decided; else the first row that
 * would be better with more time, else the first; NULL: there is none.
 */
const struct model_row *model_trust_row(const struct model *m);
/* "the host took 14 %, ...: it makes about 50 % of the interval's width"; NULL: nothing is known.
 */
char *model_machine_text(const struct model *m);
/* "±7.1 now; ±2 needs about 4 more minutes"; to be freed. */
char *model_precision_text(const struct model_row *row);
/* "func:work at 50 %: ±7.1 now; ±2 needs about 4 more minutes:"; the command follows. */
char *model_trust_text(const struct model_row *row);

struct ranking_choice;
/* scoz-report/1, of the targets that are asked for. Returns an exit code. */
int model_write_json(const struct model *m, const struct ranking_choice *c, FILE *out);

#endif
