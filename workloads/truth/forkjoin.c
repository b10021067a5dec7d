// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A pool of threads: the master computes the target (40 %), hands out work that takes each
 * thread 60 %, and waits for all. Target: 0.4 s. Other: 0.6 s, as long as every thread has a
 * core of its own.
 */
#include "truth.h"

static long workers = 2;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static uint64_t round_nr;
static long busy;

static void *worker(void *arg)
{
	uint64_t other = truth_share(60), mine = 0;

	truth_pin((int)(intptr_t)arg);
	for (;;) {
		pthread_mutex_lock(&lock);
		while (mine == round_nr)
			pthread_cond_wait(&go, &lock);
		mine = round_nr;
		pthread_mutex_unlock(&lock);

		truth_other(truth_cut(TRUTH_OTHER, other));

		pthread_mutex_lock(&lock);
		if (!--busy)
			pthread_cond_signal(&done);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void master(void *arg)
{
	uint64_t target = truth_share(40);

	(void)arg;
	for (intptr_t i = 0; i < workers; i++)
		truth_thread(worker, (void *)i);
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));

		pthread_mutex_lock(&lock);
		round_nr++;
		busy = workers;
		pthread_cond_broadcast(&go);
		while (busy)
			pthread_cond_wait(&done, &lock);
		pthread_mutex_unlock(&lock);
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "workers", false, &workers, "threads in the pool (2)" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A master (40 % target) and a pool of threads (60 % each).",
			   .iter_us = 2000,
			   .opt = opt,
		   });
	if (workers < 1)
		truth_die("--workers: 1 or more");
	truth_spawn(master, NULL);
	return truth_run();
}
