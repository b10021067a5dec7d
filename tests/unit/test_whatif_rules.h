/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events for a replay of four threads on two CPUs, in which half of what they run may be gained. */
#ifndef SCOZ_TEST_WHATIF_RULES_H
#define SCOZ_TEST_WHATIF_RULES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "whatif/replay.h"

static inline struct replay *begin(enum replay_rules rules)
{
	const struct replay_lane lanes[] = { { 0, 0.5, rules, 0 }, { 0, 0, rules, 0 } };

	return replay_create(4, 2, lanes, 2, 0);
}

static inline void event(struct replay *r, uint64_t time, enum trace_type type, uint32_t thread,
			 int cpu)
{
	const struct trace_event e = {
		.time = time, .type = type, .thread = thread, .cpu = cpu, .why = TRACE_QUEUED
	};

	replay_event(r, &e);
}

static inline void blocks(struct replay *r, uint64_t time, uint32_t thread, enum trace_wait wait)
{
	const struct trace_event e = { .time = time,
				       .type = TRACE_LEAVE,
				       .thread = thread,
				       .why = TRACE_BLOCKED,
				       .wait = wait };

	replay_event(r, &e);
}

static inline void wakes(struct replay *r, uint64_t time, uint32_t thread, enum trace_by by,
			 uint32_t other)
{
	const struct trace_event e = {
		.time = time, .type = TRACE_WAKE, .thread = thread, .by = by, .other = other
	};

	replay_event(r, &e);
}

static inline void ran(struct replay *r, uint32_t thread, double ns)
{
	replay_ran(r, thread, ns, (const float[]){ 1 }, NULL);
}

static inline double earlier(struct replay *r, uint32_t thread)
{
	assert_true(replay_earlier(r, thread)[1] == 0);
	return replay_earlier(r, thread)[0];
}

#define assert_earlier(r, thread, ns) assert_true(earlier(r, thread) == (ns))

#endif
