// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which process is which.
 *
 * A process gets an id with its first sample. While it runs, its node maps its pid to that id; the
 * id maps to a slot, its own or that of a group. To fold a process into a group is to change its
 * id's slot: what was counted under the id follows when it is next looked up (process_table_now()),
 * and samples to come count for the group by themselves.
 *
 * Names come with exec and fork, through the rings, as most short-lived processes have gone before
 * anybody could ask /proc; for those that have no sample yet they wait in a small cache. Cores'
 * rings are read by different threads, so that the end of a process may be known before its last
 * samples: its node stays for a while.
 */
#include "daemon/process_table.h"

#include "base/hash_index.h"
#include "host/patient_reader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#define NAMES	      4096 /* a power of two */
#define FOLD_AT_ONCE  64
#define GONE_GRACE_NS (200 * NSEC_PER_MSEC)
#define SLOTS	      (PROCESS_TABLE_OWN + PROCESS_TABLE_GROUPS + 1)

struct node {
	int pid;
	uint32_t id;
	uint64_t gone_ns; /* 0: it runs */
	bool looked;
	bool is_rank; /* and that was told */
};

struct question {
	int pid;
	uint32_t id;
};

struct name {
	int pid;
	char text[PROCESS_NAME];
};

struct process_table {
	pthread_mutex_t lock;
	struct node *nodes; /* in no order */
	size_t n_nodes, cap_nodes;
	struct hash_index by_pid;
	struct name names[NAMES]; /* of those without a node, by pid */
	uint16_t *slot_of;	  /* by id */
	size_t n_ids, cap_ids;
	struct process slots[SLOTS]; /* own ones, then groups */
	bool used[SLOTS], gone[SLOTS];
	size_t n_own, n_groups;

	struct patient_reader *asker;
	void (*tell_rank)(int pid, int rank, void *arg); /* or NULL */
	void *tell_arg;
};

/* Until the next one is added or dropped. */
static struct node *find(const struct process_table *p, int pid)
{
	uint32_t i = hash_index_find_id(&p->by_pid, pid);

	return i == HASH_NONE ? NULL : &p->nodes[i];
}

static struct process *entry_of(struct process_table *p, uint32_t id)
{
	return &p->slots[p->slot_of[id]];
}

static void set_name(char *to, const char *name)
{
	size_t n = strnlen(name, PROCESS_NAME - 1);

	memmove(to, name, n);
	to[n] = '\0';
}

static const char *cached_name(const struct process_table *p, int pid)
{
	const struct name *n = &p->names[(unsigned int)pid & (NAMES - 1)];

	return n->pid == pid ? n->text : NULL;
}

static void cache_name(struct process_table *p, int pid, const char *name)
{
	struct name *n = &p->names[(unsigned int)pid & (NAMES - 1)];

	n->pid = pid;
	set_name(n->text, name);
}

static uint32_t new_id(struct process_table *p, size_t slot)
{
	array_reserve(p->slot_of, p->cap_ids, p->n_ids + 1);
	p->slot_of[p->n_ids] = slot;
	return p->n_ids++;
}

/* ---- folding ---- */

static size_t group_slot(struct process_table *p, const char *name)
{
	size_t i = PROCESS_TABLE_OWN;

	while (i < PROCESS_TABLE_OWN + p->n_groups && strcmp(p->slots[i].name, name) != 0)
		i++;
	if (i == PROCESS_TABLE_OWN + p->n_groups && p->n_groups < PROCESS_TABLE_GROUPS)
		p->n_groups++;
	else if (i == PROCESS_TABLE_OWN + p->n_groups)
		name = ""; /* the last slot */
	if (!p->used[i]) {
		p->used[i] = true;
		p->slots[i] = (struct process){ .id = new_id(p, i), .rank = -1 };
		set_name(p->slots[i].name, name);
	}
	return i;
}

static void fold(struct process_table *p, size_t slot)
{
	struct process *e = &p->slots[slot];
	size_t to = group_slot(p, e->name);

	p->slots[to].samples += e->samples;
	p->slots[to].polled += e->polled;
	p->slots[to].members++;
	p->slot_of[e->id] = to;
	p->used[slot] = false;
	p->n_own--;
}

/* Those that have ended before those that have not; then those with fewest samples. */
static bool goes_before(const struct process_table *p, size_t a, size_t b)
{
	if (p->gone[a] != p->gone[b])
		return p->gone[a];
	return p->slots[a].samples < p->slots[b].samples;
}

