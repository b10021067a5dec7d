/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells about a process: which rank of a parallel job it is, for instance. */
#ifndef SCOZ_PROCESS_H
#define SCOZ_PROCESS_H

#include "base/base.h"

/*
 * The rank that a parallel job's launcher gave the process in its environment (Open MPI, MPICH,
 * PMIx, MVAPICH, Slurm), -1: none, or it cannot be read; RANK_NOT_YET: it is about to execute a
 * program, and has no environment until it does. @variable (may be NULL): the one that says so,
 * static.
 */
#define RANK_NOT_YET (-2)
int process_rank(int pid, const char **variable);

/* Of /proc/PID/stat, what one asks for; 0 for what it does not say. */
struct process_stat {
	char state;
	int parent, group;
	unsigned int flags;
	uint64_t started;			    /* in ticks since boot */
	uint64_t start_code, end_code, start_stack; /* 1: hidden from us */
	uint64_t env_end;			    /* 0: also of who begins to execute a program */
};
/* False: there is no such process. */
bool process_read_stat(int pid, struct process_stat *ret);
/* It, or that thread, is waited for by its parent, or not even that. */
static inline bool process_has_ended(const struct process_stat *s)
{
	return s->state == 'Z' || s->state == 'X';
}
/*
 * It has given up one program, and the kernel has not laid out the next: it has names and mappings
 * of it already, no arguments and no code. Not somebody who ends, and has nothing left either.
 */
bool process_is_executing(const struct process_stat *s);

/*
 * A thread of the process by which /proc tells what it has mapped: those of one that has ended do
 * not, and the first may end before others. The process itself where there is none.
 */
int process_living_thread(int pid);
/*
 * The path of this program, which the command's process is until it begins: nobody means that by
 * the name of a function. Empty where it cannot be told, as in a sandbox that has not asked before.
 */
const char *process_own_image(void);
/* Where that code of this program is in its file, or in that of a library; false: in none. */
bool process_own_offset(const void *code, uint64_t *offset);
/* A thread of the kernel? false also where there is no such process. */
bool process_is_kernel(int pid);
/* Does it see the same process ids as we do? false also where that cannot be told. */
bool process_shares_pids(int pid);
/* The process that thread @tid belongs to; 0: there is no such thread. */
int process_of_thread(int tid);

/*
 * Kills the child that @pidfd is of, collects it, and closes @pidfd; @patient: as soon as it has
 * gone. Whoever collects children may have done so long ago: its number is another's by now.
 */
void process_end(int pidfd, bool patient);

/* "was ended by signal 9 (Killed)" or "ended with status 3", by a status as waitpid() gives it;
 * NULL: it did as it should, or nothing is known (-1). To be freed. */
char *process_status_text(int status);

#endif
