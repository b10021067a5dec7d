// SPDX-License-Identifier: GPL-2.0-or-later
#include "waits/recorded.h"

#define FORGET_EVERY NSEC_PER_SEC
#define LEAST_USED \
	100 /* a device that was waited for in less than one part of so many waits for nobody */

static void begin(struct waits_thread *t, enum waits_state state, uint64_t now)
{
	t->state = state;
	t->since = now;
	t->seen = true;
}

/* What it did until @now. */
static void close_state(struct waits_thread *t, uint64_t now)
{
	uint64_t passed = now - t->since;

	switch (t->state) {
	case WAITS_ON:
		t->times.on += passed;
		break;
	case WAITS_QUEUED:
		t->times.queued += passed;
		break;
	case WAITS_BLOCKED:
		t->times.waited += passed;
		t->times.kinds[t->wait] += passed;
		break;
	default:
		break;
	}
	t->since = now;
}

static uint32_t waker_of(const struct waits_recorded *r, const struct trace_event *e)
{
	switch (e->by) {
	case TRACE_BY_THREAD:
		return e->other;
	case TRACE_BY_DEVICE:
	case TRACE_BY_OTHER:
		return r->trace->n_threads + e->other;
	case TRACE_BY_TIMER:
		return r->timer;
	default:
		return r->nobody;
	}
}

/* Waits that began before the oldest one that is still open cannot matter any more. */
static void forget(struct waits_recorded *r, uint64_t now)
{
	uint64_t oldest = now;

	for (size_t i = 0; i < r->trace->n_threads; i++) {
		const struct waits_thread *t = &r->threads[i];

		if (t->state == WAITS_BLOCKED && t->since < oldest)
			oldest = t->since;
	}
	waits_forget(&r->waits, oldest);
	r->forgot = now;
	r->since_forgot = 0;
}

/* It runs, and nobody has woken it since it left: somebody had before it did, or it was not seen.
 */
static void end_unseen(struct waits_recorded *r, uint32_t thread, uint64_t now)
{
	struct waits_thread *t = &r->threads[thread];

	if (t->early) {
		t->state = WAITS_QUEUED;
		return;
	}
	r->unwoken++;
	waits_add(&r->waits, thread, t->since, now, r->nobody, t->wait);
}

static int see(const struct trace_event *e, void *arg)
{
	struct waits_recorded *r = arg;
	struct waits_thread *t;

	if (r->from == UINT64_MAX)
		r->from = e->time;
	r->to = e->time;
	/* Nor more often than all have had something to tell: it looks at each. */
	if (++r->since_forgot > r->n_vertices && e->time - r->forgot > FORGET_EVERY)
		forget(r, e->time);
	if (e->type == TRACE_ISSUE || e->type == TRACE_COMPLETE) {
		devices_event(r->devices, e);
		return 0;
	}
	if (e->thread == TRACE_NONE)
		return 0; /* an interrupt came to a progress point */
	t = &r->threads[e->thread];
	switch (e->type) {
	case TRACE_FOLLOW:
		t->times.from = e->time;
		t->wait = e->wait;
		begin(t,
		      e->why == TRACE_RUNS     ? WAITS_ON
		      : e->why == TRACE_QUEUED ? WAITS_QUEUED
					       : WAITS_BLOCKED,
		      e->time);
		break;
	case TRACE_FORK:
		t->times.from = e->time;
		t->parent = e->other;
		begin(t, WAITS_QUEUED, e->time);
		break;
	case TRACE_ENTER:
		if (t->state == WAITS_BLOCKED)
			end_unseen(r, e->thread, e->time);
		close_state(t, e->time);
		t->early = false;
		begin(t, WAITS_ON, e->time);
		break;
	case TRACE_LEAVE:
		close_state(t, e->time);
		t->wait = e->wait;
		begin(t, e->why == TRACE_BLOCKED ? WAITS_BLOCKED : WAITS_QUEUED, e->time);
		break;
	case TRACE_WAKE:
		t->early |= t->state == WAITS_ON;
		if (t->state != WAITS_BLOCKED)
			break;
		waits_add(&r->waits, e->thread, t->since, e->time, waker_of(r, e), t->wait);
		close_state(t, e->time);
		begin(t, WAITS_QUEUED, e->time);
		break;
	case TRACE_PROGRESS:
		t->visits |= t->seen;
		break;
	case TRACE_EXIT:
		close_state(t, e->time);
		t->state = WAITS_GONE;
		t->times.to = e->time;
		break;
	}
	return 0;
}

