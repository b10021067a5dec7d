/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records what threads do and what they wait for, on and off the CPU (blocked samples).
 *
 *   backend (BPF programs, or perf's blocked samples on a patched kernel: backend_bpf.c,
 *   backend_kernel.c), which drains its rings
 *      -> queue, in the order of time (queue.c) -> symbols, threads (symbols.c, recorded_threads.c)
 *      -> sink (a file: writer.c; a live view)
 *
 * One thread drives a recorder; everything happens in recorder_poll().
 */
#ifndef SCOZ_RECORDER_H
#define SCOZ_RECORDER_H

#include "maps/maps.h"
#include "record/recording.h"
#include "trace/trace.h"

struct recorder;

struct recorder_options {
	const char *engine; /* "auto", "bpf", "kernel" */
	uint64_t period_ns;
	const int *cpus; /* that are sampled; waits are seen wherever they end */
	int n_cpus;
	bool new_cpus;	   /* CPUs that come online later are sampled, too */
	bool everybody;	   /* all threads; else those of recorder_add_process() */
	size_t ring_bytes; /* for records not read yet, a power of two */
	bool pointers;	   /* call chains by frame pointers only, whatever tables there are */
	bool causal;	   /* the sink is told of what the scheduler does, too */
	bool perf_maps;	   /* maps_options.perf_maps */
	bool live;	   /* samples are wanted soon, if without names */
};

/* Ids count from 0; frames and stacks come before what refers to them. */
struct recorder_sink {
	void (*frame)(uint32_t id, const struct record_frame *frame, void *arg);
	void (*stack)(uint32_t id, const struct record_stack *stack, void *arg);
	void (*process)(const struct record_process *process, void *arg); /* also when it changes */
	void (*thread)(const struct record_thread *thread, void *arg);
	void (*comm)(uint32_t thread, uint64_t time, const char *comm, void *arg);
	void (*sample)(const struct record_sample *sample, void *arg);
	void (*times)(const struct record_thread *thread, void *arg); /* NULL: no need of them */
	void *arg;
	/*
	 * Of causal recordings only; devices count from 0, too. Events are in the order of time,
	 * but samples are no events, and may come later.
	 */
	void (*device)(const char *name, void *arg);
	void (*event)(const struct trace_event *event, void *arg);
};

/* A progress point, or one of several places that it is. */
enum recorder_point_kind { RECORDER_CODE, RECORDER_SYSCALL, RECORDER_TRACEPOINT };
struct recorder_point {
	enum recorder_point_kind kind;
	const char *comm; /* of a system call or a tracepoint: of whom; NULL: everybody */
	const char *name; /* of the tracepoint, or of the file, for people */
	const char *path; /* leads to the file */
	uint64_t offset;  /* in the file */
	uint64_t ref_ctr; /* in the file: of the semaphore, 0: none */
	int syscall;	  /* its number */
};

struct recorder_counts {
	uint64_t samples, points;
	uint64_t lost; /* records that found no room */
	uint64_t broken_chains, without_chain;
};

int recorder_create(const struct recorder_options *opt, const struct recorder_sink *sink,
		    struct recorder **ret, struct error *err);
/* "bpf" or "kernel". */
const char *recorder_engine(const struct recorder *r);
/*
 * This process and all that it has started already, with all their threads and all that they will
 * create. -ESRCH: it has gone. Returns how many processes that are.
 */
int recorder_add_process(struct recorder *r, int pid, struct error *err);
/* The next file that has been mapped as code since @serial, as maps_next_file(). */
char *recorder_next_file(const struct recorder *r, uint64_t *serial);
/* Causal recordings, at any time: who comes there is told as TRACE_PROGRESS with @id. */
int recorder_add_point(struct recorder *r, const struct recorder_point *p, uint32_t id,
		       struct error *err);
/* Takes the place in a program back that was added last. */
void recorder_withdraw_point(struct recorder *r);
int recorder_start(struct recorder *r, struct error *err);
/* To be called every RECORDER_POLL_MS or so. */
#define RECORDER_POLL_MS 50
void recorder_poll(struct recorder *r);
/* Ends the recording: threads still waiting are reported, then their times. */
void recorder_finish(struct recorder *r);
/* ns since recorder_start(). */
uint64_t recorder_time(const struct recorder *r);
/* Up to when the sink has been told of all samples: those after it may wait for their names. */
uint64_t recorder_complete(const struct recorder *r);
void recorder_counts(const struct recorder *r, struct recorder_counts *ret);
/*
 * The process that ended most waits and was not recorded, and the points of these; NULL: none.
 * Whoever records a client alone does not see what it waits for.
 */
const struct record_process *recorder_stranger(const struct recorder *r, uint64_t *points);
void recorder_destroy(struct recorder *r);

/* The stacks and frames told to the sink so far. */
const struct record_frame *recorder_frame(const struct recorder *r, uint32_t id);
const struct record_stack *recorder_stack(const struct recorder *r, uint32_t id);

#endif
