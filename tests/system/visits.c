// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * visits SECONDS: a pair of threads for each of two CPUs takes turns of some 60 us by a futex, as
 * short as samples are apart, in which visits_target() calls getppid() as often as it can; others
 * nap. So visits, ticks and wake-ups all have to do with the same accounts, hundreds of thousands
 * of times a second.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAIRS	2
#define NAPPERS 4
#define VISITS	100 /* in a turn */

static uint32_t turn[PAIRS][32]; /* on lines of their own */

/* By itself: libc's wrapper has no frame. */
static inline void visit(void)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(SYS_getppid) : "rcx", "r11", "memory");
#else
	syscall(SYS_getppid);
#endif
}

__attribute__((noipa)) void visits_target(void)
{
	for (int i = 0; i < VISITS; i++)
		visit();
}

static void *take_turns(void *arg)
{
	uint32_t mine = (uintptr_t)arg % 2, *word = turn[(uintptr_t)arg / 2];

	for (;;) {
		while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != mine)
			syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0);
		visits_target();
		__atomic_store_n(word, !mine, __ATOMIC_RELEASE);
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *nap(void *arg)
{
	struct timespec length = { 0, 300000 + 100000 * (uintptr_t)arg };

	for (;;)
		nanosleep(&length, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (uintptr_t i = 0; i < 2 * PAIRS; i++)
		pthread_create(&thread, NULL, take_turns, (void *)i);
	for (uintptr_t i = 0; i < NAPPERS; i++)
		pthread_create(&thread, NULL, nap, (void *)i);
	sleep(argc > 1 ? atoi(argv[1]) : 60);
	return 0;
}
