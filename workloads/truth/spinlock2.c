// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads and a spin lock of the program's own: the target (70 %) inside, other work (30 %)
 * outside. Who waits keeps its core, and the kernel sees nothing of it. A unit of progress is one
 * thread's iteration, in which the lock is taken --turns times.
 */
#include "truth.h"

static long turns = 1;
static pthread_spinlock_t lock;

static void *worker(void *arg)
{
	uint64_t target = truth_share(70) / turns, other = truth_share(30) / turns;
	int nr = (int)(intptr_t)arg;

	truth_pin(nr);
	for (;;) {
		for (long i = 0; i < turns; i++) {
			pthread_spin_lock(&lock);
			truth_target(truth_cut(TRUTH_TARGET, target));
			pthread_spin_unlock(&lock);
			truth_other(truth_cut(TRUTH_OTHER, other));
		}
		truth_progress(nr);
	}
	return NULL;
}

static void process(void *arg)
{
	(void)arg;
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	truth_thread(worker, (void *)1);
	worker(NULL);
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "turns", false, &turns, "how often an iteration takes the lock (1)" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Threads and a spin lock: 70 % target inside, 30 % outside.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	if (turns < 1)
		truth_die("--turns: at least 1");
	truth_spawn(process, NULL);
	return truth_run();
}
