/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.scoz: JSON lines, one object a line, "type" first, append-only kinds, a header line
 * with the version, a footer that marks a run complete; readable up to wherever it is cut off.
 * See docs/file-format.md. Written with one write(2) a line, so that a crash costs one line.
 */
#ifndef SCOZ_PROFILE_H
#define SCOZ_PROFILE_H

#include "stats/window.h"

#define PROFILE_VERSION 1

/* A program that is measured, or has progress points. */
struct profile_binary {
	const char *path;  /* as the user wrote it, or where PATH has it */
	const char *build; /* differs where its content does; "" (or NULL): not known */
};

/* One run of scozd. Strings are copied by the writer and owned by the reader's profile. */
struct profile_header {
	const char *engine; /* "bpf", "kernel" */
	const char *model;  /* "wait", "core" */
	double frequency_hz;
	uint64_t seed;
	const char *command; /* the command line, or "" for a system-wide run */
	/* Of scozd, each option in one string, "--duration=60"; then "--" and COMMAND. */
	const char *const *arguments;
	size_t n_arguments;
	const struct profile_binary *binaries;
	size_t n_binaries;
	const char *host;    /* uname -n */
	const char *kernel;  /* uname -r */
	const char *started; /* ISO 8601 UTC */
	const char *mode;    /* "windows", "end-to-end" */
	bool waits;	     /* targets of code are sped up with their waiting */
	int cpus;	     /* number of sampled cores */
	double period_s;     /* 1 / frequency */
};

enum progress_kind { PROGRESS_THROUGHPUT, PROGRESS_LATENCY };
struct profile_progress {
	uint32_t id; /* index in windows' progress arrays; equal in all runs of one file */
	const char *name;
	enum progress_kind kind;
	const char *spec; /* as the user wrote it */
};

struct profile_target {
	uint32_t id;
	const char *name;     /* as scozd(8) writes a TARGET: "func:work_f@bar" */
	const char *kind;     /* "line", "function", "file", "binary", "kernel", ... */
	const char *location; /* "bar.c:8", or "" */
};

/* What the source around a target's location was when it was profiled. */
struct profile_source {
	uint32_t run, target; /* ids */
	uint32_t first;	      /* number of the first line */
	const char *const *lines;
	size_t n_lines;
	bool newer; /* the file was changed after the program was made: lines may have moved */
};

/* How often a target was sampled while it was known to be one; by which calls, in lines of their
 * own. */
struct profile_seen {
	uint32_t run, target;  /* ids */
	uint64_t samples, all; /* of the target; of everything meanwhile */
	uint64_t polled;       /* of `samples`: it waited by polling */
};
struct profile_path {
	uint32_t run, target;
	uint64_t samples; /* of the target's */
	const char *const
		*functions; /* TARGET notation, the target's own first, then its callers */
	size_t n_functions;
};

/* How long one latency point took, in all of a run, where that was measured. */
struct profile_latency_bin {
	double from_s, to_s;
	uint64_t count;
};
struct profile_latency {
	uint32_t progress;  /* id */
	uint64_t measured;  /* both ends in one thread, begun at 0 % */
	uint64_t elsewhere; /* ends at 0 % whose begin was in another thread */
	const char *why;    /* nothing was measured; else "" */
	struct profile_latency_bin *bins;
	size_t n_bins;
};

/*
 * What a recording of the run's beginning makes expect (docs/whatif.md): by replay, before any
 * experiment, with bounds that are no intervals. Percent.
 */
struct profile_replay {
	uint32_t run;
	double seconds; /* so long it was recorded */
	uint64_t events, samples, lost;
	double crowded, spun; /* as struct predict has them: 0 to 1 */
	const char *why;      /* nothing is expected; else "" */
	/* As struct through has them: @through is "" where nobody waited so. */
	double disk_waits, through_share;
	const char *through;
};
struct profile_expectation {
	double speedup; /* 0 to 1 */
	double pct, low, high;
};
/* Of @n, that at half the target's time, or next to that; NULL: there is none. */
const struct profile_expectation *profile_expectation_half(const struct profile_expectation *at,
							   size_t n);
/* What they are ordered by: likely and certain first. */
static inline double profile_expectation_worth(const struct profile_expectation *x)
{
	return x->low + x->pct;
}
#define EXPECTATION_LEAST_PCT 1.0 /* less is not told: bounds are wider by a point in any case */

