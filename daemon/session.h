/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of scozd: what its parts share. Owned by main(), used by the main thread. */
#ifndef SCOZD_SESSION_H
#define SCOZD_SESSION_H

#include "run/command.h"
#include "run/cores.h"
#include "daemon/handler.h"
#include "daemon/locations.h"
#include "daemon/machine.h"
#include "daemon/options.h"
#include "daemon/points.h"
#include "engine/engine.h"
#include "map/map.h"
#include "plan/plan.h"
#include "plan/window_length.h"
#include "profile/profile.h"
#include "stats/stats.h"

/* A target under experiment; its index is its number in the plan. */
struct trial {
	struct target target;
	uint32_t id; /* in the profile; valid when named */
	bool named, broken;
	uint64_t not_before_ns;	  /* its binary has not been seen: try again then */
	uint64_t unread_since_ns; /* it waits for files that are being read; 0: it does not */
	uint32_t round;		  /* for which it was made the engine's target */
	uint64_t hits;
	uint64_t others_hits; /* in the same windows, by tasks that are not profiled */
	uint32_t rests;	      /* how often it was left alone, for want of samples */
};

struct session {
	struct options opt;
	struct cores cores;
	struct engine *engine;
	struct map_options map_options;
	struct maps *maps;
	struct locations *locations;
	struct process_table *processes;
	struct handlers *handlers;
	struct points *points;
	struct profile_writer *writer;
	struct command command;
	struct lease *lease;
	uint64_t repaired;    /* records lost when mappings were last read again */
	unsigned int repairs; /* how often that was done */
	bool in_window;	      /* nothing that may wait for others is done: cores may be stopped */
	int truth;	      /* the file of --truth, or -1 */

	uint64_t start_ns;
	struct machine_times *machine; /* at the start, by core */
	uint64_t period_ns;
	double expected_pp;	/* what predictions were expected to be off by when it was chosen */
	uint64_t min_period_ns; /* the kernel would throttle a shorter one; 0: any will do */
	double tick_cost_ns;	/* 0: not known */

	/* Binaries of the current target: their mappings are published as they appear. */
	uint32_t published[SCOZ_MAX_PARTS];
	volatile int n_published;

	uint32_t marks_searched; /* binaries looked at so far */
	uint64_t marks_refreshed_ns;
	uint64_t processes_looked_ns;

	struct plan *plan;
	struct window_tuner *tuner;
	struct trial *trials;
	size_t n_trials, cap_trials;
	struct trial *selected;		/* the engine's target */
	uint64_t chosen_ns;		/* when samples were last looked at for targets */
	struct profile_window *windows; /* of this run, for the live line and the end */
	size_t n_windows, cap_windows;
	uint32_t max_windows; /* of an end-to-end run; 0: no limit */
	uint32_t seq;
	uint32_t units;		     /* treated windows kept */
	bool useful;		     /* one of them had a sample of its target */
	struct point_reading *first; /* of every point, at the start */

	const char *end; /* why the run ended, for the footer */
	int command_status;
	char **reasons, **warnings;
	size_t n_reasons, cap_reasons, n_warnings, cap_warnings;
};

/* Set by the first and by the second signal (ending.c). */
extern volatile bool session_interrupted, session_at_once;

void session_reason(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void session_warn(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double session_elapsed_s(const struct session *s);
/* For what has started since: marks in its files, its name and rank. Now and then. */
void session_look(struct session *s);
/* Sleeps; false when the run is over (signal, duration, end of the command). */
bool session_sleep(struct session *s, double seconds);
bool session_over(struct session *s);
/*
 * Executables that have appeared since may carry marks. Opens what others have written, so it is
 * put off while cores may be stopped.
 */
void session_look_for_marks(struct session *s);

/*
 * Picks the sampling period from what happened between two ledgers, @seconds apart.
 * @visits_per_s: of the busiest progress point; 0: not known.
 */
void experiment_choose_period(struct session *s, const struct engine_ledger *a,
			      const struct engine_ledger *b, double seconds, double visits_per_s);
/* What predictions were to be off by at the period in use, from what happened, in points. */
double experiment_expected_pp(const struct session *s, const struct engine_ledger *a,
			      const struct engine_ledger *b, double seconds, double visits_per_s);
/*
 * experiment.c: warms up, then the windows of one run of the command, or until the end. The period
 * is chosen by what happens in the warm-up, anew after the first visit of a progress point.
 */
int experiment_run(struct session *s, struct error *err);
/* trials.c: what to measure next, with targets named or chosen from what was sampled. */
enum plan_answer trials_next(struct session *s, struct plan_window *ret);
/* May there be one later? False when every named target is broken. */
bool trials_pending(const struct session *s);
/* Makes it the engine's target, once a round, and publishes its mappings. */
int trial_select(struct session *s, struct trial *t, struct error *err);
/* Not to be tried for some time, as its binary has not been seen. */
void trial_postpone(struct session *s, struct trial *t);
/* Not to be tried for some time, longer each time, where the plan says that it is not seen. */
void trial_rest(struct session *s, struct trial *t);
/* Not to be tried again. */
void trial_break(struct session *s, struct trial *t, const char *why);
/* end_to_end.c */
int end_to_end_run(struct session *s, struct error *err);
/*
 * window.c: one speedup, held for length->hold windows, which go to @w (what they point to belongs
 * to the session). -EINTR when the run ended meanwhile: then only whole windows are recorded.
 */
int window_hold(struct session *s, const struct plan_window *what,
		const struct window_length *length, struct profile_window *w);
/* @more: follows the one before at the same speedup. */
int window_record(struct session *s, struct trial *t, struct profile_window *w, bool more);
/* All windows so far. */
void window_discard_all(struct session *s, const char *why);
/*
 * Between windows: where records of the rings were lost, mappings, execs and exits may be among
 * them, so what is mapped where is read from /proc again.
 */
bool session_repair(struct session *s, struct error *err);
struct window_watch {
	uint64_t start_ns, lapsed_ns, lost;
	struct machine_times machine;
	uint64_t speed_sum, speeds;
	struct engine_ledger before, after;
};
/* Virtual or real; {} is 0 %. False: the file of --truth could not be written. */
bool window_set_speedup(struct session *s, const struct plan_window *what);
void window_watch_begin(struct session *s, struct window_watch *watch);
/* Times, delay, hits, and whether what happened meanwhile makes the window worthless. */
void window_watch_end(struct session *s, struct window_watch *watch, struct profile_window *w);
/*
 * status_line.c: what stands on the live line, at most @cols wide. Malloc'ed. @best: a target,
 * NULL: nothing was learned yet; @result: about it.
 */
char *status_line(double elapsed_s, uint32_t windows, const char *trying, double speedup,
		  const char *best, const char *result, size_t cols);
/* status.c */
void status_window(struct session *s, const struct trial *t, const struct profile_window *w);
void status_event(struct session *s, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void status_clear(void);
/*
 * process_samples.c: which processes the samples fell into. @places: of the samples written last,
 * in their order, as handlers_places() names them.
 */
int process_samples_write(struct session *s, const uint32_t *places, size_t n, struct error *err);
/* finish.c: footer, samples, reasons. Returns the exit status. */
int session_finish(struct session *s);
/*
 * The same without waiting for any other thread, whatever they are doing: what needs them is left
 * out. For the thread that ends the run at once.
 */
int session_finish_at_once(struct session *s);

#endif
