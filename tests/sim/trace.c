// SPDX-License-Identifier: GPL-2.0-or-later
/* Simulated runs as causal recordings: what a recorder of that machine would have written. */
#include "machine_internal.h"

static void tell(struct sim *s, struct trace_event e)
{
	if (!s->o.trace)
		return;
	e.time = s->now;
	s->o.trace(&e, s->o.trace_arg);
}

static enum trace_wait wait_of(const struct task *t)
{
	if (t->pc >= t->spec->n)
		return TRACE_WAIT_OTHER;
	switch (t->spec->op[t->pc].kind) {
	case OP_LOCK:
	case OP_READ_LOCK:
	case OP_WRITE_LOCK:
	case OP_SPIN_LOCK:
		return TRACE_WAIT_LOCK;
	case OP_BARRIER:
	case OP_SPIN_BARRIER:
		return TRACE_WAIT_FUTEX;
	case OP_SEND:
		return TRACE_WAIT_WRITE;
	case OP_RECEIVE:
		return TRACE_WAIT_READ;
	case OP_JOIN:
		return TRACE_WAIT_CHILD;
	case OP_SLEEP:
	case OP_SLEEP_UNTIL:
		return TRACE_WAIT_SLEEP;
	case OP_AWAIT: /* of a timer's descriptor */
		return TRACE_WAIT_READ;
	case OP_IO:
		return TRACE_WAIT_IO;
	case OP_TAKE:
		return TRACE_WAIT_KERNEL;
	default:
		return TRACE_WAIT_OTHER;
	}
}

void trace_runs(struct sim *s, int c, int64_t ns)
{
	const struct task *t = &s->task[s->core[c].cur];

	if (ns > 0)
		tell(s, (struct trace_event){ .type = TRACE_SAMPLE,
					      .thread = s->core[c].cur,
					      .cpu = c,
					      .stack = t->rem < FOREVER ? t->label : SIM_REST,
					      .spins = t->rem >= FOREVER,
					      .wait = wait_of(t),
					      .weight = ns });
}

void trace_leaves(struct sim *s, int c, enum trace_why why)
{
	tell(s,
	     (struct trace_event){ .type = TRACE_LEAVE,
				   .thread = s->core[c].cur,
				   .cpu = c,
				   .why = why,
				   .wait = why == TRACE_BLOCKED ? wait_of(&s->task[s->core[c].cur])
								: TRACE_WAIT_OTHER });
}

void trace_exits(struct sim *s, int c)
{
	trace_leaves(s, c, TRACE_BLOCKED);
	tell(s, (struct trace_event){ .type = TRACE_EXIT, .thread = s->core[c].cur, .cpu = c });
}

void trace_enters(struct sim *s, int c)
{
	tell(s, (struct trace_event){ .type = TRACE_ENTER, .thread = s->core[c].cur, .cpu = c });
}

void trace_wakes(struct sim *s, int t, int waker)
{
	bool task = waker != OUTSIDE && s->core[waker].cur != NOBODY;

	tell(s, (struct trace_event){
			.type = TRACE_WAKE,
			.thread = t,
			.cpu = task ? waker : 0,
			.by = task				      ? TRACE_BY_THREAD
			      : wait_of(&s->task[t]) == TRACE_WAIT_IO ? TRACE_BY_DEVICE
								      : TRACE_BY_TIMER,
			.other = task ? (uint32_t)s->core[waker].cur
				 : wait_of(&s->task[t]) == TRACE_WAIT_IO
					 ? (uint32_t)s->task[t].spec->op[s->task[t].pc].object
					 : 0 });
}

void trace_asks(struct sim *s, int t, int c, int device)
{
	tell(s, (struct trace_event){
			.type = TRACE_ISSUE, .thread = t, .cpu = c, .other = device, .stack = t });
}

void trace_done(struct sim *s, int t, int device)
{
	tell(s,
	     (struct trace_event){
		     .type = TRACE_COMPLETE, .thread = TRACE_NONE, .other = device, .stack = t });
}

void trace_starts(struct sim *s, int t, int by)
{
	bool forked = by != NOBODY && s->core[by].cur != NOBODY;

	tell(s, (struct trace_event){ .type = forked ? TRACE_FORK : TRACE_FOLLOW,
				      .thread = t,
				      .why = TRACE_QUEUED,
				      .other = forked ? (uint32_t)s->core[by].cur : TRACE_NONE });
}

void trace_progress(struct sim *s, int c)
{
	tell(s, (struct trace_event){ .type = TRACE_PROGRESS, .thread = s->core[c].cur, .cpu = c });
}
