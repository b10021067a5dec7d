/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel's type information (BTF) tells of what BPF programs can do there. */
#ifndef SCOZ_HOST_KERNEL_TYPES_H
#define SCOZ_HOST_KERNEL_TYPES_H

#include "base/base.h"

struct bpf_program;
struct btf;
struct kernel_asks;

/* Of the running kernel, which is asked, or else of what has been read. */
struct kernel_types {
	struct kernel_asks *asks;
	const struct btf *btf;
	struct btf *own; /* to be freed */
};

/* Of the running kernel. 0 or -errno, with the error set: it has none. */
int kernel_types_open(struct kernel_types *ret, struct error *err);
void kernel_types_close(struct kernel_types *t);

/* The id of what has this name and this BTF_KIND_; or not above 0. */
int kernel_types_find(const struct kernel_types *t, const char *name, int kind);

/* Has the kernel this tracepoint, for programs that read its arguments by type? */
bool kernel_has_tracepoint(const struct kernel_types *t, const char *name);

/* Will the kernel let @prog, of section "fentry/FUNCTION" or "fexit/FUNCTION", follow that
 * function? */
bool kernel_lets_follow(const struct kernel_types *t, const struct bpf_program *prog);

/*
 * Can programs at the tracepoint mm_filemap_map_pages go through the mappings of a process (Linux
 * 6.9)?
 */
bool kernel_tells_mappings(const struct kernel_types *t);

/* Where among a CPU's variables its preemption count is; 0: the kernel does not tell. */
uint64_t kernel_preempt_count(void);

#endif
