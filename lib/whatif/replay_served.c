// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay: waits that are ended by others than threads whose work is in the recording. */
#include "whatif/replay_internal.h"

#include <math.h>

/*
 * A device takes as long as it took, but from the request on, not from when somebody waits for it.
 * A request that another one was made of (a flush, which a worker of the kernel gives to the
 * device) was not seen to be given: it was served while the device was at work, and at most for all
 * of the wait.
 */
void replay_woken_by_device(struct replay *r, const struct trace_event *e)
{
	uint64_t began = r->threads[e->thread].began, bit = replay_device_bit(e->other);
	double *x = of(r, e->thread), waited = e->time - began, busy;
	const double *ended = requests_ended(r->requests, e->other, e->cpu);

	busy = ended ? 0 : requests_busy(r->requests, bit, began, e->time);
	for (size_t l = 0; l < r->n_lanes; l++) {
		const struct replay_lane *lane = &r->lanes[l];
		double most = x[l] + waited;

		if (ended)
			x[l] = ended[l] < most ? ended[l] : most;
		else if (lane->devices & bit)
			x[l] += lane->speedup *
				(busy > 0 && lane->rules != REPLAY_FREE ? busy : waited);
	}
}

/* Something comes from whoever that is, who may not have been waiting for anything of ours. */
bool replay_comes_from_outside(uint8_t wait)
{
	return replay_brings_work(wait) || wait == TRACE_WAIT_WRITE || wait == TRACE_WAIT_LOCK;
}

/* For how long devices were at work: many lanes that follow one another ask for the same. */
struct at_work {
	uint64_t devices, from;
	double busy;
};

/*
 * Somebody has done for @t what it waits for: a thread of the kernel (a journal's, a worker), or
 * one of whom nothing is recorded. That takes as long as it took; as far as devices were at work
 * meanwhile, it was for its sake. At most they were the only thing that it all depended on, since
 * the last time.
 */
static double gains_by_service(const struct replay *r, const struct thread *t,
			       const struct replay_lane *lane, uint64_t now, struct at_work *last)
{
	double waited = now - t->began, gain;
	uint64_t from = lane->rules == REPLAY_FREE ? t->served : t->began;

	if (!lane->devices)
		return 0;
	if (lane->devices != last->devices || from != last->from)
		*last = (struct at_work){ lane->devices, from,
					  requests_busy(r->requests, lane->devices, from, now) };
	gain = lane->speedup * last->busy;
	return gain < waited ? gain : waited;
}

/*
 * Something comes from outside: because of the last answer, which need not have been @thread's own,
 * or because it is time for it.
 */
static void woken_from_outside(struct replay *r, uint32_t thread, uint64_t now)
{
	double *x = of(r, thread), waited = now - r->threads[thread].began;
	const double *answer = answers_asked(r->answers, thread);

	for (size_t l = 0; l < r->n_lanes; l++) {
		double most = x[l] + waited;

		if (r->lanes[l].rules == REPLAY_BOUND)
			x[l] = fmin(x[l], 0);
		else if (answer)
			x[l] = fmax(x[l], fmin(answer[l], most));
	}
}

void replay_woken_by_unknown(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];
	double *x = of(r, e->thread);
	struct at_work last = {};

	if (replay_comes_from_outside(t->wait))
		woken_from_outside(r, e->thread, e->time);
	else
		for (size_t l = 0; l < r->n_lanes; l++)
			x[l] += gains_by_service(r, t, &r->lanes[l], e->time, &last);
	if (e->by == TRACE_BY_THREAD)
		t->served = e->time;
}

/*
 * A journal's thread serves all who wait for it, in the order in which they come, which may be
 * another one then: of devices that it waits for that is left out but for the bounds.
 */
void replay_woken_by_server(struct replay *r, const struct trace_event *e)
{
	struct thread *t = &r->threads[e->thread];
	double *x = of(r, e->thread);
	struct at_work last = {};

	memcpy(r->before, x, r->n_lanes * sizeof(*x));
	replay_wakes(r, e->other, e->thread, e->time);
	for (size_t l = 0; l < r->n_lanes; l++) {
		const struct replay_lane *lane = &r->lanes[l];
		double served = r->before[l] + gains_by_service(r, t, lane, e->time, &last);

		if (lane->rules == REPLAY_FREE)
			x[l] = fmax(x[l], served);
		else if (lane->rules == REPLAY_BOUND)
			x[l] = fmin(x[l], served);
		else if (lane->devices)
			x[l] = served;
	}
	t->served = e->time;
}
