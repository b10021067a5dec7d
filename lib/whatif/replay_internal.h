/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of replay share: replay.c, replay_spin.c and replay_served.c. */
#ifndef SCOZ_WHATIF_REPLAY_INTERNAL_H
#define SCOZ_WHATIF_REPLAY_INTERNAL_H

#include "whatif/answers.h"
#include "whatif/latches.h"
#include "whatif/replay.h"
#include "whatif/requests.h"
#include "whatif/visits.h"

#define MOST_ASKED 4

struct thread {
	uint64_t since;	  /* it waits, or wants a CPU */
	uint64_t began;	  /* the wait that is over */
	uint64_t got;	  /* a lock that it waited for, in this turn on the CPU; 0: none */
	uint32_t chain;	  /* so many in a row have waited for that lock */
	uint64_t freed;	  /* when it last woke one that waited for a lock */
	uint64_t holds;	  /* the shortest time from `got` to `freed`; 0: not known */
	double ran, spun; /* `spun`: where it is not known that others are met */
	double spins[REPLAY_SPINS]; /* ns since it last followed others */
	uint64_t told;		    /* until when what it ran is */
	uint32_t family;
	bool looks;  /* it sleeps until others have done something */
	bool handed; /* what it waits for in a futex is a lock */
	bool blocked, queued, gone;
	bool kernel;	 /* a thread of the kernel that waits for work */
	uint64_t served; /* when one such, or one that is not followed, last ended its wait */
	bool followed;	 /* what it does is in the recording; else only what it does to others */
	uint8_t wait;
	uint64_t timer;		   /* when one last woke it */
	double interval;	   /* between the last two */
	uint32_t parent;	   /* who made it */
	uint32_t early;		   /* who woke it while it ran; TRACE_NONE: nobody */
	uint32_t waker;		   /* who ended its last wait, */
	uint64_t woken, entered;   /* and when; since when it runs, or ran last */
	uint32_t asks[MOST_ASKED]; /* whom it has woken who waited for something to come */
	uint32_t n_asks;
	bool serves;	   /* it was woken so */
	bool orphans;	   /* children have ended for which it did not wait just then */
	double ran_before; /* its own `ran` when it last woke another, or was */
	uint32_t *burst;   /* woken by it just now, and yet to run on */
	uint32_t n_burst, cap_burst;
	uint64_t burst_at;
};

struct cpu {
	uint32_t last; /* who ran there */
	uint64_t entered, left;
};

enum row {
	EARLIER,
	AT_TIMER,   /* the same when a timer last woke it */
	BY_RUNNING, /* what running alone has gained */
	OTHERS,	    /* what running had gained the others of its family when it was last told */
	BEFORE,	    /* BY_RUNNING when it last woke another, or was */
	JOINS,	    /* when the last of its children that it did not wait for just then has ended */
	ROWS
};
_Static_assert(ROWS == REPLAY_ROWS, "what others count with");

/* Lanes of one target that follow one another. */
struct lanes_of {
	uint32_t target;
	size_t from, to;
};

/* Lanes with the same rules that follow one another: loops over these have no branches. */
struct block {
	enum replay_rules rules;
	size_t from, to;
};

struct replay {
	struct replay_lane *lanes;
	size_t n_lanes;
	struct block *blocks;
	size_t n_blocks;
	double *most, *before; /* by lane, while one wakes another */
	double *spun;	       /* three by lane, while one has spun for others */
	struct lanes_of *targets;
	size_t n_targets;
	struct thread *threads;
	size_t n_threads;
	struct cpu *cpus;
	size_t n_cpus;
	/* By thread, of those that were met: by lane, each of enum row. */
	double **rows;
	size_t n_rows, n_families; /* that there are */
	double **families;	   /* by family: by lane, what running has gained its threads */
	uint64_t now;
	double **spare; /* rows of those that have ended */
	size_t n_spare, cap_spare;
	struct visits *visits;
	struct requests *requests;
	struct answers *answers;
	struct latches *latches;
};

/* How much earlier @thread is, by lane. */
static inline double *of(struct replay *r, uint32_t thread)
{
	double **row = &r->rows[thread];

	if (!*row && r->n_spare) {
		*row = r->spare[--r->n_spare];
		memset(*row, 0, ROWS * r->n_lanes * sizeof(**row));
	} else if (!*row) {
		*row = xcalloc(ROWS * r->n_lanes, sizeof(**row));
		r->n_rows += ROWS;
	}
	return *row;
}

/* What running has gained its family, by lane. */
static inline double *family_of(struct replay *r, uint32_t thread)
{
	double **row = &r->families[r->threads[thread].family];

	if (!*row) {
		*row = xcalloc(r->n_lanes, sizeof(**row));
		r->n_families++;
	}
	return *row;
}

/* @waker wakes @thread, which waited for it. */
void replay_wakes(struct replay *r, uint32_t waker, uint32_t thread, uint64_t now);
/* It has slept, and looks whether others have done something. */
void replay_looked(struct replay *r, uint32_t thread, uint64_t now);
/* Who is not recorded, a device, or a thread of the kernel that serves all ends its wait. */
void replay_woken_by_device(struct replay *r, const struct trace_event *e);
void replay_woken_by_server(struct replay *r, const struct trace_event *e);
void replay_woken_by_unknown(struct replay *r, const struct trace_event *e);
/* Does it wait for something that may come from who is not recorded? */
bool replay_comes_from_outside(uint8_t wait);

#endif
