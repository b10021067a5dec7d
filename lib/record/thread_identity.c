// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/thread_identity.h"

#include "record/recording.h"

const struct tid_history tid_history_none = { .now = { .id = RECORDING_NONE },
					      .before = { .id = RECORDING_NONE } };

static bool is_before(const struct tid_history *h, uint64_t born, uint64_t time)
{
	const struct identity *p = &h->before;

	if (p->id == RECORDING_NONE || (born && born != p->born))
		return false;
	if (h->now.born && p->born != h->now.born)
		return born || time < h->now.born;
	return time <= p->end;
}

bool tid_history_is_new(const struct tid_history *h, uint64_t born, uint64_t time)
{
	const struct identity *t = &h->now;

	if (t->id == RECORDING_NONE)
		return true;
	if (born && is_before(h, born, time))
		return false;
	if (born && t->born && born != t->born)
		return born > t->born;
	if (!t->born && born > t->met)
		return true;
	return t->end && time > t->end;
}

uint32_t tid_history_who(const struct tid_history *h, uint64_t born, uint64_t time)
{
	return is_before(h, born, time) ? h->before.id : h->now.id;
}

void tid_history_begin(struct tid_history *h, uint32_t id, uint64_t born, uint64_t time)
{
	h->before = h->now;
	h->now = (struct identity){ .id = id, .born = born, .met = time };
}

void tid_history_born(struct tid_history *h, uint64_t born)
{
	if (born > h->now.born)
		h->now.born = born;
}

bool tid_history_ended(struct tid_history *h, uint32_t id, uint64_t time)
{
	if (h->now.id != id)
		return true;
	if (time < h->now.met || (h->now.end && time > h->now.end))
		return false;
	h->now.end = time;
	return true;
}
