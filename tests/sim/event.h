/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens when: a binary heap ordered by time, then by the order of adding. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EV_SEGMENT,  /* core: the current piece of work is done */
	EV_TICK,     /* core */
	EV_STOP_END, /* core */
	EV_SLICE,    /* core */
	EV_RUN,	     /* core: an idle core has woken up */
	EV_RESCHED,  /* core: a task was woken that should run instead */
	EV_KICK,     /* core */
	EV_TIMER,    /* task */
	EV_DEFERRED, /* task */
	EV_DEVICE,   /* object */
	EV_BALANCE,
	EV_DRIFT,
	EV_BURST,
	EV_SPELL,
};

/* @version: events of a core or task that is further by now are stale. */
struct event {
	int64_t time;
	uint64_t seq;
	enum event_kind kind;
	int32_t who;
	uint32_t version;
};

struct event_queue {
	struct event *e;
	size_t n, cap;
	uint64_t seq;
};

void event_add(struct event_queue *q, int64_t time, enum event_kind kind, int who,
	       uint32_t version);
/* The earliest; false when there is none before @until. */
bool event_next(struct event_queue *q, int64_t until, struct event *ret);

#endif
