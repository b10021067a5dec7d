/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching the programs of engine/bpf/kernel_points.bpf.h, whoever's they are. */
#ifndef SCOZ_KERNEL_POINTS_H
#define SCOZ_KERNEL_POINTS_H

#include "base/base.h"
#include "engine/bpf/kernel_points_shared.h"

struct bpf_link;
struct bpf_object;

struct kernel_points {
	struct bpf_object *obj;
	volatile uint32_t *tracepoint_point; /* the object's, once it is loaded */
	int n_tracepoints;
	bool syscalls; /* are followed */
};

/* Before the object is loaded: nothing is attached by itself, and nothing loaded unless @wanted. */
void kernel_points_prepare(struct bpf_object *obj, bool wanted);
/* The link is the caller's. */
int kernel_points_add_tracepoint(struct kernel_points *k, const char *name, uint32_t point,
				 struct bpf_link **ret, struct error *err);
/* *@ret NULL: they are followed already. */
int kernel_points_add_syscall(struct kernel_points *k, uint32_t number, uint32_t point,
			      struct bpf_link **ret, struct error *err);

#endif
