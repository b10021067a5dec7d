// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/processes.h"

#include "base/hash_index.h"
#include "host/process.h"
#include "host/patient_reader.h"

#include <unistd.h>

struct entry {
	struct record_process p; /* name: malloc'ed */
	enum { IDS_NOT_ASKED, IDS_SHARED, IDS_OTHER } ids;
	bool recorded;
	uint64_t ended; /* points of the waits that it ended */
};

struct processes {
	void (*told)(const struct record_process *p, void *arg);
	void *arg;
	struct entry *list; /* by id */
	size_t n, cap;
	struct hash_index by_pid; /* those that have it now */
	struct patient_reader *ranks;
};

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
		struct record_process *e = &p->list[a.id].p;

		if (a.rank < 0 || a.rank == e->rank)
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

uint32_t processes_get(struct processes *p, int pid, bool newborn, const char *comm, uint64_t time)
{
	uint32_t before = hash_index_find_id(&p->by_pid, pid);
	struct entry *e;

	if (before != HASH_NONE && !newborn)
		return before;
	if (before != HASH_NONE)
		hash_index_remove_id(&p->by_pid, pid, before);
	hash_index_add_id(&p->by_pid, pid, p->n);
	array_reserve(p->list, p->cap, p->n + 1);
	e = &p->list[p->n];
	*e = (struct entry){
		.p = { .id = p->n, .pid = pid, .start = time, .name = xstrdup(comm), .rank = -1 }
	};
	p->n++;
	look(p, &e->p);
	e->p.kernel = process_is_kernel(pid);
	p->told(&e->p, p->arg);
	return e->p.id;
}

void processes_exec(struct processes *p, int pid)
{
	uint32_t id = hash_index_find_id(&p->by_pid, pid);

	if (id != HASH_NONE && look(p, &p->list[id].p))
		p->told(&p->list[id].p, p->arg);
}

void processes_recorded(struct processes *p, uint32_t id)
{
	p->list[id].recorded = true;
}

void processes_ended(struct processes *p, uint32_t id, uint32_t points)
{
	p->list[id].ended += points;
}

const struct record_process *processes_stranger(const struct processes *p, uint64_t *points)
{
	const struct entry *most = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct entry *e = &p->list[i];

		if (!e->recorded && !e->p.kernel && e->p.pid != getpid() && e->ended &&
		    (!most || e->ended > most->ended))
			most = e;
	}
	*points = most ? most->ended : 0;
	return most ? &most->p : NULL;
}

bool processes_share_ids(struct processes *p, uint32_t id)
{
	struct entry *e = &p->list[id];

	if (e->ids == IDS_NOT_ASKED)
		e->ids = process_shares_pids(e->p.pid) ? IDS_SHARED : IDS_OTHER;
	return e->ids == IDS_SHARED;
}

struct processes *processes_create(void (*told)(const struct record_process *p, void *arg),
				   void *arg)
{
	struct processes *p = xcalloc(1, sizeof(*p));

	p->told = told;
	p->arg = arg;
	p->ranks = patient_reader_of_ranks();
	return p;
}

void processes_destroy(struct processes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		free((char *)p->list[i].p.name);
	free(p->list);
	patient_reader_destroy(p->ranks);
	hash_index_deinit(&p->by_pid);
	free(p);
}
