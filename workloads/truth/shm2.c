// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A producer (60 %) and a consumer (70 % target, 30 % rest) joined by a ring in shared memory;
 * who finds it full or empty sleeps on a futex. The target pays off until the consumer takes as
 * long as the producer: 40 %. The other's work is slack.
 */
#include "stages.h"

static struct truth_channel channel;

static void producer(void *arg)
{
	uint64_t other = truth_share(60);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_put(&channel, record);
	}
}

static void consumer(void *arg)
{
	uint64_t target = truth_share(70), rest = truth_share(30);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_get(&channel, record);
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Producer (60 %), consumer (70 % target + 30 %), a futex ring.",
			   .iter_us = 1000,
		   });
	via_shm = 1;
	truth_channel(&channel);
	truth_spawn(producer, NULL);
	truth_spawn(consumer, NULL);
	return truth_run();
}
