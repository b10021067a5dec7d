// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/polling.h"

#include "maps/mpi_names.h"

#include <inttypes.h>
#include <pthread.h>

struct file {
	uint32_t binary;
	enum scoz_poll_role role;
	uint64_t *engines; /* learned: where these functions begin */
	size_t n_engines, cap_engines;
	struct scoz_poll_range *ranges;
	size_t n_ranges;
	uint64_t base;
	bool known, changed;
};

struct polling {
	struct maps *maps;
	struct engine *engine;
	struct unwind_follow *unwind;
	pthread_mutex_t lock;
	struct file *list;
	size_t n, cap;
	uint64_t seen; /* the newest file looked at so far (maps_next_file()) */
	bool given_up;
	_Atomic bool mpi; /* there is a library of MPI */
};

/* ---- pure ---- */

bool polling_file(const char *path, enum scoz_poll_role *role)
{
	enum mpi_file kind = mpi_file(path);

	*role = mpi_file_role(kind);
	return kind != MPI_FILE_NONE;
}

struct sought {
	const struct maptable *table;
	uint64_t base;
	struct scoz_poll_range *list;
	size_t n, cap;
};

static void add_function(struct sought *s, const char *name, enum scoz_poll_role role)
{
	struct addr_ranges r = {};

	if (maptable_function_ranges(s->table, name, &r, NULL))
		return;
	for (size_t i = 0; i < r.n; i++) {
		if (r.r[i].start < s->base || r.r[i].end - s->base > UINT32_MAX)
			continue;
		array_reserve(s->list, s->cap, s->n + 1);
		s->list[s->n++] = (struct scoz_poll_range){ .start = r.r[i].start - s->base,
							    .end = r.r[i].end - s->base,
							    .role = role };
	}
	addr_ranges_free(&r);
}

static int by_start(const void *pa, const void *pb)
{
	const struct scoz_poll_range *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* Two names of one function, say. */
static size_t drop_overlaps(struct scoz_poll_range *r, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(r, n, sizeof(*r), by_start);
	for (size_t i = 0; i < n; i++) {
		if (!kept || r[i].start >= r[kept - 1].end)
			r[kept++] = r[i];
	}
	return kept;
}

/*
 * What has another role, sorted, as offsets from @base; malloc'ed. @engines: further engines, by
 * their addresses in the file.
 */
static size_t ranges_of(const char *path, const struct maptable *table, uint64_t base,
			const uint64_t *engines, size_t n_engines, struct scoz_poll_range **ret)
{
	struct sought s = { .table = table, .base = base };
	char name[MPI_NAME_MOST];
	enum mpi_file kind = mpi_file(path);
	enum scoz_poll_role role;

	*ret = NULL;
	if (!table || kind == MPI_FILE_NONE)
		return 0;
	for (size_t i = 0; mpi_function(kind, i, name, &role); i++)
		add_function(&s, name, role);
	for (size_t i = 0; i < n_engines; i++) {
		snprintf(name, sizeof(name), "0x%" PRIx64, engines[i]);
		add_function(&s, name, SCOZ_POLL_ENGINE);
	}
	*ret = s.list;
	return drop_overlaps(s.list, s.n);
}

/* ---- files ---- */

/* Under the lock. */
static struct file *find(struct polling *p, uint32_t binary)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->list[i].binary == binary)
			return &p->list[i];
	}
	return NULL;
}

/* To ask for it makes its id its own for good. */
static void add_file(struct polling *p, uint32_t id, uint64_t serial, const char *path)
{
	const struct maps_binary *b;
	enum scoz_poll_role role;

	if (!polling_file(path, &role))
		return;
	b = maps_binary_unread(p->maps, id);
	if (!b || b->serial != serial) /* it has gone already */
		return;
	pthread_mutex_lock(&p->lock);
	array_reserve(p->list, p->cap, p->n + 1);
	p->list[p->n++] = (struct file){ .binary = id, .role = role, .changed = true };
	p->mpi = p->mpi || role == SCOZ_POLL_LIBRARY || role == SCOZ_POLL_OWN;
	pthread_mutex_unlock(&p->lock);
}

/* Under the lock. Nobody else writes the list, so the table may be waited for without it. */
static void tell(struct polling *p, struct file *f)
{
	const struct maps_binary *b = maps_binary_ask(p->maps, f->binary);
	uint32_t number = b ? unwind_follow_table(p->unwind, f->binary, &f->base) : 0;
	int r;

	if (!number)
		return; /* not yet, or never */
	free(f->ranges);
	f->n_ranges = ranges_of(b->path, b->table, f->base, f->engines, f->n_engines, &f->ranges);
	f->known = true;
	f->changed = false;
	r = engine_set_polling(p->engine, number, f->role, f->ranges, f->n_ranges);
	if (r == -ENOTSUP)
		p->given_up = true;
	else if (r)
		log_info("polling in %s is not recognized: %s", b->path, strerror(-r));
	else
		log_debug("%s: %zu functions that poll, or that are waited in", b->path,
			  f->n_ranges);
}

