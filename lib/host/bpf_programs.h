/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all loaders of BPF programs need: libbpf's words for error messages, iterators. */
#ifndef SCOZ_HOST_BPF_PROGRAMS_H
#define SCOZ_HOST_BPF_PROGRAMS_H

#include "base/base.h"

struct bpf_program;

/* From now on libbpf's and the verifier's words are kept, for the whole program. */
void bpf_keep_log(void);
/* The line of them that says most, without the newline; what was kept is dropped. Static. */
const char *bpf_log_reason(void);

/* They could not be loaded, with -errno @r: what that means, and what to do. Returns @r. */
int bpf_not_loaded(int r, struct error *err);
/* Before programs are loaded: 0, or -ENOMEM when that would take minutes (kernel_asks.h). */
int bpf_may_load(struct error *err);

/*
 * Would the kernel take a program of this type (enum bpf_prog_type)? 0 or -errno. For
 * BPF_PROG_TYPE_TRACING: with this enum bpf_attach_type, for the function or tracepoint with this
 * id in its BTF; otherwise both are 0.
 */
int bpf_try_load(int program_type, int attach_type, int btf_id);

/* The same of a program that calls function @func of a module, whose types are @types. */
int bpf_try_call(int program_type, int attach_type, int btf_id, int types, int func);

/* Runs an iterator over all that it iterates over. */
int bpf_run_iterator(const struct bpf_program *iterator);

#endif
