/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a recording: what they are called, and which ranks of a parallel job they are.
 */
#ifndef SCOZ_RECORD_PROCESSES_H
#define SCOZ_RECORD_PROCESSES_H

#include "record/recording.h"

struct processes;

/* @told: a process is new, or has become another program. Strings are valid during the call. */
struct processes *processes_create(void (*told)(const struct record_process *p, void *arg),
				   void *arg);
void processes_destroy(struct processes *p);
/* Ranks come when they are known (host/patient_reader.h), with a later look, or are waited for. */
void processes_poll(struct processes *p);
void processes_settle(struct processes *p);
/*
 * The id of the process that has @pid now. @newborn: it is not the one that had it before.
 * @comm: of one of its threads, its name where it has gone already.
 */
uint32_t processes_get(struct processes *p, int pid, bool newborn, const char *comm, uint64_t time);
/*
 * One of its threads is followed, and ends. When the last one has, and some thousand other
 * processes have ended after it, it is forgotten: what is said of its id from then on is said of
 * nobody.
 */
void processes_thread_begins(struct processes *p, uint32_t id);
void processes_thread_ends(struct processes *p, uint32_t id);
/* It runs another program from now on. */
void processes_exec(struct processes *p, int pid);
/* Something was recorded of it; and it has ended waits of @points. */
void processes_recorded(struct processes *p, uint32_t id);
void processes_ended(struct processes *p, uint32_t id, uint32_t points);
/*
 * Of those of which nothing was recorded the one that ended most waits, and how many points these
 * are; NULL: none. Neither threads of the kernel nor this process. Valid until the next call.
 */
const struct record_process *processes_stranger(const struct processes *p, uint64_t *points);
/* Do the ids of threads that it has in its memory mean the threads that we know by them? */
bool processes_share_ids(struct processes *p, uint32_t id);

#endif
