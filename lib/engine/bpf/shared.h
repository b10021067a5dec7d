/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs and their loader share besides the delay page. */
#ifndef SCOZ_BPF_SHARED_H
#define SCOZ_BPF_SHARED_H

#include "engine/span_bins.h"
#include "engine/bpf/space.h"
#include "account/spread.h"
#include <linux/scoz.h>

#define BPF_STRETCHES 4 /* of code in one file */
#define BPF_HIT_LOG   1024

/* How a hit interrupts the other cores (module.bpf.h). */
enum bpf_kicks {
	KICK_NONE,
	KICK_AT_ONCE,
	KICK_BY_INTERRUPT, /* in an interrupt that the core sends to itself */
};

/* What a core interrupts itself with after a task switch (switched.bpf.h). */
enum bpf_self_interrupts {
	SELF_INTERRUPT_NONE,
	SELF_INTERRUPT_EVENT,  /* a perf event's wake-up */
	SELF_INTERRUPT_MODULE, /* scoz_kick() */
};

#define BPF_CLASS_ON	(1U << 0) /* running */
#define BPF_CLASS_IO	(1U << 1) /* waiting for block devices */
#define BPF_CLASS_OTHER (1U << 2) /* for other devices and timers */
#define BPF_CLASS_DISK	(1U << 3) /* of BPF_CLASS_IO: for the disk that is the target */
#define BPF_CLASS_PEER	(1U << 4) /* of BPF_CLASS_OTHER: for the network peer that is the target */

enum bpf_whose { BPF_ALL, BPF_COMM, BPF_CGROUP, BPF_RANK };

struct bpf_tasks {
	__u32 whose; /* enum bpf_whose */
	__u32 pad;
	__u64 number; /* of the rank, or the cgroup's */
	char comm[16];
};

/* How its begin and end are seen (account/spread.h, "Seen targets"). */
enum bpf_seen {
	BPF_SAMPLED, /* they are not */
	BPF_SEEN_TASKS,
	BPF_SEEN_SYSCALL,
	BPF_SEEN_FUNCTION, /* of a program */
};

/* Of a file: from one offset to another, and what is to be added to get from vaddr to offset. */
struct bpf_stretch {
	__u64 first, end, zero;
};

struct bpf_target {
	__u32 n_parts;
	__u32 kernel;  /* some part is kernel text */
	__u32 user;    /* some part is user text */
	__u32 n_calls; /* whatever runs in these system calls (call); 0: not one */
	__u32 classes; /* BPF_CLASS_*: what involved tasks do, whatever code it is; 0: by code */
	__u32 waits;   /* waits of the target are hits (account/wait.h) */
	__u32 number;  /* tells targets apart */
	__u32 n_tasks; /* of these classes what they do (tasks); 0: what all do */
	__u32 disk;    /* of BPF_CLASS_DISK: its number, as the kernel has it; 0: none */
	__u32 seen;    /* enum bpf_seen */
	__u32 peer_address[4];	    /* of BPF_CLASS_PEER: as the network has it, of IPv6 */
	__u32 peer_port;	    /* in the order of the network; 0: any */
	__u32 call[SCOZ_MAX_PARTS]; /* beyond n_calls: the first */
	struct bpf_tasks tasks[SCOZ_MAX_PARTS];
	struct scoz_part part[SCOZ_MAX_PARTS];
	struct bpf_stretch code[SCOZ_MAX_PARTS][BPF_STRETCHES];
	__u32 generation[SCOZ_MAX_PARTS]; /* of that file's inode; 0: not known */
};

/* Of one core: involved tasks in the target, since the start. */
struct target_time {
	__u64 ran;    /* ns by samples, stops left out */
	__u64 waited; /* ns, waits.bpf.h */
	__u64 look;   /* ns that the wait of task look_pid stands for, if it was in the target */
	__u64 look_pid;
	__u64 shared;	  /* ns inserted for what strangers ran (account/share.h) */
	__u64 urgent;	  /* ns that real-time strangers ran */
	__u64 spun;	  /* ns of spinning in programs, by ticks (busy_wait.bpf.h) */
	__u64 spun_first; /* of it, by ticks before which it was not seen to spin */
	__u64 spins;	  /* the last tick saw it */
	/* Of that wait: */
	__s64 task, core, paid; /* struct scoz_arrival */
	__s64 limit;		/* what the task can have absorbed by it */
	__u64 serves;	/* ns that the device served it, which may be more or less than the wait */
	__u64 wakes;	/* of that, what the idle core took to run the task */
	__u64 device;	/* key of that device; 0: none */
	__u64 length;	/* ns that it was long */
	__u64 in_class; /* of waits that are the target */
	__u64 known;	/* to be in the target: no need to look */
	__s64 left;   /* its account less the time, when a profiled task ran there last, no sink */
	__u64 unpaid; /* ns that tasks owed when they fell asleep, beyond the longest stop */
	__u64 beyond; /* ns of that wait that do not count, as it was too long */
	__u64 left_out; /* ns of waits in the target that did not count for that */
	__s64 booked;	/* scoz_device.booked when that wait was over */
	__s64 place;  /* instead of left, if another core has changed places with it; 0: none has */
	__u64 server; /* a thread of the kernel runs there */
	__u64 kick;   /* it has hit, and is to interrupt the others */
	__u64 io;     /* ns that they waited for block devices, whatever the target is */
	__u64 woken;  /* ns that idle cores took to run those whom others woke */
	__u64 alone;  /* of ran, by tasks that have long had nothing to do with others */
	__u64 related; /* ns that tasks ran which have to do with a point, whatever the target is */
	__u64 polls;   /* timers that woke who had slept, looked, and slept again */
	__u64 polled;  /* ns of those sleeps */
	__u64 calls;   /* of a target that is a function, as far as its beginning has a probe */
	__u64 agreed, differed;	 /* samples with what the probes of such a target say */
	__u64 clipped;		 /* ns that were not inserted, less than a period (spread.bpf.h) */
	struct scoz_clock clock; /* three cache lines each */
};

#define BPF_POLLING_RANGES 8000

/* Of a file, by the number of its unwind table: which of polling_ranges are its. */
struct bpf_polling_file {
	__u32 known, first, n;
	__u32 role; /* of what is in no range */
};

#define SPAN_ROLE_BEGIN 1
#define SPAN_ROLE_END	2

struct progress_config {
	char comm[16]; /* empty: any command */
	__u32 role;    /* SPAN_ROLE_*; 0: no end of a latency */
	__u32 slot;    /* of a latency's ends: where it is counted */
	__u32 by_user; /* only what members do, and whoever is a user of point_users */
};

#define BPF_MAX_USERS 1024

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
