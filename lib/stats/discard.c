// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/discard.h"

static const struct {
	const char *name, *remedy;
} reasons[DISCARDS] = {
	[DISCARD_LOST] = { "lost", "samples were lost: lower --frequency" },
	[DISCARD_STALLED] = { "stalled", "scozd itself did not get on: is the machine out of "
					 "memory, or was it stopped?" },
	[DISCARD_CAPPED] = { "capped", "cores would have stood still too long, or tasks slept on "
				       "before they had paid: try lower speedups" },
	[DISCARD_CLOCK] = { "clock", "the clock of the machine jumped: run again" },
	[DISCARD_FEW_VISITS] = { "few_visits",
				 "the progress point was reached too rarely: run longer, or choose "
				 "a point that is reached more often, or more evenly" },
	[DISCARD_TRUTH] = { "truth", NULL },
	[DISCARD_COMMAND] = { "command failed",
			      "it ended with an error: run it alone and see why" },
	[DISCARD_UNSETTLED] = { "unsettled", NULL },
	[DISCARD_BURSTS] = { "bursts", NULL },
	[DISCARD_LEDGER] = { "ledger", NULL },
	[DISCARD_CONTROL] = { "control", NULL },
	[DISCARD_TORN] = { "torn", "a latency's BEGIN or END was just being counted, so what was "
				   "counted does not belong together: run longer" },
	[DISCARD_STEAL] = { "steal", "the host took the CPU away: use a quieter machine" },
	[DISCARD_NO_HITS] = { "no_hits", "the target was not running: profile while it is" },
};

const char *discard_name(enum discard why)
{
	return reasons[why].name;
}

enum discard discard_by_name(const char *name)
{
	if (!name)
		return KEPT;
	for (enum discard i = KEPT + 1; i < DISCARD_OTHER; i++) {
		if (!strcmp(reasons[i].name, name))
			return i;
	}
	return DISCARD_OTHER;
}

const char *discard_remedy(enum discard why)
{
	return reasons[why].remedy;
}
