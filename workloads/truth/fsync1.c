// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes (the target), writes a block and makes it durable, again and again, as databases and
 * mail servers do. What the target gains is its share of both, which depends on the disk: measure
 * it with --alternate. --data: fdatasync instead of fsync; --workers N: so many processes, a file
 * each. --knob io leaves out that share of the I/O, evenly spread.
 */
#include "durable.h"

static long data_only, workers = 1;

static void process(void *arg)
{
	uint64_t target = truth_share(100);
	int nr = (int)(intptr_t)arg, fd = durable_file();

	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_io(fd, data_only);
		truth_progress(nr);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "data", true, &data_only, "fdatasync instead of fsync" },
		{ "workers", false, &workers, "processes, each with a file (1)" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Computing (the target), write and fsync in turn.",
			   .iter_us = 1000,
			   .opt = opt,
			   .processes = true,
		   });
	if (workers < 1 || workers > TRUTH_MAX_SLOTS)
		truth_die("--workers: 1 to %d", TRUTH_MAX_SLOTS);
	for (long i = 0; i < workers; i++)
		truth_spawn(process, (void *)(intptr_t)i);
	return truth_run();
}
