/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.scoz: what threads did and what they waited for (blocked samples: Ahn et al., OSDI 2024).
 *
 * Time is divided into periods, and in each period of each thread lies one sampling point. A point
 * while the thread ran is a sample with one point; the points of one wait are one sample with their
 * number. So a point stands for one period whatever the thread did, and shares of points are shares
 * of wall time.
 *
 * JSON lines as in profile.scoz (docs/file-format.md), one object a line, "type" first:
 *
 *   {"type":"header","format":"scoz-record","version":1,"engine":"bpf","period_ns":1000000,...}
 *   {"type":"frame","id":0,"symbol":"pread64","object":"/usr/lib/libc.so.6","kind":"user",...}
 *   {"type":"stack","id":3,"parent":2,"frame":0}        -1: no parent (outermost)
 *   {"type":"process","id":2,"pid":4709,"t":10,"name":"gzip","rank":0,...}
 *	 with the same id again: that is what it is from now on (exec)
 *   {"type":"thread","id":7,"tid":4711,"pid":4709,"process":2,"t":12,"comm":"gzip"}
 *   {"type":"comm","thread":7,"t":120,"comm":"sh"}
 *   {"type":"sample","t":5000123,"thread":7,"cpu":1,"class":"I","n":12,"d":12034567,"stack":3,
 *    "kind":"disk","event":"nvme0n1"}
 *   {"type":"scozd","pid":4711,"from":0,"to":2000123}
 *   {"type":"times","thread":7,"from":12,"to":99,"on":4,"sched":3,"io":2,"other":1,"exited":true}
 *   {"type":"footer",...}
 *
 * Lines that others refer to come before them; samples of different CPUs need not be in the order
 * of their times (the reader sorts them). All times are ns since the recording began.
 */
#ifndef SCOZ_RECORDING_H
#define SCOZ_RECORDING_H

#include "trace/frames.h"

#define RECORDING_VERSION 1
#define RECORDING_NONE	  UINT32_MAX /* no stack, no thread, no string */

enum record_class {
	RECORD_ON,    /* on a CPU */
	RECORD_IO,    /* I: waits for I/O (iowait) */
	RECORD_LOCK,  /* L: waits for another thread: a lock (mutex, rwsem, ...), or in futex() */
	RECORD_SCHED, /* S: wants a CPU: preempted, yielded, or woken and not yet running */
	RECORD_OTHER, /* B: waits for anything else */
	RECORD_CLASSES
};

/* The program that a process ran last. */
struct record_process {
	uint32_t id;
	int32_t pid;
	uint64_t start;	       /* when it was first seen */
	const char *name;      /* of its first thread */
	int32_t rank;	       /* in a parallel job, -1: none */
	const char *rank_from; /* the environment's variable that says so, NULL: none does */
	bool kernel;	       /* it is a thread of the kernel */
};

struct record_thread {
	uint32_t id;
	int32_t tid, pid;
	uint32_t process; /* its id; the reader always fills it in */
	uint64_t start;	  /* when it was first seen */
	const char *comm; /* at that time */
	/* Its times as the scheduler knows them, exact; RECORDING_NONE-free: has_times says. */
	bool has_times, exited;
	uint64_t from, to;	       /* recorded in between */
	uint64_t on, sched, io, other; /* ns; `other` includes locks */
};

struct record_sample {
	uint64_t
		time; /* on CPU: when it was taken; else: the end of the wait, or of the queueing */
	uint64_t duration; /* of the wait or the queueing, ns; 0 on CPU */
	uint32_t points;   /* each stands for one period */
	uint32_t thread;
	uint32_t cpu;
	uint32_t stack;	  /* RECORDING_NONE: no call chain */
	const char *comm; /* of the thread at that time; reader only */
	/*
	 * What kind of wait, finer than the class: "futex lock", "futex wait", "mutex", "rwsem",
	 * "disk", "network", "pipe", "poll", "sleep", "page fault", "child", "signal", ...; NULL
	 * unknown.
	 */
	const char *kind;
	uint32_t holder; /* who had the lock when the wait began: thread id or RECORDING_NONE */
	/* Who ended the wait: a thread, or else an event ("timer", "network", "nvme0n1", "irq"). */
	uint32_t waker;	   /* thread id or RECORDING_NONE */
	const char *event; /* NULL: a thread, or unknown */
	enum record_class class;
	bool kernel;	 /* on CPU: in the kernel */
	bool spins;	 /* on CPU: in a loop that waits; not in files of recordings */
	bool unfinished; /* the wait went on when the recording ended */
};

