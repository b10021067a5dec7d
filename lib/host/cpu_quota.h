/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU quotas (cpu.max, cpu.cfs_quota_us) of the cgroups that processes are in, and above. A group
 * may go with the process that it was made for: what was read of it last is what it was, so it has
 * to be read now and then while it is there.
 */
#ifndef SCOZ_CPU_QUOTA_H
#define SCOZ_CPU_QUOTA_H

#include "base/base.h"

struct cpu_quotas;

struct cpu_quotas *cpu_quotas_create(void);
void cpu_quotas_destroy(struct cpu_quotas *q);
/* Groups without a quota, and those that are known, are passed over. */
void cpu_quotas_add_process(struct cpu_quotas *q, int pid);

struct cpu_quota {
	/* Seconds since each is known, summed over cores, that they kept tasks from running. */
	double throttled_s;
	/*
	 * CPUs that the tightest allows; 0: there is none, or groups beside each other have one.
	 * Where all of one have gone since cpu_quotas_begin(), what it was.
	 */
	double cpus;
};
/* As it is now; opens two files a group. */
struct cpu_quota cpu_quotas_read(struct cpu_quotas *q);
/* ... and from now on those that have gone say nothing. */
struct cpu_quota cpu_quotas_begin(struct cpu_quotas *q);
/* "/sys/fs/cgroup/a: 0.5 CPUs", of the tightest, or of the last one; NULL: no quota. To be freed.
 */
char *cpu_quotas_text(struct cpu_quotas *q);

#endif
