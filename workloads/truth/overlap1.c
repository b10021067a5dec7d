// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waiting that computing overlaps: a timer is armed for the whole iteration, the target computed
 * (75 %) meanwhile, then the timer waited for. The timer decides: 0. With --after it is armed for
 * a quarter of the iteration when the target is done: 0.75 s.
 */
#include "truth.h"
#include <sys/timerfd.h>

static long after;

static void arm(int fd, double us)
{
	struct itimerspec its = {
		.it_value.tv_sec = (time_t)(us / 1e6),
		.it_value.tv_nsec = (long)(fmod(us, 1e6) * 1000),
	};

	if (timerfd_settime(fd, 0, &its, NULL))
		truth_die("cannot arm a timer: %s", strerror(errno));
}

static void process(void *arg)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t target = truth_share(75), ticks;

	(void)arg;
	if (fd < 0)
		truth_die("cannot make a timer: %s", strerror(errno));
	for (;;) {
		if (!after)
			arm(fd, truth.iter_us);
		truth_target(truth_cut(TRUTH_TARGET, target));
		if (after)
			arm(fd, truth.iter_us / 4);
		if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
			truth_die("cannot wait for a timer: %s", strerror(errno));
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "after", true, &after, "arm the timer when the target is done" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A timer for the iteration, and 75 % target meanwhile.",
			   .iter_us = 20000,
			   .opt = opt,
		   });
	truth_spawn(process, NULL);
	return truth_run();
}
