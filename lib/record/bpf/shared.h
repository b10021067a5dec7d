/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs of `scoz record` write to their ring. */
#ifndef SCOZ_RECORD_SHARED_H
#define SCOZ_RECORD_SHARED_H

#include <linux/types.h>

#define RECORD_MAX_FRAMES 127

enum record_event_type {
	RECORD_EVENT_TICK,  /* a thread was met on the CPU */
	RECORD_EVENT_WAIT,  /* a thread is back on a CPU; points_waited, points_queued */
	RECORD_EVENT_TIMES, /* a thread has ended, or the recording has */
};

/*
 * Why a thread left the CPU. The BPF programs do not tell locks from other waits; the call chain
 * does.
 */
enum record_left {
	RECORD_LEFT_QUEUED, /* preempted, or yielded */
	RECORD_LEFT_IO,
	RECORD_LEFT_LOCK,
	RECORD_LEFT_OTHER,
};

/* How the user's part of a call chain was found, and what its end is. */
enum record_chain {
	RECORD_CHAIN_POINTERS, /* frame pointers */
	RECORD_CHAIN_TABLES,   /* unwind tables, and frame pointers where there are none */
	RECORD_CHAIN_WHOLE,    /* the same, up to what has no caller, as a table says */
};

/* Before a frame that was interrupted, by a signal: it is no return address (PERF_CONTEXT_USER). */
#define RECORD_EXACT_USER (-512ULL)

/* What ended a wait. */
enum record_woken_by {
	RECORD_BY_NOBODY,
	RECORD_BY_TASK, /* waker: its tid */
	RECORD_BY_TIMER,
	RECORD_BY_DEVICE,  /* waker: number of a block device, as the kernel encodes it */
	RECORD_BY_IRQ,	   /* waker: number of the interrupt */
	RECORD_BY_SOFTIRQ, /* waker: vector */
	RECORD_BY_CPU,	   /* what another CPU asked the idle loop to do */
};

/*
 * A wait in futex(): its arguments; the word it waits at and those behind it, as they were when it
 * began; and the word as it was when the thread was back.
 */
#define RECORD_FUTEX_WORDS 5
struct record_futex {
	__u64 address;
	__u32 op, value;
	__u32 words[RECORD_FUTEX_WORDS];
	__u32 after;
	__u8 known; /* how many of the words; 0: not in futex(), or it cannot be told */
	__u8 has_after;
	__u8 pad[6];
};

/* Followed by n_kernel and then n_user addresses. Times: ns of CLOCK_MONOTONIC. */
struct record_event {
	__u64 time;
	__u64 born;	   /* start time of the thread: tells threads of one tid apart */
	__u64 left, woken; /* WAIT: when it left the CPU, when it was woken (0: was not) */
	__u32 tid, tgid;
	__u32 points_waited; /* TICK: points */
	__u32 points_queued;
	__u32 waker;
	__u16 cpu;
	__u8 type; /* enum record_event_type */
	__u8 why;  /* enum record_left */
	__u8 woken_by;
	__u8 unfinished;
	__u8 n_kernel, n_user;
	__u8 no_chain; /* could not be read where this kernel offers it */
	__u8 chain;    /* enum record_chain */
	__u8 spins;    /* TICK: in a loop that waits without giving up the CPU */
	__u8 pad[1];
	char comm[16];
	__u64 pointed[2]; /* bits: by tables: of the user's part, what a frame pointer led to */
	struct record_futex futex; /* WAIT */
};

/* TIMES: in place of the addresses. */
struct record_times {
	__u64 since; /* when the thread was first seen */
	__u64 on, queued, io, other;
	__u32 exited, pad;
};

/*
 * `scoz record --causal`: one of these for whatever the scheduler does with a thread that is
 * followed, in the ring of its CPU.
 */
enum record_trace_type {
	RECORD_TRACE_LEAVE, /* why: enum record_left; detail: what it waits in; other: of a futex
			     * its holder, or which it is; queued: see ENTER */
	RECORD_TRACE_ENTER, /* other: RECORD_TRACE_UNSEEN: earlier, but nobody knows when */
	RECORD_TRACE_WAKE,  /* why: enum record_woken_by; other: waker */
	RECORD_TRACE_EXIT,
	RECORD_TRACE_PROGRESS, /* other: point; detail: tgid */
	RECORD_TRACE_ISSUE,    /* other: block device; detail: request */
	RECORD_TRACE_COMPLETE, /* the same */
	RECORD_TRACE_FORK,     /* other: parent; detail: tgid; as struct record_trace_name */
	RECORD_TRACE_FOLLOW,   /* why: enum record_left or RECORD_TRACE_RUNS; detail: tgid; the same
				*/
};
#define RECORD_TRACE_RUNS 255

/* What is waited in: the call's number, and these. */
#define RECORD_TRACE_UNSEEN  1
#define RECORD_TRACE_NUMBER  0xffff
#define RECORD_TRACE_SYSCALL (1u << 16)
#define RECORD_TRACE_HELD    (1u << 17) /* a futex that somebody holds; other: he, 0: unknown */
#define RECORD_TRACE_KERNEL  (1u << 18) /* a thread of the kernel */
#define RECORD_TRACE_TAKEN   (1u << 19) /* a futex that somebody holds, if it is a lock */
#define RECORD_TRACE_FILE    20		/* here its file's S_IFMT >> 12 begins */

struct record_trace {
	__u64 time;
	__u32 tid;
	__u32 other;
	__u32 detail;
	__u16 cpu;
	__u8 type;
	__u8 why;
};

#define RECORD_MAX_POINTS 64

/* A progress point. */
struct record_point {
	char comm[16]; /* empty: whoever comes there */
};

struct record_trace_name {
	struct record_trace event;
	__u64 born;
	char comm[16];
};

#endif
