// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/scoz_syscalls.h"

#include <fcntl.h>
#include <linux/scoz_device.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_scoz_open
#define __NR_scoz_open	600
#define __NR_scoz_delay 601
#endif

static int open_by_call(struct scoz_open_args *args, unsigned int flags)
{
	int fd = syscall(__NR_scoz_open, args, sizeof(*args), flags);

	return fd < 0 ? -errno : fd;
}

static int open_by_node(struct scoz_open_args *args)
{
	int node = open("/dev/scoz", O_RDWR | O_CLOEXEC), fd;

	if (node < 0)
		return errno == EACCES || errno == EPERM ? -EPERM : -ENOSYS;
	fd = ioctl(node, SCOZ_IOC_OPEN, args);
	if (fd < 0)
		fd = errno == ENOTTY ? -ENOSYS : -errno;
	close(node);
	return fd;
}

int scoz_open(struct scoz_open_args *args, bool *by_node)
{
	int fd = open_by_call(args, 0);

	*by_node = fd == -ENOSYS;
	return *by_node ? open_by_node(args) : fd;
}

void scoz_delay(int fd, bool by_node)
{
	if (by_node)
		ioctl(fd, SCOZ_IOC_DELAY);
	else
		syscall(__NR_scoz_delay, fd, 0);
}

int scoz_open_probe(void)
{
	int ret = open_by_call(NULL, ~0U); /* a flag that nobody knows */

	if (ret == -EINVAL)
		return SCOZ_BY_CALL;
	if (ret != -ENOSYS)
		return ret;
	ret = open_by_node(NULL);
	return ret == -EFAULT ? SCOZ_BY_NODE : ret;
}
