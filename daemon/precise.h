/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a run is over when all intervals are as narrow as --precision has it. */
#ifndef SCOZD_PRECISE_H
#define SCOZD_PRECISE_H

#include "daemon/window.h"

/*
 * True: a verdict still waits for more windows, and they come next. False: all are known, or one
 * will not be, which is said. *@since_s: when it was asked first; 0: it was not yet.
 */
bool precise_goes_on(struct session *s, struct trials *trials, const struct windows *windows,
		     double *since_s);

#endif
