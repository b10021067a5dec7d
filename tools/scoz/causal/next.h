/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is best done after the best (stats/next_step.h), of a profile in which the best was tried
 * together with others. Such a row, "A + B" beside one of A or B alone, is no rival of these: it
 * stands in no ranking.
 */
#ifndef SCOZ_NEXT_H
#define SCOZ_NEXT_H

#include "tools/scoz/causal/model.h"

/* Of several targets, one of which was measured alone, too. @alone: by id, what was measured. */
bool next_is_joint(const struct profile *p, const bool *alone, uint32_t target);
/*
 * Of one progress point, without a full stop; NULL: it was not asked. *@known: there is an answer
 * (not asked for where NULL). To be freed.
 */
char *next_text(const struct model *m, uint32_t progress, bool *known);
/* Rows that are joints, of one progress point, best first; to be freed. */
const struct model_row **next_joints(const struct model *m, uint32_t progress, size_t *n);
/* For scoz-report/1. */
json_t *next_json(const struct model *m);

#endif
