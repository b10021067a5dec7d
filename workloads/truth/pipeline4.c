// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four stages joined by channels; the second is the slowest: 60 % target and 40 % rest, the others
 * 20 % each. With a core for each the target pays off one to one, up to 60 %. With two cores
 * it depends on which stages share one: measure.
 */
#include "stages.h"

static struct truth_channel channel[3];

static void stage(void *arg)
{
	int nr = *(int *)arg;
	uint64_t target = truth_share(60), rest = truth_share(40), other = truth_share(20);
	char record[RECORD] = "";

	for (;;) {
		if (nr > 0)
			truth_get(&channel[nr - 1], record);
		if (nr == 1) {
			truth_target(truth_cut(TRUTH_TARGET, target));
			truth_rest(rest);
		} else {
			truth_other(truth_cut(TRUTH_OTHER, other));
		}
		if (nr < 3)
			truth_put(&channel[nr], record);
		else
			truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static int nr[] = { 0, 1, 2, 3 };
	static const struct truth_opt opt[] = {
		STAGES_OPTIONS,
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Four stages: 20 %, 60 % target + 40 %, 20 %, 20 %.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	for (int i = 0; i < 3; i++)
		truth_channel(&channel[i]);
	for (int i = 0; i < 4; i++)
		truth_spawn(stage, &nr[i]);
	return truth_run();
}
