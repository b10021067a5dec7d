/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who answers what comes from outside. A request wakes one thread, which may hand it on: an event
 * loop to its workers, an acceptor to a thread that it makes. Whoever sends the next request is
 * likely to have waited for an answer, and that came from them.
 */
#ifndef SCOZ_WHATIF_ANSWERS_H
#define SCOZ_WHATIF_ANSWERS_H

#include "trace/trace.h"

struct answers;
struct answers *answers_create(size_t n_lanes, size_t threads);
/*
 * Something from outside wakes @thread. Returns how much earlier, by lane, whoever it had handed
 * things to was when the last of these was done with it, since the last call; NULL: there is none.
 */
const double *answers_asked(struct answers *a, uint32_t thread);
/* @from wakes or makes @to. */
void answers_handed(struct answers *a, uint32_t from, uint32_t to);
/* @thread goes on by itself. */
void answers_alone(struct answers *a, uint32_t thread);
/* It may be done with what it was handed, and be so much @earlier. */
void answers_given(struct answers *a, uint32_t thread, const double *earlier);
void answers_ended(struct answers *a, uint32_t thread);
void answers_free(struct answers *a);

/* Of one number for each lane, that there are. */
size_t answers_rows(const struct answers *a);

#endif