static void make_room(struct process_table *p)
{
	for (int n = 0; n < FOLD_AT_ONCE; n++) {
		size_t least = 0;

		while (!p->used[least])
			least++;
		for (size_t i = least + 1; i < PROCESS_TABLE_OWN; i++) {
			if (p->used[i] && goes_before(p, i, least))
				least = i;
		}
		fold(p, least);
	}
}

static size_t smallest(const struct process_table *p, uint64_t below)
{
	size_t least = PROCESS_TABLE_OWN;

	for (size_t i = 0; i < PROCESS_TABLE_OWN; i++) {
		if (p->used[i] && p->slots[i].samples < below && p->slots[i].rank < 0) {
			least = i;
			below = p->slots[i].samples;
		}
	}
	return least;
}

void process_table_fold(struct process_table *p, uint64_t least, size_t many)
{
	size_t slot;

	pthread_mutex_lock(&p->lock);
	while (p->n_own > many && (slot = smallest(p, least)) < PROCESS_TABLE_OWN)
		fold(p, slot);
	pthread_mutex_unlock(&p->lock);
}

/* ---- what happens ---- */

static void drop(struct process_table *p, struct node *gone)
{
	uint32_t at = gone - p->nodes, last = p->n_nodes - 1;

	hash_index_remove_id(&p->by_pid, gone->pid, at);
	if (at != last) {
		*gone = p->nodes[last];
		hash_index_remove_id(&p->by_pid, gone->pid, last);
		hash_index_add_id(&p->by_pid, gone->pid, at);
	}
	p->n_nodes--;
}

static struct node *add(struct process_table *p, int pid)
{
	const char *name = cached_name(p, pid);
	struct process *e;
	size_t slot = 0;

	if (p->n_own == PROCESS_TABLE_OWN)
		make_room(p);
	while (p->used[slot])
		slot++;
	p->used[slot] = true;
	p->gone[slot] = false;
	p->n_own++;
	e = &p->slots[slot];
	*e = (struct process){ .id = new_id(p, slot), .pid = pid, .rank = -1 };
	set_name(e->name, name ? name : "?");
	array_reserve(p->nodes, p->cap_nodes, p->n_nodes + 1);
	hash_index_add_id(&p->by_pid, pid, p->n_nodes);
	p->nodes[p->n_nodes] = (struct node){ .pid = pid, .id = e->id };
	return &p->nodes[p->n_nodes++];
}

uint32_t process_table_sample(struct process_table *p, int pid, uint64_t samples)
{
	struct node *n;
	uint32_t id;

	pthread_mutex_lock(&p->lock);
	n = find(p, pid);
	if (n && n->gone_ns && clock_now_ns() - n->gone_ns > GONE_GRACE_NS) {
		drop(p, n); /* another one has its pid now */
		n = NULL;
	}
	id = n ? n->id : add(p, pid)->id;
	entry_of(p, id)->samples += samples;
	pthread_mutex_unlock(&p->lock);
	return id;
}

void process_table_polled(struct process_table *p, uint32_t id, uint64_t samples)
{
	pthread_mutex_lock(&p->lock);
	entry_of(p, id)->polled += samples;
	pthread_mutex_unlock(&p->lock);
}

void process_table_fork(struct process_table *p, int pid, int parent)
{
	struct node *n, *of;

	pthread_mutex_lock(&p->lock);
	n = find(p, pid);
	if (n && n->gone_ns)
		drop(p, n);
	of = find(p, parent);
	if (of)
		cache_name(p, pid, entry_of(p, of->id)->name);
	else if (cached_name(p, parent))
		cache_name(p, pid, cached_name(p, parent));
	pthread_mutex_unlock(&p->lock);
}

void process_table_exec(struct process_table *p, int pid, const char *name)
{
	struct node *n;

	pthread_mutex_lock(&p->lock);
	cache_name(p, pid, name);
	n = find(p, pid);
	if (n) {
		struct process *e = entry_of(p, n->id);

		if (e->pid)
			set_name(e->name, name);
		n->looked = false; /* its environment is another one */
	}
	pthread_mutex_unlock(&p->lock);
}

static void set_gone(struct process_table *p, struct node *n)
{
	n->gone_ns = clock_now_ns();
	if (entry_of(p, n->id)->pid)
		p->gone[p->slot_of[n->id]] = true;
	if (p->tell_rank && n->is_rank)
		p->tell_rank(n->pid, -1, p->tell_arg);
}

void process_table_gone(struct process_table *p, int pid)
{
	struct node *n;

	pthread_mutex_lock(&p->lock);
	n = find(p, pid);
	if (n && !n->gone_ns)
		set_gone(p, n);
	pthread_mutex_unlock(&p->lock);
}

