// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work in the background that nobody waits for: two threads compute (60 and 70 % of an iteration)
 * and meet at a barrier. A third one, with less than a core to itself on two of them, computes
 * (100 % target, 30 % rest) and sleeps for 5 %, again and again. If the target takes less time, it
 * does more of it, or comes more often: the other two gain little of that.
 */
#include "truth.h"

static pthread_barrier_t *both;

static void *pair(void *arg)
{
	int nr = (int)(intptr_t)arg;
	uint64_t other = truth_share(60 + 10 * nr);

	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_barrier_wait(both);
		if (!nr)
			truth_progress(0);
	}
	return NULL;
}

static void process(void *arg)
{
	uint64_t target = truth_share(100), rest = truth_share(30);
	struct timespec pause = { .tv_nsec = (long)(truth.iter_us * 50) };

	(void)arg;
	for (intptr_t i = 0; i < 2; i++)
		truth_thread(pair, (void *)i);
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Two at a barrier, and a thread that nobody waits for.",
			   .iter_us = 1000,
		   });
	both = truth_barrier(2);
	truth_spawn(process, NULL);
	return truth_run();
}
