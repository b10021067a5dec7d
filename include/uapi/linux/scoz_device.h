/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/scoz: the system calls of linux/scoz.h as ioctls, for who has none of these: where they are
 * not wired, or a filter of system calls does not know them. Whoever opened the node, rights are
 * those of the caller.
 */
#ifndef _UAPI_LINUX_SCOZ_DEVICE_H
#define _UAPI_LINUX_SCOZ_DEVICE_H

#include <linux/ioctl.h>
#include <linux/scoz.h>

#define SCOZ_IOC_OPEN  _IOWR('z', 0xd9, struct scoz_open_args) /* of the node: scoz_open() */
#define SCOZ_IOC_DELAY _IO('z', 0xda)			       /* of the session: scoz_delay() */

#endif
