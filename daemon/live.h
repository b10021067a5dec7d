/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of each window as it is complete, with the best that is known by then. */
#ifndef SCOZD_LIVE_H
#define SCOZD_LIVE_H

#include "daemon/trials.h"
#include "stats/stats.h"

/* All windows of the run so far, and the target of the last one, which is new. */
struct live {
	const struct session *s;
	const struct trials *trials;
	const struct profile_window *windows;
	size_t n;
	uint32_t units; /* treated windows kept */
	int target;
};
void live_window(const struct live *l);
/* That no window can begin yet, and for what it waits. */
void live_waits(const struct session *s, const char *for_what);
/* What all of it comes to: a line for each progress point, without full stops; NULL: nothing was
 * estimated. To be freed. */
char *live_conclusion(const struct live *l);
/* A verdict that more windows will tell (stats/unjudged.h). */
struct awaited_verdict {
	int trial; /* that can be measured now */
	enum doubt doubt;
	double more_s; /* NAN: nobody knows */
};
/* Of those the one with the fewest rounds; false: there is none. */
bool live_awaited(const struct live *l, struct awaited_verdict *ret);

#endif
