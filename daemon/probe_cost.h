/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a visit of a progress point costs who makes it, where that is a probe in code: it traps into
 * the kernel, which then acts as the instruction would (a push, a jump, a nop), or lets the CPU
 * carry out a copy of it step by step. On virtual machines that can be ten times as dear.
 */
#ifndef SCOZD_PROBE_COST_H
#define SCOZD_PROBE_COST_H

#include "engine/engine.h"

struct probe_cost {
	double acted_ns, stepped_ns;
};
/* Before it is measured: what was seen elsewhere. */
#define PROBE_COST_USUAL ((struct probe_cost){ 1000, 2000 })

#define PROBE_COST_DEAR ((struct probe_cost){ 1500, 15000 })

/* Tries both on code of our own, in a child. What cannot be measured stays as it is. */
void probe_cost_measure(struct engine *e, struct probe_cost *ret);
/* Of the instruction at @offset of the file that @fd is of: does the kernel act as it would? */
bool probe_is_acted(int fd, uint64_t offset);

#endif
