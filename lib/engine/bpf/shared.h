/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs and their loader share besides the delay page. */
#ifndef SCOZ_BPF_SHARED_H
#define SCOZ_BPF_SHARED_H

#include "engine/span_bins.h"
#include <linux/scoz.h>

#define BPF_MAX_SEGMENTS 6 /* executable mappings of one binary in one process */
#define BPF_TRACEPOINTS	 8 /* progress points that are tracepoints */
#define BPF_HIT_LOG	 1024

struct bpf_target {
	__u32 n_parts;
	__u32 kernel;  /* some part is kernel text */
	__u32 user;    /* some part is user text */
	__u32 syscall; /* whatever runs in this system call, its number + 1; 0: not one */
	struct scoz_part part[SCOZ_MAX_PARTS];
};

/* Of one core: involved tasks in the target, since the start. */
struct target_time {
	__u64 ran;    /* ns by samples, stops left out */
	__u64 waited; /* ns, waits.bpf.h */
	__u64 look;   /* ns that the wait of task look_pid stands for, if it was in the target */
	__u64 look_pid;
	__u64 shared; /* ns inserted for what strangers ran (account/share.h) */
	__u64 pad[3]; /* a cache line each */
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

#define SPAN_ROLE_BEGIN 1
#define SPAN_ROLE_END	2

struct progress_config {
	char comm[16]; /* empty: any command */
	__u32 role;    /* SPAN_ROLE_*; 0: no end of a latency */
	__u32 slot;    /* of a latency's ends: where it is counted */
};

struct span_key {
	__u32 tid, slot;
};

struct span_begin {
	__u64 time;  /* virtual */
	__u32 plain; /* no speedup was in force */
	__u32 pad;
};

/* A task that reached a point but has another name. */
#define BPF_MAX_OTHERS 64

struct other_task {
	__u32 point;
	char comm[16];
};

struct hit_record {
	__s64 delay; /* G after the hit */
	__u64 time;
	__u32 cpu;
	__u32 pad;
};

#endif
