/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings that the patched kernel was told of. It forgets those of a process, or replaces one that
 * begins at the same place: so one that others have taken the place of is told anew, cut off, or as
 * nothing.
 */
#ifndef SCOZ_KERNEL_TOLD_H
#define SCOZ_KERNEL_TOLD_H

#include "base/base.h"
#include "base/hash_index.h"

#include <linux/scoz.h>
#include <pthread.h>

struct told {
	pthread_mutex_t lock;
	struct scoz_mapping *v;
	size_t n, cap;
	struct hash_index by_process;
};

/* 0, or a negative errno: the kernel does not have it. */
typedef int (*tell_fn)(const struct scoz_mapping *m, void *arg);

void told_init(struct told *t);
void told_deinit(struct told *t);
/* What @tell returns. */
int told_put(struct told *t, const struct scoz_mapping *m, tell_fn tell, void *arg);
/* @binary is mapped from @start to @end in process @pid: what others had there is gone. */
void told_withdraw(struct told *t, uint32_t pid, uint32_t binary, uint64_t start, uint64_t end,
		   tell_fn tell, void *arg);
/* The kernel has forgotten that process. */
void told_forget(struct told *t, uint32_t pid);

#endif
