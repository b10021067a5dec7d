// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads from two block devices in turn, past the page cache: disks SECONDS FIRST SECOND. Each round
 * reads three times as much from the first as from the second. Prints which shares of its time each
 * of them took.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	(256 << 10)
#define BLOCKS	16     /* of a device */
#define COMPUTE 300000 /* ns a round */

static void *block;
static uint64_t computed;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int open_disk(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

__attribute__((noinline)) static uint64_t read_disk(int fd, int n)
{
	static int nr;
	uint64_t begin = now_ns();

	for (int i = 0; i < n; i++) {
		if (pread(fd, block, BLOCK, (off_t)(nr++ % BLOCKS) * BLOCK) != BLOCK) {
			perror("pread");
			exit(1);
		}
	}
	return now_ns() - begin;
}

__attribute__((noinline)) void round_done(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t begin = now_ns(), end, first = 0, second = 0;
	int a, b;

	if (argc != 4)
		return 2;
	a = open_disk(argv[2]);
	b = open_disk(argv[3]);
	block = aligned_alloc(4096, BLOCK);
	if (!block)
		return 1;
	end = begin + atoi(argv[1]) * 1000000000ULL;
	while (now_ns() < end) {
		uint64_t until;

		first += read_disk(a, 3);
		second += read_disk(b, 1);
		for (until = now_ns() + COMPUTE; now_ns() < until;)
			computed++;
		round_done();
	}
	end = now_ns();
	printf("disks: %.3f %.3f\n", (double)first / (end - begin), (double)second / (end - begin));
	return 0;
}
