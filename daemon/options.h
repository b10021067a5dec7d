/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scozd's command line: docs/man/scozd.8. */
#ifndef SCOZD_OPTIONS_H
#define SCOZD_OPTIONS_H

#include "base/base.h"
#include "progress/point.h"
#include <linux/scoz.h>

enum granularity { GRANULARITY_AUTO, GRANULARITY_LINE, GRANULARITY_FUNCTION };

struct options {
	struct progress_spec *points;
	size_t n_points, cap_points;
	struct target *targets;
	size_t n_targets, cap_targets;
	bool together; /* they are one target */
	const char **binary_scope, **source_scope;
	size_t n_binary_scope, cap_binary_scope, n_source_scope, cap_source_scope;
	double *speedups; /* 0 to 1, without 0 */
	size_t n_speedups, cap_speedups;
	bool default_speedups; /* none was named */
	int *pids;	       /* --pid */
	size_t n_pids, cap_pids;
	const char **cgroups;
	size_t n_cgroups, cap_cgroups;
	const char **kernel_scope; /* images, or "auto"; none: the kernel is no target */
	size_t n_kernel_scope, cap_kernel_scope;
	enum granularity granularity;
	bool end_to_end;
	int runs;
	double duration, warmup; /* seconds; 0: no limit */
	double precision;	 /* percentage points; 0: none */
	const char *engine;
	enum scoz_model model;
	double frequency; /* 0: chosen */
	const char *cpus;
	double max_delay_us;
	int max_share;
	const char *truth; /* NULL: no real windows */
	uint64_t seed;
	const char *output;
	const char *user;
	bool json;
	bool no_sources; /* no lines of source go into the profile */
	bool replay;	 /* the beginning is recorded and replayed */
	bool next;	 /* the best target is tried together with others */
	bool waive;
	bool waits;		    /* code is sped up with its waiting */
	bool unwind;		    /* by tables */
	bool no_perf_maps;	    /* nothing is read that programs tell of code they make */
	int batch;		    /* --batch; 0: samples are accounted one by one */
	uint32_t tune_on, tune_off; /* SCOZ_F_* */
	uint32_t bpf_off;	    /* ENGINE_*: ways of engine bpf */
	char **command;		    /* NULL: the whole system */
	/* The command line, each option in one string, "--duration=60"; the command's as they are.
	 */
	const char **arguments;
	size_t n_arguments, cap_arguments;
};

/* Exits by itself for --help, --version and usage errors (status 2). */
void options_parse(int argc, char **argv, struct options *ret);
const char *model_name(enum scoz_model model);
/* Progress points of each window: of end-to-end runs the run itself. */
static inline size_t options_progress(const struct options *o)
{
	return o->end_to_end ? 1 : o->n_points;
}
/* It is known who is profiled: who was named, and what these start. */
static inline bool options_know_members(const struct options *o)
{
	return o->command || o->n_pids || o->n_cgroups;
}
/* Path of the file that target @t names as its binary, malloc'ed; NULL: there is none. */
char *target_file(const struct target *t, const struct options *opt);

#endif
