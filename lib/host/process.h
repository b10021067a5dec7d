/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells about a process: which rank of a parallel job it is, for instance. */
#ifndef SCOZ_PROCESS_H
#define SCOZ_PROCESS_H

#include "base/base.h"

/*
 * The rank that a parallel job's launcher gave the process in its environment (Open MPI, MPICH,
 * PMIx, MVAPICH, Slurm), -1: none, or it cannot be read; RANK_NOT_YET: it is about to execute a
 * program, and has no environment until it does. @variable (may be NULL): the one that says so,
 * static. Whoever asks may be kept waiting (patience.h).
 */
#define RANK_NOT_YET (-2)
int process_rank(int pid, const char **variable);

/* Of /proc/PID/status, which waits for nobody; 0 for what it does not say. */
struct process_status {
	char state;
	int process, parent, group; /* @process: that the thread belongs to */
	uid_t user;		    /* the one that counts */
	gid_t group_id;
	int inner_pid;	  /* as its own PID namespace numbers it */
	bool shares_pids; /* which is ours */
	bool kernel;	  /* a thread of the kernel */
};
/* False: there is no such process, or thread. */
bool process_read_status(int pid, struct process_status *ret);
/* It, or that thread, is waited for by its parent, or not even that. */
static inline bool process_has_ended(char state)
{
	return state == 'Z' || state == 'X';
}

/*
 * Tells it from any other that has had its number, or will have; 0: there is no such process, or it
 * does not tell. Of @pidfd: of who that is, which is @pid.
 */
uint64_t process_identity(int pid);
uint64_t process_identity_fd(int pidfd, int pid);

/* Of /proc/PID/stat, what status does not say; 0 for what it does not say. */
struct process_stat {
	char state;
	unsigned int flags;
	uint64_t started;			    /* in ticks since boot */
	uint64_t start_code, end_code, start_stack; /* 1: hidden from us */
	uint64_t env_end;			    /* 0: also of who begins to execute a program */
};
/* Asked with patience (patience.h, whose errors it returns). -ESRCH: there is no such process. */
int process_read_stat(int pid, struct process_stat *ret);
/*
 * An O_PATH descriptor of what /proc/@pid/@name is or leads to ("root", "exe", "map_files/..."),
 * asked so, too; or a negative errno.
 */
int process_open(int pid, const char *name);
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
