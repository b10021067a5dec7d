// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spin_rate SECONDS: loop turns per microsecond, summed over one spinning process a CPU.
 * spin_rate SECONDS FILE: also keeps the turns done so far in FILE, a 64-bit number a CPU.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define TURNS 100000

static volatile uint64_t sink;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

__attribute__((noinline)) uint64_t spin(uint64_t x)
{
	for (int i = 0; i < TURNS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static void *shared(const char *path, size_t size)
{
	int fd = path ? open(path, O_RDWR | O_CREAT, 0644) : -1;
	void *p;

	if (path && (fd < 0 || ftruncate(fd, size))) {
		perror(path);
		exit(1);
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (path ? 0 : MAP_ANONYMOUS), fd,
		 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, sum = 0;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	double *rate = shared(NULL, n * sizeof(*rate));
	volatile uint64_t *done = shared(argc > 2 ? argv[2] : NULL, n * sizeof(*done));

	for (long i = 0; i < n; i++) {
		double start, end;
		cpu_set_t set;

		done[i] = 0;
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(i, &set);
		sched_setaffinity(0, sizeof(set), &set);
		start = now();
		do {
			sink = spin(sink + 1);
			done[i] += TURNS;
			end = now();
		} while (end - start < seconds);
		rate[i] = done[i] / (end - start) / 1e6;
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	for (long i = 0; i < n; i++)
		sum += rate[i];
	printf("%.4f\n", sum);
	return 0;
}
