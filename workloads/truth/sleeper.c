// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A producer paced by a timer: it computes the target (40 %), sleeps for 60 % of the iteration and
 * hands a record to a consumer (30 %). Relative sleep: s % of the target is 0.4 s % of the run
 * time. With --absolute it sleeps until the next multiple of the iteration: nothing helps (0). With
 * --from-now it asks for the same time as without, by a point in time (as Python does): 0.4 s %.
 */
#include "stages.h"

static long absolute, from_now;
static struct truth_channel channel;

static void sleep_ns(int flags, uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000ULL),
		.tv_nsec = (long)(ns % 1000000000ULL),
	};

	clock_nanosleep(CLOCK_MONOTONIC, flags, &ts, NULL);
}

static void producer(void *arg)
{
	uint64_t target = truth_share(40), iter = (uint64_t)(truth.iter_us * 1000);
	uint64_t next = truth_now();
	static char record[RECORD];

	(void)arg;
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		if (absolute)
			sleep_ns(TIMER_ABSTIME, next += iter);
		else if (from_now)
			sleep_ns(TIMER_ABSTIME, truth_now() + iter * 6 / 10);
		else
			sleep_ns(0, iter * 6 / 10);
		truth_put(&channel, record);
	}
}

static void consumer(void *arg)
{
	uint64_t other = truth_share(30);
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
		{ "absolute", true, &absolute, "sleep until a time, not for a time" },
		{ "from-now", true, &from_now, "sleep for a time by saying until when" },
		STAGES_OPTIONS,
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A producer with a timer (40 % target, 60 % asleep).",
			   .iter_us = 2000,
			   .opt = opt,
		   });
	truth_channel(&channel);
	truth_spawn(producer, NULL);
	truth_spawn(consumer, NULL);
	return truth_run();
}
