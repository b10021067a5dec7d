// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/kernel/told.h"

void told_init(struct told *t)
{
	*t = (struct told){ .n = 0 };
	pthread_mutex_init(&t->lock, NULL);
}

void told_deinit(struct told *t)
{
	free(t->v);
	hash_index_deinit(&t->by_process);
	pthread_mutex_destroy(&t->lock);
}

static void add(struct told *t, const struct scoz_mapping *m)
{
	array_reserve(t->v, t->cap, t->n + 1);
	hash_index_add(&t->by_process, m->tgid, t->n);
	t->v[t->n++] = *m;
}

static void drop(struct told *t, uint32_t i)
{
	hash_index_remove(&t->by_process, t->v[i].tgid, i);
	if (i == --t->n)
		return;
	hash_index_remove(&t->by_process, t->v[t->n].tgid, t->n);
	t->v[i] = t->v[t->n];
	hash_index_add(&t->by_process, t->v[i].tgid, i);
}

/* One of process @pid, of another binary than @binary, that overlaps; HASH_NONE: there is none. */
static uint32_t overlapping(const struct told *t, uint32_t pid, uint32_t binary, uint64_t start,
			    uint64_t end)
{
	size_t at = 0;
	uint32_t i;

	while ((i = hash_index_next(&t->by_process, pid, &at)) != HASH_NONE) {
		if (t->v[i].tgid == pid && t->v[i].binary != binary && t->v[i].start < end &&
		    t->v[i].end > start)
			break;
	}
	return i;
}

static int keep(struct told *t, const struct scoz_mapping *m, tell_fn tell, void *arg)
{
	int r = tell(m, arg);

	if (!r)
		add(t, m);
	return r;
}

/* Of what begins there, a byte at address 0 of the file is left, which is no code. */
static struct scoz_mapping nothing_of(const struct scoz_mapping *m)
{
	return (struct scoz_mapping){ m->tgid, m->binary, m->start, m->start + 1, m->start };
}

void told_withdraw(struct told *t, uint32_t pid, uint32_t binary, uint64_t start, uint64_t end,
		   tell_fn tell, void *arg)
{
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	while ((i = overlapping(t, pid, binary, start, end)) != HASH_NONE) {
		struct scoz_mapping before = t->v[i], after = before, none = nothing_of(&before);

		drop(t, i);
		before.end = start;
		after.start = end;
		if (before.start < before.end)
			keep(t, &before, tell, arg);
		else
			tell(&none, arg);
		if (after.start < after.end)
			keep(t, &after, tell, arg);
	}
	pthread_mutex_unlock(&t->lock);
}

int told_put(struct told *t, const struct scoz_mapping *m, tell_fn tell, void *arg)
{
	size_t at = 0;
	uint32_t i;
	int r;

	pthread_mutex_lock(&t->lock);
	while ((i = hash_index_next(&t->by_process, m->tgid, &at)) != HASH_NONE) {
		if (t->v[i].tgid == m->tgid && t->v[i].binary == m->binary &&
		    t->v[i].start == m->start) {
			drop(t, i);
			break;
		}
	}
	r = keep(t, m, tell, arg);
	pthread_mutex_unlock(&t->lock);
	return r;
}

void told_forget(struct told *t, uint32_t pid)
{
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	while ((i = hash_index_find_id(&t->by_process, pid)) != HASH_NONE)
		drop(t, i);
	pthread_mutex_unlock(&t->lock);
}
