/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU quotas (cpu.max, cpu.cfs_quota_us) of the cgroups that processes are in, and above. */
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
	/* CPUs that the tightest allows; 0: there is none, or groups beside each other have one. */
	double cpus;
};
/* As it is now; opens two files a group. */
struct cpu_quota cpu_quotas_read(const struct cpu_quotas *q);
/* "/sys/fs/cgroup/a/cpu.max: 50000 100000", of the tightest; NULL: no quota. To be freed. */
char *cpu_quotas_text(const struct cpu_quotas *q);

#endif
