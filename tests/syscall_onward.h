/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For who stands before libc's syscall(): its arguments, and the one behind it. */
#ifndef TEST_SYSCALL_ONWARD_H
#define TEST_SYSCALL_ONWARD_H

#include <dlfcn.h>
#include <stdarg.h>

static inline void syscall_arguments(va_list ap, long a[6])
{
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
}

static inline long syscall_onward(long number, const long a[6])
{
	static long (*real)(long, ...);

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
