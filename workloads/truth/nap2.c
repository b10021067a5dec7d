// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The target waits: truth_nap() sleeps for 60 % of the iteration, then 40 % are computed; another
 * process computes for 70 %, and both meet at a barrier. s % of the nap is 0.6 s % of the run time,
 * up to 30 %, where the other decides. --alone: without the other, 0.6 s. --threads: as threads.
 */
#include "truth.h"
#include <sys/syscall.h>

static long alone;
static pthread_barrier_t *barrier;

/* By itself: libc's wrapper has no frame, and then its caller is missing in call chains. */
static inline void nap_for(const struct timespec *t)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(SYS_nanosleep), "D"(t), "S"(0)
			 : "rcx", "r11", "memory");
#else
	syscall(SYS_nanosleep, t, NULL);
#endif
}

static TRUTH_NOIPA void truth_nap(uint64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	if (ns)
		nap_for(&t);
	__asm__ volatile("" ::: "memory");
}

static void napper(void *arg)
{
	uint64_t ns = truth.iter_us * 600, other = truth_share(40);

	(void)arg;
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (;;) {
		truth_nap(truth_cut(TRUTH_TARGET, ns));
		truth_other(truth_cut(TRUTH_OTHER, other));
		if (!alone)
			pthread_barrier_wait(barrier);
		truth_progress(0);
	}
}

static void worker(void *arg)
{
	uint64_t other = truth_share(70);

	(void)arg;
	for (;;) {
		truth_other(other);
		pthread_barrier_wait(barrier);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "alone", true, &alone, "only the process that naps" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A barrier, and a process that sleeps (60 %, the target).",
			   .iter_us = 10000,
			   .opt = opt,
		   });
	barrier = truth_barrier(2);
	truth_spawn(napper, NULL);
	if (!alone)
		truth_spawn(worker, NULL);
	return truth_run();
}
