/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work, in rounds of which each needs the one before. */
#ifndef SCOZ_TEST_COMPUTE_H
#define SCOZ_TEST_COMPUTE_H

#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

static inline double thread_cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
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

#endif
