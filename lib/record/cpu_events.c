// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cpu_events.h"

#include <unistd.h>

#define LOOK_NS (250 * NSEC_PER_MSEC)

static bool is_wanted(const struct cpu_events *events, int cpu)
{
	return !events->wanted || cpulist_contains(events->wanted, events->n_wanted, cpu) ||
	       (events->newcomers && !cpu_is_isolated(cpu));
}

static bool is_listed(const struct cpu_events *events, int cpu)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->list[i].cpu == cpu)
			return true;
	}
	return false;
}

static int add(struct cpu_events *events, int cpu, struct error *err)
{
	struct cpu_event *e;
	int r;

	array_reserve(events->list, events->cap, events->n + 1);
	e = &events->list[events->n++];
	*e = (struct cpu_event){ .cpu = cpu };
	r = events->open(e, events->arg, err);
	if (r)
		e->fd = -1;
	return r;
}

static void close_event(struct cpu_event *e)
{
	ring_unmap(&e->ring);
	if (e->fd >= 0)
		close(e->fd);
}

int cpu_events_open(struct cpu_events *events, struct error *err)
{
	_cleanup_free_ int *online = NULL;
	int n = 0, r = cpulist_online(&online, &n, err);

	events->looked = clock_now_ns();
	for (int i = 0; !r && i < n; i++) {
		if (!events->wanted ||
		    cpulist_contains(events->wanted, events->n_wanted, online[i]))
			r = add(events, online[i], err);
	}
	return r;
}

void cpu_events_follow(struct cpu_events *events)
{
	_cleanup_free_ int *online = NULL;
	uint64_t now = clock_now_ns();
	struct error err = {};
	int n = 0;

	if (now - events->looked < LOOK_NS)
		return;
	events->looked = now;
	if (cpulist_online(&online, &n, NULL))
		return;
	for (size_t i = 0; i < events->n;) {
		if (cpulist_contains(online, n, events->list[i].cpu)) {
			i++;
			continue;
		}
		close_event(&events->list[i]);
		events->list[i] = events->list[--events->n];
	}
	for (int i = 0; i < n; i++) {
		if (!is_listed(events, online[i]) && is_wanted(events, online[i]) &&
		    add(events, online[i], &err))
			log_warn("CPU %d has come online, but: %s", online[i], err.text);
	}
}

void cpu_events_close(struct cpu_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		close_event(&events->list[i]);
	free(events->list);
	events->list = NULL;
	events->n = events->cap = 0;
}
