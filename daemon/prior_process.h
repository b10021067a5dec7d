/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scozd-replay: records the beginning of a run, and replays it. */
#ifndef SCOZD_PRIOR_PROCESS_H
#define SCOZD_PRIOR_PROCESS_H

#include "daemon/prior_message.h"

#define PRIOR_POINTS 4 /* progress points, the first ones: each is a replay */

/* Which of the progress points it records, by their numbers; returns how many. */
size_t prior_points(const struct options *o, uint32_t *ret);
/* Its main(): @socket is how scozd talks to it. */
void prior_main(int socket, const struct options *o) __attribute__((noreturn));

#endif
