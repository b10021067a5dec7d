/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where samples fell, in the profile: by line, function and binary, and the same by process. */
#ifndef SCOZD_PROFILE_SAMPLES_H
#define SCOZD_PROFILE_SAMPLES_H

#include "daemon/session.h"

void samples_write(struct session *s);

#endif
