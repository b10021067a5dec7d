// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a profiler: a kernel whose verifier refuses the programs that walk by unwind
 * tables, whose maps have room for more than one entry then.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "../../syscall_onward.h"

long syscall(long number, ...)
{
	static bool walks;
	const union bpf_attr *attr;
	long a[6];
	va_list ap;

	va_start(ap, number);
	syscall_arguments(ap, a);
	va_end(ap);
	attr = (const union bpf_attr *)a[1];
	if (number == SYS_bpf && a[0] == BPF_MAP_CREATE && !strcmp(attr->map_name, "unwind_spaces"))
		walks = attr->max_entries > 1;
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD && walks &&
	    (!strcmp(attr->prog_name, "on_tick") || !strcmp(attr->prog_name, "on_switched"))) {
		errno = EACCES;
		return -1;
	}
	return syscall_onward(number, a);
}
