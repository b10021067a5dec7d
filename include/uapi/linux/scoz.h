/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The delay page: what the profiler and the kernel side (BPF programs or the patched kernel)
 * share. One array of equal slots:
 *
 *   slot 0        struct scoz_header   written by the profiler, read by the kernel side
 *   slot 1        struct scoz_global   the global delay, on cache lines of its own
 *   slot 2 + c    struct scoz_core     core c; written by core c only, read by anybody
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, delays are signed nanoseconds. Every field is
 * naturally aligned and read or written as a whole; `delay` and `waived` change atomically, all
 * others have one writer.
 *
 * Nobody stops a core after `lease_until`: the profiler renews it every 2 ms to 8 ms ahead, so
 * that however it dies or is held up (SIGKILL, SIGSTOP, OOM), all delaying ends at once. To the
 * patched kernel a lease for more than 100 ms is none.
 */
#ifndef _UAPI_LINUX_SCOZ_H
#define _UAPI_LINUX_SCOZ_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SCOZ_MAGIC	0x7a6f6373U /* "scoz" */
#define SCOZ_VERSION	2	    /* of the layout: 1 had slots of 320 bytes */
#define SCOZ_SLOT_SIZE	384
#define SCOZ_SLOT_HEAD	0
#define SCOZ_SLOT_GLOB	1
#define SCOZ_SLOT_CORE0 2

/* Speedups are fractions of 2^16: SCOZ_SPEEDUP_ONE means "X takes no time at all". */
#define SCOZ_SPEEDUP_SHIFT 16
#define SCOZ_SPEEDUP_ONE   (1U << SCOZ_SPEEDUP_SHIFT)

enum scoz_model {
	SCOZ_MODEL_WAIT = 0,
	SCOZ_MODEL_CORE = 1,
};

struct scoz_header {
	__u32 magic;
	__u32 version;
	__u32 slot_size;
	__u32 cores;	 /* number of core slots */
	__u32 model;	 /* enum scoz_model; fixed for a run */
	__u32 max_share; /* percent of time a core may be stopped at most */
	__u64 max_stop;	 /* longest uninterrupted stop, ns */
	__u64 period;	 /* nominal time between two accounting ticks of a core, ns */
	__u64 lease_until;
	__u32 speedup;	  /* in force now; 0: nothing is inserted */
	__u32 experiment; /* counts changes of target or speedup */
	__u32 waive;	  /* 1: common debt is waived (accounting.md section 6) */
	/* What profiling itself costs a core (account.h, "the cost of looking"). */
	__u32 tick_cost;    /* ns an accounting tick takes from the program */
	__u32 background;   /* share of time that goes to other interrupts, of 2^16 */
	__u32 flags;	    /* SCOZ_F_* */
	__u32 record_share; /* of ticks whose sample goes to the perf ring, of 2^32 */
	__u32 latency;	    /* 1: struct scoz_latency is kept */
};

/* Ways of the patched kernel; engine bpf knows none of them. */
#define SCOZ_F_KICK	(1U << 0) /* a hit makes the other cores pay at once */
#define SCOZ_F_DEFER	(1U << 1) /* who owes for a device or timer sleeps for it */
#define SCOZ_F_CREDIT	(1U << 2) /* stops and time saved are not charged to tasks */
#define SCOZ_F_CATCH_UP (1U << 3) /* who wakes a task pays first, where it may stop */
#define SCOZ_F_EXCLUDE	(1U << 4) /* core model: a core in debt is no destination */
#define SCOZ_F_HANDLER	(1U << 5) /* ticks only record; the profiler does the rest */
#define SCOZ_F_CONTROL	(1U << 6) /* all that is profiled hits, and pays for it itself, too */

struct scoz_global {
	__s64 delay; /* G: delay inserted so far, net of what was waived */
	__s64 waived;
	__u64 hits; /* number of hits so far */
	__u64 pad[5];
	/* Tasks that probably wait for a device or a timer and count against a waiver. */
	__s64 external_waiters;
	__u32 waiving; /* a waiver is being evaluated */
	__u32 pad2;
};

/*
 * One core. The ledger is exact at any moment the core itself is not inside the accounting code:
 *   absorbed = own + stopped + excused + overhead,   owed = delay - absorbed
 */
