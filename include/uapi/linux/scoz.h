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
 * that however it dies or is held up (SIGKILL, SIGSTOP, OOM), all delaying ends at once.
 */
#ifndef _UAPI_LINUX_SCOZ_H
#define _UAPI_LINUX_SCOZ_H

#include <linux/types.h>

#define SCOZ_MAGIC	0x7a6f6373U /* "scoz" */
#define SCOZ_VERSION	1
#define SCOZ_SLOT_SIZE	320
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
	__u32 tick_cost;  /* ns an accounting tick takes from the program */
	__u32 background; /* share of time that goes to other interrupts, of 2^16 */
	__u32 pad;
};

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
	__u64 crowded;	       /* ns paid for one task while others wanted the core (account.h) */
	__u64 external_waits;  /* how many */
	__u64 absolute_waits;  /* sleeps of involved tasks until a point in time */
	__u64 queued;	       /* ns involved tasks waited for a core */
	__u64 unawaited;       /* timers of programs that fired before anybody waited for them */
	__u32 sampled;	       /* set by the profiler: this core is sampled and delayed */
	__u32 pad;
};

#endif
