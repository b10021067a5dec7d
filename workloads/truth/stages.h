// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes joined by pipes that hold few records, so that stages soon feel each other. */
#ifndef WORKLOADS_STAGES_H
#define WORKLOADS_STAGES_H

#include "truth.h"
#include <fcntl.h>

#define RECORD 4096 /* one pipe buffer each */
#define DEPTH  4

static inline void truth_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC))
		truth_die("cannot make a pipe: %s", strerror(errno));
	if (fcntl(fd[1], F_SETPIPE_SZ, RECORD * DEPTH) < 0)
		truth_die("cannot set a pipe's size: %s", strerror(errno));
}

static inline void truth_send(int fd, const void *buf, size_t size)
{
	const char *p = buf;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n <= 0)
			truth_die("cannot send: %s", n ? strerror(errno) : "nothing taken");
		p += n;
		size -= (size_t)n;
	}
}

static inline void truth_receive(int fd, void *buf, size_t size)
{
	char *p = buf;

	while (size) {
		ssize_t n = read(fd, p, size);

		if (n <= 0)
			truth_die("cannot receive: %s", n ? strerror(errno) : "the other end went");
		p += n;
		size -= (size_t)n;
	}
}

#endif
