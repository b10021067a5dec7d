// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two processes with their target in the kernel (kernel:scoz_burn_turns, from the module in
 * module/, which must be loaded), in three shapes:
 *
 *   (default)   a barrier, as in barrier2: 60 % in the kernel (target) + 40 %, and 50 % (other)
 *   --mutex     each 60 % in the kernel under one mutex + 40 % outside: the others sleep meanwhile
 *   --spinlock  the same under a spin lock: the others spin meanwhile, and that is not the target
 *
 * The knob shortens what the kernel is asked to do.
 */
#include "../truth/truth.h"
#include "scoz_burn.h"

#include <sys/ioctl.h>

static long use_mutex, use_spinlock;
static unsigned long command = SCOZ_BURN_PLAIN;
static pthread_barrier_t *barrier;
static double turns_per_us;
static int device;

static TRUTH_NOIPA void burn(uint64_t turns)
{
	uint64_t most = use_spinlock ? SCOZ_BURN_MAX_SPIN : SCOZ_BURN_MAX_TURNS;

	while (turns) {
		uint64_t n = turns < most ? turns : most;

		if (ioctl(device, command, n))
			truth_die("%s: %s", SCOZ_BURN_DEVICE, strerror(errno));
		turns -= n;
	}
}

static void calibrate(void)
{
	enum { RUNS = 25, TURNS = 100000 };
	double rate[RUNS];

	for (int i = 0; i < RUNS; i++) {
		uint64_t t = truth_now();

		burn(TURNS);
		rate[i] = TURNS * 1000.0 / (double)(truth_now() - t);
	}
	qsort(rate, RUNS, sizeof(*rate), truth_compare);
	turns_per_us = rate[RUNS / 2];
	if (truth.verbose)
		fprintf(stderr, "%s: %.1f turns/us in the kernel\n", truth.name, turns_per_us);
}

static uint64_t in_kernel(int pct)
{
	return (uint64_t)(turns_per_us * truth.iter_us * pct / 100);
}

static void first(void *arg)
{
	uint64_t target = in_kernel(60), rest = truth_share(40);

	(void)arg;
	for (;;) {
		burn(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		pthread_barrier_wait(barrier);
		truth_progress(0);
	}
}

static void second(void *arg)
{
	uint64_t other = truth_share(50);

	(void)arg;
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_barrier_wait(barrier);
	}
}

static void locker(void *arg)
{
	uint64_t target = in_kernel(60), other = truth_share(40);
	int slot = (int)(intptr_t)arg;

	for (;;) {
		burn(truth_cut(TRUTH_TARGET, target));
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_progress(slot);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt options[] = {
		{ "mutex", true, &use_mutex, "both in the kernel, under a mutex" },
		{ "spinlock", true, &use_spinlock, "both in the kernel, under a spin lock" },
		{ NULL, false, NULL, NULL },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "The target in the kernel: at a barrier, or under a lock.",
			   .iter_us = 1000,
			   .opt = options,
		   });
	if (use_mutex)
		command = SCOZ_BURN_MUTEX;
	if (use_spinlock)
		command = SCOZ_BURN_SPINLOCK;
	device = open(SCOZ_BURN_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		truth_die("%s: %s: build workloads/kernel/module for this kernel and load it "
			  "(insmod scoz_burn.ko), as root",
			  SCOZ_BURN_DEVICE, strerror(errno));
	calibrate();
	if (command == SCOZ_BURN_PLAIN) {
		barrier = truth_barrier(2);
		truth_spawn(first, NULL);
		truth_spawn(second, NULL);
	} else {
		truth_spawn(locker, (void *)0);
		truth_spawn(locker, (void *)1);
	}
	return truth_run();
}
