// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/requests.h"

#include "trace/busy.h"

#define MOST_OPEN 256 /* of a device; of more the oldest are given up */

struct request {
	uint32_t id;
	bool waits;	/* for room */
	bool asked;	/* by one of whom it is known how much earlier that is */
	uint32_t after; /* so many have ended that were given after it */
	uint64_t issued, began;
	double *row; /* by lane */
};

struct device {
	struct request *v; /* in the order of their issue */
	size_t n, cap;
	uint32_t servers, serving;
	struct busy busy;
};

/* What a CPU was told last to be done. */
struct done {
	uint32_t device;
	bool known;
	double *row;
};

struct requests {
	const struct replay_lane *lanes;
	size_t n_lanes, n_cpus;
	struct device **devices; /* NULL: nothing is known of it */
	size_t n_devices, cap_devices;
	struct done *done; /* by CPU */
	double **spare;
	size_t n_spare, cap_spare, n_rows;
};

struct requests *requests_create(const struct replay_lane *lanes, size_t n_lanes, size_t cpus)
{
	struct requests *r = xcalloc(1, sizeof(*r));

	r->lanes = lanes;
	r->n_lanes = n_lanes;
	r->n_cpus = cpus;
	r->done = xcalloc(cpus + 1, sizeof(*r->done));
	return r;
}

void requests_free(struct requests *r)
{
	if (!r)
		return;
	for (size_t d = 0; d < r->n_devices; d++) {
		for (size_t i = 0; r->devices[d] && i < r->devices[d]->n; i++)
			free(r->devices[d]->v[i].row);
		free(r->devices[d] ? r->devices[d]->v : NULL);
		free(r->devices[d]);
	}
	for (size_t c = 0; c < r->n_cpus; c++)
		free(r->done[c].row);
	while (r->n_spare)
		free(r->spare[--r->n_spare]);
	free(r->spare);
	free(r->devices);
	free(r->done);
	free(r);
}

static struct device *device_of(struct requests *r, uint32_t device)
{
	array_reserve(r->devices, r->cap_devices, (size_t)device + 1);
	while (r->n_devices <= device)
		r->devices[r->n_devices++] = NULL;
	if (!r->devices[device])
		r->devices[device] = xcalloc(1, sizeof(**r->devices));
	return r->devices[device];
}

static double *row_get(struct requests *r)
{
	if (r->n_spare)
		return r->spare[--r->n_spare];
	r->n_rows++;
	return xcalloc(r->n_lanes + 1, sizeof(double));
}

size_t requests_rows(const struct requests *r)
{
	return r->n_rows;
}

static void row_put(struct requests *r, double *row)
{
	array_reserve(r->spare, r->cap_spare, r->n_spare + 1);
	r->spare[r->n_spare++] = row;
}

void requests_servers(struct requests *r, uint32_t device, uint32_t servers)
{
	/* As it would be without. */
	if (servers)
		device_of(r, device)->servers = servers;
}

static bool has_room(const struct device *d)
{
	return !d->servers || d->serving < d->servers;
}

/*
 * What a request that is so much @earlier would be when it begins, having waited for @other as for
 * a CPU (docs/whatif.md).
 */
static double behind(const struct requests *r, size_t l, const struct request *q,
		     const struct request *other, uint64_t now)
{
	double waited = now - q->issued, most = q->row[l] + waited, o = other->row[l];

	if (o >= q->row[l])
		return o < most ? o : most;
	if (r->lanes[l].rules == REPLAY_ORDERED || other->began - o < q->issued - q->row[l])
		return o;
	return q->row[l];
}

/* It begins @now, when @device is done with @other. */
static void begins(struct requests *r, uint32_t device, struct request *q,
		   const struct request *other, uint64_t now)
{
	uint64_t bit = replay_device_bit(device);

	for (size_t l = 0; l < r->n_lanes; l++) {
		const struct replay_lane *lane = &r->lanes[l];

		if (lane->rules == REPLAY_FREE)
			continue;
		if (other->asked)
			q->row[l] = behind(r, l, q, other, now);
		else if (lane->devices & bit)
			q->row[l] += lane->speedup * (now - q->issued);
	}
	q->waits = false;
	q->began = now;
	r->devices[device]->serving++;
}

