// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakeups SECONDS: a real-time thread on the last CPU sleeps until points in time, 0.5 to 1.5 ms
 * apart, and looks how much later it runs. Prints how many wake-ups there were, how many were later
 * than LATE_NS, and quantiles of the lateness in us. Exit 77: no real-time priority is to be had.
 */
#include "base/base.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS	  400000 /* less than a stop can last, more than a wake-up takes */
#define BIN_NS	  10000
#define BINS	  1000
#define STEP_NS	  500000
#define JITTER_NS 1000000

static unsigned int bins[BINS];

static uint64_t quantile(uint64_t n, double q)
{
	uint64_t seen = 0;

	for (int i = 0; i < BINS; i++) {
		seen += bins[i];
		if (seen >= q * n)
			return (i + 1) * (uint64_t)BIN_NS / 1000;
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t end = clock_now_ns() + (uint64_t)((argc > 1 ? atof(argv[1]) : 5) * NSEC_PER_SEC);
	struct sched_param fifo = { .sched_priority = 50 };
	uint64_t at = clock_now_ns(), n = 0, late = 0, most = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (sched_setscheduler(0, SCHED_FIFO, &fifo)) {
		printf("no real-time priority: %m\n");
		return 77;
	}
	srandom(1);
	while (at < end) {
		struct timespec until;
		uint64_t by;

		at += STEP_NS + random() % JITTER_NS;
		until = (struct timespec){ at / NSEC_PER_SEC, at % NSEC_PER_SEC };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		by = clock_now_ns() - at;
		n++;
		late += by > LATE_NS;
		most = by > most ? by : most;
		bins[by / BIN_NS < BINS ? by / BIN_NS : BINS - 1]++;
		if (by > JITTER_NS) /* those that were missed are not late, too */
			at = clock_now_ns();
	}
	printf("wakeups %llu late %llu p50 %llu p90 %llu p99 %llu p99.9 %llu max %llu us\n",
	       (unsigned long long)n, (unsigned long long)late,
	       (unsigned long long)quantile(n, 0.5), (unsigned long long)quantile(n, 0.9),
	       (unsigned long long)quantile(n, 0.99), (unsigned long long)quantile(n, 0.999),
	       (unsigned long long)most / 1000);
	return 0;
}
