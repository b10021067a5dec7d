/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that look now and then whether there is something to do: they sleep for a short time,
 * find nothing, and sleep again. Nobody wakes them, though what they wait for is done by others.
 *
 * No files, no kernel. Times in ns.
 */
#ifndef SCOZ_WHATIF_LOOKS_H
#define SCOZ_WHATIF_LOOKS_H

#include "trace/trace.h"

struct looks;
struct looks *looks_create(size_t threads);
/* All events in the order of time, but visits of points that are not asked for. */
void looks_event(struct looks *l, const struct trace_event *e);
/* Is it one that looks? How often it found nothing, 0: it is none. */
uint64_t looks_of(const struct looks *l, uint32_t thread);
void looks_free(struct looks *l);

#endif
