/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of time with one speedup in force: measured, recorded, and remembered for the end. */
#ifndef SCOZD_WINDOW_H
#define SCOZD_WINDOW_H

#include "daemon/live.h"
#include "daemon/machine.h"
#include "daemon/period.h"
#include "daemon/trials.h"
#include "plan/window_length.h"
#include "stats/discard.h"

struct windows;
struct windows *windows_create(struct session *s, struct trials *trials,
			       const struct sampling *sampling);
void windows_destroy(struct windows *l);
/*
 * One speedup, held for length->hold windows, which go to @w (what they point to belongs to @l).
 * -EINTR when the run ended meanwhile: then only whole windows are recorded.
 */
int windows_hold(struct windows *l, const struct plan_window *what,
		 const struct window_length *length, struct profile_window *w);
/* @target: its number in the plan. @more: follows the one before at the same speedup. */
int windows_record(struct windows *l, int target, struct profile_window *w, bool more);
/*
 * From here on everything is stopped for about a fifth of the time, and nobody saves anything
 * (stats/stretch.h), until windows_go_on(). False: this engine cannot.
 */
bool windows_stop_all(struct windows *l);
void windows_go_on(struct windows *l);
/* A window of that: no experiment, so the plan does not hear of it. -ENOTSUP: see above. */
int windows_hold_control(struct windows *l, int target, const struct window_length *length);
int windows_record_control(struct windows *l, int target, struct profile_window *w);
/* All windows so far. */
void windows_discard_all(struct windows *l, enum discard why);
/* Of the command: its windows are no neighbours of those so far. */
void windows_next_run(struct windows *l);
/* Of this run. */
const struct profile_window *windows_all(const struct windows *l, size_t *n);
/* More of them than chance brings held no visit, or hardly any: pauses are no rarity. */
bool windows_often_empty(const struct windows *l);
/* Treated windows kept. */
uint32_t windows_units(const struct windows *l);
/* What they come to, in a sentence; NULL: nothing. To be freed. */
char *windows_conclusion(const struct windows *l);
/* live_awaited(). */
bool windows_awaited(const struct windows *l, struct awaited_verdict *ret);
/* One of them had a sample of its target. Any thread. */
bool windows_are_useful(const struct windows *l);

struct window_watch {
	uint64_t start_ns, lapsed_ns, lost;
	struct machine_times machine;
	struct cpu_quota quota;
	uint64_t speed_sum, speeds;
	double probes_ns; /* flaws_probes_ns() */
	struct engine_ledger before, after;
};
/* Virtual or real; {} is 0 %. False: the file of --truth could not be written. */
bool window_set_speedup(struct session *s, const struct plan_window *what);
/* Unless there is a reason already; KEPT is none. */
void window_discard(struct profile_window *w, enum discard why);
void window_watch_begin(struct session *s, struct window_watch *watch);
/* Times, delay, hits, and whether what happened meanwhile makes the window worthless. */
void window_watch_end(struct session *s, struct window_watch *watch, struct profile_window *w);
/*
 * What is expected to be wrong by probes, at the target's calls and at progress points, and by what
 * ran elsewhere (flaws.h), in points. After window_watch_end().
 */
double window_flaws_pp(const struct session *s, const struct window_watch *watch,
		       const struct profile_window *w);

#endif
