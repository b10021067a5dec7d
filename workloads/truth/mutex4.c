// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four threads, one mutex: the target (70 %) inside, other work (30 %) outside. The lock is
 * nearly always taken, so run time is the target's, until it is so short that processor time
 * is what is short. A unit of progress is one thread's iteration.
 */
#include "truth.h"

static long workers = 4;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
	uint64_t target = truth_share(70), other = truth_share(30);
	int nr = (int)(intptr_t)arg;

	truth_pin(nr);
	for (;;) {
		pthread_mutex_lock(&lock);
		truth_target(truth_cut(TRUTH_TARGET, target));
		pthread_mutex_unlock(&lock);
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_progress(nr);
	}
	return NULL;
}

static void process(void *arg)
{
	(void)arg;
	for (intptr_t i = 1; i < workers; i++)
		truth_thread(worker, (void *)i);
	worker(NULL);
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "workers", false, &workers, "how many threads (4)" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Threads and a mutex: 70 % target inside, 30 % outside.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	if (workers < 1 || workers > TRUTH_MAX_SLOTS)
		truth_die("--workers: 1 to %d", TRUTH_MAX_SLOTS);
	truth_spawn(process, NULL);
	return truth_run();
}
