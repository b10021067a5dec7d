/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a simulated machine; shared by machine.c, schedule.c and operations.c only. */
#ifndef SIM_MACHINE_INTERNAL_H
#define SIM_MACHINE_INTERNAL_H

#include "event.h"
#include "machine.h"

#define NOBODY	(-1)
#define FOREVER (INT64_MAX / 4)
#define OUTSIDE (-1) /* as a waker: a device or a timer */

struct list {
	int *v;
	int n;
	size_t cap;
};

enum task_state { TASK_DORMANT, TASK_READY, TASK_RUNNING, TASK_BLOCKED };

/* Where a task stands in an operation that takes several steps. */
enum step { STEP_BEGIN, STEP_WAITING, STEP_DONE };

struct task {
	const struct sim_task *spec;
	int pc;
	enum step step;
	int64_t rem; /* work left of the current piece; FOREVER: spins */
	enum sim_label label;
	enum task_state state;
	int core;     /* where it is, or was last */
	int64_t fair; /* run time as fair scheduling counts it */
	struct scoz_task account;
	struct scoz_task_use use;
	struct scoz_spread spread;
	struct scoz_sink sink;
	uint64_t rng;
	/* waits */
	bool external; /* its last wait ended by a device or a timer */
	bool counted;  /* among the external waiters */
	bool granted;  /* what it spins for has come */
	uint32_t version;
	int64_t next_period; /* OP_BURST: when its burst is over */
	/* OP_ARM: a timer of its own */
	bool armed, fired;
	int64_t armed_account;
	int64_t service;   /* of the device request under way */
	int64_t submitted; /* account at the submission */
	int64_t issued;	   /* when that was */
	int64_t wait_hit;  /* to be inserted when it runs again */
	bool waited_in_target;
	int64_t wait_limit;		 /* what it can have absorbed by that wait */
	struct scoz_device *wait_device; /* that has ended it */
	int64_t wait_booked;		 /* scoz_device.booked then */
	struct list children;		 /* spawned, not joined */
	int parent;
	bool exited;
};

enum stop_kind { STOP_NONE, STOP_TICK, STOP_SWITCH };

struct core {
	int cur; /* task or NOBODY */
	struct list ready;
	bool waking; /* idle, a wake-up is on its way */
	struct scoz_clock clock;
	bool resched; /* a task waits that should run instead */
	enum stop_kind stop;
	int64_t stop_began, stop_limit;
	int64_t crowded_since; /* tasks are queued behind the stop; 0: none */
	int64_t segment_began;
	double pace;	   /* work done in a ns */
	int64_t burst_end; /* until when the host has it; 0: it has not */
	bool late;	   /* ... and it keeps the core from waking up */
	uint64_t weather_rng;
	int64_t next_tick;
	int64_t period; /* jittered */
	int ticks_to_jitter;
	int64_t ran;  /* since it was switched in, as charged */
	int64_t left; /* its account less the time, when a profiled task ran here last */
	int64_t fair_floor;
	uint64_t spun, spun_first; /* ns in spins, by ticks */
	bool spins;		   /* the last tick saw it */
	int64_t spun_absorbed;	   /* ... and absorbed for it */
	uint32_t segment, slice, stop_version;
	struct scoz_core account;
	struct scoz_core_use use;
	/* batches: hits taken but not yet accounted */
	int batched;
	int64_t batch_delay;
	uint64_t rng;
};

struct object {
	int size, count;
	int holder;		       /* NOBODY, task; readers are in count */
	struct list waiting, waiting2; /* senders and receivers, writers and readers */
	struct scoz_device device;
};

struct sim {
	const struct sim_program *program;
	struct sim_options o;
	int64_t now;
	struct event_queue events;
	struct core *core;
	int n_cores;
	struct task *task;
	int n_tasks;
	size_t cap_tasks;
	int n_ready; /* tasks in all run queues */
	int n_idle;  /* cores */
	struct object *object;
	int64_t delay, waived, waived_at;
	uint64_t hits;
	bool devices; /* have accounts */
	bool servers; /* threads of the kernel have */
	int64_t external_waiters;
	uint32_t speedup; /* virtual, fixed point */
	double real;
	double slowness;
	uint64_t drift_rng;
	int64_t ran, others_ran, stolen;
	int64_t external_waited, shared, urgent;
	uint64_t syncs, external_waits, waiver_looks;
	struct sim_progress progress;
};