static void idle_devices(struct waits_recorded *r)
{
	uint64_t *waited = xcalloc(r->n_vertices, sizeof(*waited)), time = r->to - r->from;
	const struct waits_graph *g = &r->waits.graph;

	for (size_t i = 0; i < g->n; i++)
		waited[g->edges[i].to] += g->edges[i].own;
	for (size_t i = 0; i < r->trace->n_devices; i++) {
		uint64_t busy = devices_busy(r->devices, i, r->to);
		uint32_t vertex = r->trace->n_threads + i;

		if (devices_requests(r->devices, i) && time > busy &&
		    waited[vertex] * LEAST_USED >= time)
			waits_device_idle(&r->waits.graph, vertex, time - busy);
	}
	free(waited);
}

/* What goes on at the end: nobody has ended it. */
static void finish(struct waits_recorded *r)
{
	for (size_t i = 0; i < r->trace->n_threads; i++) {
		struct waits_thread *t = &r->threads[i];

		if (!t->seen || t->state == WAITS_GONE)
			continue;
		if (t->state == WAITS_BLOCKED)
			waits_add(&r->waits, i, t->since, r->to, r->nobody, t->wait);
		close_state(t, r->to);
		t->times.to = r->to;
	}
	idle_devices(r);
}

int waits_read(const struct trace *t, size_t most, struct waits_recorded *ret, struct error *err)
{
	int r;

	*ret = (struct waits_recorded){
		.trace = t,
		.threads = xcalloc(t->n_threads + 1, sizeof(*ret->threads)),
		.devices = devices_create(),
		.timer = t->n_threads + t->n_devices,
		.nobody = t->n_threads + t->n_devices + 1,
		.n_vertices = t->n_threads + t->n_devices + 2,
		.from = UINT64_MAX,
	};
	for (size_t i = 0; i < t->n_threads; i++)
		ret->threads[i].parent = TRACE_NONE;
	waits_init(&ret->waits, most);
	for (size_t v = t->n_threads; v < ret->n_vertices; v++)
		waits_set_end(&ret->waits, v,
			      v >= t->n_threads + t->n_devices ? WAITS_ASIDE : WAITS_LEAF);
	r = trace_each(t, see, ret, err);
	if (r) {
		waits_recorded_free(ret);
		return r;
	}
	if (ret->from == UINT64_MAX)
		ret->from = 0;
	finish(ret);
	return 0;
}

void waits_recorded_free(struct waits_recorded *r)
{
	waits_deinit(&r->waits);
	waits_graph_free(&r->graph);
	free(r->threads);
	devices_free(r->devices);
	free(r->group);
	free(r->firsts);
	free(r->members);
	free(r->sizes);
	free(r->names);
}

/* ", rank 3" of a parallel job, or "". */
static char *rank_of(const struct trace *t, uint32_t thread)
{
	int rank = t->processes[t->threads[thread].process].rank;

	return rank < 0 ? xstrdup("") : xasprintf(", rank %d", rank);
}

char *waits_vertex_name(const struct waits_recorded *r, uint32_t vertex)
{
	const struct trace *t = r->trace;
	_cleanup_free_ char *rank = NULL;

	if (vertex < t->n_threads) {
		rank = rank_of(t, vertex);
		return xasprintf("%s (%d%s)", t->threads[vertex].comm, t->threads[vertex].tid,
				 rank);
	}
	if (vertex < t->n_threads + t->n_devices)
		return xstrdup(t->devices[vertex - t->n_threads]);
	return xstrdup(vertex == r->timer ? "timer" : "[nobody]");
}

char *waits_group_name(const struct waits_recorded *r, uint32_t group)
{
	const struct trace_thread *threads = r->trace->threads;
	uint32_t first = r->firsts[group], n = r->members[group];
	_cleanup_free_ char *name = waits_vertex_name(r, first), *rank = NULL, *which = NULL;

	if (n == 1)
		return xstrdup(name);
	if (r->names[group] == WAITS_NAME_MIXED)
		return xasprintf("%s and %u others after it", name, n - 1);
	rank = rank_of(r->trace, first);
	if (r->names[group] == WAITS_NAME_SHARED)
		which = xasprintf(", %d first", threads[first].tid);
	return xasprintf("%s (%u threads of %d%s%s)", threads[first].comm, n, threads[first].pid,
			 rank, which ? which : "");
}
