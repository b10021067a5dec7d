/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Sinks: tasks for whom nobody waits. A thread that wakes up by a timer, looks at something and
 * sleeps again would owe what was inserted meanwhile, each time, and others would wait behind it
 * for nothing. So a task that has slept SCOZ_SINK_WAITS times for devices or timers, and for a
 * tenth of that time at most has either run or been waited for, absorbs in such waits. Whoever
 * visits a progress point is none.
 *
 * Waited for: when it wakes a task, that task has waited for as long as it slept. To have woken
 * somebody is not enough: a database's background writer asks for locks, devices and threads of
 * the kernel, and in passing ends others' waits of some microseconds. Threads of the kernel that a
 * program sets to work have not waited for it, nor have sinks.
 *
 * A balance says which it is, as waits differ: who sleeps for 200 ms, then writes and waits for the
 * disk a few times, is judged by all of them. It rises by what the task runs and is waited for, and
 * falls by a tenth of its waits; within limits, so that what it does now counts.
 *
 * account.h has an earlier rule, for engines that know only whether a task has woken anybody.
 */
#ifndef SCOZ_SINK_H
#define SCOZ_SINK_H

#include "account/account.h"

#define SCOZ_SINK_PART	 10
#define SCOZ_SINK_CREDIT 10000000LL /* ns; the lower limit */
#define SCOZ_SINK_MEMORY 20000000LL /* and the upper one */

/* Of a task; zero-initialised is valid: nothing is known, so it is none. */
struct scoz_sink {
	__s64 balance; /* ns */
	__u64 ran;     /* scoz_task.ran at the last look */
	__u32 waits;   /* for devices and timers, at whose ends the balance was not above 0 */
	__u32 pad;
};

static __always_inline void scoz_sink_add(struct scoz_sink *s, __s64 ns)
{
	s->balance += ns;
	if (s->balance > SCOZ_SINK_MEMORY)
		s->balance = SCOZ_SINK_MEMORY;
	else if (s->balance < -SCOZ_SINK_CREDIT)
		s->balance = -SCOZ_SINK_CREDIT;
}

/* It has woken a task of a program, no sink, that had slept for @waited ns. */
static __always_inline void scoz_sink_wakes(struct scoz_sink *s, __u64 waited)
{
	scoz_sink_add(s, waited < SCOZ_SINK_MEMORY ? (__s64)waited : SCOZ_SINK_MEMORY);
}

/* It visits a progress point, or starts a task. */
static __always_inline void scoz_sink_counts(struct scoz_sink *s)
{
	s->balance = SCOZ_SINK_MEMORY;
	s->waits = 0;
}

/* A device or a timer has ended its wait, of @waited ns. @ran: all that it has ever run. */
static __always_inline void scoz_sink_waited(struct scoz_sink *s, __u64 waited, __u64 ran)
{
	__u64 since = ran - s->ran;

	s->ran = ran;
	scoz_sink_add(s, (since < SCOZ_SINK_MEMORY ? (__s64)since : SCOZ_SINK_MEMORY) -
				 (__s64)(waited / SCOZ_SINK_PART));
	if (s->balance > 0)
		s->waits = 0;
	else if (s->waits <= SCOZ_SINK_WAITS)
		s->waits++;
}

static __always_inline __u32 scoz_sink_is(const struct scoz_sink *s)
{
	return s->waits > SCOZ_SINK_WAITS;
}

/*
 * @t, a sink that a device or a timer has woken, is about to run. What was inserted since then it
 * does not owe either, such as what the task that makes room for it had run in the target: its core
 * would stop for it alone, each time.
 */
static __always_inline void scoz_sink_runs(struct scoz_task *t, __s64 delay)
{
	if (t->absorbed < delay)
		t->absorbed = delay;
}

#endif
