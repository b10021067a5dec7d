/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small models of parallel programs. A program is a set of tasks; each runs its operations in a
 * loop. The target is the work labelled SIM_TARGET: a real speedup shortens it, a virtual one is
 * inserted by the accounting under test.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_US 1000LL
#define SIM_MS 1000000LL
#define SIM_S  1000000000LL

enum sim_op_kind {
	OP_COMPUTE, /* ns of work */
	OP_LOCK,    /* a mutex: sleeps when taken; who is woken must still get it (futex) */
	OP_UNLOCK,
	OP_HAND_OVER, /* ns of work if somebody waits for the lock */
	OP_READ_LOCK, /* writers first, as the kernel's rwsem */
	OP_WRITE_LOCK,
	OP_RW_UNLOCK,
	OP_SPIN_LOCK, /* first come, first served; burns its core */
	OP_SPIN_UNLOCK,
	OP_BARRIER, /* object.size parties */
	OP_SPIN_BARRIER,
	OP_SEND, /* into a queue of object.size places */
	OP_RECEIVE,
	OP_SLEEP,	/* for ns */
	OP_SLEEP_UNTIL, /* the next multiple of ns since the task's first: paced by the clock */
	OP_ARM,		/* starts a timer of ns; OP_AWAIT sleeps until it has fired */
	OP_AWAIT,
	OP_IO,	  /* ns of a device that serves object.size requests at a time */
	OP_SPAWN, /* makes a task that runs program.tasks[object] once */
	OP_JOIN,  /* waits for the oldest task spawned and not joined */
	/* A pause of ns on average, then works until its burst is over by the clock; alike for all
	   that have the same object, which is only a number. */
	OP_BURST,
	/* As fsync does with a journal's thread: */
	OP_REQUEST, /* asks for what a thread of the kernel does, and waits until it has */
	OP_TAKE,    /* that thread: takes all who have asked; waits until there is somebody */
	OP_ANSWER,  /* it has done for them what they asked for */
	OP_PROGRESS,
};

/* SIM_SERVED: what a thread of the kernel does for a wait that is the target, and shortens it. */
enum sim_label { SIM_REST, SIM_TARGET, SIM_SERVED };

struct sim_op {
	enum sim_op_kind kind;
	int64_t ns;
	int object;
	enum sim_label label;
};

struct sim_task {
	struct sim_op *op;
	int n;
	bool dormant;  /* runs only when spawned */
	int pinned;    /* core, -1: any */
	bool stranger; /* no part of what is profiled */
	bool urgent;   /* real-time: runs as soon as it can, and until it sleeps */
	bool kernel;   /* a thread of the kernel, which works for others */
};

struct sim_object {
	int size;
};

struct sim_program {
	char name[64];
	int cores;
	struct sim_task *task;
	int n_tasks;
	struct sim_object *object;
	int n_objects;
	/*
	 * Known not to be predictable: devices and timers that keep real time while cores stand
	 * still, and are saturated, absolute, or done before anybody waits for them.
	 */
	bool unmendable;
};

struct sim_program *program_create(const char *name, int cores);
struct sim_program *program_copy(const struct sim_program *p);
void program_free(struct sim_program *p);
int program_task(struct sim_program *p);
int program_object(struct sim_program *p, int size);
void program_op(struct sim_program *p, int task, enum sim_op_kind kind, int64_t ns, int object,
		enum sim_label label);
/* @n tasks that have nothing to do with it: they run and sleep, ns each time; 0: never sleep. */
void program_add_strangers(struct sim_program *p, int n, int64_t run, int64_t sleep);
/* All sleeps and requests are the target, too. */
void program_target_waits(struct sim_program *p);
/* What a task spins for before it comes to the target is part of it: of a system call, say. */
void program_target_calls(struct sim_program *p);
/* All requests to devices are the target, and nothing else. */
void program_target_requests(struct sim_program *p);
/* Its requests to devices are made by one thread of the kernel, which serves all who wait at once.
 */
void program_commit_requests(struct sim_program *p);
/* One line for each task, as a person would write it down. */
void program_print(const struct sim_program *p);

/* models.c: the shapes every profiler should know. NULL beyond the last. */
struct sim_program *model_create(int index, double scale);
/* At scale 1; NULL: there is none of that name. */
struct sim_program *model_named(const char *name);
/* The same barrier, fork-join or independent work on any number of cores. */
struct sim_program *model_wide(const char *shape, int cores, double scale);

/* graph.c: random task graphs. @crowded: more tasks than cores. */
struct sim_program *graph_create(uint64_t seed, bool crowded, double scale);

#endif
