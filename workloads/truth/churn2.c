// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads are created and joined every iteration; one runs the target all the time, the
 * other half as long. The target pays off until both take equally long: 50 %, never more.
 */
#include "truth.h"

static void *run_target(void *arg)
{
	truth_pin(0);
	truth_target(truth_cut(TRUTH_TARGET, *(uint64_t *)arg));
	return NULL;
}

static void *run_other(void *arg)
{
	truth_pin(1);
	truth_other(truth_cut(TRUTH_OTHER, *(uint64_t *)arg));
	return NULL;
}

static void churn(void *arg)
{
	uint64_t target = truth_share(100), other = truth_share(50);

	(void)arg;
	for (;;) {
		pthread_t a = truth_thread(run_target, &target);
		pthread_t b = truth_thread(run_other, &other);

		pthread_join(a, NULL);
		pthread_join(b, NULL);
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Two threads made and joined every iteration: 100 % and 50 %.",
			   .iter_us = 11000,
		   });
	truth_spawn(churn, NULL);
	return truth_run();
}
