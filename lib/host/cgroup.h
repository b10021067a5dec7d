/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups: the processes of one as the profiled ones. */
#ifndef SCOZ_CGROUP_H
#define SCOZ_CGROUP_H

#include "base/base.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

/*
 * Calls @fn for every process in the cgroup at @path (absolute, or below /sys/fs/cgroup, or below
 * where version 2 is mounted beside version 1) and in those below it. -ENOENT when there is no such
 * cgroup or nothing in it.
 */
int cgroup_each_process(const char *path, int (*fn)(int pid, void *arg, struct error *err),
			void *arg, struct error *err);
/*
 * The number by which the kernel knows the cgroup at @path (as above). -ENOENT: there is none;
 * -ENOTSUP: it is of version 1, where a task is in many.
 */
int cgroup_id(const char *path, uint64_t *ret, struct error *err);

#endif
