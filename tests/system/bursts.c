// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bursts ROUNDS MS: ROUNDS times 50 units at once (getppid()), and then work that takes about MS of
 * CPU time: one thread, so everything waits for it.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

#define UNITS 50

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

__attribute__((noinline)) static void burst_work(double ms)
{
	double end = cpu_ms() + ms;

	while (cpu_ms() < end)
		compute(10000);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (int round = atoi(argv[1]); round > 0; round--) {
		for (int i = 0; i < UNITS; i++)
			(void)!getppid();
		burst_work(atof(argv[2]));
	}
	return 0;
}
