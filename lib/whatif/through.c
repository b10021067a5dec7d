// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/through.h"

#include "trace/devices.h"

struct waiting {
	uint64_t since, busy_then;
	bool blocked;
	bool followed; /* what it does is in the recording */
	uint8_t wait;
};

struct helper {
	uint32_t thread; /* the first one that is called so */
	uint64_t waited;
};

struct finder {
	const struct trace *t;
	struct waiting *threads;
	struct devices *devices;
	uint32_t open;	     /* devices that have something to do */
	uint64_t busy_since; /* when the first of these was given it */
	uint64_t busy;	     /* ns before, in which one had */
	uint64_t waited;
	struct helper *helpers;
	size_t n, cap;
};

static uint64_t busy_until(const struct finder *f, uint64_t now)
{
	return f->busy + (f->open ? now - f->busy_since : 0);
}

static void see_device(struct finder *f, const struct trace_event *e)
{
	bool before, after;

	if (e->other == TRACE_NONE) {
		devices_event(f->devices, e);
		return;
	}
	before = e->other < devices_count(f->devices) && devices_open(f->devices, e->other);
	devices_event(f->devices, e);
	after = e->other < devices_count(f->devices) && devices_open(f->devices, e->other);
	if (after && !before && !f->open++)
		f->busy_since = e->time;
	if (before && !after && !--f->open)
		f->busy += e->time - f->busy_since;
}

/* Workers are many, and called alike up to their numbers. */
static size_t name_length(const char *comm)
{
	return strcspn(comm, ":");
}

static void help(struct finder *f, uint32_t thread, uint64_t waited)
{
	const char *comm = f->t->threads[thread].comm;
	size_t i, length = name_length(comm);

	for (i = 0; i < f->n; i++) {
		const char *other = f->t->threads[f->helpers[i].thread].comm;

		if (length == name_length(other) && !strncmp(comm, other, length))
			break;
	}
	if (i == f->n) {
		array_reserve(f->helpers, f->cap, f->n + 1);
		f->helpers[f->n++] = (struct helper){ thread, 0 };
	}
	f->helpers[i].waited += waited;
}

/* Only the kernel reads and writes for it: a disk may be busy while it waits for a client, too. */
static bool may_be_for_a_disk(uint8_t wait)
{
	return wait == TRACE_WAIT_IO || wait == TRACE_WAIT_OTHER;
}

static void end_wait(struct finder *f, const struct waiting *w, const struct trace_event *e)
{
	uint64_t busy = busy_until(f, e->time) - w->busy_then;

	if (e->by == TRACE_BY_DEVICE) {
		f->waited += e->time - w->since;
	} else if (e->by == TRACE_BY_THREAD && e->other < f->t->n_threads &&
		   !f->threads[e->other].followed && may_be_for_a_disk(w->wait) && busy) {
		f->waited += busy;
		help(f, e->other, busy);
	}
}

static int see(const struct trace_event *e, void *arg)
{
	struct finder *f = arg;
	struct waiting *w = e->thread != TRACE_NONE ? &f->threads[e->thread] : NULL;

	switch (e->type) {
	case TRACE_ISSUE:
	case TRACE_COMPLETE:
		see_device(f, e);
		break;
	case TRACE_FOLLOW:
	case TRACE_LEAVE:
		if (!w)
			break;
		w->blocked = e->why == TRACE_BLOCKED;
		w->wait = e->wait;
		w->since = e->time;
		w->busy_then = busy_until(f, e->time);
		w->followed = true;
		break;
	case TRACE_WAKE:
		if (w && w->blocked)
			end_wait(f, w, e);
		if (w)
			w->blocked = false;
		break;
	case TRACE_ENTER:
	case TRACE_EXIT:
		if (w) {
			w->blocked = false;
			w->followed = true;
		}
		break;
	}
	return 0;
}

int through_find(const struct trace *t, struct through *ret, struct error *err)
{
	struct finder f = { .t = t, .devices = devices_create() };
	const struct helper *most = NULL;
	int r;

	*ret = (struct through){};
	f.threads = xcalloc(t->n_threads + 1, sizeof(*f.threads));
	r = trace_each(t, see, &f, err);
	for (size_t i = 0; i < f.n; i++) {
		if (!most || f.helpers[i].waited > most->waited)
			most = &f.helpers[i];
	}
	if (!r && t->end)
		ret->waited = (double)f.waited / t->end;
	if (!r && most) {
		const char *comm = t->threads[most->thread].comm;

		snprintf(ret->name, sizeof(ret->name), "%.*s", (int)name_length(comm), comm);
		ret->share = (double)most->waited / f.waited;
	}
	free(f.threads);
	free(f.helpers);
	devices_free(f.devices);
	return r;
}
