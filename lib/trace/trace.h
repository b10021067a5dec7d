/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causal recordings (`scoz record --causal`): everything the scheduler did, and what was sampled
 * meanwhile, so that it can be asked afterwards who waited for whom, and what would have been
 * earlier. A binary file (docs/file-format.md): a line of text, then chunks that are compressed
 * each by itself; one that is cut off can be read up to its last whole chunk.
 *
 * Times: ns since the recording began. Threads, stacks, devices and points are numbers from 0, in
 * the order in which they were told.
 */
#ifndef SCOZ_TRACE_H
#define SCOZ_TRACE_H

#include "trace/frames.h"

#include <sys/types.h>

/*
 * 1 had no TRACE_SPIN, 2 no words of the command, 3 no ranks, 4 no TRACE_PROGRESS without a thread.
 */
#define TRACE_VERSION 5
#define TRACE_NONE    UINT32_MAX

enum trace_type {
	TRACE_LEAVE,  /* a thread leaves its CPU; why, wait */
	TRACE_ENTER,  /* it is on a CPU from now on */
	TRACE_WAKE,   /* it is woken; by, other */
	TRACE_FORK,   /* it was made, by thread `other`; wants a CPU */
	TRACE_EXIT,   /* it has ended, after its last TRACE_LEAVE */
	TRACE_FOLLOW, /* it was there when the recording began; why, wait: as it left; or it runs */
	TRACE_SAMPLE, /* it was met on the CPU in `stack`: stands for `weight` ns of its time */
	TRACE_PROGRESS, /* it, or an interrupt, came to progress point `other` */
	TRACE_ISSUE,	/* it gave request `stack` to device `other` */
	TRACE_COMPLETE, /* device `other` has done request `stack`; no thread */
	TRACE_SPIN,	/* in the file only: TRACE_SAMPLE, `spins` */
	TRACE_TYPES
};

enum trace_why {
	TRACE_RUNS,   /* TRACE_FOLLOW only */
	TRACE_QUEUED, /* preempted, or yielded: wants a CPU */
	TRACE_BLOCKED,
};

/* What a thread waits in. */
enum trace_wait {
	TRACE_WAIT_OTHER,
	TRACE_WAIT_LOCK,   /* a futex that somebody holds */
	TRACE_WAIT_FUTEX,  /* any other: a condition, a barrier, a join, a semaphore */
	TRACE_WAIT_READ,   /* of a pipe or a socket: until something comes */
	TRACE_WAIT_WRITE,  /* to one: until there is room */
	TRACE_WAIT_POLL,   /* poll(), select(), epoll_wait() */
	TRACE_WAIT_CHILD,  /* for a child's end */
	TRACE_WAIT_SLEEP,  /* for a time */
	TRACE_WAIT_IO,	   /* for a device (iowait) */
	TRACE_WAIT_KERNEL, /* a thread of the kernel, for work */
	TRACE_WAITS
};

enum trace_by {
	TRACE_BY_NOBODY,
	TRACE_BY_THREAD, /* other: the thread */
	TRACE_BY_DEVICE, /* other: the device */
	TRACE_BY_TIMER,
	TRACE_BY_OTHER, /* other: a device: an interrupt, a softirq, another CPU's request */
	TRACE_BYS
};

struct trace_event {
	uint64_t time;
	uint64_t weight;
	uint32_t thread;
	uint32_t other;
	uint32_t stack;
	uint16_t cpu;
	uint8_t type; /* enum trace_type */
	uint8_t why;  /* enum trace_why */
	uint8_t wait; /* enum trace_wait */
	uint8_t by;   /* enum trace_by */
	bool spins;   /* TRACE_SAMPLE: in a loop that waits without giving up the CPU */
};

struct trace_header {
	uint64_t period_ns; /* of the samples */
	const char *command, *scope, *host, *kernel, *started;
	uint32_t cpus;
};

struct trace_footer {
	uint64_t duration; /* ns */
	uint64_t lost;	   /* events that found no room in the rings */
	int command_status;
	const char *end;
};

struct trace_thread {
	int32_t tid, pid;
	uint32_t process;
	const char *comm; /* the last one */
};

struct trace_process {
	int32_t pid;
	const char *name;      /* the last one */
	int32_t rank;	       /* in a parallel job, -1: none */
	const char *rank_from; /* the environment's variable that says so; NULL: none does */
};

#define TRACE_THREADS_MOST (4u << 20) /* more are not read */
#define TRACE_DEVICES_MOST 4096u      /* the last one is written for all further ones, too */
#define TRACE_CPUS_MOST	   8192u      /* no kernel has more */
#define TRACE_STACK_MOST   8192u      /* frames: 127 of each half, and what is inlined in them */

