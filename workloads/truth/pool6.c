// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Six threads and a barrier, on fewer cores as a rule: each does its part of an iteration, 50 to
 * 150 % of what is fair, in three pieces of target (together 60 %) and rest (30 %); then one of
 * them does 10 % alone.
 */
#include "truth.h"

static pthread_barrier_t *all;

static void *member(void *arg)
{
	uint64_t target = truth_share(10), other = truth_share(15), alone = truth_share(60);
	int nr = (int)(intptr_t)arg;
	uint32_t seed = 77 + nr;

	truth_pin(nr);
	for (;;) {
		for (int i = 0; i < 3; i++) {
			seed = seed * 1664525 + 1013904223;
			truth_target(
				truth_cut(TRUTH_TARGET, target + target * (seed >> 16) / 0xffff));
		}
		truth_other(truth_cut(TRUTH_OTHER, other + other * (seed >> 16) / 0xffff));
		if (pthread_barrier_wait(all) == PTHREAD_BARRIER_SERIAL_THREAD) {
			truth_rest(alone);
			truth_progress(nr);
		}
		pthread_barrier_wait(all);
	}
	return NULL;
}

static void process(void *arg)
{
	(void)arg;
	for (intptr_t i = 1; i < 6; i++)
		truth_thread(member, (void *)i);
	member(NULL);
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = { { 0 } };

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Six threads that meet at a barrier, and then one alone.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	all = truth_barrier(6);
	truth_spawn(process, NULL);
	return truth_run();
}
