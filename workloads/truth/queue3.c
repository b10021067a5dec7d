// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A producer and two workers around a queue of eight, with a mutex and two conditions: 30 % of an
 * iteration in the producer, 70 % in whichever worker gets it, of that 60 % target. With two cores
 * all three compete for them. --producer: the producer's part is the target.
 */
#include "truth.h"

#define ROOM 8

static long hot_producer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int queued;

static void take_one(int change, int never, pthread_cond_t *wait, pthread_cond_t *tell)
{
	pthread_mutex_lock(&lock);
	while (queued == never)
		pthread_cond_wait(wait, &lock);
	queued += change;
	pthread_cond_signal(tell);
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	uint64_t most = truth_share(60), rest = truth_share(10);
	int nr = (int)(intptr_t)arg;

	truth_pin(nr);
	for (;;) {
		take_one(-1, 0, &filled, &emptied);
		if (hot_producer)
			truth_other(truth_cut(TRUTH_OTHER, most));
		else
			truth_target(truth_cut(TRUTH_TARGET, most));
		truth_rest(rest);
		truth_progress(nr);
	}
	return NULL;
}

static void process(void *arg)
{
	uint64_t part = truth_share(30);

	(void)arg;
	for (intptr_t i = 1; i <= 2; i++)
		truth_thread(worker, (void *)i);
	for (;;) {
		if (hot_producer)
			truth_target(truth_cut(TRUTH_TARGET, part));
		else
			truth_other(truth_cut(TRUTH_OTHER, part));
		take_one(1, ROOM, &emptied, &filled);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "producer", true, &hot_producer, "the target is what the producer does" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A producer (30 %), a queue, and two workers (70 %).",
			   .iter_us = 1500,
			   .opt = opt,
		   });
	truth_spawn(process, NULL);
	return truth_run();
}
