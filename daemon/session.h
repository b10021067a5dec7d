/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of scozd: what its parts need of one another, and the little that those without a state
 * of their own have to remember (last in struct session). Owned by main(), used by the main thread.
 */
#ifndef SCOZD_SESSION_H
#define SCOZD_SESSION_H

#include "run/command.h"
#include "run/cores.h"
#include "daemon/ring_handlers.h"
#include "daemon/locations.h"
#include "daemon/options.h"
#include "daemon/points.h"
#include "daemon/polling.h"
#include "daemon/prior.h"
#include "daemon/source_text.h"
#include "engine/engine.h"
#include "host/cpu_quota.h"
#include "maps/maps.h"
#include "profile/profile.h"
#include "unwind/follow.h"

#include <stdatomic.h>

/* Why a run ended. */
enum run_end {
	END_NONE, /* it goes on, or is over because the command is */
	END_DONE,
	END_SIGNAL,
	END_DURATION,
	END_PRECISION,
	END_CPU_GONE,
	END_FAILED,
	END_OUTPUT_FAILED,
};
const char *run_end_text(enum run_end end); /* for the footer */

struct session {
	struct options opt;
	struct cores cores;
	struct engine *engine;
	struct maps *maps;
	struct unwind_follow *unwind; /* NULL: by frame pointers only */
	struct polling *polling;      /* NULL: without s->unwind */
	struct locations *locations;
	struct process_table *processes;
	struct handlers *handlers;
	struct points *points;
	struct profile_writer *writer;
	struct sources *sources;       /* NULL: none are wanted */
	struct prior *prior;	       /* NULL: nothing is recorded */
	struct expectations *expected; /* NULL: not known, or not yet */
	struct launcher launcher;
	struct command command;
	struct lease *lease;
	struct cpu_quotas *quotas; /* NULL: not looked for yet */
	int truth;		   /* the file of --truth, or -1 */
	bool in_window; /* nothing that may wait for others is done: cores may be stopped */

	uint64_t start_ns;
	enum run_end end;
	int command_status;
	char **reasons, **warnings;
	size_t n_reasons, cap_reasons, n_warnings, cap_warnings;

	uint64_t repaired;	 /* records lost when mappings were last read again */
	unsigned int repairs;	 /* how often that was done */
	uint64_t marks_searched; /* the last of the files looked at so far, by its serial */
	uint64_t marks_refreshed_ns, marked_looked_ns, processes_looked_ns;
	uint64_t chains_waited_ns; /* session_await_chains(), so far */

	/* flaws.c */
	struct probe_cost probe_cost;
	bool probe_cost_known;
	bool probes_told, elsewhere_told; /* flaws_tell() */
	/* expect.c */
	bool prior_waited; /* its recording has had its time */
	/* quotas.c */
	uint64_t quotas_looked_ns, other_quotas_looked_ns, quotas_read_ns;
};

/* Set by the first and by the second signal (end_signals.c). */
extern atomic_bool session_interrupted, session_at_once;

void session_reason(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void session_warn(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Something that is worth a line while the run lasts; an event only to who asks (-v, --json). */
void session_say(struct session *s, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void session_event(struct session *s, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
double session_elapsed_s(const struct session *s);
/* Sleeps; false when the run is over (signal, duration, end of the command). */
bool session_sleep(struct session *s, double seconds);
bool session_over(struct session *s);
/* For what has started since: marks in its files, its name and rank. Now and then. */
void session_look(struct session *s);
/*
 * Executables that have appeared since may carry marks. Opens what others have written, so it is
 * put off while cores may be stopped.
 */
void session_look_for_marks(struct session *s);
/* Whose marks count: of those who are profiled, where that was said. */
void session_renew_users(struct session *s);
/* This process is profiled from now on; @arg: the session. */
int session_involve(int pid, void *arg, struct error *err);
/* This process is profiled: its unwind tables are made, and waited for. */
void session_expect_chains(struct session *s, int pid);
/*
 * Before a window: waits as long as unwind tables of what is profiled are still being made, over
 * the run some seconds at most, and says so when they are over. False when the run is.
 */
bool session_await_chains(struct session *s);
/* Records of the rings that were lost so far. */
uint64_t session_lost(const struct session *s);
/*
 * Between windows: where records of the rings were lost, mappings, execs and exits may be among
 * them, so what is mapped where is read from /proc again.
 */
bool session_repair(struct session *s, struct error *err);

#endif
