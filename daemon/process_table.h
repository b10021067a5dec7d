/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that samples fall into, so that those of one program and the ranks of a parallel
 * job can be told apart. There may be any number: a build starts thousands that live for
 * milliseconds. So only PROCESS_TABLE_OWN keep numbers of their own, those with most samples; the
 * others of one name count as one group, of which it is known how many they were.
 */
#ifndef SCOZD_PROCESS_TABLE_H
#define SCOZD_PROCESS_TABLE_H

#include "base/base.h"
#include <linux/perf_event.h>

#define PROCESS_TABLE_OWN    256
#define PROCESS_TABLE_GROUPS 64 /* by name; further names count as one group without */
#define PROCESS_NAME	     16

struct process {
	uint32_t id;
	int pid;		 /* 0: a group */
	char name[PROCESS_NAME]; /* of its first thread; "?": ended before anybody looked */
	int rank;		 /* in a parallel job, -1: in none */
	const char *rank_from;	 /* the variable of its environment, static */
	uint64_t samples;
	uint64_t polled;  /* of them, while it waited by polling */
	uint64_t members; /* of a group */
};

struct process_table;
struct process_table *process_table_create(void);
/*
 * @fn, NULL: from now on none is called: process @pid is that rank; -1: it was one, and has ended.
 * Under the lock, by any thread.
 */
void process_table_tell_ranks(struct process_table *p, void (*fn)(int pid, int rank, void *arg),
			      void *arg);
void process_table_destroy(struct process_table *p);

/* What the kernel tells, at about the time when it happens; by any thread. */
void process_table_record(struct process_table *p,
			  const struct perf_event_header *h); /* fork and exec */
void process_table_fork(struct process_table *p, int pid, int parent);
void process_table_exec(struct process_table *p, int pid, const char *name);
void process_table_gone(struct process_table *p, int pid);
/* Samples fell into it: the id that they count under. By any thread. */
uint32_t process_table_sample(struct process_table *p, int pid, uint64_t samples);

/* Of the samples that count under @id, these are of waiting (daemon/polling.h). By any thread. */
void process_table_polled(struct process_table *p, uint32_t id, uint64_t samples);

/*
 * Asks /proc about those of which that is not known yet. Names are there when it returns, ranks
 * (host/patient_reader.h) with a later look. By one thread.
 */
void process_table_look(struct process_table *p);
/* Waits for these, a second at most. By the same thread. */
void process_table_settle(struct process_table *p);
/* The id that what was counted under @id belongs to now. */
uint32_t process_table_now(struct process_table *p, uint32_t id);
/*
 * Into groups, those with fewest samples first: what has fewer than @least and is no rank, as long
 * as there are more than @many.
 */
void process_table_fold(struct process_table *p, uint64_t least, size_t many);
/* All that have samples, most first. Malloc'ed. */
struct process *process_table_list(struct process_table *p, size_t *n);

#endif