double rng_uniform(uint64_t *state);
uint64_t rng_seed(uint64_t seed, uint64_t stream);

void list_push(struct list *l, int v);
int list_shift(struct list *l);
void list_remove(struct list *l, int i);

/* trace.c: nothing, unless somebody listens. */
void trace_runs(struct sim *s, int c, int64_t ns);
void trace_leaves(struct sim *s, int c, enum trace_why why);
void trace_exits(struct sim *s, int c);
void trace_enters(struct sim *s, int c);
/* @waker: core, or OUTSIDE. */
void trace_wakes(struct sim *s, int t, int waker);
void trace_starts(struct sim *s, int t, int by);
/* A request of @t, which runs on core @c; that is done. */
void trace_asks(struct sim *s, int t, int c, int device);
void trace_done(struct sim *s, int t, int device);
void trace_progress(struct sim *s, int c);

/* A thread of the kernel that stops for nobody, and hands the account of its waker on. */
static inline bool is_server(const struct sim *s, const struct task *t)
{
	return s->servers && t->spec->kernel;
}

/* Nobody waits for it, and the accounting knows of that. */
static inline bool is_sink(const struct sim *s, const struct task *t)
{
	return !s->o.keep_sinks && scoz_sink_is(&t->sink);
}

/* Accounted as one that has no part in what is profiled. */
static inline bool is_apart(const struct sim *s, const struct task *t)
{
	return t->spec->stranger || is_server(s, t);
}

/* machine.c */
/* What the task on @c has run in the target is inserted, before others look at its account. */
void core_release(struct sim *s, int c, bool ends);
/* What that would insert. */
int64_t core_unreleased(const struct sim *s, int c);
/* The running task goes on with what is labelled so. */
void core_enters(struct sim *s, int c, enum sim_label label);
/* Of who runs on core @c. */
int64_t account_of(const struct sim *s, int c);
int64_t core_debt(const struct sim *s, int c);
/* Somebody has hit the target, which inserts @d. */
void add_delay(struct sim *s, int64_t d);
/* Part of what hits are worth. */
void insert_delay(struct sim *s, int64_t d);
/* Brings the running task's work up to date. */
void core_update(struct sim *s, int c);
/* Starts the clock of the running task's current piece of work. */
void core_resume(struct sim *s, int c);
/* Other tasks have begun or ceased to want the core. */
void core_crowded(struct sim *s, int c);
/* The running task gives up the core: it blocks, is preempted or ends. */
void core_switch_out(struct sim *s, int c, bool blocks);
/* A stop that is under way ends: a real-time task wants to run. */
void core_hurry(struct sim *s, int c);
/* Pays what is owed; true when the core now stands still. */
bool core_pay(struct sim *s, int c, enum stop_kind kind);

/* weather.c */
void weather_begin(struct sim *s);
/* It begins, or is over. */
void weather_burst(struct sim *s, int c, bool over);
/* Does the host still have the idle core that has something to do now? */
bool weather_late(struct sim *s, int c);
void weather_spell(struct sim *s, int c);
/* The length of a burst, and of the pause before it. */
int64_t weather_length(uint64_t *rng);
int64_t weather_pause(uint64_t *rng, double mean);
/* How much work the core does in a ns. */
double core_pace(const struct sim *s, int c);

/* schedule.c */
void schedule_next(struct sim *s, int c);
void task_wake(struct sim *s, int t, int waker_core);
void task_wake_submitted(struct sim *s, int t, int64_t submitter);
/* By a thread of the kernel on @waker_core; @ender: what it is to inherit. */
void task_wake_served(struct sim *s, int t, int waker_core, int64_t ender);
void task_block(struct sim *s, int c);
/* A new task, as it was made by whoever runs on @by; @core: where, NOBODY: wherever is room. */
void task_start(struct sim *s, int t, int by, int core);
/* The current task is gone for good. */
void task_exit(struct sim *s, int c);
void schedule_slice(struct sim *s, int c);
/* Lets another task run if one has been woken that should. */
bool schedule_preempt(struct sim *s, int c);
void schedule_balance(struct sim *s);
void task_undefer(struct sim *s, int t);
bool core_is_idle(const struct sim *s, int c);

/* operations.c: runs the current task's operations until it computes, spins, blocks or stops. */
void operations_run(struct sim *s, int c);
void operations_timer(struct sim *s, int t, bool armed);
/* The device has served the task. */
void operations_device(struct sim *s, int object, int t);

#endif
