/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of scozd: what its parts share. Owned by main(), used by the main thread. */
#ifndef SCOZD_SESSION_H
#define SCOZD_SESSION_H

#include "daemon/command.h"
#include "daemon/cores.h"
#include "daemon/handler.h"
#include "daemon/locations.h"
#include "daemon/options.h"
#include "daemon/points.h"
#include "engine/engine.h"
#include "map/map.h"
#include "profile/profile.h"
#include "stats/stats.h"

/* A target under experiment. */
struct trial {
	struct target target;
	uint32_t id; /* in the profile; valid when named */
	bool named, broken;
	uint64_t not_before_ns; /* its binary has not been seen: try again then */
	uint64_t weight;	/* samples when it was chosen */
	uint32_t rounds;
	uint64_t hits;
};

struct session {
	struct options opt;
	struct cores cores;
	struct engine *engine;
	struct map_options map_options;
	struct maps *maps;
	struct locations *locations;
	struct handlers *handlers;
	struct points *points;
	struct profile_writer *writer;
	struct command command;
	struct lease *lease;

	uint64_t start_ns;
	uint64_t period_ns;
	bool coarse; /* no allowed period is fine enough */
	double sync_interval_s;

	/* Binaries of the current target: their mappings are published as they appear. */
	uint32_t published[ENGINE_MAX_PARTS];
	volatile int n_published;

	uint32_t marks_searched; /* binaries looked at so far */
	uint64_t marks_refreshed_ns;

	struct trial *trials;
	size_t n_trials, cap_trials;
	struct profile_window *windows; /* of this run, kept for --precision and the live line */
	size_t n_windows, cap_windows;
	uint32_t seq;
	uint32_t units; /* treated windows kept */
	uint64_t random;
	struct point_reading *first; /* of every point, at the start */

	const char *end; /* why the run ended, for the footer */
	int command_status;
	char **reasons, **warnings;
	size_t n_reasons, cap_reasons, n_warnings, cap_warnings;
};

/* Set by signals. */
extern volatile int session_interrupted;

void session_reason(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void session_warn(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double session_elapsed_s(const struct session *s);
/* Sleeps; false when the run is over (signal, duration, end of the command). */
bool session_sleep(struct session *s, double seconds);
bool session_over(struct session *s);

/* experiment.c: the windows of one run of the command, or until the end. */
int experiment_warm_up(struct session *s, struct error *err);
/* Picks the sampling period from what happened between two ledgers, @seconds apart. */
void experiment_choose_period(struct session *s, const struct engine_ledger *a,
			      const struct engine_ledger *b, double seconds);
int experiment_run(struct session *s, struct error *err);
/* trials.c: what to speed up next. NULL: nothing (yet). */
struct trial *trials_next(struct session *s);
/* May there be one later? False when every named target is broken. */
bool trials_pending(const struct session *s);
/* Makes it the engine's target, and publishes its mappings. */
int trial_select(struct session *s, struct trial *t, struct error *err);
/* end_to_end.c */
int end_to_end_run(struct session *s, struct error *err);
/* window.c: one window at one speedup; -EINTR when the run ended in it. */
int window_measure(struct session *s, struct trial *t, double speedup, double settle_s,
		   double length_s);
int window_record(struct session *s, struct trial *t, struct profile_window *w);
/* status.c */
void status_window(struct session *s, const struct trial *t, const struct profile_window *w);
void status_event(struct session *s, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void status_clear(void);
/* finish.c: footer, samples, reasons. Returns the exit status. */
int session_finish(struct session *s);

#endif
