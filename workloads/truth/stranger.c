// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stranger BUSY_US PAUSE_US [SEED]: takes a core for so long, sleeps for so long, both uniform from
 * half to one and a half of it. To be started beside a program under test, not by it: it has no
 * part in the work, and only takes its share of the machine.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state = 88172645463325252ULL;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static uint64_t about(double us)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint64_t)(us * 1000 * (0.5 + (double)(state >> 11) * 0x1p-53));
}

int main(int argc, char **argv)
{
	double busy = argc > 2 ? atof(argv[1]) : 0, pause = argc > 2 ? atof(argv[2]) : 0;

	if (argc < 3 || argc > 4 || busy <= 0 || pause <= 0) {
		fprintf(stderr, "usage: stranger BUSY_US PAUSE_US [SEED]\n");
		return 2;
	}
	if (argc == 4)
		state ^= strtoull(argv[3], NULL, 10) << 20;
	for (;;) {
		uint64_t ns = about(pause), end = now_ns() + about(busy);
		struct timespec ts = { (time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL) };

		while (now_ns() < end)
			;
		nanosleep(&ts, NULL);
	}
}
