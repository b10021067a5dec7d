/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZD_STATUS_LINE_H
#define SCOZD_STATUS_LINE_H

#include "base/base.h"

/*
 * What stands on the live line, at most @cols wide. Malloc'ed. @best: a target, and @result what is
 * known about it; NULL: none is, and @result why.
 */
char *status_line(double elapsed_s, uint32_t windows, const char *trying, double speedup,
		  const char *best, const char *result, size_t cols);

#endif
