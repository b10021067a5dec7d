/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that descend from one, whatever session or process group they went to. */
#ifndef SCOZ_RUN_DESCENDANTS_H
#define SCOZ_RUN_DESCENDANTS_H

#include "base/base.h"

struct descendant {
	int pid, parent, group;
	char state;	  /* as in /proc/PID/stat */
	uint64_t started; /* clock ticks since boot: tells it from a later process of that number */
};

struct descendants {
	struct descendant *list; /* by pid */
	size_t n;
};

/*
 * All that live now, but neither zombies nor those in @except (NULL: none) and what descends from
 * them. Orphans are found when this process is a subreaper. Free with descendants_free().
 */
void descendants_of(int root, const struct descendants *except, struct descendants *ret);
/* ... of this process. */
void descendants_find(const struct descendants *except, struct descendants *ret);
void descendants_free(struct descendants *d);
/* Sends @sig to that very process, never to another that got its number. 0 or -errno. */
int descendant_signal(const struct descendant *d, int sig);

#endif
