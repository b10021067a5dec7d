// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bursts ROUNDS MS: ROUNDS times 50 units at once (getppid()), and then work that takes about MS of
 * CPU time: one thread, so everything waits for it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "compute.h"

#define UNITS 50

__attribute__((noinline)) static void burst_work(double ms)
{
	double end = thread_cpu_ms() + ms;

	while (thread_cpu_ms() < end)
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
