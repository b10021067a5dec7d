/* SPDX-License-Identifier: GPL-2.0-only */
/* What BPF programs that count progress share with their loaders (engine/bpf/kernel_points.h). */
#ifndef SCOZ_KERNEL_POINTS_SHARED_H
#define SCOZ_KERNEL_POINTS_SHARED_H

#include <linux/types.h>

#define POINTS_TRACEPOINTS   8 /* progress points that are tracepoints */
#define POINTS_PER_SYSCALL   8
#define POINTS_MOST_SYSCALLS 32 /* system calls that are any */

struct syscall_points {
	__u32 n;
	__u32 forks; /* syscall_forks(): result 0 is the new one's, who has not called */
	__u32 point[POINTS_PER_SYSCALL];
};

#endif
