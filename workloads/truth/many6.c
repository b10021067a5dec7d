// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More tasks than cores, each on its own: 40 % target and 60 % rest, a unit of progress each time.
 * Processor time is what is short: 0.4 s. With --sleep each sleeps after an iteration, for twice
 * the given percentage of it at most, so that tasks come, go and change cores: from 0.4 s, while
 * the cores are never idle, down to the share of the target in computing and sleeping.
 */
#include "truth.h"

static long tasks = 6, sleep_pct;

static void task(void *arg)
{
	uint64_t target = truth_share(40), rest = truth_share(60);
	int nr = *(int *)arg;
	uint64_t random = 0x9e3779b97f4a7c15ULL * (uint64_t)(nr + 1);

	prctl(PR_SET_TIMERSLACK, 1UL);
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_progress(nr);
		if (sleep_pct) {
			double ns;
			struct timespec ts;

			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			ns = truth.iter_us * 1000 * (double)sleep_pct / 100 * 2 *
			     ((double)(random >> 40) / (1 << 24));
			ts.tv_sec = (time_t)(ns / 1e9);
			ts.tv_nsec = (long)(ns - (double)ts.tv_sec * 1e9);
			clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "tasks", false, &tasks, "how many tasks (6)" },
		{ "sleep", false, &sleep_pct, "mean sleep after an iteration, percent of it (0)" },
		{ 0 },
	};
	static int nr[TRUTH_MAX_SLOTS];

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Tasks for themselves: 40 % target + 60 %.",
			   .iter_us = 2000,
			   .opt = opt,
		   });
	if (tasks < 1 || tasks > TRUTH_MAX_SLOTS)
		truth_die("--tasks: 1 to %d", TRUTH_MAX_SLOTS);
	for (int i = 0; i < tasks; i++) {
		nr[i] = i;
		truth_spawn(task, &nr[i]);
	}
	return truth_run();
}