struct scoz_core {
	/* the account (lib/account/account.h) */
	__s64 absorbed; /* A(c) of accounting.md 3a; L(c) in the core model */
	__s64 own;	/* credited for this core's own hits */
	__s64 stopped;	/* measured length of all stops */
	__s64 excused;	/* absorbed by idling and by what tasks brought along; signed */
	__s64 overhead; /* credited for the cost of looking; signed */
	__u64 idle_since;
	__s64 gap;     /* core model: debt remembered at idle entry */
	__s64 carried; /* core model: debt of the core that woke this one */
	__u32 idle;
	__u32 woken; /* core model: woken by another core */
	/* the sampling clock in busy, unstopped time */
	__u64 last_tick;
	__s64 stopped_at_tick;
	__u64 idle_at_tick;
	__u64 in_idle; /* ns spent idle */
	/* what happened, for reports and tests */
	__s64 asked; /* sum of the lengths that stops were meant to have */
	__u64 stops;
	__u64 ticks; /* that were accounted */
	__u64 ticks_in_stop;
	__u64 hits;
	__u64 capped;  /* stops refused or shortened by max_share */
	__u64 clipped; /* weights cut because ticks were missing for long */
	/* private to the kernel side */
	__u32 stopping; /* a stop with interrupts on is under way */
	__u32 due;	/* a task was switched in: pay before it runs */
	__s64 share_level;
	__u64 share_at;
	__u64 stop_end;	       /* of the latest stop */
	__u64 stop_began;      /* of the one under way, 0: none */
	__u64 paid_hit;	       /* hits seen paid or excused, for the latency figures */
	__u64 no_task;	       /* tasks met without accounting state */
	__u64 syncs;	       /* wake-ups of involved tasks by tasks */
	__u64 external_waited; /* ns involved tasks waited for devices and timers, up to wake-up */
	__u64 crowded;	       /* ns stopped for one task while others want the core (account.h) */
	__u64 external_waits;  /* how many */
	__u64 absolute_waits;  /* sleeps of involved tasks until a point in time */
	__u64 queued;	       /* ns involved tasks waited for a core */
	__u64 unawaited;       /* timers of programs that fired before anybody waited for them */
	__u32 sampled;	       /* set by the profiler: this core is sampled and delayed */
	__u32 spinning;	       /* waits for a lock without giving up the core; depth */
	__u64 deferred;	       /* returns to user space held back (SCOZ_F_DEFER) */
	__u64 kicks;	       /* interrupts received because of hits elsewhere (SCOZ_F_KICK) */
	__u64 spin_since;      /* of the outermost of these waits */
	__u64 spun;	       /* ns of such waits */
	__u64 spins;
	__s64 spin_room; /* time spun in which nothing was inserted */
	__u64 ran;	 /* ns in which involved tasks ran, without stops; as of the latest tick */
	__u64 ran_at;	 /* that was, or the switch-in if later */
	__s64 stopped_at_ran;
	__s64 alone; /* of its debt, what only the running task owes and not the core */
	__s64 waived_seen;
	__s64 shared; /* core model: of its debt, what somebody it woke, or who woke it, owes too */
};

/* A task's account; zero-initialised is valid for a task that has never run. */
struct scoz_task {
	__s64 absorbed;
	__u64 since; /* when it blocked, was woken or was preempted */
	__u64 ran;   /* ns since a device or a timer ended its wait */
	__u32 quiet; /* such waits in which it did nothing that others notice */
	__u32 pad;
};

/* ---- what is to be sped up: address ranges, matched at the sample ---- */

#define SCOZ_MAX_PARTS	8      /* binaries of one target */
#define SCOZ_MAX_RANGES 262144 /* address ranges of one target, all binaries together */
#define SCOZ_MAX_FRAMES 127

/* Addresses as in the file's program headers; for the kernel, as it runs. */
struct scoz_range {
	__u64 start, end;
};

/* The ranges of one target in one binary. */
struct scoz_part {
	__u32 binary;	/* the profiler's id; 0: the kernel */
	__u32 first, n; /* in the array of ranges: sorted, disjoint */
	__u32 pad;
	__u64 code_vaddr; /* lowest executable address in the file */
	__u64 dev, ino;	  /* as the kernel knows the file; ino 0: only where mapped (below) */
};

