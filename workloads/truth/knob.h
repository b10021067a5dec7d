/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A knob that others turn (scozd --truth), for programs that only read it. */
#ifndef WORKLOADS_KNOB_H
#define WORKLOADS_KNOB_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* int32s: what a short file does not have is 0. NULL and errno: it cannot be mapped. */
static inline const int32_t *knob_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), failed;
	void *knob;

	if (fd < 0)
		return NULL;
	knob = mmap(NULL, sizeof(int32_t), PROT_READ, MAP_SHARED, fd, 0);
	failed = errno;
	close(fd);
	errno = failed;
	return knob == MAP_FAILED ? NULL : knob;
}

#endif
