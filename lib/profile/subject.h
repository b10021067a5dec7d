/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run profiled. */
#ifndef SCOZ_PROFILE_SUBJECT_H
#define SCOZ_PROFILE_SUBJECT_H

#include "profile/profile.h"

/* Its command; else "pid 12, cgroup /db", or "the whole system". To be freed. */
char *profile_subject(const struct profile_header *h);

#endif
