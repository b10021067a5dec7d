// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads that work under a lock for readers, and one that sleeps for ten iterations and then
 * takes it for itself, for six iterations of target: all stand still, as for a collector of
 * garbage. With two cores to themselves, six sixteenths of the time are pauses, and could be saved.
 */
#include "truth.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *worker(void *arg)
{
	uint64_t other = truth_share(100);
	int nr = (int)(intptr_t)arg;

	truth_pin(nr);
	for (;;) {
		pthread_rwlock_rdlock(&lock);
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_rwlock_unlock(&lock);
		truth_progress(nr);
	}
	return NULL;
}

static void process(void *arg)
{
	pthread_rwlockattr_t attr;
	uint64_t target = truth_share(600);

	(void)arg;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attr);
	for (intptr_t i = 1; i <= 2; i++)
		truth_thread(worker, (void *)i);
	for (;;) {
		usleep((useconds_t)(10 * truth.iter_us));
		pthread_rwlock_wrlock(&lock);
		truth_target(truth_cut(TRUTH_TARGET, target));
		pthread_rwlock_unlock(&lock);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = { { 0 } };

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Two workers, and one that makes them pause for its target.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	truth_spawn(process, NULL);
	return truth_run();
}
