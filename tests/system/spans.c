// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spans SECONDS: latencies of known lengths. span_begin() to span_end() takes 2 ms at least, every
 * fifth time 8 ms; hand_out() and hand_in() run in two threads.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

static sem_t handed;

__attribute__((noipa)) void span_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void span_end(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void hand_out(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void hand_in(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Something to be sped up: 1 ms of CPU time, so that spans take most of the time on any machine. */
__attribute__((noipa)) void spans_work(void)
{
	double end = thread_cpu_ms() + 1;

	while (thread_cpu_ms() < end)
		compute(10000);
}

static void *taker(void *arg)
{
	(void)arg;
	for (;;) {
		sem_wait(&handed);
		hand_in();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	pthread_t thread;

	sem_init(&handed, 0, 0);
	pthread_create(&thread, NULL, taker, NULL);
	for (int i = 0; time(NULL) < end; i++) {
		struct timespec nap = { 0, i % 5 ? 2000000 : 8000000 };

		span_begin();
		nanosleep(&nap, NULL);
		span_end();
		spans_work();
		hand_out();
		sem_post(&handed);
	}
	return 0;
}
