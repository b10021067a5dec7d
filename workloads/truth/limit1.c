// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A clock has a say: one process computes (50 % target, 30 % rest) and may do one unit an
 * iteration, so it sleeps for as long as it is ahead: with --rest 46 hardly at all. With --deadline
 * it works in small pieces until the iteration is over, as who draws frames or searches for a given
 * time. Nothing helps (0; --rest 60: 9), and nobody else is there to be stopped.
 */
#include "truth.h"

#define PIECES 10

static long deadline, rest_pct = 30;

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000ULL),
		.tv_nsec = (long)(ns % 1000000000ULL),
	};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static void limited(void *arg)
{
	uint64_t target = truth_share(50), rest = truth_share(rest_pct);
	uint64_t iter = (uint64_t)(truth.iter_us * 1000), next = truth_now();

	(void)arg;
	for (;;) {
		uint64_t now;

		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_progress(0);
		next += iter;
		now = truth_now();
		if (next > now)
			sleep_ns(next - now);
		else if (now - next > PIECES * iter)
			next = now; /* it cannot catch up any more */
	}
}

static void until_time_is_up(void *arg)
{
	uint64_t target = truth_share(50.0 / PIECES), rest = truth_share((double)rest_pct / PIECES);
	uint64_t iter = (uint64_t)(truth.iter_us * 1000);

	(void)arg;
	for (uint64_t next = truth_now() + iter;; next += iter) {
		do {
			truth_target(truth_cut(TRUTH_TARGET, target));
			truth_rest(rest);
		} while (truth_now() < next);
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "deadline", true, &deadline, "work until the iteration is over" },
		{ "rest", false, &rest_pct, "percent of an iteration for the rest (30)" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "One unit an iteration and no more (50 % target, 30 % rest).",
			   .iter_us = 2000,
			   .opt = opt,
		   });
	truth_spawn(deadline ? until_time_is_up : limited, NULL);
	return truth_run();
}
