/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to block devices in a replay: how much earlier each would have been done. One that
 * begins to be served when its submitter asks for it begins as much earlier as that would have
 * asked; one that waits until the device has room, no earlier than that. While it is served it
 * gains in the lanes whose target is the device.
 *
 *   issued at t0 by W       E(R) = E(W)
 *   begins at t1 > t0, when D is done with R'
 *                           as who wants a CPU that R' had: min(E(R) + t1 - t0, E(R')), or E(R)
 *                           if that would now come first; behind a stranger's, E(R)
 *   done at t2              E(R) += s (t2 - t1)
 *
 * How many a device serves at a time a recording tells (trace/devices.h); where REPLAY_FREE rules,
 * as many as come.
 */
#ifndef SCOZ_WHATIF_REQUESTS_H
#define SCOZ_WHATIF_REQUESTS_H

#include "whatif/replay.h"

struct requests;
struct requests *requests_create(const struct replay_lane *lanes, size_t n_lanes, size_t cpus);
/* 0: as many as come, which is what holds of a device that nothing was said of. */
void requests_servers(struct requests *r, uint32_t device, uint32_t servers);
/* TRACE_ISSUE, by a thread that is @earlier by so much, by lane; NULL: that is not known. */
void requests_issued(struct requests *r, const struct trace_event *e, const double *earlier);
/* TRACE_COMPLETE */
void requests_completed(struct requests *r, const struct trace_event *e);
/*
 * How much earlier the request would have been done that @device was done with last on @cpu, by
 * lane; NULL: when that was asked for was not seen. Until the next event.
 */
const double *requests_ended(const struct requests *r, uint32_t device, uint32_t cpu);
/* For how long of @from to @to a lane's devices had something to do: the longest of them. */
uint64_t requests_busy(const struct requests *r, uint64_t devices, uint64_t from, uint64_t to);
uint64_t requests_busy_in_all(const struct requests *r, uint64_t devices);
void requests_free(struct requests *r);

/* Of one number for each lane, that there are. */
size_t requests_rows(const struct requests *r);

#endif