struct profile_expected {
	uint32_t run;
	const char *target, *kind, *location; /* as a profile_target's */
	uint32_t progress;		      /* id */
	double share; /* of the time that threads ran: in it, or called by it; 0 to 1 */
	uint64_t samples;
	struct profile_expectation *at; /* by speedup, growing */
	size_t n_at;
	const char *function; /* of a line: the one that it is in, TARGET notation, or NULL or "" */
	const char *after;    /* as a next step: of both, it and that target; else NULL or "" */
};

/* Who waited for a target in that recording: directly, and blocked, not in a loop. */
struct profile_waiter {
	const char *name; /* of threads */
	uint32_t threads; /* how many are called so */
	double share;	  /* of the recorded time, summed over them: 1 is one that always waits */
	uint64_t samples; /* of the target, in their waits */
	const char *wait; /* what they mostly waited in: trace_wait_name() */
};
struct profile_waiters {
	uint32_t run;
	const char *target;	     /* as a profile_target's */
	double seconds;		     /* so long it was recorded */
	struct profile_waiter *list; /* most first; none: nobody is known to wait for it */
	size_t n;
};

/* What targets are chosen from, at the end of the run; of several runs the last one counts. */
struct profile_choice {
	uint32_t run;
	const char *target; /* TARGET notation */
	uint64_t samples;   /* that it stands for among the others */
};

/* How often a location was seen (in scope, near the progress), for `scoz targets` and reports. */
struct profile_sample {
	const char *target; /* TARGET notation */
	const char *location;
	const char *binary;
	uint64_t self, total; /* with the IP / anywhere in the call chain */
	uint64_t credit;      /* that count for it when targets are chosen; each for one place */
	uint64_t unnamed;     /* of a binary: in functions without a name, of self */
	uint64_t polled;      /* of total: it waited by polling */
};

/* The machine, in a whole run. */
struct profile_core {
	int cpu;
	double stolen_s, busy_s, stopped_s;
	double work_ns; /* as a window's */
};
struct profile_machine {
	uint32_t run;
	double tick_cost_s; /* of one accounting tick; 0: not known */
	uint64_t ticks;
	struct profile_core *cores;
	size_t n_cores;
};

/*
 * A process that samples fell into, or a group of those of one name, of which only their number is
 * kept: of short-lived ones there may be thousands.
 */
struct profile_place {
	uint32_t sample; /* index into the samples */
	uint64_t self, total, credit;
};
struct profile_process {
	uint32_t run;
	int pid;	       /* 0: a group */
	uint64_t members;      /* of the group; 1 of a process */
	const char *name;      /* of its first thread; "" in a group: of any name */
	int rank;	       /* in a parallel job, -1: in none */
	const char *rank_from; /* the variable of its environment that says so, or "" */
	uint64_t samples;
	uint64_t polled;   /* of them, while it waited for a message by polling */
	uint64_t left_out; /* samples in places that are not among these */
	struct profile_place *places;
	size_t n_places;
};

/*
 * What was lost, cut, unpaid; ledger in seconds, own to overhead and owed summed over cores:
 * cores * inserted = own + stopped + excused + overhead + owed; inserted + waived = own.
 */
struct profile_footer {
	double duration_s;
	uint64_t samples_total, samples_lost;
	uint64_t samples_unnamed; /* ran in functions of which no name is known */
	double inserted_s, stopped_s, own_s, excused_s, overhead_s, waived_s, owed_s;
	int command_status; /* wait status of COMMAND, -1 without */
	const char *end;    /* "done", "signal", "duration", "precision", "command failed" */
	const char *const *reasons; /* why nothing can be concluded, if so */
	size_t n_reasons;
	const char *const *warnings; /* e.g. "expect predictions to be wrong by ..." */
	size_t n_warnings;
};

/* ---- writing ---- */
struct profile_writer;
/*
 * Opens @path for a new run. An existing profile is extended when engine, model, mode and the
 * progress points (names, kinds, specs, order) agree, else refused (-EEXIST) with a message that
 * says what differs and what to do. A file without a footer (cut off) is extended as well; a
 * half last line is closed off first. Runs are numbered on. The file is locked (flock) until
 * profile_writer_close(): -EBUSY while another writer has it.
 *
 * A line that cannot be written whole is taken back, so that the file stays readable and later
 * lines may be tried. A process that sets RLIMIT_FSIZE must ignore SIGXFSZ to see that error.
 */
