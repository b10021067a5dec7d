/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of 1 to 1,024 cores that runs a program under the accounting of lib/account/account.h,
 * the same functions that the BPF programs call, at the same places: hits and stops at ticks,
 * stops before a task that was switched in goes on, accounts frozen and compared when tasks block
 * and are woken. Discrete events, all randomness from the seed: equal options, equal results.
 *
 * What is modelled: run queues with time slices, fair order and wake-up preemption, placement on
 * idle cores, balancing, latency of wake-ups, ticks with jitter and a cost, stops bounded in
 * length and share, devices that keep real time while cores stand still, hosts that take cores away
 * and change their speed, real-time tasks (weather.c). What is not: caches, SMT, other priorities.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "account/busy_wait.h"
#include "account/share.h"
#include "account/spread.h"
#include "account/sink.h"
#include "account/wait.h"
#include "program.h"
#include "trace/trace.h"

/* What a shared machine does to whoever runs on it; all 0: nothing. */
struct sim_weather {
	double stolen; /* share of the time in which a core works that the host takes, in bursts */
	double jump;   /* by what factor the speed of a core jumps down and up again */
	double common; /* share of bursts and spells that hit all cores at once */
	double late;   /* share of an idle core's wake-ups at which a burst begins */
	bool idle; /* bursts begin on idle cores, too: it is not the core's work that brings them */
};
#define WEATHER_BURST_MIN (1 * SIM_MS) /* lengths are uniform in their logarithm */
#define WEATHER_BURST_MAX (50 * SIM_MS)
#define WEATHER_SPELL_MIN (10 * SIM_MS)
#define WEATHER_SPELL_MAX (10 * SIM_S)
/* On each core real-time tasks that take @share of it in bursts, @common of them on all at once. */
void weather_add_hogs(struct sim_program *p, double share, double common);

struct sim_options {
	enum scoz_model model;
	int64_t period;		/* between two ticks of a core, ns */
	double tick_jitter;	/* share of the period, every JITTER_TICKS ticks */
	double irregular;	/* instead: this share of the period is exponentially distributed */
	int64_t nominal_period; /* what the engine takes for the period; 0: that */
	int64_t tick_cost;	/* ns a tick takes from the program */
	bool credit_cost;	/* and that the accounting knows of it */
	int batch;  /* samples that the handler takes at a time; 1: accounted at the sample */
	bool waive; /* common debt, ... */
	double waive_every;   /* ... looked at no more often than this, in periods */
	int64_t max_stop;     /* longest uninterrupted stop, ns */
	int max_share;	      /* of time, percent */
	int64_t wake_latency; /* of an idle core, ns */
	int64_t slice;
	double work_jitter; /* share of each piece of work, uniform */
	double drift;	    /* machine speed: standard deviation of its logarithm, ... */
	int64_t drift_ns;   /* ... which changes as often as this */
	struct sim_weather weather;
	uint64_t seed;
	/* What other engines could do; off in the BPF engine. */
	int64_t kick;	   /* ns until a hit has interrupted all running cores; 0: it does not */
	bool defer;	   /* hold externally woken tasks back instead of stopping their core */
	bool slice_credit; /* what a hit saves comes off the slice and the fair share */
	bool charge_stops; /* stops count as run time of the task they hit */
	bool exclude;	   /* core model: cores with debt take no tasks */
	bool taken;	   /* share.h, "taken" */
	bool share;	   /* the rules of account/share.h */
	bool waits;	   /* waits are hits (account/wait.h) */
	bool devices;	   /* devices have accounts (the same) */
	bool servers;	   /* threads of the kernel have, too (the same) */
	bool exchange;	   /* cores change places (the same) */
	bool spread;	   /* hits are spread, ticks after idling stand for a period (spread.h) */
	bool seen;	   /* begin and end of the target are (the same) */
	bool control;	   /* all that profiled tasks run is a hit, and saves nobody anything */
	bool spins;	   /* waits for spin locks are followed */
	bool sees_spins;   /* ticks see that a program spins */
	/* What happens, as a causal recording has it; samples are exact, `stack` is the label. */
	void (*trace)(const struct trace_event *e, void *arg);
	void *trace_arg;
	bool keep_sinks; /* tasks for which nobody waits owe as all others (account/sink.h) */
};
void sim_options_default(struct sim_options *o);

struct sim_progress {
	uint64_t visits;
	int64_t last_time;
	int64_t last_virtual; /* last_time - what the core had absorbed */
};

struct sim_ledger {
	int64_t delay, waived, own, stopped, excused, overhead, owed;
	int64_t external_waited, idle, crowded, shared, urgent;
	/* Sums over cores: CPU time of profiled tasks and others without stops, and of the host. */
	int64_t ran, others_ran, stolen;
	uint64_t spun_seen, spun_first; /* ns of spinning, by ticks (stats/window.h) */
	uint64_t external_waits, hits, ticks, stops, syncs, spins, spun, capped;
	uint64_t waiver_looks; /* cores looked at in evaluating waivers */
};

struct sim;
/* @p must stay alive. */
struct sim *sim_create(const struct sim_program *p, const struct sim_options *o);
void sim_free(struct sim *s);
int64_t sim_now(const struct sim *s);
void sim_run(struct sim *s, int64_t until);
/* @virtual_speedup by accounting, @real_speedup by really shortening the target; 0 to 1. */
void sim_set_speedup(struct sim *s, double virtual_speedup, double real_speedup);
void sim_read_progress(const struct sim *s, struct sim_progress *ret);
void sim_read_ledger(const struct sim *s, struct sim_ledger *ret);
/* Largest debt of a core that runs something. */
int64_t sim_largest_debt(const struct sim *s);
/* True when nothing can happen any more but ticks. */
bool sim_deadlocked(const struct sim *s);

#endif
