// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four stages joined by pipes; the second is the slowest: 60 % target and 40 % rest, the others
 * 20 % each. With a core for each the target pays off one to one, up to 60 %. With two cores
 * it depends on which stages share one: measure.
 */
#include "stages.h"

static int fd[3][2];

static void stage(void *arg)
{
	int nr = *(int *)arg;
	uint64_t target = truth_share(60), rest = truth_share(40), other = truth_share(20);
	static char record[RECORD];

	for (;;) {
		if (nr > 0)
			truth_receive(fd[nr - 1][0], record, sizeof(record));
		if (nr == 1) {
			truth_target(truth_cut(TRUTH_TARGET, target));
			truth_rest(rest);
		} else {
			truth_other(truth_cut(TRUTH_OTHER, other));
		}
		if (nr < 3)
			truth_send(fd[nr][1], record, sizeof(record));
		else
			truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Four stages, pipes: 20 %, 60 % target + 40 %, 20 %, 20 %.",
			   .iter_us = 1000,
		   });
	for (int i = 0; i < 3; i++)
		truth_pipe(fd[i]);
	for (int i = 0; i < 4; i++)
		truth_spawn(stage, &i);
	return truth_run();
}
