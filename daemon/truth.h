/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --truth FILE: the first four bytes of FILE, mapped by the profiled program, tell it by how many
 * percent it should really make the target cheaper. So the measured effect can stand beside the
 * predicted one.
 */
#ifndef SCOZD_TRUTH_H
#define SCOZD_TRUTH_H

#include "base/base.h"

struct launcher;

/*
 * Creates the file where there is none, for @owner (NULL: whoever asked for the run) alone,
 * and writes 0. Returns a descriptor.
 */
int truth_open(const char *path, const struct launcher *owner, struct error *err);
/* Safe in signal handlers; does nothing when @fd is -1. False: it could not be written. */
bool truth_set(int fd, int percent);

#endif
