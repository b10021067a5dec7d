// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints how many thousand times a second this machine's time stamp counter turns. */
#include <stdio.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

/* The counter in the middle of the shortest of a few readings of the clock. */
static uint64_t ticks_at(uint64_t *ns)
{
	uint64_t least = UINT64_MAX, at = 0;

	for (int i = 0; i < 100; i++) {
		struct timespec t;
		uint64_t before = __rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		after = __rdtsc();
		if (after - before < least) {
			least = after - before;
			at = before + least / 2;
			*ns = t.tv_sec * 1000000000ull + t.tv_nsec;
		}
	}
	return at;
}

int main(void)
{
	uint64_t began, ended, first = ticks_at(&began), last;

	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	last = ticks_at(&ended);
	printf("%.0f\n", (last - first) * 1e6 / (ended - began));
	return 0;
}
