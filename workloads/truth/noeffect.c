// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The target is hot but never in the way: the consumer computes it for 80 % of the time that the
 * producer needs for a record. Target: 0. Other (the producer): up to 20 %.
 */
#include "stages.h"

static struct truth_channel channel;

static void producer(void *arg)
{
	uint64_t other = truth_share(100);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_put(&channel, record);
	}
}

static void consumer(void *arg)
{
	uint64_t target = truth_share(80);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_get(&channel, record);
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		STAGES_OPTIONS,
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Producer (100 %) and consumer (80 % target).",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	truth_channel(&channel);
	truth_spawn(producer, NULL);
	truth_spawn(consumer, NULL);
	return truth_run();
}
