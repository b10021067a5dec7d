/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs and their loader share besides the delay page. */
#ifndef SCOZ_BPF_SHARED_H
#define SCOZ_BPF_SHARED_H

#include <linux/types.h>

#define BPF_MAX_RANGES	 16384 /* address ranges of one target, all binaries together */
#define BPF_MAX_PARTS	 8     /* binaries of one target */
#define BPF_MAX_SEGMENTS 6     /* executable mappings of one binary in one process */
#define BPF_MAX_POINTS	 32    /* progress points, both ends of a latency counted */
#define BPF_MAX_FRAMES	 127
#define BPF_TRACEPOINTS	 8	  /* of them tracepoints */
#define BPF_LATENCY_BINS 512	  /* of the hit-to-paid histograms */
#define BPF_LATENCY_BIN	 20000ULL /* ns; the last bin holds the rest */
#define BPF_HIT_LOG	 1024

struct target_range {
	__u64 start, end;
};

/* The ranges of one target in one binary. */
struct target_part {
	__u32 binary;	/* id in `spaces`; 0: kernel */
	__u32 first, n; /* in the array of ranges, sorted, disjoint */
	__u32 pad;
	__u64 code_vaddr; /* lowest executable address in the file */
	__u64 dev, ino;	  /* as the kernel knows the file; ino 0: look only in `spaces` */
};

struct bpf_target {
	__u32 n_parts;
	__u32 kernel; /* some part is kernel text */
	__u32 user;   /* some part is user text */
	__u32 pad;
	struct target_part part[BPF_MAX_PARTS];
};

struct space_key {
	__u32 tgid, binary;
};

struct segment {
	__u64 start, end, bias; /* address = vaddr + bias */
};

struct space {
	__u32 n;
	__u32 pad;
	struct segment seg[BPF_MAX_SEGMENTS];
};

#define BPF_POINTS_PER_SYSCALL 8

struct syscall_points {
	__u32 n;
	__u32 point[BPF_POINTS_PER_SYSCALL];
};

struct progress_config {
	char comm[16]; /* empty: any command */
};

/* One progress point on one core; two cache lines apart from its neighbours'. */
struct progress_count {
	__u64 visits;
	__u64 last_virtual; /* now - A(c) at the last visit, ns */
	__u64 last_time;
	__u64 sum_time; /* of all visits, for Little's law (wraps; differences count) */
	__u64 pad[4];
};

struct hit_record {
	__s64 delay; /* G after the hit */
	__u64 time;
	__u32 cpu;
	__u32 pad;
};

/* Of one core: how long after a hit its stop began and its debt was paid. */
struct latency_histogram {
	__u32 begun[BPF_LATENCY_BINS];
	__u32 paid[BPF_LATENCY_BINS];
};

#endif
