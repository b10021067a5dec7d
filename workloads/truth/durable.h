/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of a file that are written and made durable; --knob io leaves that share out. */
#ifndef WORKLOADS_DURABLE_H
#define WORKLOADS_DURABLE_H

#include "truth.h"

#define BLOCK  4096
#define BLOCKS 64

static char durable_block[BLOCK];

/* Without a name, in TMPDIR. */
static inline int durable_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/scoz-durable.XXXXXX", dir ? dir : "/var/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		truth_die("cannot make %s: %s", path, strerror(errno));
	unlink(path);
	memset(durable_block, 0x5a, sizeof(durable_block));
	return fd;
}

static inline void durable_write(int fd, uint64_t nr)
{
	if (pwrite(fd, durable_block, BLOCK, (off_t)(nr % BLOCKS * BLOCK)) != BLOCK)
		truth_die("cannot write: %s", strerror(errno));
}

static inline void durable_sync(int fd, bool data_only)
{
	if (data_only ? fdatasync(fd) : fsync(fd))
		truth_die("cannot sync: %s", strerror(errno));
}

/* The next block, unless it is left out: evenly spread. */
static TRUTH_NOIPA void truth_io(int fd, bool data_only)
{
	static uint64_t nr;
	static int32_t due;

	if (!truth_io_is_due(&due))
		return;
	durable_write(fd, nr++);
	durable_sync(fd, data_only);
}

#endif
