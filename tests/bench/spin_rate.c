// SPDX-License-Identifier: GPL-2.0-or-later
/* spin_rate SECONDS: loop turns per microsecond, summed over one spinning process a CPU. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

__attribute__((noinline)) uint64_t spin(uint64_t x)
{
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, sum = 0;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	double *rate = mmap(NULL, n * sizeof(*rate), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; i < n; i++) {
		double start, end;
		uint64_t turns = 0;
		cpu_set_t set;

		if (fork())
			continue;
		CPU_ZERO(&set);
		CPU_SET(i, &set);
		sched_setaffinity(0, sizeof(set), &set);
		start = now();
		do {
			sink = spin(sink + 1);
			turns += 100000;
			end = now();
		} while (end - start < seconds);
		rate[i] = turns / (end - start) / 1e6;
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	for (long i = 0; i < n; i++)
		sum += rate[i];
	printf("%.4f\n", sum);
	return 0;
}
