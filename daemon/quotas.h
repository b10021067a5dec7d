/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU quotas of what is profiled: which there are, and what they took. */
#ifndef SCOZD_QUOTAS_H
#define SCOZD_QUOTAS_H

#include "daemon/session.h"

/* Of the command, --pid and --cgroup; for groups that they have come to since: now and then. */
void quotas_look(struct session *s);
/* As it is now; all 0 where there is none. */
struct cpu_quota quotas_read(struct session *s);
/* ... before a window: groups that have gone do not count for it. */
struct cpu_quota quotas_begin(struct session *s);
/* At the end, where one kept the program from running for more than a little of the run. */
void quotas_warn(struct session *s);

#endif