int profile_writer_open(const char *path, const struct profile_header *h,
			const struct profile_progress *progress, size_t n_progress,
			struct profile_writer **ret, struct error *err);
/* The sampling frequency chosen after the run had begun: supersedes the header's. */
int profile_writer_frequency(struct profile_writer *w, double hz, struct error *err);
uint32_t profile_writer_run(const struct profile_writer *w);
/* Id of the target with that name, written on first use; the same name keeps its id across runs.*/
int profile_writer_target(struct profile_writer *w, const struct profile_target *t, uint32_t *id,
			  struct error *err);
int profile_writer_window(struct profile_writer *w, const struct profile_window *win,
			  struct error *err);
/* The kept windows of this run before @seq turned out worthless, for the reason @why. */
int profile_writer_discard(struct profile_writer *w, uint32_t seq, enum discard why,
			   struct error *err);
int profile_writer_latency(struct profile_writer *w, const struct profile_latency *l,
			   struct error *err);
int profile_writer_source(struct profile_writer *w, const struct profile_source *s,
			  struct error *err);
int profile_writer_seen(struct profile_writer *w, const struct profile_seen *s, struct error *err);
int profile_writer_path(struct profile_writer *w, const struct profile_path *p, struct error *err);
int profile_writer_replay(struct profile_writer *w, const struct profile_replay *r,
			  struct error *err);
int profile_writer_expected(struct profile_writer *w, const struct profile_expected *e,
			    struct error *err);
int profile_writer_waiters(struct profile_writer *w, const struct profile_waiters *p,
			   struct error *err);
int profile_writer_choice(struct profile_writer *w, const struct profile_choice *c,
			  struct error *err);
int profile_writer_samples(struct profile_writer *w, const struct profile_sample *s, size_t n,
			   struct error *err);
int profile_writer_machine(struct profile_writer *w, const struct profile_machine *m,
			   struct error *err);
/* @p->places: of the samples written last. */
int profile_writer_process(struct profile_writer *w, const struct profile_process *p,
			   struct error *err);
/* Whatever is written after that is left out: may race with other lines of another thread. */
int profile_writer_finish(struct profile_writer *w, const struct profile_footer *f,
			  struct error *err);
/*
 * Takes this run back, as if it had never been opened: for a start that fails. Then close it.
 * What a run has learned, expectations or windows, stays.
 */
void profile_writer_abandon(struct profile_writer *w);
void profile_writer_close(struct profile_writer *w);

/* ---- reading ---- */
struct profile_run {
	struct profile_header header;
	struct profile_footer footer;
	bool complete; /* footer was there */
};

struct profile {
	char *path;
	struct profile_run *runs;
	size_t n_runs;
	struct profile_progress *progress;
	size_t n_progress;
	struct profile_target *targets;
	size_t n_targets;
	struct profile_window *windows;
	size_t n_windows;
	struct profile_sample *samples; /* summed over runs */
	size_t n_samples;
	struct profile_machine *machines; /* of all runs that say */
	size_t n_machines;
	struct profile_process *processes; /* of all runs */
	size_t n_processes;
	struct profile_source *sources; /* of all runs */
	size_t n_sources;
	struct profile_seen *seen; /* of all runs */
	size_t n_seen;
	struct profile_path *paths; /* of all runs */
	size_t n_paths;
	struct profile_latency *latencies; /* of all runs */
	size_t n_latencies;
	struct profile_replay *replays; /* of all runs that have one */
	size_t n_replays;
	struct profile_expected *expected; /* of all runs */
	size_t n_expected;
	struct profile_expected *expected_next; /* of all runs: those with after */
	size_t n_expected_next;
	struct profile_waiters *waiters; /* of all runs */
	size_t n_waiters;
	struct profile_choice *choices; /* of all runs, most sampled first in each */
	size_t n_choices;
	bool truncated;	      /* last line incomplete, or the last run without footer */
	size_t skipped_lines; /* cut off by a crash or a full disk: nothing else is skipped */
	size_t unknown_lines; /* kinds that a later scoz added: ignored */
};
/*
 * Targets and progress points are indexed by their ids. -EINVAL with line number for garbage in
 * the middle; a cut last line is not an error. -ENODATA: empty, or cut within the first line.
 * -ENOTSUP: written by a newer scoz.
 */
int profile_read(const char *path, struct profile **ret, struct error *err);
/* Does that file begin like a profile? */
bool profile_is(const char *path);
void profile_free(struct profile *p);

#endif
