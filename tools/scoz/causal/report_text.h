/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A causal profile as text. */
#ifndef SCOZ_REPORT_TEXT_H
#define SCOZ_REPORT_TEXT_H

#include "tools/scoz/causal/ranking.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct report_options {
	enum ranking_sort sort;
	const char *filter; /* NULL: none */
	const char *target; /* NULL: the ranking; else details of what it matches */
	size_t limit;	    /* rows of a section; SIZE_MAX: not given */
	enum color color;
};

/* On stdout. Returns an exit code. */
int report_print(const struct model *m, const struct report_options *o);
/* Percent of samples, or a dash; to be freed. */
char *report_share_text(const struct model_row *row);

#endif