void process_table_record(struct process_table *p, const struct perf_event_header *h)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, parent;
	} *fork = (const void *)h;
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[];
	} *comm = (const void *)h;

	if (h->size < sizeof(*fork))
		return;
	if (h->type == PERF_RECORD_FORK && fork->pid != fork->parent)
		process_table_fork(p, fork->pid, fork->parent);
	else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC &&
		 memchr(comm->name, '\0', h->size - sizeof(*comm)))
		process_table_exec(p, comm->pid, comm->name);
}

/* ---- /proc ---- */

/* Nodes of ended processes go, too. */
static struct question *questions(struct process_table *p, size_t *ret)
{
	uint64_t now = clock_now_ns();
	struct question *q = NULL;
	size_t n = 0, cap = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n_nodes;) {
		struct node *node = &p->nodes[i];

		if (node->gone_ns && now - node->gone_ns > GONE_GRACE_NS) {
			drop(p, node); /* another one is here now */
			continue;
		}
		if (!node->looked && !node->gone_ns) {
			array_reserve(q, cap, n + 1);
			q[n++] = (struct question){ node->pid, node->id };
			node->looked = true;
		}
		i++;
	}
	pthread_mutex_unlock(&p->lock);
	*ret = n;
	return q;
}

/* Under the lock. NULL: it has become another one, or part of a group, since that was asked. */
static struct process *still(struct process_table *p, const struct question *q)
{
	struct node *node = find(p, q->pid);
	struct process *e = entry_of(p, q->id);

	return node && node->id == q->id && !node->gone_ns && e->pid ? e : NULL;
}

/* Also of those that count in a group. */
static void tell_rank(struct process_table *p, const struct question *q, int rank)
{
	struct node *n = find(p, q->pid);

	if (!p->tell_rank || !n || n->gone_ns || n->id != q->id || (rank < 0 && !n->is_rank))
		return;
	n->is_rank = rank >= 0;
	p->tell_rank(q->pid, rank, p->tell_arg);
}

static void take_ranks(struct process_table *p)
{
	struct rank_answer a;

	while (patient_reader_take(p->asker, &a)) {
		const struct question q = { a.pid, a.id };
		struct process *e;

		pthread_mutex_lock(&p->lock);
		e = still(p, &q);
		if (e && a.rank >= 0) {
			e->rank = a.rank;
			e->rank_from = a.from;
		}
		tell_rank(p, &q, a.rank);
		pthread_mutex_unlock(&p->lock);
	}
}

void process_table_look(struct process_table *p)
{
	size_t n;
	_cleanup_free_ struct question *q = questions(p, &n);

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = task_comm(q[i].pid);
		struct process *e;

		pthread_mutex_lock(&p->lock);
		e = still(p, &q[i]);
		if (e && name)
			set_name(e->name, name);
		else if (e && kill(q[i].pid, 0) && errno == ESRCH)
			set_gone(p, find(p, q[i].pid)); /* its samples came after its end */
		pthread_mutex_unlock(&p->lock);
		patient_reader_ask(p->asker, q[i].pid, q[i].id);
	}
	take_ranks(p);
}

void process_table_settle(struct process_table *p)
{
	patient_reader_settle(p->asker);
	take_ranks(p);
}

/* ---- results ---- */

uint32_t process_table_now(struct process_table *p, uint32_t id)
{
	uint32_t now;

	pthread_mutex_lock(&p->lock);
	now = entry_of(p, id)->id;
	pthread_mutex_unlock(&p->lock);
	return now;
}

static int by_samples(const void *pa, const void *pb)
{
	const struct process *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

struct process *process_table_list(struct process_table *p, size_t *ret)
{
	struct process *list = xcalloc(SLOTS, sizeof(*list));
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < SLOTS; i++) {
		if (p->used[i])
			list[n++] = p->slots[i];
	}
	pthread_mutex_unlock(&p->lock);
	qsort(list, n, sizeof(*list), by_samples);
	*ret = n;
	return list;
}

struct process_table *process_table_create(void)
{
	struct process_table *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	p->asker = patient_reader_of_ranks();
	return p;
}

void process_table_tell_ranks(struct process_table *p, void (*fn)(int pid, int rank, void *arg),
			      void *arg)
{
	pthread_mutex_lock(&p->lock);
	p->tell_rank = fn;
	p->tell_arg = arg;
	pthread_mutex_unlock(&p->lock);
}

void process_table_destroy(struct process_table *p)
{
	if (!p)
		return;
	patient_reader_destroy(p->asker);
	hash_index_deinit(&p->by_pid);
	free(p->nodes);
	pthread_mutex_destroy(&p->lock);
	free(p->slot_of);
	free(p);
}
