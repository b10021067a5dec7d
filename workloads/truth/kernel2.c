// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * barrier2 with its target in the kernel: the first process asks for random bytes (60 %) and
 * computes a rest (40 %), the second computes 50 %. The knob takes bytes away, and the kernel's
 * work is in proportion to them: the target is kernel:get_random_bytes_user, and pays off until
 * the first takes 50 %.
 */
#include "truth.h"
#include <sys/random.h>

#define CHUNK 65536

static pthread_barrier_t *barrier;
static double bytes_per_us;

static TRUTH_NOIPA void random_bytes(uint64_t n)
{
	static char buf[CHUNK];

	while (n) {
		ssize_t got = getrandom(buf, n < CHUNK ? n : CHUNK, 0);

		if (got <= 0)
			truth_die("cannot get random bytes: %s", strerror(errno));
		n -= (uint64_t)got;
	}
}

static void calibrate(void)
{
	enum { RUNS = 25 };
	double rate[RUNS];

	random_bytes(16 * CHUNK);
	for (int i = 0; i < RUNS; i++) {
		uint64_t t = truth_now();

		random_bytes(4 * CHUNK);
		rate[i] = 4.0 * CHUNK * 1000 / (double)(truth_now() - t);
	}
	qsort(rate, RUNS, sizeof(*rate), truth_compare);
	bytes_per_us = rate[RUNS / 2];
	if (truth.verbose)
		fprintf(stderr, "%s: %.1f random bytes/us\n", truth.name, bytes_per_us);
}

static void first(void *arg)
{
	uint64_t bytes = (uint64_t)(bytes_per_us * truth.iter_us * 60 / 100);
	uint64_t rest = truth_share(40);

	(void)arg;
	for (;;) {
		random_bytes(truth_cut(TRUTH_TARGET, bytes));
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

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A barrier: 60 % in the kernel (the target) + 40 %, and 50 %.",
			   .iter_us = 5000,
		   });
	calibrate();
	barrier = truth_barrier(2);
	truth_spawn(first, NULL);
	truth_spawn(second, NULL);
	return truth_run();
}
