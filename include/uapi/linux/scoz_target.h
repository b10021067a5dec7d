/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Requests to a scoz session (linux/scoz.h): targets that are no address ranges, and users whose
 * arrivals count. In a header of its own, since linux/sched.h includes the other one: what is added
 * there compiles the whole kernel anew.
 */
#ifndef _UAPI_LINUX_SCOZ_TARGET_H
#define _UAPI_LINUX_SCOZ_TARGET_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Replaces the target: whatever a task does in this system call, from when it has entered the
 * kernel until it leaves. ENOTTY: this kernel knows targets by addresses only. EOPNOTSUPP: so it
 * does on this architecture.
 */
struct scoz_syscall {
	__u32 arch; /* AUDIT_ARCH_*: whose numbers, as in struct seccomp_data */
	__u32 number;
};

#define SCOZ_IOC_SYSCALL _IOW('z', 0xd8, struct scoz_syscall)

/*
 * Or'ed to the point of a struct scoz_probe: only tasks that take part, and those whose effective
 * user has been named, visit it by arriving there. EINVAL: this kernel counts whoever arrives.
 */
#define SCOZ_PROBE_BY_USER (1U << 31)

#define SCOZ_IOC_USER _IOW('z', 0xdb, __u32) /* a user: they count from now on */

#endif