static bool look_at_next(struct polling *p)
{
	uint32_t id = 0;
	_cleanup_free_ char *path = maps_next_file(p->maps, &p->seen, &id);

	if (path)
		add_file(p, id, p->seen, path);
	return path;
}

void polling_look(struct polling *p)
{
	if (p->given_up)
		return;
	for (int i = 0; i < MAPS_FILES_AT_ONCE && look_at_next(p); i++)
		;
	if (!p->mpi) /* nor does libc matter */
		return;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n; i++) {
		if (p->list[i].changed)
			tell(p, &p->list[i]);
	}
	pthread_mutex_unlock(&p->lock);
}

/* ---- engines without names ---- */

static enum scoz_poll_role role_at(const struct file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->n_ranges; i++) {
		if (vaddr - f->base >= f->ranges[i].start && vaddr - f->base < f->ranges[i].end)
			return f->ranges[i].role;
	}
	return f->role;
}

/* Under the lock. */
static struct file *engine_at(struct polling *p, const struct chain_frame *frame, uint64_t *vaddr)
{
	struct file *f = frame->binary == CHAIN_NO_BINARY ? NULL : find(p, frame->binary);
	const struct maps_binary *b = f && f->known ? maps_binary_ask(p->maps, f->binary) : NULL;

	if (!b)
		return NULL;
	*vaddr = maps_vaddr(b, frame->place);
	return role_at(f, *vaddr) == SCOZ_POLL_ENGINE ? f : NULL;
}

static bool is_mpich(struct polling *p, uint32_t binary)
{
	const char *path = maps_binary_path(p->maps, binary);

	return path && mpi_file(path) == MPI_FILE_MPICH;
}

/* Under the lock. The function at @frame of a library calls an engine. */
static void learn(struct polling *p, struct file *f, const struct chain_frame *frame)
{
	const struct maps_binary *b = maps_binary_ask(p->maps, f->binary);
	uint64_t vaddr = b ? maps_vaddr(b, frame->place) : 0;
	struct map_frame frames[MAP_MAX_INLINE];
	struct addr_ranges r = {};
	char name[32];

	if (!vaddr || !b->table || role_at(f, vaddr) != SCOZ_POLL_LIBRARY ||
	    !maptable_lookup(b->table, vaddr, frames, MAP_MAX_INLINE))
		return;
	snprintf(name, sizeof(name), "0x%" PRIx64, vaddr);
	if (maptable_function_ranges(b->table, name, &r, NULL))
		return;
	log_debug("%s: the function at %s asks for progress", b->path, name);
	array_reserve(f->engines, f->cap_engines, f->n_engines + 1);
	f->engines[f->n_engines++] = vaddr;
	f->changed = true;
	addr_ranges_free(&r);
}

#define MOST_LEARNED 32

void polling_learn(struct polling *p, const struct chain *c)
{
	uint64_t vaddr;

	if (!p->mpi)
		return;
	for (int i = 0; i + 1 < c->n; i++) {
		const struct chain_frame *at = &c->frame[i], *above = &c->frame[i + 1];
		struct file *f;

		if (above->binary == at->binary || above->binary == CHAIN_NO_BINARY ||
		    at->binary == CHAIN_NO_BINARY)
			continue;
		pthread_mutex_lock(&p->lock);
		f = find(p, above->binary);
		if (f && f->known && !f->changed && f->n_engines < MOST_LEARNED &&
		    is_mpich(p, above->binary) && engine_at(p, at, &vaddr))
			learn(p, f, above);
		pthread_mutex_unlock(&p->lock);
	}
}

/* ---- chains that were sampled ---- */

/* Under the lock. */
static uint32_t role_of(struct polling *p, const struct chain_frame *frame)
{
	struct file *f = frame->binary == CHAIN_NO_BINARY ? NULL : find(p, frame->binary);
	const struct maps_binary *b = f && f->known ? maps_binary_ask(p->maps, f->binary) : NULL;

	return b ? role_at(f, maps_vaddr(b, frame->place)) : SCOZ_POLL_OTHER;
}

bool polling_waits(struct polling *p, const struct chain *c)
{
	enum scoz_poll_verdict verdict = SCOZ_POLL_GO_ON;
	struct scoz_poll_chain chain = {};

	if (!p->mpi)
		return false;
	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < c->n && verdict == SCOZ_POLL_GO_ON; i++) {
		uint32_t binary = c->frame[i].binary;

		/* The engine walks the user's part. */
		if (binary == CHAIN_NO_BINARY || !maps_binary_is_kernel(p->maps, binary))
			verdict = scoz_poll_frame(&chain, role_of(p, &c->frame[i]));
	}
	pthread_mutex_unlock(&p->lock);
	return verdict == SCOZ_POLL_WAITS;
}

struct polling *polling_create(struct maps *maps, struct engine *engine,
			       struct unwind_follow *unwind)
{
	struct polling *p = xcalloc(1, sizeof(*p));

	p->maps = maps;
	p->engine = engine;
	p->unwind = unwind;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void polling_destroy(struct polling *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		free(p->list[i].engines);
		free(p->list[i].ranges);
	}
	free(p->list);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
