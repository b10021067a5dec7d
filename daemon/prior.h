/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is expected of targets before any experiment: the beginning of the run is recorded, as
 * `scoz record --causal` does, and replayed (whatif/predict.h). All of it happens in a process of
 * its own, scozd-replay, which is forked before there is anything worth knowing in memory: it has
 * the rights to record, gives all of them up before it reads what it has recorded, and is bounded
 * in time and memory. Whatever becomes of it, experiments go on, only without.
 *
 *	prior_start() -> prior_record() -> prior_conclude() -> prior_take()
 */
#ifndef SCOZD_PRIOR_H
#define SCOZD_PRIOR_H

#include "daemon/expectation.h"

struct prior;
/* To be called while the process has one thread. NULL: not wanted, or there is no such process. */
struct prior *prior_start(const struct options *o);
/*
 * From now on, @pid, 0: what the options name. Waits until it has begun, for a few seconds at most.
 */
void prior_record(struct prior *p, int pid);
/* For how many seconds it has recorded; 0: it does not. */
double prior_recorded(const struct prior *p);
/* It wants to see each visit of a mark, now. */
bool prior_records_marks(const struct prior *p);
/* It is enough: replay. */
void prior_conclude(struct prior *p);
/* Is there anything that is still to come? */
bool prior_pending(const struct prior *p);
/* What has come, once it is complete; the caller's to free. NULL: not yet, or nothing ever will. */
struct expectations *prior_take(struct prior *p);
void prior_stop(struct prior *p);

#endif
