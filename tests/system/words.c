// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * words THREADS SECONDS: waits in futex() at words of 2, as mutexes have; where glibc keeps the
 * owner's tid stands each time another number.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *wait_on(void *arg)
{
	uint32_t words[8] = { 2 }, seed = (uintptr_t)arg * 2654435761u;
	struct timespec timeout = { 0, 4000000 };

	for (;;) {
		seed = seed * 1664525u + 1013904223u;
		words[2] = (seed >> 2 & 0x3fffffff) | 1;
		syscall(SYS_futex, words, FUTEX_WAIT_PRIVATE, 2, &timeout, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t;

	if (argc != 3)
		return 2;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	for (long i = 1; i <= atoi(argv[1]); i++)
		pthread_create(&t, &attr, wait_on, (void *)i);
	sleep(atoi(argv[2]));
	_exit(0);
}
