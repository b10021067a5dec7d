/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_KERNEL_ENGINE_H
#define SCOZ_KERNEL_ENGINE_H

#include "engine/backend.h"
#include "engine/kernel/told.h"

#include <linux/audit.h>

/* The numbers of system calls are those of this architecture. */
#if defined(__x86_64__)
#define KERNEL_NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define KERNEL_NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "which architecture has these numbers of system calls?"
#endif

struct kernel_engine {
	struct engine base;
	int fd; /* of the session */
	bool by_node;
	uint64_t length, features;
	int *sites; /* perf events on tracepoints, one a CPU and site */
	size_t n_sites, cap_sites;
	struct told told;
};

static inline struct kernel_engine *kernel_engine(struct engine *e)
{
	return (struct kernel_engine *)e;
}

/* points.c */
int kernel_add_site(struct engine *e, const struct engine_point *p, int id, bool first,
		    struct error *err);
int kernel_count_user(struct engine *e, uid_t uid);

#endif
