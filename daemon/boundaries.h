/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions as targets that need no samples: probes tell when a task is in one (account/spread.h,
 * "Seen targets"). Where these go is found out by a thread, as that means reading files; until
 * then, and where it cannot be told (inlined, jump tables, code that is made while it runs), the
 * target is sampled. So it is where calls are too many for what a probe costs, and where samples
 * say again and again something else than the probes do.
 */
#ifndef SCOZD_BOUNDARIES_H
#define SCOZD_BOUNDARIES_H

#include "daemon/targets.h"
#include "engine/engine.h"
#include "maps/maps.h"

struct boundaries;

/* Of the code @r; NULL: it can only be sampled. */
struct boundaries *boundaries_find(const struct resolved_target *r, struct maps *maps,
				   const struct engine *e);
/* Its thread is not done yet: boundaries_free() would wait for it. */
bool boundaries_are_sought(const struct boundaries *b);
/* Whether samples will be needed is known by now. */
bool boundaries_are_known(const struct boundaries *b);
bool boundaries_are_put(const struct boundaries *b);
/* All ways out of it are jumps to other functions, which return for it: these are no part of it. */
bool boundaries_hand_on(const struct boundaries *b);
void boundaries_free(struct boundaries *b);
/* Is it still that code? */
bool boundaries_are_of(const struct boundaries *b, const struct resolved_target *r);
/*
 * The engine's target is that code, and nothing is inserted: probes are put there, if it is known
 * where, and they should be. Takes BOUNDARIES_TRIAL_NS then, once; @runs: the program does not run
 * now, but will from its beginning to its end: then calls are counted in the first run.
 */
void boundaries_put(struct boundaries *b, struct engine *e, bool runs, const char *target);
/* After a window: takes them away where they do not do. False: what it has seen was not so. */
bool boundaries_check(struct boundaries *b, struct engine *e, const char *target);
/*
 * While a run goes on in which calls are counted: when they are so many that it would take many
 * times as long, no more are.
 */
void boundaries_look(struct boundaries *b, struct engine *e, const char *target);
/* After a run: the same; also false: probes have slowed it, and will not slow the next one. */
bool boundaries_check_run(struct boundaries *b, struct engine *e, const char *target);

/*
 * What the probes of a call take, at most: a virtual machine in which instructions that are
 * single-stepped cost 13 us. It is time outside of the target that nobody has without them, so in
 * its share of what tasks run predictions are too low.
 */
#define BOUNDARIES_COST_NS 14000.0
/* How far off by that predictions are, in points for the whole of that share. */
#define BOUNDARIES_SHARE_PP 40.0
#define BOUNDARIES_TRIAL_NS (20 * NSEC_PER_MSEC)

#endif