static void begin_next(struct requests *r, uint32_t device, const struct request *other,
		       uint64_t now)
{
	struct device *d = r->devices[device];

	for (size_t i = 0; i < d->n && has_room(d); i++) {
		if (d->v[i].waits)
			begins(r, device, &d->v[i], other, now);
	}
}

/* The caller takes its row. */
static void take_out(struct device *d, size_t i)
{
	d->serving -= !d->v[i].waits;
	memmove(&d->v[i], &d->v[i + 1], (--d->n - i) * sizeof(*d->v));
}

static bool is_lost(const struct device *d, const struct request *q, uint64_t now)
{
	return busy_is_lost(&d->busy, now - q->issued, q->after);
}

void requests_issued(struct requests *r, const struct trace_event *e, const double *earlier)
{
	struct request q = { .id = e->stack, .issued = e->time, .began = e->time };
	struct device *d;

	if (e->other == TRACE_NONE)
		return;
	d = device_of(r, e->other);
	while (d->n && (d->n == MOST_OPEN || is_lost(d, &d->v[0], e->time))) {
		row_put(r, d->v[0].row);
		take_out(d, 0);
	}
	q.row = row_get(r);
	q.asked = earlier;
	if (earlier)
		memcpy(q.row, earlier, r->n_lanes * sizeof(*q.row));
	else
		memset(q.row, 0, r->n_lanes * sizeof(*q.row));
	q.waits = !has_room(d);
	d->serving += !q.waits;
	array_reserve(d->v, d->cap, d->n + 1);
	d->v[d->n++] = q;
}

static void is_done(const struct requests *r, const struct trace_event *e, struct request *q)
{
	uint64_t bit = replay_device_bit(e->other);

	for (size_t l = 0; l < r->n_lanes; l++) {
		const struct replay_lane *lane = &r->lanes[l];
		uint64_t from = lane->rules == REPLAY_FREE ? q->issued : q->began;

		if (lane->devices & bit)
			q->row[l] += lane->speedup * (e->time - from);
	}
}

void requests_completed(struct requests *r, const struct trace_event *e)
{
	struct done *done = e->cpu < r->n_cpus ? &r->done[e->cpu] : NULL;
	struct request q;
	struct device *d;
	size_t i = 0;

	if (e->other == TRACE_NONE)
		return;
	d = device_of(r, e->other);
	while (i < d->n && d->v[i].id != e->stack)
		i++;
	if (done) {
		done->device = e->other;
		done->known = false;
	}
	if (i == d->n)
		return;
	q = d->v[i];
	take_out(d, i);
	while (i)
		d->v[--i].after++;
	busy_add(&d->busy, q.issued, e->time);
	if (done)
		done->known = q.asked;
	is_done(r, e, &q);
	begin_next(r, e->other, &q, e->time);
	if (done && done->row)
		row_put(r, done->row);
	if (done)
		done->row = q.row;
	else
		row_put(r, q.row);
}

const double *requests_ended(const struct requests *r, uint32_t device, uint32_t cpu)
{
	const struct done *done = cpu < r->n_cpus ? &r->done[cpu] : NULL;

	return done && done->known && done->device == device ? done->row : NULL;
}

static uint64_t device_busy(const struct device *d, uint64_t from, uint64_t to)
{
	uint64_t open = UINT64_MAX;

	for (size_t i = 0; i < d->n && open == UINT64_MAX; i++) {
		const struct request *q = &d->v[i];

		if (!busy_is_doubtful(&d->busy, to - q->issued, q->after))
			open = q->issued;
	}
	return busy_between(&d->busy, open, from, to);
}

static bool is_one_of(const struct requests *r, uint64_t devices, uint32_t device)
{
	return r->devices[device] && devices & replay_device_bit(device);
}

uint64_t requests_busy(const struct requests *r, uint64_t devices, uint64_t from, uint64_t to)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->n_devices; i++) {
		uint64_t busy = is_one_of(r, devices, i) ? device_busy(r->devices[i], from, to) : 0;

		most = busy > most ? busy : most;
	}
	return most;
}

uint64_t requests_busy_in_all(const struct requests *r, uint64_t devices)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->n_devices; i++) {
		if (is_one_of(r, devices, i) && r->devices[i]->busy.sum > most)
			most = r->devices[i]->busy.sum;
	}
	return most;
}