/* A scozd that profiled the same machine: its stops look like somebody's time. */
struct record_scozd {
	int32_t pid;
	uint64_t from, to;
};

struct record_header {
	const char *engine; /* "bpf", "kernel" */
	uint64_t period_ns;
	const char *command; /* "" when none was run */
	const char *scope;   /* "command", "pid 12, 13", "all" */
	const char *host, *kernel;
	const char *started; /* ISO 8601 UTC */
	uint32_t cpus;
};

/* What was recorded, for titles. */
static inline const char *record_subject(const struct record_header *h)
{
	if (h->command && *h->command)
		return h->command;
	return h->scope && *h->scope && strcmp(h->scope, "all") != 0 ? h->scope
								     : "the whole system";
}

struct record_footer {
	uint64_t duration; /* ns */
	uint64_t samples, points;
	uint64_t lost;		/* records that found no room in the rings */
	uint64_t broken_chains; /* samples whose call chain has a FRAME_MISSING */
	uint64_t without_chain; /* samples off CPU whose call chain could not be read */
	int command_status;	/* wait status, -1: no command */
	const char *end;	/* "done", "signal", "duration" */
};

struct recording {
	char *path;
	struct record_header header;
	struct record_footer footer;
	bool complete; /* the footer was there */
	struct record_frame *frames;
	size_t n_frames;
	struct record_stack *stacks;
	size_t n_stacks;
	struct record_process *processes; /* index == id */
	size_t n_processes;
	struct record_thread *threads; /* index == id */
	size_t n_threads;
	struct record_scozd *scozd;
	size_t n_scozd;
	struct record_sample *samples; /* sorted by time */
	size_t n_samples;
	size_t skipped_lines; /* cut off by a crash or a full disk */
	size_t unknown_lines; /* kinds that a later scoz added */
};

/* ---- reading ---- */
/* Errors as profile_read(): -EINVAL with the line for garbage in the middle, -ENODATA, -ENOTSUP. */
int recording_read(const char *path, struct recording **ret, struct error *err);
void recording_free(struct recording *r);
/* Does the file at @path begin like a recording? false: no, or it cannot be read. */
bool recording_is(const char *path);

/* ---- writing ---- */
struct recording_writer;
/* Creates or replaces @path. Buffered: recording_writer_flush() brings everything to the file. */
int recording_writer_open(const char *path, const struct record_header *h,
			  struct recording_writer **ret, struct error *err);
/*
 * Ids are the caller's and count from 0 in each kind, in the order of the calls; each is written
 * once, before it is used (else -EINVAL). The reader takes chains of up to 8192 frames.
 * An error is remembered: later calls return it again and write nothing.
 */
int recording_write_frame(struct recording_writer *w, uint32_t id, const struct record_frame *f);
int recording_write_stack(struct recording_writer *w, uint32_t id, const struct record_stack *s);
/* With an id that has been written before: changes the name and the rank of that process. */
int recording_write_process(struct recording_writer *w, const struct record_process *p);
int recording_write_thread(struct recording_writer *w, const struct record_thread *t);
int recording_write_comm(struct recording_writer *w, uint32_t thread, uint64_t time,
			 const char *comm);
int recording_write_sample(struct recording_writer *w, const struct record_sample *s);
int recording_write_times(struct recording_writer *w, const struct record_thread *t);
int recording_write_scozd(struct recording_writer *w, const struct record_scozd *s);
int recording_writer_flush(struct recording_writer *w, struct error *err);
/* Writes the footer if @f is given, and closes. Returns the first error of all. */
int recording_writer_close(struct recording_writer *w, const struct record_footer *f,
			   struct error *err);

/* Is that part worth a word: at least a tenth, and of enough points to be no chance? */
static inline bool record_is_much(uint64_t points, uint64_t all)
{
	return points >= 50 && points * 10 >= all;
}

/* ---- names ---- */
char record_class_letter(const struct record_sample *s); /* '.', 'k', 'I', 'L', 'S', 'B' */
const char *record_class_name(enum record_class class);	 /* "on", "io", "lock", "sched", "other" */
/*
 * Of a wait of class L: did somebody hold what was waited for? Not where threads wait until there
 * is something to do (conditions, queues, barriers), nor where that cannot be told.
 */
bool record_kind_is_held(const char *kind);

#endif
