// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/processes.h"

#include "base/process.h"

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
	/* By pid, those that have it now: id + 1, 0: free. */
	uint32_t *slots;
	size_t n_slots, used;
};

static uint32_t *slot_of(const struct processes *p, int pid)
{
	size_t i = (uint32_t)pid * 0x9e3779b1u;

	for (;; i++) {
		uint32_t *slot = &p->slots[i & (p->n_slots - 1)];

		if (!*slot || p->list[*slot - 1].p.pid == pid)
			return slot;
	}
}

static uint32_t *find_slot(struct processes *p, int pid)
{
	if (2 * p->used >= p->n_slots) {
		uint32_t *old = p->slots;
		size_t n = p->n_slots;

		p->n_slots = n ? 2 * n : 256;
		p->slots = xcalloc(p->n_slots, sizeof(*p->slots));
		for (size_t i = 0; i < n; i++) {
			if (old[i])
				*slot_of(p, p->list[old[i] - 1].p.pid) = old[i];
		}
		free(old);
	}
	return slot_of(p, pid);
}

/* What /proc says now; what it does not say any more stays as it was. */
static bool look(struct record_process *p)
{
	_cleanup_free_ char *name = task_comm(p->pid);
	const char *from;
	int rank = process_rank(p->pid, &from);
	bool changed = false;

	if (name && strcmp(name, p->name) != 0) {
		free((char *)p->name);
		p->name = xstrdup(name);
		changed = true;
	}
	if (rank >= 0 && rank != p->rank) {
		p->rank = rank;
		p->rank_from = from;
		changed = true;
	}
	return changed;
}

uint32_t processes_get(struct processes *p, int pid, bool newborn, const char *comm, uint64_t time)
{
	uint32_t *slot = find_slot(p, pid);
	struct entry *e;

	if (*slot && !newborn)
		return *slot - 1;
	p->used += !*slot;
	array_reserve(p->list, p->cap, p->n + 1);
	e = &p->list[p->n];
	*e = (struct entry){
		.p = { .id = p->n, .pid = pid, .start = time, .name = xstrdup(comm), .rank = -1 }
	};
	*slot = ++p->n;
	look(&e->p);
	e->p.kernel = process_is_kernel(pid);
	p->told(&e->p, p->arg);
	return e->p.id;
}

void processes_exec(struct processes *p, int pid)
{
	uint32_t slot = p->n ? *find_slot(p, pid) : 0;

	if (slot && look(&p->list[slot - 1].p))
		p->told(&p->list[slot - 1].p, p->arg);
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
	return p;
}

void processes_destroy(struct processes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		free((char *)p->list[i].p.name);
	free(p->list);
	free(p->slots);
	free(p);
}
