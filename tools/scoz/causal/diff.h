/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scoz diff compares; inside tools/scoz only. */
#ifndef SCOZ_DIFF_H
#define SCOZ_DIFF_H

#include "stats/difference.h"
#include "tools/scoz/causal/model.h"

/* Of one target and progress point that both have. */
struct pair {
	const struct model_row *a, *b;
	double at_pct;			      /* NAN: nothing to compare */
	const struct estimate_point *pa, *pb; /* NULL: not known, or not to be told */
	struct difference d;
	char *label; /* with the progress point, where there are several */
};
struct diff {
	struct model *a, *b;
	struct pair *pairs; /* what changed first, then what is the same, then the rest */
	size_t n, count[DIFFERENCE_UNKNOWN + 1];
	struct text_list only_a, only_b, warnings;
	struct text_list reasons; /* of a side that concludes nothing */
	char *apart;		  /* why nothing can be compared; NULL: it can */
};

/* "Changed", "The same", "Cannot be told" */
const char *diff_title(enum difference_answer answer);

/* One page that needs nothing else: slopes from old to new, and all numbers in a table. */
void diff_write_html(const struct diff *d, const char *headline, FILE *out);

#endif
