// SPDX-License-Identifier: GPL-2.0-or-later
#include "event.h"

#include "base/base.h"

static bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->seq < b->seq);
}

void event_add(struct event_queue *q, int64_t time, enum event_kind kind, int who, uint32_t version)
{
	struct event e = { time, q->seq++, kind, who, version };
	size_t i = q->n;

	array_reserve(q->e, q->cap, q->n + 1);
	q->n++;
	for (; i && before(&e, &q->e[(i - 1) / 2]); i = (i - 1) / 2)
		q->e[i] = q->e[(i - 1) / 2];
	q->e[i] = e;
}

bool event_next(struct event_queue *q, int64_t until, struct event *ret)
{
	struct event last;
	size_t i = 0, child;

	if (!q->n || q->e[0].time > until)
		return false;
	*ret = q->e[0];
	last = q->e[--q->n];
	while ((child = 2 * i + 1) < q->n) {
		if (child + 1 < q->n && before(&q->e[child + 1], &q->e[child]))
			child++;
		if (!before(&q->e[child], &last))
			break;
		q->e[i] = q->e[child];
		i = child;
	}
	q->e[i] = last;
	return true;
}
