// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread spins on each CPU and notes how much of every millisecond it did not see: time in
 * which its core was stopped (or stolen). Prints "MS GAP_US" lines on SIGTERM or after SECONDS,
 * with CLOCK_MONOTONIC milliseconds, summed over cores.
 */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define MAX_MS	     60000
#define GAP_FLOOR_US 100 /* interrupts are shorter than that */

static volatile sig_atomic_t stop;
static uint32_t gaps[64][MAX_MS];
static uint64_t base_ns;

__attribute__((noinline)) uint64_t gapwatch_spin(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
	return clock_now_ns();
}

static void *watch(void *arg)
{
	long cpu = (long)arg;
	uint64_t last = clock_now_ns(), now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!stop) {
		now = gapwatch_spin();
		if (now - last > GAP_FLOOR_US * NSEC_PER_USEC) {
			uint64_t ms = (last - base_ns) / NSEC_PER_MSEC;

			if (ms >= MAX_MS)
				break;
			gaps[cpu][ms] += (now - last) / NSEC_PER_USEC;
		}
		last = now;
	}
	return NULL;
}

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

int main(int argc, char **argv)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t end_ms;
	pthread_t t[64];

	signal(SIGTERM, on_term);
	base_ns = clock_now_ns();
	alarm(argc > 1 ? atoi(argv[1]) : 10);
	signal(SIGALRM, on_term);
	n = n > 64 ? 64 : n;
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, watch, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	end_ms = (clock_now_ns() - base_ns) / NSEC_PER_MSEC;
	printf("base %llu cpus %ld\n", (unsigned long long)(base_ns / NSEC_PER_MSEC), n);
	for (uint64_t ms = 0; ms < end_ms && ms < MAX_MS; ms++) {
		uint64_t sum = 0;

		for (long i = 0; i < n; i++)
			sum += gaps[i][ms];
		printf("%llu %llu\n", (unsigned long long)(base_ns / NSEC_PER_MSEC + ms),
		       (unsigned long long)sum);
	}
	return 0;
}
