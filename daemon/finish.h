/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a run: samples, reasons and footer go to the profile. */
#ifndef SCOZD_FINISH_H
#define SCOZD_FINISH_H

#include "daemon/experiment.h"

/* Returns the exit status. */
int finish_run(struct experiment *x);
/*
 * The same without waiting for any other thread, whatever they are doing: what needs them is left
 * out. For the thread that ends the run at once.
 */
int finish_at_once(struct experiment *x);

#endif
