// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/devices.h"

#include "trace/busy.h"

#include <math.h>

#define MOST_OPEN 256
#define LEAST	  20 /* requests that others were open beside */
#define DEPTHS	  8
#define AS_GOOD	  0.05 /* of the logarithm of how much longer: no worse than the best */

/* How many it may serve at a time; the last one: as many as come. */
static const uint32_t numbers[] = { 1, 2, 4, 8, 16, 32, 0 };

#define NUMBERS ARRAY_SIZE(numbers)

struct request {
	uint32_t id;
	uint32_t depth; /* open then, with it, less one; DEPTHS - 1: or more */
	uint32_t after; /* so many have ended that were given after it */
	uint64_t issued;
	uint64_t began[NUMBERS]; /* served; 0: not yet */
};

/* How long services took. */
struct services {
	uint64_t n;
	double took[NUMBERS];
};

struct device {
	struct request open[MOST_OPEN]; /* in the order of their issue */
	size_t n;
	uint64_t requests;
	struct busy busy;
	struct services at[DEPTHS];
};

struct devices {
	struct device **list; /* NULL: it has had no request */
	size_t n, cap;
};

struct devices *devices_create(void)
{
	return xcalloc(1, sizeof(struct devices));
}

void devices_free(struct devices *d)
{
	if (!d)
		return;
	while (d->n)
		free(d->list[--d->n]);
	free(d->list);
	free(d);
}

static struct device *device_of(struct devices *d, uint32_t device)
{
	array_reserve(d->list, d->cap, (size_t)device + 1);
	while (d->n <= device)
		d->list[d->n++] = NULL;
	if (!d->list[device])
		d->list[device] = xcalloc(1, sizeof(**d->list));
	return d->list[device];
}

static const struct device *find(const struct devices *d, uint32_t device)
{
	return device < d->n ? d->list[device] : NULL;
}

static void take_out(struct device *d, size_t i)
{
	memmove(&d->open[i], &d->open[i + 1], (--d->n - i) * sizeof(*d->open));
}

/* As a device would that serves them in the order in which they come. */
static void begin_next(struct device *d, uint64_t now)
{
	for (size_t k = 0; k < NUMBERS; k++) {
		for (size_t i = 0; i < d->n && (!numbers[k] || i < numbers[k]); i++) {
			if (!d->open[i].began[k])
				d->open[i].began[k] = now;
		}
	}
}

static bool is_lost(const struct device *d, const struct request *q, uint64_t now)
{
	return busy_is_lost(&d->busy, now - q->issued, q->after);
}

/* The issue of the first one that is open, as far as that can be believed; UINT64_MAX: none is. */
static uint64_t open_since(const struct device *d, uint64_t now)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct request *q = &d->open[i];

		if (!busy_is_doubtful(&d->busy, now - q->issued, q->after))
			return q->issued;
	}
	return UINT64_MAX;
}

static void issued(struct device *d, const struct trace_event *e)
{
	while (d->n && (d->n == MOST_OPEN || is_lost(d, &d->open[0], e->time)))
		take_out(d, 0);
	d->open[d->n] = (struct request){ .id = e->stack,
					  .depth = d->n < DEPTHS ? d->n : DEPTHS - 1,
					  .issued = e->time };
	d->n++;
	d->requests++;
	begin_next(d, e->time);
}

static void completed(struct device *d, const struct trace_event *e)
{
	struct request q;
	size_t i = 0;

	while (i < d->n && d->open[i].id != e->stack)
		i++;
	if (i == d->n)
		return;
	q = d->open[i];
	take_out(d, i);
	while (i)
		d->open[--i].after++;
	busy_add(&d->busy, q.issued, e->time);
	d->at[q.depth].n++;
	for (size_t k = 0; k < NUMBERS; k++)
		d->at[q.depth].took[k] += q.began[k] ? e->time - q.began[k] : 0;
	begin_next(d, e->time);
}

void devices_event(struct devices *d, const struct trace_event *e)
{
	if (e->other == TRACE_NONE)
		return;
	if (e->type == TRACE_ISSUE)
		issued(device_of(d, e->other), e);
	else if (e->type == TRACE_COMPLETE)
		completed(device_of(d, e->other), e);
}

uint32_t devices_count(const struct devices *d)
{
	return d->n;
}

/* How much longer services took behind others than with the fewest before them. */
static double longer(const struct services *few, const struct services *many, size_t k)
{
	double a = few->took[k] / few->n, b = many->took[k] / many->n;

	return a > 0 && b > 0 ? fabs(log(b / a)) : INFINITY;
}

uint32_t devices_servers(const struct devices *all, uint32_t device)
{
	const struct device *d = find(all, device);
	struct services many = {};
	double least = INFINITY;
	size_t few = 0;

	while (d && few < DEPTHS && d->at[few].n < LEAST)
		few++;
	if (!d || few == DEPTHS)
		return 0;
	for (size_t n = few + 1; n < DEPTHS; n++) {
		many.n += d->at[n].n;
		for (size_t k = 0; k < NUMBERS; k++)
			many.took[k] += d->at[n].took[k];
	}
	/* Always behind as many: whoever else could be served at once, it depends on one. */
	if (many.n < LEAST)
		return few ? 1 : 0;
	for (size_t k = 0; k < NUMBERS; k++)
		least = fmin(least, longer(&d->at[few], &many, k));
	for (size_t k = 0; k < NUMBERS; k++) {
		if (longer(&d->at[few], &many, k) <= least + AS_GOOD)
			return numbers[k];
	}
	return 0;
}

uint64_t devices_busy(const struct devices *all, uint32_t device, uint64_t now)
{
	const struct device *d = find(all, device);

	return d ? busy_in_all(&d->busy, open_since(d, now), now) : 0;
}

size_t devices_open(const struct devices *all, uint32_t device)
{
	const struct device *d = find(all, device);

	return d ? d->n : 0;
}

uint64_t devices_requests(const struct devices *all, uint32_t device)
{
	const struct device *d = find(all, device);

	return d ? d->requests : 0;
}
