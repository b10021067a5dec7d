/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a perf event's ring buffer (perf_event_open(2), "mmap layout"). Every length that comes
 * out of it is checked. One reader; it need not be the thread that created the ring.
 */
#ifndef SCOZ_PERF_RING_H
#define SCOZ_PERF_RING_H

#include "base/base.h"
#include <linux/perf_event.h>

struct ring {
	struct perf_event_mmap_page *header;
	char *data;
	size_t size; /* of the data, a power of two */
	size_t mapped;
	uint64_t position; /* of the reader */
	char *buf;	   /* a record that wraps is put together here */
};

/*
 * Has an event tell what processes map, execute, fork and end, by the clock of clock_now_ns(), and
 * wake its reader by watermark.
 */
void ring_tell_mappings(struct perf_event_attr *attr);
/* @pages: data pages, a power of two. */
int ring_map(struct ring *r, int fd, size_t pages, struct error *err);
void ring_unmap(struct ring *r);
/* The next record, valid until the next call; NULL when the ring is empty. */
const struct perf_event_header *ring_next(struct ring *r);
/* Bytes that wait to be read. */
size_t ring_waiting(const struct ring *r);
/* Gives the space of all records returned so far back to the kernel. */
void ring_release(struct ring *r);

/* A decoded sample of type ENGINE_SAMPLE_TYPE, which PERF_SAMPLE_RAW may follow. */
struct ring_sample {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu;
	const uint64_t *chain; /* as perf writes it, with PERF_CONTEXT_* markers */
	uint64_t n_chain;
	/*
	 * The user's part, walked otherwise: then `chain` has only the kernel's. A marker stands
	 * before frames, but the first, that were interrupted. NULL: `chain` has all.
	 */
	const uint64_t *user;
	uint64_t n_user;
	bool spins; /* in a loop that waits; of chains that were walked otherwise only */
};
bool ring_decode_sample(const struct perf_event_header *h, struct ring_sample *ret);

#endif
