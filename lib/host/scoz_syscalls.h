/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls of a kernel with the scoz patches: the same numbers in all of them. */
#ifndef SCOZ_BASE_SYSCALLS_H
#define SCOZ_BASE_SYSCALLS_H

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_scoz_open
#define __NR_scoz_open	600
#define __NR_scoz_delay 601
#endif

struct scoz_open_args;

static inline int scoz_open(struct scoz_open_args *args, size_t size, unsigned int flags)
{
	int fd = syscall(__NR_scoz_open, args, size, flags);

	return fd < 0 ? -errno : fd;
}

/* 0: this kernel has them; -ENOSYS: it has not; -EPERM. An impossible flag opens nothing. */
static inline int scoz_open_probe(void)
{
	int ret = scoz_open(NULL, 0, ~0U);

	return ret == -EINVAL ? 0 : ret;
}

/* @probed, by scoz_open_probe(): this process may open a session. */
static inline int scoz_open_allowed(int probed)
{
	return probed != -ENOSYS && probed != -EPERM;
}

#endif
