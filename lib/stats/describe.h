/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One wording of what was learned, for reports, plots and the live line. */
#ifndef SCOZ_STATS_DESCRIBE_H
#define SCOZ_STATS_DESCRIBE_H

#include "stats/stats.h"

enum knowledge estimate_point_knowledge(const struct estimate_point *p);
/* Time will not tell. */
bool estimate_is_withheld(const struct estimate *e);
/* Nothing but what cannot be told yet forbids a verdict: time will tell. */
bool estimate_is_unjudged(const struct estimate *e);
/* Undecided, although the interval of the one number excludes 0: people ask why. */
bool estimate_needs_reason(const struct estimate *e);

/* ---- in words; to be freed, but for the first ---- */
const char *doubt_text(enum doubt d); /* "paced from outside" */
/* "%.1f" without a negative zero. */
char *percent_text(double v);
/* What a target takes at a line speedup: "50 % less time", "no time at all"; to be freed. */
char *less_time_text(double speedup_pct);
/* "18.7 [17.6, 19.9]", "at most 12.0", "nothing learned", "[?]" without an interval. */
char *percent_interval_text(double v, double lo, double hi, double speedup_pct);
char *estimate_point_text(const struct estimate_point *p);
/* "18.7 % [17.6, 19.9] at 50 %", "at most 12.0 % at 100 %", "nothing learned". */
char *estimate_best_text(const struct estimate *e);

#endif
