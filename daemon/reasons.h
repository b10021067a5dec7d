/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why nothing can be concluded from a run, and what who reads its predictions must know. */
#ifndef SCOZD_REASONS_H
#define SCOZD_REASONS_H

#include "daemon/experiment.h"

/* At the end: become reasons and warnings of the session. */
void reasons_find(struct experiment *x, const struct engine_ledger *l,
		  const struct handlers_counts *c);

#endif
