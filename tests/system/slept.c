// SPDX-License-Identifier: GPL-2.0-or-later
/* slept SECONDS: sleeps, and prints how many milliseconds that has taken really, rounded up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin = now_ms();
	struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	printf("slept %.0f\n", ceil(now_ms() - begin));
	return 0;
}
