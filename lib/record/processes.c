// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/processes.h"

#include "base/hash_index.h"
#include "host/process.h"
#include "host/patient_reader.h"

#include <unistd.h>

/* Ended ones that are still remembered: what ends may yet be named as who woke somebody. */
#define ENDED_KEPT 4096

struct entry {
	struct record_process p; /* name: malloc'ed */
	uint32_t threads;	 /* that were told, and have not ended */
	enum { IDS_NOT_ASKED, IDS_SHARED, IDS_OTHER } ids;
	bool recorded;
	bool ends;	/* it has had threads, and they have ended */
	uint64_t ended; /* points of the waits that it ended */
};

struct processes {
	void (*told)(const struct record_process *p, void *arg);
	void *arg;
	struct entry *list;
	size_t n, cap;
	uint32_t *vacant; /* of `list` */
	size_t n_vacant, cap_vacant;
	struct hash_index by_id;
	struct hash_index by_pid; /* ids of those that have it now */
	uint32_t n_ids;
	uint32_t *ended; /* ids, in a circle; the oldest is forgotten next */
	size_t n_ended;
	struct patient_reader *ranks;
};

/* NULL: it has ended long ago. */
static struct entry *entry_of(const struct processes *p, uint32_t id)
{
	uint32_t at = hash_index_find_id(&p->by_id, id);

	return at == HASH_NONE ? NULL : &p->list[at];
}

/* What /proc says now; what it does not say any more stays as it was. */
static bool look(struct processes *all, struct record_process *p)
{
	_cleanup_free_ char *name = task_comm(p->pid);

	patient_reader_ask(all->ranks, p->pid, p->id);
	if (!name || !strcmp(name, p->name))
		return false;
	free((char *)p->name);
	p->name = xstrdup(name);
	return true;
}

void processes_poll(struct processes *p)
{
	struct rank_answer a;

	while (patient_reader_take(p->ranks, &a)) {
		struct entry *entry = entry_of(p, a.id);
		struct record_process *e = entry ? &entry->p : NULL;

		if (!e || a.rank < 0 || a.rank == e->rank)
			continue;
		e->rank = a.rank;
		e->rank_from = a.from;
		p->told(e, p->arg);
	}
}

void processes_settle(struct processes *p)
{
	patient_reader_settle(p->ranks);
	processes_poll(p);
}

static struct entry *vacant_entry(struct processes *p)
{
	uint32_t at = p->n_vacant ? p->vacant[--p->n_vacant] : p->n++;

	array_reserve(p->list, p->cap, p->n);
	p->list[at] = (struct entry){ 0 };
	return &p->list[at];
}

uint32_t processes_get(struct processes *p, int pid, bool newborn, const char *comm, uint64_t time)
{
	uint32_t before = hash_index_find_id(&p->by_pid, pid);
	struct entry *e = before == HASH_NONE ? NULL : entry_of(p, before);
	struct process_status status;

	if (e && !newborn && (e->threads || !e->ends))
		return before;
	if (before != HASH_NONE)
		hash_index_remove_id(&p->by_pid, pid, before);
	e = vacant_entry(p);
	e->p = (struct record_process){
		.id = p->n_ids++, .pid = pid, .start = time, .name = xstrdup(comm), .rank = -1
	};
	hash_index_add_id(&p->by_id, e->p.id, e - p->list);
	hash_index_add_id(&p->by_pid, pid, e->p.id);
	look(p, &e->p);
	e->p.kernel = process_read_status(pid, &status) && status.kernel;
	p->told(&e->p, p->arg);
	return e->p.id;
}

static void forget(struct processes *p, uint32_t id)
{
	struct entry *e = entry_of(p, id);

	if (!e || e->threads)
		return;
	if (hash_index_find_id(&p->by_pid, e->p.pid) == id)
		hash_index_remove_id(&p->by_pid, e->p.pid, id);
	hash_index_remove_id(&p->by_id, id, e - p->list);
	free((char *)e->p.name);
	e->p.name = NULL;
	array_reserve(p->vacant, p->cap_vacant, p->n_vacant + 1);
	p->vacant[p->n_vacant++] = e - p->list;
}

void processes_thread_begins(struct processes *p, uint32_t id)
{
	struct entry *e = entry_of(p, id);

	if (e)
		e->threads++;
}

void processes_thread_ends(struct processes *p, uint32_t id)
{
	struct entry *e = entry_of(p, id);
	uint32_t *oldest;

	if (!e || !e->threads || --e->threads)
		return;
	e->ends = true;
	oldest = &p->ended[p->n_ended++ % ENDED_KEPT];
	if (p->n_ended > ENDED_KEPT)
		forget(p, *oldest);
	*oldest = id;
}

void processes_exec(struct processes *p, int pid)
{
	uint32_t id = hash_index_find_id(&p->by_pid, pid);
	struct entry *e = id == HASH_NONE ? NULL : entry_of(p, id);

	if (e && look(p, &e->p))
		p->told(&e->p, p->arg);
}

void processes_recorded(struct processes *p, uint32_t id)
{
	struct entry *e = entry_of(p, id);

	if (e)
		e->recorded = true;
}

void processes_ended(struct processes *p, uint32_t id, uint32_t points)
{
	struct entry *e = entry_of(p, id);

	if (e)
		e->ended += points;
}

const struct record_process *processes_stranger(const struct processes *p, uint64_t *points)
{
	const struct entry *most = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct entry *e = &p->list[i];

		if (e->p.name && !e->recorded && !e->p.kernel && e->p.pid != getpid() && e->ended &&
		    (!most || e->ended > most->ended))
			most = e;
	}
	*points = most ? most->ended : 0;
	return most ? &most->p : NULL;
}

bool processes_share_ids(struct processes *p, uint32_t id)
{
	struct entry *e = entry_of(p, id);
	struct process_status s;

	if (!e)
		return false;
	if (e->ids == IDS_NOT_ASKED)
		e->ids =
			process_read_status(e->p.pid, &s) && s.shares_pids ? IDS_SHARED : IDS_OTHER;
	return e->ids == IDS_SHARED;
}

struct processes *processes_create(void (*told)(const struct record_process *p, void *arg),
				   void *arg)
{
	struct processes *p = xcalloc(1, sizeof(*p));

	p->told = told;
	p->arg = arg;
	p->ranks = patient_reader_of_ranks();
	p->ended = xcalloc(ENDED_KEPT, sizeof(*p->ended));
	return p;
}

void processes_destroy(struct processes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		free((char *)p->list[i].p.name);
	free(p->list);
	free(p->vacant);
	free(p->ended);
	hash_index_deinit(&p->by_id);
	patient_reader_destroy(p->ranks);
	hash_index_deinit(&p->by_pid);
	free(p);
}