/* ---- writing ---- */
struct trace_writer;
int trace_writer_open(const char *path, const struct trace_header *h, struct trace_writer **ret,
		      struct error *err);
/* Of an error the first is remembered: later calls return it again and write nothing. */
/* Word by word, so that it can be executed again; none if a word would not be read as it is. */
int trace_write_command(struct trace_writer *w, char *const *command);
int trace_write_frame(struct trace_writer *w, const struct record_frame *f);
int trace_write_stack(struct trace_writer *w, const struct record_stack *s);
int trace_write_process(struct trace_writer *w, uint32_t id, int pid, const char *name);
int trace_write_rank(struct trace_writer *w, uint32_t process, int rank, const char *from);
int trace_write_thread(struct trace_writer *w, const struct trace_thread *t);
int trace_write_comm(struct trace_writer *w, uint32_t thread, const char *comm);
/* A device, or a progress point. */
int trace_write_device(struct trace_writer *w, const char *name);
int trace_write_point(struct trace_writer *w, const char *name);
int trace_write_event(struct trace_writer *w, const struct trace_event *e);
int trace_writer_flush(struct trace_writer *w, struct error *err);
/* Writes the footer if @f is given, and closes. Returns the first error of all. */
int trace_writer_close(struct trace_writer *w, const struct trace_footer *f, struct error *err);

/* ---- reading ---- */
struct trace {
	char *path;
	struct trace_header header;
	struct trace_footer footer;
	char **command; /* ends with NULL; NULL: there was none, or its words are not known */
	size_t n_words;
	uid_t owner;	 /* of the file, */
	mode_t mode;	 /* and who may write it */
	bool complete;	 /* the footer was there */
	bool truncated;	 /* a chunk was cut off */
	uint64_t chunks; /* whole ones: what comes later is not read */
	uint64_t size;	 /* of the file then */
	struct record_frame *frames;
	size_t n_frames;
	struct record_stack *stacks;
	size_t n_stacks;
	struct trace_process *processes;
	size_t n_processes;
	struct trace_thread *threads;
	size_t n_threads;
	const char **devices;
	uint64_t *requests; /* by device: that it was done with */
	size_t n_devices;
	const char **points;
	size_t n_points;
	struct trace_event *samples; /* in the order of time */
	size_t n_samples;
	size_t n_events; /* all others */
	uint64_t end;	 /* time of the last */
};

/*
 * Reads all but the events, which may be many more than there is memory: of these it keeps the
 * samples. -EINVAL: damaged, with the chunk; -ENODATA: no causal recording; -ENOTSUP: a later
 * version.
 */
int trace_open(const char *path, struct trace **ret, struct error *err);
/* Why its end is missing, as a sentence; NULL: it is there. */
const char *trace_unfinished(const struct trace *t);
/* The same without samples: of a long recording they are most of what is kept. */
int trace_open_unsampled(const char *path, struct trace **ret, struct error *err);
void trace_free(struct trace *t);
/* Does the file at @path begin like a causal recording? */
bool trace_is(const char *path);
/*
 * All events, samples among them, in the order of time; whatever they refer to is there. Of a
 * recording that has grown since it was opened, those that it had then. Stops when @fn returns
 * other than 0, and returns that.
 */
int trace_each(const struct trace *t, int (*fn)(const struct trace_event *e, void *arg), void *arg,
	       struct error *err);

/* ---- what was read, ordered (trace_order.c) ---- */
struct trace_order {
	size_t *first;	 /* by thread: where its samples begin in @samples; one more at the end */
	size_t *samples; /* numbers of samples: by thread, then by time */
};

void trace_order_samples(const struct trace *t, struct trace_order *ret);
void trace_order_free(struct trace_order *o);
/* Where in @o->samples those of @thread begin that came after @time. */
size_t trace_first_after(const struct trace *t, const struct trace_order *o, uint32_t thread,
			 uint64_t time);
/*
 * Stacks as a tree: which begin with which, without walking along each. Of a stack all that begin
 * with it, itself first, are next to one another.
 */
struct trace_tree {
	uint32_t *begin, *end;	 /* by stack: where these are in @order */
	uint32_t *order;	 /* stacks */
	uint32_t *first, *child; /* by stack: where its callees' stacks begin in @child, ordered;
				    last: of no stack */
	size_t n;
};

void trace_tree_make(const struct trace *t, struct trace_tree *ret);
void trace_tree_free(struct trace_tree *tree);
/* The callee's stack of @at (TRACE_NONE: the outermost) that @stack, which is deeper, begins with.
 */
uint32_t trace_tree_step(const struct trace_tree *tree, uint32_t at, uint32_t stack);
/* By thread: the first one of its name in a process of the same name. To be freed. */
uint32_t *trace_threads_alike(const struct trace *t);

const char *trace_wait_name(enum trace_wait wait);

#endif
