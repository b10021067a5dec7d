/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session of a kernel with the scoz patches: by its system calls, which have the same numbers
 * in all of them, or by its device node where these calls are missing.
 */
#ifndef SCOZ_HOST_SCOZ_SYSCALLS_H
#define SCOZ_HOST_SCOZ_SYSCALLS_H

#include <errno.h>
#include <stdbool.h>

struct scoz_open_args;

/* The descriptor of the session. *@by_node: the system calls are missing. */
int scoz_open(struct scoz_open_args *args, bool *by_node);
void scoz_delay(int fd, bool by_node);

enum { SCOZ_BY_CALL, SCOZ_BY_NODE };

/* How a session can be opened; -ENOSYS: this kernel has no patches; -EPERM. Opens nothing. */
int scoz_open_probe(void);

/* @probed, by scoz_open_probe(): this process may open a session. */
static inline bool scoz_open_allowed(int probed)
{
	return probed != -ENOSYS && probed != -EPERM;
}

#endif
