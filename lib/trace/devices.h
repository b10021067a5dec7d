/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording tells of its block devices: for how long they had something to do, and how many
 * requests each serves at a time. Of several numbers it is that with which services take as long
 * behind others as alone: a device that serves one after the other takes as long for each after the
 * one before, one that serves all at once as long from when it was asked.
 *
 * No files, no kernel. Times in ns.
 */
#ifndef SCOZ_TRACE_DEVICES_H
#define SCOZ_TRACE_DEVICES_H

#include "trace/trace.h"

struct devices;
struct devices *devices_create(void);
/* In the order of time; all events. */
void devices_event(struct devices *d, const struct trace_event *e);
/* How many devices are numbered so far: numbers are below. */
uint32_t devices_count(const struct devices *d);
/* How many requests it serves at a time; 0: as many as come, as far as was seen. */
uint32_t devices_servers(const struct devices *d, uint32_t device);
/* For how long it had something to do until @now. */
uint64_t devices_busy(const struct devices *d, uint32_t device, uint64_t now);
/* Requests that it has now, and that it was ever given. */
size_t devices_open(const struct devices *d, uint32_t device);
uint64_t devices_requests(const struct devices *d, uint32_t device);
void devices_free(struct devices *d);

#endif
