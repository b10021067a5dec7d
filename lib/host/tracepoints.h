/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints of the kernel, by name. */
#ifndef SCOZ_HOST_TRACEPOINTS_H
#define SCOZ_HOST_TRACEPOINTS_H

#include "base/base.h"

/*
 * -ENOENT, and @err: the tracepoint @name belongs to other groups than @group. 0 also where nothing
 * tells: tracefs is not mounted, or the kernel keeps it to itself, as it does with some.
 */
int tracepoint_check(const char *group, const char *name, struct error *err);
/*
 * Why it cannot be had, errno being @code: ENOENT is "no such tracepoint", and how those are called
 * that may have been meant. malloc'ed.
 */
char *tracepoint_why(const char *name, int code);
/* The system call whose begin or end that is ("sys_enter_read"), or NULL. */
const char *tracepoint_syscall(const char *name);

#endif
