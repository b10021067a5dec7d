// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A producer (70 % target, 30 % rest) and a consumer (60 %) joined by a channel. The target pays
 * off until the producer takes as long as the consumer: 40 %. The consumer's work is slack.
 */
#include "stages.h"

static struct truth_channel channel;

static void producer(void *arg)
{
	uint64_t target = truth_share(70), rest = truth_share(30);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_put(&channel, record);
	}
}

static void consumer(void *arg)
{
	uint64_t other = truth_share(60);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_get(&channel, record);
		truth_other(truth_cut(TRUTH_OTHER, other));
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
			   .about = "Producer (70 % target + 30 %) and consumer (60 %).",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	truth_channel(&channel);
	truth_spawn(producer, NULL);
	truth_spawn(consumer, NULL);
	return truth_run();
}
