// SPDX-License-Identifier: GPL-2.0-or-later
/* What the scheduler did, and disks, as events of a causal recording. */
#include "record/recorder_internal.h"

#include "record/trace_rings.h"

static uint32_t device_id(struct recorder *r, enum record_woken_by by, uint32_t number)
{
	const char *name = wakers_name(r->wakers, by, number);

	for (uint32_t i = 0; i < r->n_devices; i++) {
		if (r->devices[i] == name)
			return i;
	}
	if (r->n_devices == TRACE_DEVICES_MOST)
		return TRACE_DEVICES_MOST - 1;
	array_reserve(r->devices, r->cap_devices, r->n_devices + 1);
	r->devices[r->n_devices++] = name;
	r->sink.device(name, r->sink.arg);
	return r->n_devices - 1;
}

static void woken(struct recorder *r, const struct record_trace *e, struct trace_event *out)
{
	switch (e->why) {
	case RECORD_BY_TASK:
		out->by = TRACE_BY_THREAD;
		out->other = recorder_other_thread(r, e->other, e->time);
		break;
	case RECORD_BY_DEVICE:
		out->by = TRACE_BY_DEVICE;
		out->other = device_id(r, e->why, e->other);
		break;
	case RECORD_BY_TIMER:
		out->by = TRACE_BY_TIMER;
		break;
	case RECORD_BY_NOBODY:
		out->by = TRACE_BY_NOBODY;
		break;
	default:
		out->by = TRACE_BY_OTHER;
		out->other = device_id(r, e->why, e->other);
	}
}

/* A thread's first event. */
static void follows(struct recorder *r, const struct record_trace_name *n, struct trace_event *out)
{
	const struct record_trace *e = &n->event;

	out->thread = recorder_thread_id(r, e->tid, e->detail, n->born, n->comm, e->time);
	if (e->type == RECORD_TRACE_FORK) {
		out->type = TRACE_FORK;
		out->other = recorder_other_thread(r, e->other, e->time);
		return;
	}
	out->type = TRACE_FOLLOW;
	out->why = e->why == RECORD_TRACE_RUNS	  ? TRACE_RUNS
		   : e->why == RECORD_LEFT_QUEUED ? TRACE_QUEUED
						  : TRACE_BLOCKED;
	out->wait = e->why == RECORD_LEFT_IO ? TRACE_WAIT_IO : TRACE_WAIT_OTHER;
}

/* What the words of a futex say is so if who stands there is a thread of the process. */
static uint32_t without_chance(struct recorder *r, const struct record_trace *e)
{
	const struct thread *self = recorder_thread_slot(r, e->tid), *holder;
	uint32_t process = self->process, not_held = e->detail & ~RECORD_TRACE_HELD;
	int pid = self->pid;

	if (e->detail & RECORD_TRACE_HELD) {
		if (!e->other || !processes_share_ids(r->processes, process))
			return e->detail;
		holder = recorder_thread_known(r, e->other);
		return holder && holder->pid == pid && e->other != e->tid ? e->detail : not_held;
	}
	if (e->other &&
	    lock_words_wait(r->lock_words, process, e->other, e->tid,
			    !!(e->detail & RECORD_TRACE_TAKEN)) &&
	    e->detail & RECORD_TRACE_TAKEN)
		return e->detail | RECORD_TRACE_HELD;
	return e->detail;
}

static void leaves(struct recorder *r, const struct record_trace *e, struct trace_event *out)
{
	out->why = e->why == RECORD_LEFT_QUEUED ? TRACE_QUEUED : TRACE_BLOCKED;
	out->wait = causal_wait(e->why, without_chance(r, e));
	recorder_thread_slot(r, e->tid)->left = out->why == TRACE_BLOCKED ? e->time : 0;
}

/* Its wait is over: what would have been sampled of it. */
static void count_wait(struct recorder *r, const struct record_trace *e)
{
	struct thread *t = recorder_thread_slot(r, e->tid);
	uint32_t points;

	if (!t->left || e->time < t->left)
		return;
	r->waited += e->time - t->left;
	t->left = 0;
	points = r->waited / r->period;
	r->waited %= r->period;
	r->counts.points += points;
	if (e->why == RECORD_BY_TASK)
		processes_ended(r->processes, recorder_thread_slot(r, e->other)->process, points);
}

bool recorder_on_trace(enum queue_kind kind, const void *record, size_t size, void *arg)
{
	static const uint8_t types[] = {
		[RECORD_TRACE_LEAVE] = TRACE_LEAVE,	  [RECORD_TRACE_ENTER] = TRACE_ENTER,
		[RECORD_TRACE_WAKE] = TRACE_WAKE,	  [RECORD_TRACE_EXIT] = TRACE_EXIT,
		[RECORD_TRACE_PROGRESS] = TRACE_PROGRESS, [RECORD_TRACE_ISSUE] = TRACE_ISSUE,
		[RECORD_TRACE_COMPLETE] = TRACE_COMPLETE,
	};
	const struct record_trace *e = record;
	struct recorder *r = arg;
	struct trace_event out = { .time = recorder_since_start(r, e->time),
				   .cpu = e->cpu,
				   .thread = TRACE_NONE,
				   .other = TRACE_NONE,
				   .stack = TRACE_NONE };

	(void)kind;
	if (e->time < r->told)
		r->late++;
	else
		r->told = e->time;
	if (e->type == RECORD_TRACE_FORK || e->type == RECORD_TRACE_FOLLOW) {
		if (size < sizeof(struct record_trace_name))
			return true;
		follows(r, record, &out);
		r->sink.event(&out, r->sink.arg);
		return true;
	}
	if (e->type >= ARRAY_SIZE(types))
		return true;
	out.type = types[e->type];
	if (e->tid)
		out.thread = out.type == TRACE_EXIT ? recorder_thread_that_ends(r, e->tid, e->time)
						    : recorder_other_thread(r, e->tid, e->time);
	switch (out.type) {
	case TRACE_ENTER:
		r->switches++;
		r->unseen += e->other == RECORD_TRACE_UNSEEN;
		break;
	case TRACE_LEAVE:
		r->unseen += e->why == RECORD_LEFT_QUEUED && e->other == RECORD_TRACE_UNSEEN;
		leaves(r, e, &out);
		break;
	case TRACE_WAKE:
		woken(r, e, &out);
		count_wait(r, e);
		break;
	case TRACE_EXIT:
		if (!tid_history_ended(&recorder_thread_slot(r, e->tid)->history, out.thread,
				       e->time))
			return true;
		break;
	case TRACE_PROGRESS:
		out.other = e->other;
		break;
	case TRACE_ISSUE:
	case TRACE_COMPLETE:
		out.other = device_id(r, RECORD_BY_DEVICE, e->other);
		out.stack = e->detail;
		break;
	}
	r->sink.event(&out, r->sink.arg);
	return true;
}
