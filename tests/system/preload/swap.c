// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a profiler: the moment before the kernel is asked for a probe in a program
 * (perf_event_open() of type $SWAP_TYPE), another file takes the program's place: $SWAP_NEW is
 * renamed to $SWAP_PATH. Without $SWAP_NEW the instruction that the probe is for becomes another
 * one.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void rewrite(const char *path, off_t offset)
{
	int fd = open(path, O_RDWR);
	unsigned char code;

	if (pread(fd, &code, 1, offset) != 1)
		perror("swap");
	code ^= 1;
	if (pwrite(fd, &code, 1, offset) != 1)
		perror("swap");
	close(fd);
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	static int swapped;
	const struct perf_event_attr *attr;
	long a[6];
	va_list ap;

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	attr = (const struct perf_event_attr *)a[0];
	if (number == SYS_perf_event_open && !swapped && getenv("SWAP_TYPE") &&
	    attr->type == (unsigned int)atoi(getenv("SWAP_TYPE"))) {
		swapped = 1;
		if (!getenv("SWAP_NEW"))
			rewrite(getenv("SWAP_PATH"), (off_t)attr->config2);
		else if (rename(getenv("SWAP_NEW"), getenv("SWAP_PATH")))
			perror("swap");
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
