/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the simulator is for: programs run as they are, with the target really shortened, and with
 * it virtually sped up; the difference of the last two is the error of the accounting.
 */
#ifndef SIM_STUDY_H
#define SIM_STUDY_H

#include "machine.h"
#include "profile/profile.h"

/* One way of profiling. */
struct sim_config {
	char text[96]; /* as written: "wait period=auto batch=1 engine=bpf" */
	struct sim_options o;
	bool calibrate;	   /* by a run in which all is stopped (stats/stretch.h) */
	bool auto_period;  /* by the rule of lib/plan/period.h */
	int64_t heartbeat; /* a timer thread beside the program wakes as often, ns; 0: none */
	double hogs;	   /* of each core is taken by real-time tasks */
	bool strangers;	   /* tasks beside the program take a core now and then */
};
/*
 * Words separated by spaces: wait or core; period=USEC or period=auto; batch=N; engine=bpf or
 * engine=kernel (holds back, credits slices, interrupts others); cost=NS; seed=N; weather:
 * no-waits, no-devices, no-servers, no-exchange: without what account/wait.h says; max-stop=USEC;
 * steal=PCT, jump=FACTOR, common=PCT, heartbeat=MS, hogs=PCT, strangers; foul: steal=30 jump=2
 * cost=20000. False: unknown.
 */
bool config_parse(const char *text, struct sim_config *ret);
/* A copy with the tasks beside it that the configuration asks for. */
struct sim_program *study_beside(const struct sim_program *p, const struct sim_config *c);

/* Period in ns by the rule, from a second without speedup; @coarse: that no period is fine enough.
 */
int64_t study_period(const struct sim_program *p, const struct sim_config *c, bool *coarse);

struct sim_result {
	double truth;	  /* program speedup in percent */
	double predicted; /* the same by virtual speedup, in one long stretch */
	double slowdown;  /* of the program while experiments run */
	int64_t period;
	bool coarse;
	bool stuck; /* the program made no progress */
	/* of the virtual run */
	struct sim_ledger ledger;
	double seconds;
};
/* Both with the configuration's tasks beside the program. */
struct sim_result study(const struct sim_program *p, const struct sim_config *c, double speedup,
			double seconds);
/* Only the time per unit of work in virtual time, ns; INFINITY when there is no progress. */
double study_unit_ns(const struct sim_program *p, const struct sim_options *o,
		     double virtual_speedup, double real_speedup, double seconds);

#endif
