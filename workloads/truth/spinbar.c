// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * barrier2 with a barrier that spins on shared memory: the kernel sees no waiting at all. First
 * process 60 % target and 40 % rest, second 80 %: the target pays off up to 20 %. With --yield who
 * waits offers its core to others, again and again.
 */
#include "truth.h"
#include <sched.h>

static long yield;

static struct {
	uint32_t arrived __attribute__((aligned(64)));
	uint32_t round __attribute__((aligned(64)));
} * barrier;

static TRUTH_NOIPA void spin_barrier(void)
{
	uint32_t round = __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == 2) {
		__atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&barrier->round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE) == round) {
		if (yield) {
			sched_yield();
			continue;
		}
#if defined(__x86_64__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("yield");
#endif
	}
}

static void first(void *arg)
{
	uint64_t target = truth_share(60), rest = truth_share(40);

	(void)arg;
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		spin_barrier();
		truth_progress(0);
	}
}

static void second(void *arg)
{
	uint64_t other = truth_share(80);

	(void)arg;
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		spin_barrier();
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "yield", true, &yield, "spin with sched_yield()" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Spinning barrier: 60 % target + 40 %, and 80 %.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	barrier = truth_alloc_shared(sizeof(*barrier));
	truth_spawn(first, NULL);
	truth_spawn(second, NULL);
	return truth_run();
}
