// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naps SECONDS: one thread waits for a timer in nap() and is on a CPU in work(), another waits in
 * handed() for the first one. Prints "SECONDS IN nap()" "SECONDS IN handed()" "SECONDS IN ALL".
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word;
static double waited;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* By itself: libc's wrapper has no frame, and then its caller is missing in call chains. */
static inline long call(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
#else
	return syscall(number, a, b, c, d);
#endif
}

__attribute__((noipa)) void nap(void)
{
	struct timespec t = { 0, 3000000 };

	call(SYS_nanosleep, (long)&t, 0, 0, 0);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void work(void)
{
	for (volatile int i = 0; i < 400000; i++)
		;
}

__attribute__((noipa)) void nap_done(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void handed(uint32_t seen)
{
	call(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, seen, 0);
	__asm__ volatile("" ::: "memory");
}

static void *taker(void *arg)
{
	for (;;) {
		double t = now();

		handed(__atomic_load_n(&word, __ATOMIC_ACQUIRE));
		waited += now() - t;
	}
	return arg;
}

int main(int argc, char **argv)
{
	double begin = now(), napped = 0, end = begin + (argc > 1 ? atof(argv[1]) : 10);
	pthread_t thread;

	pthread_create(&thread, NULL, taker, NULL);
	while (now() < end) {
		double t = now();

		nap();
		napped += now() - t;
		work();
		__atomic_add_fetch(&word, 1, __ATOMIC_RELEASE);
		call(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
		nap_done();
	}
	printf("%.3f %.3f %.3f\n", napped, waited, now() - begin);
	return 0;
}
