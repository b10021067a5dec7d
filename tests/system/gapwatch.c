// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread spins on each CPU. That of the first CPU does nothing but gapwatch_target(), so that a
 * profiler that speeds it up stops all others, and calls gapwatch_progress() once a millisecond.
 * Each also notes gaps: time in which it had its CPU, but its loop did not turn, because its core
 * was stopped (or the host took it away). Stops of a core while it belongs to other tasks are not
 * seen here; the delay page has all (stops.c).
 *
 * gapwatch SECONDS [gaps|other]: with "gaps", prints the sum of them at the end; with "other",
 * nobody runs gapwatch_target().
 */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS  64
#define GAP_FLOOR (100 * NSEC_PER_USEC) /* interrupts are shorter than that */

static volatile sig_atomic_t stop;
static uint64_t gaps_ns[MAX_CPUS];
static bool no_target;

/* A system call: it must not be made in every turn, or the target would be a fifth of the loop. */
static uint64_t cpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static uint64_t spin(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
	return clock_now_ns();
}

__attribute__((noinline)) uint64_t gapwatch_target(void)
{
	return spin();
}

__attribute__((noinline)) uint64_t gapwatch_other(void)
{
	return spin() | 0;
}

__attribute__((noinline)) void gapwatch_progress(void)
{
	__asm__ volatile("");
}

static void *watch(void *arg)
{
	long cpu = (long)arg;
	uint64_t at, progress, looked, cpu_at_look, now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	cpu_at_look = cpu_now_ns();
	at = progress = looked = clock_now_ns();
	while (!stop) {
		now = cpu || no_target ? gapwatch_other() : gapwatch_target();
		if (now - at > GAP_FLOOR || now - looked > NSEC_PER_MSEC) {
			/* What others had of it is what is missing since the last look. */
			uint64_t cpu_now = cpu_now_ns(), with = clock_now_ns();
			int64_t away = (with - looked) - (cpu_now - cpu_at_look);

			if ((int64_t)(now - at) - away > (int64_t)GAP_FLOOR)
				gaps_ns[cpu] += now - at - away;
			looked = now = with;
			cpu_at_look = cpu_now;
		}
		at = now;
		if (!cpu && now - progress > NSEC_PER_MSEC) {
			progress = now;
			gapwatch_progress();
		}
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
	pthread_t t[MAX_CPUS];

	signal(SIGTERM, on_term);
	signal(SIGALRM, on_term);
	alarm(argc > 1 ? atoi(argv[1]) : 10);
	n = n > MAX_CPUS ? MAX_CPUS : n;
	no_target = argc > 2 && !strcmp(argv[2], "other");
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, watch, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; argc > 2 && !no_target && i < n; i++)
		printf("CPU %ld: gaps of %.3f s\n", i, gaps_ns[i] / 1e9);
	return 0;
}
