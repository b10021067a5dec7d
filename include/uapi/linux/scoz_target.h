/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Targets of a scoz session (linux/scoz.h) that are no address ranges. In a header of its own,
 * since linux/sched.h includes the other one: what is added there compiles the whole kernel anew.
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

#endif
