// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * beside SECONDS: two threads take turns at units of work, of very different size, and a third one,
 * which never sleeps, has nothing to do with them. Prints units a second.
 */
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MEAN_US 3000.0

static sem_t there, back;
static volatile uint64_t result;

static void compute(double us)
{
	uint64_t x = 1;

	for (uint64_t i = us * 400; i; i--)
		x = x * 6364136223846793005ULL + 1;
	result = x;
}

__attribute__((noinline, noipa)) void hog_work(void)
{
	compute(300);
	__asm__ volatile("");
}

__attribute__((noinline, noipa)) void pair_work(unsigned int *seed)
{
	compute(MEAN_US * -log((rand_r(seed) + 1.0) / (RAND_MAX + 2.0)));
	__asm__ volatile("");
}

__attribute__((noinline, noipa)) void unit_done(void)
{
	__asm__ volatile("");
}

static void *hog(void *arg)
{
	for (;;)
		hog_work();
	return arg;
}

static void *other_half(void *arg)
{
	unsigned int seed = 7;

	for (;;) {
		sem_wait(&there);
		compute(MEAN_US * -log((rand_r(&seed) + 1.0) / (RAND_MAX + 2.0)));
		sem_post(&back);
	}
	return arg;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	time_t end = time(NULL) + (time_t)seconds;
	unsigned int seed = 3;
	pthread_t thread;
	long units = 0;

	sem_init(&there, 0, 0);
	sem_init(&back, 0, 0);
	if (pthread_create(&thread, NULL, other_half, NULL) ||
	    pthread_create(&thread, NULL, hog, NULL)) {
		perror("beside: pthread_create");
		return 1;
	}
	for (; time(NULL) < end; units++) {
		pair_work(&seed);
		sem_post(&there);
		sem_wait(&back);
		unit_done();
	}
	printf("%.1f\n", units / seconds);
	return 0;
}
