/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work, in rounds of which each needs the one before. */
#ifndef SCOZ_TEST_COMPUTE_H
#define SCOZ_TEST_COMPUTE_H

#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

static inline double clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline double now_s(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

static inline double thread_cpu_ms(void)
{
	return 1e3 * clock_s(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noipa)) static void compute(long n)
{
	uint64_t x = 1;

	for (; n > 0; n--) {
		x = x * 6364136223846793005ULL + 1;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

/*
 * Rounds of compute() a second: the most of some tries of @n, as others may be at work, and the
 * first may warm a CPU up.
 */
static inline double compute_speed(int tries, long n)
{
	double most = 0;

	while (tries--) {
		double begin = now_s(), speed;

		compute(n);
		speed = n / (now_s() - begin);
		most = speed > most ? speed : most;
	}
	return most;
}

#endif