/* ---- progress points ---- */

#define SCOZ_MAX_POINTS 32 /* both ends of a latency counted */

/* One progress point on one core; two cache lines apart from its neighbours'. */
struct scoz_count {
	__u64 visits;
	__u64 last_virtual; /* now - A(c) at the last visit, ns */
	__u64 last_time;
	__u64 sum_time; /* of all visits, for Little's law (wraps; differences count) */
	__u64 pad[4];
};

/* ---- how long a hit stays unpaid ---- */

#define SCOZ_LATENCY_BINS 512
#define SCOZ_LATENCY_BIN  20000ULL /* ns; the last bin holds the rest */

/* Of one core: how long after a hit its stop began, and its debt was paid. */
struct scoz_latency {
	__u32 begun[SCOZ_LATENCY_BINS];
	__u32 paid[SCOZ_LATENCY_BINS];
};

/*
 * ---- the patched kernel (CONFIG_SCOZ) ----
 *
 * scoz_open(args, size, flags) opens the machine's one session: a file descriptor whose mapping
 * (args->length bytes) holds the delay page, then the counts of progress points (core by core,
 * SCOZ_MAX_POINTS each) and the latencies (one struct a core). Nothing happens before
 * SCOZ_IOC_ENABLE. All ends when the opener closes the descriptor or dies, or its lease runs out.
 * CAP_SYS_ADMIN, in the first pid namespace. EBUSY: there is a session already. EINVAL: the
 * kernel has another SCOZ_VERSION. E2BIG: @size is larger than this kernel knows and the rest is
 * not zero.
 *
 * scoz_delay(fd, flags) stops the calling core for what it owes, within the limits of the header.
 * For profilers that account by themselves (SCOZ_F_HANDLER).
 */
struct scoz_open_args {
	__u32 version; /* in: SCOZ_VERSION */
	__u32 flags;   /* in: 0 */
	/* filled in by the kernel */
	__u32 slot_size;
	__u32 cores;
	__u64 length;
	__u64 counts; /* offsets in the mapping */
	__u64 latencies;
	__u64 features; /* SCOZ_F_* that this kernel offers */
};

#define SCOZ_EVENT_TICK	 0
#define SCOZ_EVENT_POINT 1

/* A perf event becomes the accounting tick of its CPU, or counts visits of a progress point. */
struct scoz_event {
	__s32 fd;
	__u32 role; /* SCOZ_EVENT_* */
	__u32 point;
	__u32 arch;    /* points at system calls: only those of this AUDIT_ARCH_*; 0: all */
	char comm[16]; /* points: only tasks or processes of this name; empty: all */
};

/* Whoever arrives at this instruction (uprobe) visits a progress point. */
struct scoz_probe {
	__s32 fd; /* the file, open for reading; it may be closed afterwards */
	__u32 point;
	__u64 offset;  /* in the file */
	__u64 ref_ctr; /* offset of the semaphore of a USDT probe; 0: none */
	char comm[16]; /* only tasks or processes of this name; empty: all */
};

struct scoz_target {
	__u32 n_parts;
	__u32 n_ranges;
	__u64 parts; /* pointers */
	__u64 ranges;
};

/* Where a binary lies in a process: address = address in the file + bias. */
struct scoz_mapping {
	__u32 tgid;
	__u32 binary;
	__u64 start, end, bias;
};

#define SCOZ_IOC_ENABLE	 _IO('z', 0xd0)
#define SCOZ_IOC_EVENT	 _IOW('z', 0xd1, struct scoz_event)
#define SCOZ_IOC_TARGET	 _IOW('z', 0xd2, struct scoz_target)
#define SCOZ_IOC_MAP	 _IOW('z', 0xd3, struct scoz_mapping)
#define SCOZ_IOC_FORGET	 _IOW('z', 0xd4, __u32) /* a process's mappings */
#define SCOZ_IOC_INVOLVE _IOW('z', 0xd5, __u32) /* a process: it owes for external waits */
#define SCOZ_IOC_SWEEP	 _IO('z', 0xd6)		/* long sleepers no longer prevent waivers */
#define SCOZ_IOC_PROBE	 _IOW('z', 0xd7, struct scoz_probe)

#endif
