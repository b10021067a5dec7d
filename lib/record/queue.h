/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of many rings in the order of their times. Each ring is in order, but a round of reading
 * them is not a moment: so only what is older than the beginning of the round is taken out, and
 * the rest waits for the next one.
 */
#ifndef SCOZ_RECORD_QUEUE_H
#define SCOZ_RECORD_QUEUE_H

#include "base/base.h"

enum queue_kind { QUEUE_SAMPLE, QUEUE_PERF, QUEUE_TRACE };

struct queue_entry {
	uint64_t time;
	size_t offset;
	uint32_t size;
	uint32_t kind;
};

struct queue {
	struct queue_entry *entries;
	size_t n, cap;
	char *bytes;
	size_t used, size;
};

void queue_put(struct queue *q, enum queue_kind kind, uint64_t time, const void *record,
	       size_t size);
/*
 * Calls @fn for all entries up to @horizon in the order of time and drops them; up to the first
 * that it does not take (false), which it is shown again next time. Returns whether it took all.
 */
bool queue_take(struct queue *q, uint64_t horizon,
		bool (*fn)(enum queue_kind kind, const void *record, size_t size, void *arg),
		void *arg);
void queue_free(struct queue *q);

#endif
