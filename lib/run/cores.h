/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cores are profiled, and where their threads and memory belong (hwloc). */
#ifndef SCOZ_RUN_CORES_H
#define SCOZ_RUN_CORES_H

#include "base/base.h"

struct cores {
	void *topology; /* hwloc_topology_t */
	int *cpus;
	int n;
};

/*
 * All online CPUs but isolated and nohz_full ones, or exactly those of @list, which then must be
 * online.
 */
int cores_select(const char *list, struct cores *ret, struct error *err);
void cores_free(struct cores *c);
/* The memory node that is nearest to cores->cpus[i]; -1: that is not known. */
int cores_node(const struct cores *c, int i);
/* Binds the calling thread, and the memory it will touch, to cores->cpus[i]. */
int cores_bind_thread(const struct cores *c, int i);

#endif
