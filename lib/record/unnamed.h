/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples in code that was made a moment ago, each of which waits for its name by itself, while
 * others go on.
 */
#ifndef SCOZ_RECORD_UNNAMED_H
#define SCOZ_RECORD_UNNAMED_H

#include "record/symbols.h"

/* Those of one event; all but their stack is known. */
struct unnamed_event {
	struct symbols_later *later;
	uint64_t since, try_at; /* try_at: not before */
	bool late;		/* what tells its name is written seldom */
	struct record_sample sample[2];
	int n;
};

struct unnamed {
	struct unnamed_event *v;
	size_t n, cap;
	bool impatient; /* those whose names come late do without, as others do */
};

/* Takes @later over; valid until the next one is added. */
struct unnamed_event *unnamed_add(struct unnamed *u, struct symbols_later *later);
/*
 * Gives @fn those whose stacks are known now, or that have waited for so long that it is enough.
 * @now: all of them. Returns how many wait for what is being read.
 */
size_t unnamed_settle(struct unnamed *u, struct symbols *s, bool now,
		      void (*fn)(struct unnamed_event *e, bool broken, void *arg), void *arg);
/* Those whose names come late are looked for now, not only from time to time. */
void unnamed_try_now(struct unnamed *u);
void unnamed_free(struct unnamed *u);

#endif
