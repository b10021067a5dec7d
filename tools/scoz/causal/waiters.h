/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for a target, as a recording of the run's beginning has it. */
#ifndef SCOZ_CAUSAL_WAITERS_H
#define SCOZ_CAUSAL_WAITERS_H

#include "tools/scoz/causal/model.h"

/* Of the last run that says; NULL: none does. */
const struct profile_waiters *waiters_of(const struct profile *p, const char *target);
/* "aggregate, in read", "cc1 (3 threads), in futex"; to be freed. */
char *waiter_text(const struct profile_waiter *w);
/* A list; null: not known. */
json_t *waiters_json(const struct profile *p, const char *target);

#endif
