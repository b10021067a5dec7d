/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long threads waited for disks, and for whom meanwhile: who calls fsync() waits for a thread
 * of the kernel that writes the journal, which is not recorded but waits for the disk itself.
 */
#ifndef SCOZ_WHATIF_THROUGH_H
#define SCOZ_WHATIF_THROUGH_H

#include "trace/trace.h"

struct through {
	double waited; /* threads at a time, on average: a device woke them, or was busy meanwhile
			*/
	/* Of that most ended by a thread of which nothing else is known; "" and 0: by none. */
	char name[32];
	double share; /* 0 to 1 */
};
int through_find(const struct trace *t, struct through *ret, struct error *err);

#endif
