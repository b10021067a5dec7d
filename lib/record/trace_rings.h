/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what the BPF programs of `scoz record --causal` write to events of a causal recording. */
#ifndef SCOZ_RECORD_TRACE_RINGS_H
#define SCOZ_RECORD_TRACE_RINGS_H

#include "record/bpf/shared.h"
#include "record/queue.h"
#include "trace/trace.h"

/* What a thread that left its CPU for reason @why waits in. */
enum trace_wait causal_wait(enum record_left why, uint32_t detail);

/*
 * The rings of all CPUs, put into the map of maps @rings, each of @bytes (a power of two, a page
 * at least).
 */
struct causal_rings;
/* Of each CPU's ring, where that for samples has @bytes. */
static inline size_t causal_ring_bytes(size_t bytes)
{
	return bytes / 8 < 4096 ? 4096 : bytes / 8;
}
int causal_rings_open(int rings, size_t bytes, struct causal_rings **ret, struct error *err);
/* Puts all that they hold into @q. */
void causal_rings_drain(struct causal_rings *r, struct queue *q);
void causal_rings_close(struct causal_rings *r);

#endif
