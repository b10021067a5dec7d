/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What if a target took less time? A recording is gone through once; of each thread it is known how
 * much earlier it would be by then (docs/whatif.md). Nothing is stopped, and all targets and
 * speedups are asked at once, each in a lane of its own.
 *
 * No files, no kernel: events and times go in, in the order of time. Times in ns.
 */
#ifndef SCOZ_WHATIF_REPLAY_H
#define SCOZ_WHATIF_REPLAY_H

#include "trace/trace.h"

/*
 * What is not known for certain is decided in several ways: the order in which threads get a CPU,
 * and whether who wakes another would have had to wait for it if it had come earlier. What they
 * agree upon, is known.
 */
enum replay_rules {
	REPLAY_USUAL,	 /* the most likely: these two follow from what was waited in */
	REPLAY_FREE,	 /* nobody waits for whom it wakes */
	REPLAY_BOUND,	 /* everybody but who gives a lock away does */
	REPLAY_ORDERED,	 /* CPUs are given in the order that was seen */
	REPLAY_UNQUEUED, /* who needs a CPU gets it no earlier than it would itself be ready */
	REPLAY_RULES
};

/*
 * What a thread spun for, as far as it can be told: to meet others, for a lock, or not known.
 */
enum replay_spin { REPLAY_SPIN_MEETS, REPLAY_SPIN_LOCK, REPLAY_SPIN_ANY, REPLAY_SPINS };

struct replay_lane {
	uint32_t target;
	double speedup; /* 0 to 1 */
	enum replay_rules rules;
	uint64_t devices; /* that are faster, too: replay_device_bit() of each */
};

/* Those beyond have the last one in common. */
static inline uint64_t replay_device_bit(uint32_t device)
{
	return 1ULL << (device < 63 ? device : 63);
}

/* Who waits in it has done what there was to do. */
static inline bool replay_brings_work(uint8_t wait)
{
	return wait == TRACE_WAIT_READ || wait == TRACE_WAIT_POLL || wait == TRACE_WAIT_FUTEX;
}

/* Numbers that are kept of each thread, by lane, at least. */
#define REPLAY_ROWS 6

struct replay;
/* @cpus: CPU numbers are below; @visits: of progress points, in the whole recording; 0: none. */
struct replay *replay_create(size_t threads, size_t cpus, const struct replay_lane *lanes,
			     size_t n_lanes, uint64_t visits);
/*
 * Threads that spin wait for others of their family, which is 0 at first; a number below that of
 * the threads.
 */
void replay_family(struct replay *r, uint32_t thread, uint32_t family);
/*
 * It looks now and then whether others of its family have done something (whatif/looks.h). What
 * these have run until it is woken is to be told before.
 */
void replay_looks(struct replay *r, uint32_t thread);
/* What it waits for in a futex is a lock (whatif/handed.h). */
void replay_handed(struct replay *r, uint32_t thread);
/* As requests_servers() (whatif/requests.h). */
void replay_servers(struct replay *r, uint32_t device, uint32_t servers);
/* For how long the busiest of them had something to do. */
uint64_t replay_busy(const struct replay *r, uint64_t devices);
/*
 * @share: of each target in the @ns for which @thread has just run; @spun: ns of these by kind,
 * NULL: none.
 */
void replay_ran(struct replay *r, uint32_t thread, double ns, const float *share,
		const double *spun);
/* It has come so far, and what others ran meanwhile has been told: follows those it spun for. */
void replay_follow(struct replay *r, uint32_t thread);
/* Samples are ignored: replay_ran() tells what they tell. */
void replay_event(struct replay *r, const struct trace_event *e);
/* How much earlier thread @thread is now, in each lane; of those that have ended it is forgotten.
 */
const double *replay_earlier(struct replay *r, uint32_t thread);
/*
 * By how much less time a unit of progress would take, in percent; NAN: there were too few visits.
 */
double replay_gain(const struct replay *r, size_t lane);
void replay_free(struct replay *r);

/* Bytes of what is known of threads and requests, by lane: all that grows with the recording. */
uint64_t replay_memory(const struct replay *r);

#endif
