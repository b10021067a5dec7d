/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine can do for scoz: found out by trying, never by comparing kernel versions.
 * Files of /proc and /sys are read below `sysroot`, so that tests replay captured machines.
 */
#ifndef SCOZ_CAPABILITIES_H
#define SCOZ_CAPABILITIES_H

#include "base/base.h"

/* kernel.perf_event_max_sample_rate that scozd wants: below, cores that idle are throttled. */
#define CAPABILITY_SAMPLE_RATE 1000000

enum capability_status {
	CAPABILITY_OK,
	CAPABILITY_LIMITED, /* works, with a restriction that @effect tells */
	CAPABILITY_MISSING,
};

struct capability {
	const char *id; /* stable, for programs: "privileges", "bpf-load", ... */
	enum capability_status status;
	bool required; /* without it scozd cannot do its main job */
	char *found;   /* what there is */
	char *effect;  /* what follows from it; NULL when all is well */
	char *remedy;  /* the command that mends it; NULL when there is none */
};

struct capabilities {
	struct capability *list;
	size_t n, cap;
	bool can_run; /* nothing that is required is missing */
};

/* What cannot be replayed from files: 0 or 1 on success, else a negative errno. */
struct capability_probes {
	int (*load_program)(void);	      /* a trivial BPF program */
	int (*trace)(const char *tracepoint); /* load a trivial tp_btf program */
	int (*follow)(const char *function);  /* load a trivial fentry program */
	int (*helper)(int type, int helper);  /* 1: the kernel has the BPF helper, 0: not */
	int (*cpu_clock)(int cpu);	      /* open a cpu-clock event on a CPU */
	int (*patched)(void);		      /* the kernel carries the scoz patches */
	int (*module)(void);		      /* scoz_module_probe() */
};
extern const struct capability_probes capability_probes_real;

void capabilities_probe(const struct capability_probes *probes, struct capabilities *ret);
void capabilities_free(struct capabilities *c);
const char *capability_status_name(enum capability_status status); /* "ok", ... */

#endif
