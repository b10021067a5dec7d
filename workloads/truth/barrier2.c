// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two processes meet at a process-shared barrier every iteration. The first computes the target
 * (60 %) and a rest (40 %), the second 80 %: the target pays off until the first takes 80 %.
 */
#include "truth.h"

static pthread_barrier_t *barrier;

static void first(void *arg)
{
	uint64_t target = truth_share(60), rest = truth_share(40);

	(void)arg;
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		pthread_barrier_wait(barrier);
		truth_progress(0);
	}
}

static void second(void *arg)
{
	uint64_t other = truth_share(80);

	(void)arg;
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_barrier_wait(barrier);
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Two processes at a barrier: 60 % target + 40 %, and 80 %.",
			   .iter_us = 5000,
		   });
	barrier = truth_barrier(2);
	truth_spawn(first, NULL);
	truth_spawn(second, NULL);
	return truth_run();
}
