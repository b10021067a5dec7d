// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A client that looks now and then: it computes 20 %, asks, and sleeps for a tenth of an iteration
 * as often as the answer is not there. The server computes it (70 % target), and only stores it:
 * nobody is woken when it is done. s % of the target is about 0.7 s % of the run time.
 */
#include "stages.h"

static struct {
	uint32_t asked __attribute__((aligned(64)));
	uint32_t asleep;
	uint32_t answered __attribute__((aligned(64)));
} * desk;

static void server(void *arg)
{
	uint64_t target = truth_share(70);
	uint32_t done = 0;

	(void)arg;
	for (;;) {
		while (__atomic_load_n(&desk->asked, __ATOMIC_SEQ_CST) == done)
			truth_await(&desk->asked, done, &desk->asleep);
		truth_target(truth_cut(TRUTH_TARGET, target));
		__atomic_store_n(&desk->answered, ++done, __ATOMIC_SEQ_CST);
	}
}

static void client(void *arg)
{
	uint64_t other = truth_share(20);
	struct timespec pause = { .tv_nsec = (long)(truth.iter_us * 100) };
	uint32_t asked = 0;

	(void)arg;
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_notify(&desk->asked, &desk->asleep);
		asked++;
		while (__atomic_load_n(&desk->answered, __ATOMIC_SEQ_CST) != asked)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	truth_init(
		argc, argv,
		&(struct truth_spec){
			.about = "A client that looks now and then (20 %), a server (70 % target).",
			.iter_us = 2000,
		});
	desk = truth_alloc_shared(sizeof(*desk));
	truth_spawn(server, NULL);
	truth_spawn(client, NULL);
	return truth_run();
}
