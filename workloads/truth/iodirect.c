// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Synchronous I/O and computing. Each iteration writes some blocks with O_DIRECT (--sync: and
 * waits for fdatasync after each) and computes the target for the given time: what the target gains
 * is its share of both, which depends on the disk: measure it with --alternate.
 * --overlap: another thread does the I/O meanwhile, and both meet at a barrier: only what is
 * longer counts. --knob io leaves out that share of the I/O, evenly spread.
 */
#include "truth.h"

#define BLOCK  4096
#define BLOCKS 256
#define LIMIT  (64L << 20) /* of the file, bytes */

static long overlap, sync_too, blocks = 8, kib = BLOCK / 1024, size = BLOCK;
static int fd = -1;
static void *block;
static pthread_barrier_t *barrier;

static long file_blocks(void)
{
	return size * BLOCKS > LIMIT ? LIMIT / size : BLOCKS;
}

static TRUTH_NOIPA void truth_io(void)
{
	static uint64_t nr;
	static int32_t due;

	if (!truth_io_is_due(&due))
		return;
	if (pwrite(fd, block, size, (off_t)(nr++ % file_blocks() * size)) != size)
		truth_die("cannot write: %s", strerror(errno));
	if (sync_too && fdatasync(fd))
		truth_die("cannot sync: %s", strerror(errno));
}

static void *io_thread(void *arg)
{
	truth_pin(1);
	for (;;) {
		for (long i = 0; i < blocks; i++)
			truth_io();
		pthread_barrier_wait(barrier);
	}
	return arg;
}

static void process(void *arg)
{
	uint64_t target = truth_share(100);

	(void)arg;
	if (overlap)
		truth_thread(io_thread, NULL);
	for (;;) {
		for (long i = 0; !overlap && i < blocks; i++)
			truth_io();
		truth_target(truth_cut(TRUTH_TARGET, target));
		if (overlap)
			pthread_barrier_wait(barrier);
		truth_progress(0);
	}
}

/* Not on tmpfs, where O_DIRECT means nothing. */
static void open_file(void)
{
	static const char *const dirs[] = { "TMPDIR", "/var/tmp", "." };
	char path[4096];

	size = kib * 1024;
	if (size < BLOCK || size % BLOCK || size > LIMIT / 4)
		truth_die("--kib takes multiples of 4, up to %ld", LIMIT / 4 / 1024);
	block = aligned_alloc(BLOCK, size);
	if (!block)
		truth_die("out of memory");
	memset(block, 0x5a, size);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && fd < 0; i++) {
		const char *dir = i ? dirs[i] : getenv(dirs[i]);

		if (!dir)
			continue;
		snprintf(path, sizeof(path), "%s/scoz-iodirect.XXXXXX", dir);
		fd = mkostemp(path, O_DIRECT | O_CLOEXEC);
		if (fd < 0)
			continue;
		unlink(path);
		for (int b = 0; b < file_blocks() && fd >= 0; b++) {
			if (pwrite(fd, block, size, (off_t)b * size) == size)
				continue;
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		truth_die("no directory for O_DIRECT files: set TMPDIR to one on a disk");
	fsync(fd);
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "overlap", true, &overlap, "I/O in another thread, a barrier each iteration" },
		{ "blocks", false, &blocks, "blocks written each iteration (8)" },
		{ "kib", false, &kib, "size of a block in KiB (4)" },
		{ "sync", true, &sync_too, "fdatasync after each write" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Direct I/O and computing (the target) in turn.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	open_file();
	barrier = truth_barrier(2);
	truth_spawn(process, NULL);
	return truth_run();
}
