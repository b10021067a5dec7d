/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that end a run (SIGINT, SIGTERM, SIGHUP, SIGQUIT), taken by a thread of their own. The
 * first one asks: the run ends in order. The second one ends at once: no more delays, and the main
 * thread, which may be deep in somebody's debug information, has ENDING_PATIENCE_S to complete the
 * profile; then the thread completes it in its place, and exits.
 *
 * Who finds no more memory ends at once, too, but completes nothing: what the profile holds stays.
 */
#ifndef SCOZD_END_SIGNALS_H
#define SCOZD_END_SIGNALS_H

#include "daemon/experiment.h"
#include "daemon/guardian.h"

#define ENDING_PATIENCE_S 1

/* Before any other thread is started: it blocks the signals for all of them. */
int ending_start(struct experiment *x, const struct guardian *guardian, struct error *err);
/* All is set up: from now on there may be delays to be ended. */
void ending_run_begins(void);
/* The profile is closed: from now on a second signal exits with @status. */
void ending_is_over(int status);

#endif
