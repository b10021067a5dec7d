// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/queue.h"

#define ALIGN 8

void queue_put(struct queue *q, enum queue_kind kind, uint64_t time, const void *record,
	       size_t size)
{
	size_t need = q->used + size + ALIGN;

	array_reserve(q->bytes, q->size, need);
	array_reserve(q->entries, q->cap, q->n + 1);
	memcpy(q->bytes + q->used, record, size);
	q->entries[q->n++] = (struct queue_entry){ time, q->used, size, kind };
	q->used += (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static int compare(const void *pa, const void *pb)
{
	const struct queue_entry *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* What stays moves to the front; entries are in the order of time then, the bytes need not be. */
static void keep_from(struct queue *q, size_t first)
{
	size_t n = q->n - first, used = 0;
	char *bytes;

	if (!n) {
		q->n = q->used = 0;
		return;
	}
	bytes = xmalloc(q->size);
	for (size_t i = 0; i < n; i++) {
		struct queue_entry e = q->entries[first + i];

		memcpy(bytes + used, q->bytes + e.offset, e.size);
		e.offset = used;
		used += (e.size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
		q->entries[i] = e;
	}
	free(q->bytes);
	q->bytes = bytes;
	q->used = used;
	q->n = n;
}

bool queue_take(struct queue *q, uint64_t horizon,
		bool (*fn)(enum queue_kind kind, const void *record, size_t size, void *arg),
		void *arg)
{
	bool all = true;
	size_t i;

	qsort(q->entries, q->n, sizeof(*q->entries), compare);
	for (i = 0; i < q->n && q->entries[i].time <= horizon; i++) {
		const struct queue_entry *e = &q->entries[i];

		all = fn(e->kind, q->bytes + e->offset, e->size, arg);
		if (!all)
			break;
	}
	if (i)
		keep_from(q, i);
	return all;
}

void queue_free(struct queue *q)
{
	free(q->entries);
	free(q->bytes);
	*q = (struct queue){};
}
