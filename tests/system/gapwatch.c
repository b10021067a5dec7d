// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread spins on each CPU and notes how much of every millisecond passed without it, though
 * its own CPU time went on: time in which its core was stopped (not given to other tasks). The
 * first CPU runs gapwatch_target(), so that a profiler that speeds it up stops all others;
 * gapwatch_progress() is called once a millisecond.
 *
 * gapwatch SECONDS [PID SIGNAL]: in the middle of heavy stopping, sends the signal to PID, goes on
 * for half a second, and prints the share of stopped time before it, and from 10 ms after it.
 */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define MAX_MS	     60000
#define GAP_FLOOR_US 100 /* interrupts are shorter than that */

static volatile sig_atomic_t stop;
static uint32_t gaps[64][MAX_MS];
static uint64_t base_ns;
static int victim, victim_signal;
static volatile uint64_t killed_ms;

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

/* Of the 50 ms before millisecond @ms. */
static double stopped_share(long cpu, uint64_t ms)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 50 && i <= ms; i++)
		sum += gaps[cpu][ms - i];
	return sum / 50e3;
}

static void kill_victim(void)
{
	kill(victim, victim_signal);
	killed_ms = (clock_now_ns() - base_ns) / NSEC_PER_MSEC;
	alarm(1);
}

static void *watch(void *arg)
{
	long cpu = (long)arg;
	uint64_t last = cpu_now_ns(), at = clock_now_ns(), progress = at, now, cpu_time;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!stop) {
		now = cpu ? gapwatch_other() : gapwatch_target();
		cpu_time = cpu_now_ns();
		if (cpu_time - last > GAP_FLOOR_US * NSEC_PER_USEC) {
			uint64_t ms = (at - base_ns) / NSEC_PER_MSEC;

			if (ms >= MAX_MS)
				break;
			gaps[cpu][ms] += (cpu_time - last) / NSEC_PER_USEC;
			if (victim && !killed_ms && stopped_share(cpu, ms) > 0.3)
				kill_victim();
		}
		last = cpu_time;
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
	double before = 0, after = 0;
	pthread_t t[64];

	signal(SIGTERM, on_term);
	base_ns = clock_now_ns();
	alarm(argc > 1 ? atoi(argv[1]) : 10);
	signal(SIGALRM, on_term);
	if (argc > 3) {
		victim = atoi(argv[2]);
		victim_signal = !strcmp(argv[3], "STOP") ? SIGSTOP : SIGKILL;
	}
	n = n > 64 ? 64 : n;
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, watch, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (!victim)
		return 0;
	if (!killed_ms) {
		printf("no stops were seen\n");
		return 1;
	}
	for (long i = 0; i < n; i++) {
		for (int ms = -50; ms < 500; ms++) {
			if (ms < 0)
				before += gaps[i][killed_ms + ms];
			else if (ms >= 10)
				after += gaps[i][killed_ms + ms];
		}
	}
	printf("before %.2f %% after %.2f %%\n", before / 50 / 10 / (n - 1),
	       after / 490 / 10 / (n - 1));
	return 0;
}
