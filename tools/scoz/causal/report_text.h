/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A causal profile as text. */
#ifndef SCOZ_REPORT_TEXT_H
#define SCOZ_REPORT_TEXT_H

#include "tools/scoz/causal/ranking.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct report_options {
	struct ranking_choice choice; /* with a target details of what it matches */
	enum color color;
};

/* On stdout. Returns an exit code. */
int report_print(const struct model *m, const struct report_options *o);
/* Percent of samples, or a dash; to be freed. */
char *report_share_text(const struct model_row *row);

#endif
