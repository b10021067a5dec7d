/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins where only the last one wakes: one wakes several at once, who do a part each, and waits
 * until all are done (a latch, a wait group, a parallel loop on a pool's threads). Those who are
 * done before go to sleep, and wake nobody: what is gained by the last one ends where the one
 * before it was done.
 *
 * Whether it waits for all of them is likely, unless it was seen to go on while one was at work.
 */
#ifndef SCOZ_WHATIF_LATCHES_H
#define SCOZ_WHATIF_LATCHES_H

#include "trace/trace.h"

struct latches;
struct latches *latches_create(size_t n_lanes, size_t threads);
/* @waker wakes @thread @now, which waited for something to do. */
void latches_gave(struct latches *l, uint32_t waker, uint32_t thread, uint64_t now);
/* @waker wakes somebody: it is not done without a word. */
void latches_told(struct latches *l, uint32_t waker);
/* @thread is done @now, and so much @earlier. */
void latches_done(struct latches *l, uint32_t thread, uint64_t now, const double *earlier);
/*
 * @waker ends @thread's wait @now. Returns when, by lane, all others were done that it may have
 * waited for, too, had each been as much earlier as it was; NULL: there are none.
 */
const double *latches_opened(struct latches *l, uint32_t waker, uint32_t thread, uint64_t now);
void latches_ended(struct latches *l, uint32_t thread);
void latches_free(struct latches *l);

/* Of one number for each lane, that there are. */
size_t latches_rows(const struct latches *l);

#endif
