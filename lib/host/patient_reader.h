/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes have mapped, and of which rank they are, asked with patience (patience.h). */
#ifndef SCOZ_PATIENT_READER_H
#define SCOZ_PATIENT_READER_H

#include "base/base.h"

/* @text: NULL for an error; to be changed as one likes, but not kept. */
typedef void (*proc_maps_fn)(int pid, char *text, int error, void *arg);
/*
 * @fn is called with the /proc/PID/maps of each of @pids, by one thread after another, while the
 * caller waits, as soon as it was read. ETIMEDOUT: of one that had to be waited
 * for more than a second, and, without waiting, as long as it still hangs; so does EAGAIN when too
 * many do.
 */
void proc_maps_read(const int *pids, size_t n, proc_maps_fn fn, void *arg);

/* Which ranks of parallel jobs processes are: process_rank(), and nobody waits for it. */
struct rank_answer {
	int pid;
	uint32_t id; /* as it was asked */
	int rank;    /* -1: it is none */
	const char *from;
};
struct patient_reader;
struct patient_reader *patient_reader_of_ranks(void);
/* @id is the caller's, and comes back with the answer. */
void patient_reader_ask(struct patient_reader *r, int pid, uint32_t id);
/* The next answer, also a late one; false: there is none so far. */
bool patient_reader_take(struct patient_reader *r, struct rank_answer *ret);
/* Waits for those that were asked, a second at most. */
void patient_reader_settle(struct patient_reader *r);
/* Waits for nobody: a thread that hangs keeps what it needs. */
void patient_reader_destroy(struct patient_reader *r);

#endif
