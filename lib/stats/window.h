/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What predictions are made from: a window, as it was measured, wherever it is kept. */
#ifndef SCOZ_STATS_WINDOW_H
#define SCOZ_STATS_WINDOW_H

#include "stats/discard.h"

/* One progress point in one window. Times in seconds. */
struct window_progress {
	/*
	 * Units of work done between the first and the last visit seen in the window (so one less
	 * than the visits when they are few), and the *virtual* time between these two visits:
	 * wall time less the delay the visiting core had absorbed (docs/accounting.md section 3a).
	 * visits == 0: nothing can be said.
	 */
	double visits, virtual_s;
	/* Latency points: mean number in flight (Little's law: latency = inflight * virtual_s /
	 * visits); 0 for throughput points. */
	double inflight;
};

/*
 * One window. Windows are written in time order; each treated window (speedup > 0) stands
 * between 0 % windows of the same run that carry the same target id: its baselines.
 * With --truth some treated windows are real: nothing is inserted in them.
 */
struct profile_window {
	uint32_t run;	 /* which run of the file, from 0 */
	uint32_t seq;	 /* order in the run */
	uint32_t target; /* id */
	uint32_t cores;	 /* that are profiled; 0: not known, or not always so many */
	double speedup;	 /* 0 to 1 */
	bool real;	 /* the program really made the target that much cheaper (--truth) */
	double start_s, wall_s, inserted_s; /* inserted: growth of G net of waivers */
	double external_s; /* sum over involved tasks of waits that a device or timer ended */
	/* Mean over cores: stopped for one task while others wanted the core (account.h). */
	double crowded_s;
	/*
	 * Part of what was inserted: for the time that strangers took the core from tasks that
	 * would have needed it for less (account/share.h).
	 */
	double shared_s;
	double urgent_s; /* real-time strangers ran, sum over cores */
	double queued_s; /* sum over profiled tasks: ready to run, while others had the core */
	double woken_s;	 /* idle cores took to run those whom other profiled tasks woke */
	double polled_s; /* of profiled tasks that slept, looked, and slept again: the latter */
	double absolute_waits; /* sleeps until a point in time */
	double external_waits; /* how many */
	/*
	 * Sums over the profiled cores: CPU time of profiled tasks without stops (stolen time
	 * included), time that the host took; 0 in files that do not have them.
	 */
	double ran_s, stolen_s;
	/* Of ran_s, of tasks that have to do with a progress point (the engine's related.bpf.h); 0:
	 * not known. */
	double related_s;
	/*
	 * Profiled tasks in the target: on a CPU, by samples, and waiting for devices, timers and
	 * the kernel; 0 in both: not known.
	 */
	double target_ran_s, target_waited_s;
	double target_alone_s; /* of the first, by tasks that nobody waits for, nor they for others
				*/
	bool waits_sped;       /* experiments speed that waiting up, too */
	bool hits_seen; /* begin and end of the target are: no hit is a sample (account/spread.h) */
	/*
	 * Summed over cores: busy (neither idle nor stolen), whoever it was, and stopped;
	 * accounting ticks. How long a fixed piece of work took, mean over cores, ns. 0: not known.
	 */
	double busy_s, stopped_s, ticks, work_ns;
	double syncs; /* wake-ups of profiled tasks by each other */
	/*
	 * Of ran_s, by samples: spinning, to wait for others without giving up the core; and what
	 * of it was seen at samples whose predecessor saw work. Long waits are seen several times.
	 */
	double spun_s, spun_first_s;
	/*
	 * CPU quotas of the profiled tasks' cgroups: sum over cores of the time that one kept them
	 * from running; the CPUs that it allows (0: no quota, or several).
	 */
	double throttled_s, quota_cpus;
	double expected_pp; /* expected error: of the period (plan/period.h), and flaws_pp */
	/* What probes that are hit all the time cost, and CPUs that are not sampled. */
	double flaws_pp;
	uint64_t hits; /* samples of the target in the window */
	/* Those by tasks that are not profiled, which count for nothing. */
	uint64_t others_hits;
	const char *discard_other; /* what the file calls DISCARD_OTHER */
	enum discard discard;
	uint32_t n_progress;
	struct window_progress *progress; /* by progress id */
};

#define SPINS_SAMPLED 0.01 /* of CPU time */

/* Share of its hits that are no samples: tasks that spin are sampled all the same. */
static inline double window_seen(const struct profile_window *w)
{
	return w->hits_seen && w->spun_s <= SPINS_SAMPLED * w->ran_s;
}

/* Share of the target's time that is waits which are sped up, each a hit of its length. */
static inline double window_waits(const struct profile_window *w)
{
	double all = w->target_waited_s + w->target_ran_s;

	return w->waits_sped && w->hits_seen && all > 0 ? w->target_waited_s / all : 0;
}

/* As in files; NULL: kept. */
static inline const char *window_why(const struct profile_window *w)
{
	return w->discard == DISCARD_OTHER ? w->discard_other : discard_name(w->discard);
}

/* Virtually faster: what predictions are made from. */
static inline bool window_is_treated(const struct profile_window *w)
{
	return w->speedup >= 1e-9 && !w->real;
}

#endif
