/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes all predictions of a run wrong, however long it lasts. Visits of progress points that
 * are probes take time, which is nobody's target and is not there without them. Tasks that run on
 * CPUs that are not sampled (--cpus, isolated, brought online later) are never stopped, so they
 * gain what they should lose. A little makes intervals wider, as a coarse period does; of much
 * nothing is concluded.
 */
#ifndef SCOZD_FLAWS_H
#define SCOZD_FLAWS_H

#include "daemon/session.h"

#define FLAWS_TOLD 0.02 /* of what profiled tasks run, and no less than of a CPU: to be told */
#define FLAWS_MOST 0.2	/* nothing is concluded */

/*
 * While nothing is inserted: where there are so many visits that it matters, what a probe costs is
 * measured, once, which takes a third of a second.
 */
void flaws_look(struct session *s);
/* So far, of all points. */
double flaws_probes_ns(const struct session *s);
/* What probes that took @probes_s are expected to cost predictions, in points. */
double flaws_probes_pp(double probes_s, double wall_s, double ran_s);
/* The same of what ran elsewhere, of all that ran so far. */
double flaws_elsewhere_pp(const struct engine_ledger *l);
/* Says, once, what is worth it; when some windows are over, and at the end. */
void flaws_tell(struct session *s, const struct engine_ledger *l);
/* Part of the run that probes took. */
double flaws_probes_share(const struct session *s, const struct engine_ledger *l);

#endif
