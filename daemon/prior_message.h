/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scozd and scozd-replay say to one another, each in one datagram. */
#ifndef SCOZD_PRIOR_MESSAGE_H
#define SCOZD_PRIOR_MESSAGE_H

#include "daemon/expectation.h"

#define PRIOR_MOST 512 /* of each kind */

enum prior_type {
	PRIOR_BEGIN, /* to it: record */
	PRIOR_END,   /* to it: that was enough, replay */
	PRIOR_READY, /* from it: it records; the type alone */
	PRIOR_EXPECTED,
	PRIOR_AWAITED,
	PRIOR_DONE, /* there is no more, and why if there was nothing */
};

struct prior_order {
	enum prior_type type;
	int pid;
};

struct prior_message {
	enum prior_type type;
	union {
		struct expectation expected;
		struct awaited awaited;
		struct prior_done {
			struct profile_replay replay; /* why and through: in those */
			char why[256], through[32];
		} done;
	};
};

/*
 * Can it be believed so far that nothing is read beyond its end, and numbers are numbers? Whoever
 * sent it has read what anybody may have named. @n_points: progress points of the run.
 */
bool prior_message_is_sound(const struct prior_message *m, size_t size, size_t n_points);

#endif
