// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four threads, one reader-writer lock that prefers writers: the target (50 %) inside as a writer,
 * other work (30 %) inside as a reader, 20 % outside. Writing excludes everybody, so that the
 * target decides until it is short; reading overlaps. A unit of progress is one thread's iteration.
 */
#include "truth.h"

static long workers = 4;
static pthread_rwlock_t lock;

static void *worker(void *arg)
{
	uint64_t target = truth_share(50), other = truth_share(30), rest = truth_share(20);
	int nr = (int)(intptr_t)arg;

	truth_pin(nr);
	for (;;) {
		pthread_rwlock_wrlock(&lock);
		truth_target(truth_cut(TRUTH_TARGET, target));
		pthread_rwlock_unlock(&lock);
		truth_rest(rest);
		pthread_rwlock_rdlock(&lock);
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_rwlock_unlock(&lock);
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
	pthread_rwlockattr_t attr;

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A reader-writer lock: 50 % target writing, 30 % reading.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	if (workers < 1 || workers > TRUTH_MAX_SLOTS)
		truth_die("--workers: 1 to %d", TRUTH_MAX_SLOTS);
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attr);
	truth_spawn(process, NULL);
	return truth_run();
}
