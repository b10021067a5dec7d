// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deadline work ROUNDS: ends when its rounds are done, half of each in deadline_target(); prints
 * how long that took. deadline alarm MS, deadline clock MS: ends when the time is up, of which a
 * signal tells, or the clock that it reads after each round.
 */
#include "base/base.h"
#include "compute.h"

#include <signal.h>
#include <sys/time.h>

#define ROUND 20000 /* some 20 us */

static volatile sig_atomic_t over;

static void time_is_up(int signal)
{
	(void)signal;
	over = 1;
}

__attribute__((noipa)) static void deadline_target(void)
{
	compute(ROUND);
	__asm__ volatile("");
}

__attribute__((noipa)) static void deadline_other(void)
{
	compute(ROUND);
	__asm__ volatile("");
}

static void one_round(void)
{
	deadline_target();
	deadline_other();
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0;
	uint64_t begun = clock_now_ns();
	struct itimerval limit = { .it_value = { n / 1000, n % 1000 * 1000 } };

	if (n <= 0)
		return 2;
	signal(SIGALRM, time_is_up);
	if (!strcmp(argv[1], "alarm"))
		setitimer(ITIMER_REAL, &limit, NULL);
	if (!strcmp(argv[1], "work")) {
		while (n-- > 0)
			one_round();
		printf("%.6f\n", (clock_now_ns() - begun) / 1e9);
	} else if (!strcmp(argv[1], "clock")) {
		while (clock_now_ns() - begun < (uint64_t)n * NSEC_PER_MSEC)
			one_round();
	} else {
		while (!over)
			one_round();
	}
	return 0;
}
