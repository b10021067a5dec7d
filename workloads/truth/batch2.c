// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adaptive batching, where a faster target makes the program slower. A producer makes items (90 %
 * each) and flushes what it has (36 %, the other knob) as soon as the consumer has nothing to do,
 * or at eight items; the consumer computes the target (100 %) for each item. The slow consumer is
 * what everything waits for, and the flush is shared by eight; a fast one is idle after each item,
 * and gets each with a flush of its own: 126 %. In between there is a little to gain.
 */
#include "stages.h"

#define MAX_BATCH 8

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int batch; /* flushed, not yet taken */
	bool idle;
} * desk;

static bool want_flush(int items)
{
	bool yes;

	pthread_mutex_lock(&desk->lock);
	while (items == MAX_BATCH && desk->batch)
		pthread_cond_wait(&desk->changed, &desk->lock);
	yes = items == MAX_BATCH || (desk->idle && !desk->batch);
	pthread_mutex_unlock(&desk->lock);
	return yes;
}

static void producer(void *arg)
{
	uint64_t rest = truth_share(90), other = truth_share(36);
	int items = 0;

	(void)arg;
	for (;;) {
		truth_rest(rest);
		if (!want_flush(++items))
			continue;
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_mutex_lock(&desk->lock);
		desk->batch = items;
		pthread_cond_signal(&desk->changed);
		pthread_mutex_unlock(&desk->lock);
		items = 0;
	}
}

static void consumer(void *arg)
{
	uint64_t target = truth_share(100);

	(void)arg;
	for (;;) {
		int items;

		pthread_mutex_lock(&desk->lock);
		desk->idle = true;
		while (!desk->batch)
			pthread_cond_wait(&desk->changed, &desk->lock);
		desk->idle = false;
		items = desk->batch;
		desk->batch = 0;
		pthread_cond_signal(&desk->changed);
		pthread_mutex_unlock(&desk->lock);
		for (int i = 0; i < items; i++) {
			truth_target(truth_cut(TRUTH_TARGET, target));
			truth_progress(0);
		}
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Batches that shrink when the consumer (100 % target) is fast.",
			   .iter_us = 4000,
		   });
	desk = truth_alloc_shared(sizeof(*desk));
	truth_mutex_init(&desk->lock);
	truth_cond_init(&desk->changed);
	truth_spawn(producer, NULL);
	truth_spawn(consumer, NULL);
	return truth_run();
}
