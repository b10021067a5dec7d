// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that processes make while they run lies in no file. What they tell of it, in their perf maps
 * and jitdumps (made_files.h), is read by a process without rights (table/code_loads.h), piece by
 * piece as it grows, and kept as what lies where (made_code.h): one for each image of a process,
 * which is a binary of its own to those who look up.
 *
 * When there is a look: when somebody waits for a name (maps_name_awaited()), and now and then
 * while such code is seen. A process that has told nothing is looked at after pauses that grow.
 * Looks are chores: they wait for file systems. What there is to read is read by the threads that
 * make tables.
 *
 * Each piece costs a process of the symbolizer's, and whose file it is decides how often it grows.
 * So pieces of a process come at growing distances, those of all take a share of the time at most,
 * and a process's code may take so much memory. It is given back when the process has been gone for
 * so long that nobody asks for what was seen of it.
 */
#include "maps/made_code.h"
#include "host/process.h"
#include "maps/made_files.h"
#include "maps/made_source.h"
#include "maps/maps_internal.h"

#include <unistd.h>

#define FIRST_PAUSE_NS (50 * NSEC_PER_MSEC)
#define LAST_PAUSE_NS  (2 * NSEC_PER_SEC)
#define LOOK_NS	       (100 * NSEC_PER_MSEC) /* between looks that somebody waits for */
#define STALE_NS       (200 * NSEC_PER_MSEC) /* a look is due though nobody waits */
#define READ_NS	       (100 * NSEC_PER_MSEC) /* between pieces, for each there has been */
#define MAX_READ_NS    (2 * NSEC_PER_SEC)
#define IDLE	       4	    /* times as long as a piece took none is read */
#define MAX_BYTES      (64 << 20)   /* of a process's code */
#define MAX_ALL_BYTES  (256u << 20) /* of all */
#define MAX_FAILURES   10 /* pieces of a file that could not be read, one after the other */
#define MAX_WARNINGS   10 /* about all files */
#define FILES	       2

/* What an image tells. Only who does chores has them. */
struct made_map {
	int pid;
	uint64_t image;
	uint64_t identity;		/* of the process */
	struct made_source file[FILES]; /* by enum code_loads_kind */
	uint32_t binary;		/* or NONE_BINARY */
	uint64_t read_ns;		/* when a piece was read last */
	size_t n_reads;
	bool reading, gone, full;
};

struct made_maps {
	struct made_map **v;
	size_t n, cap;
	size_t n_fd; /* that files hold */
	uint64_t read_after_ns;
	struct files_ahead ahead; /* of processes that are not known yet */
	/* Binaries of images that are gone. */
	struct dead {
		uint32_t binary;
		uint64_t since;
	} * dead;
	size_t n_dead, cap_dead;
	struct made_names *names;
};

/* A piece to be read, by another thread. */
struct made_read {
	int pid;
	uint64_t image, began_ns, took_ns;
	uint32_t dump; /* as in struct look */
	struct made_code *code;
	bool anew, full, tried[FILES];
	struct made_source file[FILES]; /* a copy, whose `fd` and `path` are the map's */
};

struct made_maps *made_maps_create(void)
{
	struct made_maps *l = xcalloc(1, sizeof(*l));

	l->names = made_names_create();
	return l;
}

static void map_free(struct made_map *map)
{
	for (int i = 0; i < FILES; i++)
		made_source_free(&map->file[i]);
	free(map);
}

/* The map goes; one that is being read goes when it has been. */
static void drop(struct maps *m, size_t i)
{
	struct made_maps *l = m->made_maps;
	struct made_map *map = l->v[i];

	if (!map->gone && map->binary != NONE_BINARY) {
		array_reserve(l->dead, l->cap_dead, l->n_dead + 1);
		l->dead[l->n_dead++] = (struct dead){ map->binary, clock_now_ns() };
	}
	map->gone = true;
	if (map->reading)
		return;
	for (int k = 0; k < FILES; k++)
		l->n_fd -= map->file[k].fd >= 0;
	map_free(map);
	l->v[i] = l->v[--l->n];
}

void made_maps_destroy(struct made_maps *l)
{
	for (size_t i = 0; i < l->n; i++)
		map_free(l->v[i]);
	files_ahead_close(&l->ahead);
	free(l->v);
	free(l->dead);
	made_names_destroy(l->names);
	free(l);
}

bool made_may_warn(struct maps *m)
{
	uint32_t n = __atomic_fetch_add(&m->made_warnings, 1, __ATOMIC_RELAXED);

	if (n == MAX_WARNINGS)
		log_warn("names of code made at run time: what else is wrong with the files that "
			 "tell them is not told");
	return n < MAX_WARNINGS;
}

void made_init(struct process *p)
{
	p->made = (struct made){ .binary = NONE_BINARY, .dump = NONE_BINARY };
}

/* ---- those who ask ---- */

/* To the next tick: this is asked for each sample of such code. */
static uint64_t about_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static bool ask(struct process *p)
{
	return !__atomic_exchange_n(&p->made.asked, true, __ATOMIC_RELAXED);
}

bool made_look_is_due(struct process *p)
{
	const struct made *d = &p->made;
	uint64_t now = about_now(), due = d->due_ns;

	if (due < d->looked_ns + STALE_NS)
		due = d->looked_ns + STALE_NS;
	return now >= due && ask(p);
}

bool maps_name_awaited(struct maps *m, struct maps_made_place *at)
{
	bool awaited = false, look = false;
	uint64_t now = clock_now_ns();
	struct process *p;

	if (!m->perf_maps)
		return false;
	pthread_rwlock_rdlock(&m->lock);
	p = maps_process(m, at->pid);
	at->late = false;
	if (p && !at->image)
		at->image = p->image;
	if (p && p->image == at->image) {
		at->binary = p->made.binary;
		at->late = p->made.dump != NONE_BINARY;
		/* Where nothing is told, nothing is waited for but the first time. */
		awaited = p->made.looked_ns < (at->wanted ? at->wanted : at->time) &&
			  (at->binary != NONE_BINARY || now >= p->made.due_ns);
		look = awaited && now >= p->made.due_ns && ask(p);
	}
	pthread_rwlock_unlock(&m->lock);
	if (look)
		chores_made(m, at->pid);
	return awaited;
}

/* ---- a look ---- */

/* What is known when it begins. */
struct look {
	uint64_t image, began_ns;
	uint32_t binary, dump;
	bool outside; /* of --binary-scope */
	bool exited;  /* what there is is all */
	bool told;
};

static bool begin(struct maps *m, int pid, struct look *l)
{
	const struct process *p;

	*l = (struct look){ .began_ns = clock_now_ns() };
	pthread_rwlock_rdlock(&m->lock);
	p = maps_process(m, pid);
	if (p) {
		l->image = p->image;
		l->binary = p->made.binary;
		l->dump = p->made.dump;
		l->told = p->made.told;
		l->exited = p->exited_ns;
		l->outside = l->binary != NONE_BINARY && m->binary[l->binary]->pub.outside;
	}
	pthread_rwlock_unlock(&m->lock);
	return p;
}

/* @looked_ns: what was written before then is known; 0: not all of it. */
static void end(struct maps *m, int pid, const struct look *l, uint64_t looked_ns, uint64_t due_ns)
{
	struct process *p;

	pthread_rwlock_wrlock(&m->lock);
	p = maps_process(m, pid);
	if (p && p->image == l->image) {
		struct made *d = &p->made;

		if (looked_ns && l->dump == d->dump)
			d->looked_ns = looked_ns;
		if (d->binary == NONE_BINARY) {
			d->pause_ns = d->pause_ns ? 2 * d->pause_ns : FIRST_PAUSE_NS;
			if (d->pause_ns > LAST_PAUSE_NS)
				d->pause_ns = LAST_PAUSE_NS;
			due_ns = l->began_ns + d->pause_ns;
		}
		d->due_ns = due_ns;
		d->told |= l->told;
		__atomic_store_n(&d->asked, false, __ATOMIC_RELAXED);
	} else if (p) {
		/* Who has that number now has asked for nothing. */
		__atomic_store_n(&p->made.asked, false, __ATOMIC_RELAXED);
	}
	pthread_rwlock_unlock(&m->lock);
}

static bool lives(struct maps *m, const struct made_map *map)
{
	const struct process *p;
	bool same;

	pthread_rwlock_rdlock(&m->lock);
	p = maps_process(m, map->pid);
	same = p && p->image == map->image;
	pthread_rwlock_unlock(&m->lock);
	return same;
}

/* A child may have what its parent made, as long as it makes nothing itself. */
static bool is_of_somebody(struct maps *m, uint32_t binary)
{
	bool found = false;

	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->n_process && !found; i++)
		found = m->process[i]->made.binary == binary;
	pthread_rwlock_unlock(&m->lock);
	return found;
}

/* What took memory is given back; the binary stays, as somebody may know its number. */
static void empty(struct maps *m, uint32_t binary)
{
	struct made_code *code;

	pthread_rwlock_rdlock(&m->lock);
	code = m->binary[binary]->pub.made;
	pthread_rwlock_unlock(&m->lock);
	__atomic_sub_fetch(&m->made_bytes, made_code_memory(code), __ATOMIC_RELAXED);
	made_code_clear(code);
	__atomic_add_fetch(&m->made_bytes, made_code_memory(code), __ATOMIC_RELAXED);
}

static bool is_read(const struct made_maps *l, uint32_t binary)
{
	bool found = false;

	for (size_t i = 0; i < l->n && !found; i++)
		found = l->v[i]->reading && l->v[i]->binary == binary;
	return found;
}

static void bury(struct maps *m)
{
	struct made_maps *l = m->made_maps;
	uint64_t now = clock_now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < l->n_dead; i++) {
		struct dead *d = &l->dead[i];

		if (now - d->since < m->made_keep_ns || is_read(l, d->binary) ||
		    is_of_somebody(m, d->binary))
			l->dead[kept++] = *d;
		else
			empty(m, d->binary);
	}
	l->n_dead = kept;
}

/* What is held of @pid, or NULL. What is of images that are gone is let go. */
static struct made_map *held(struct maps *m, int pid)
{
	struct made_maps *l = m->made_maps;
	struct made_map *found = NULL;

	for (size_t i = l->n; i-- > 0;) {
		if (!lives(m, l->v[i]))
			drop(m, i);
	}
	bury(m);
	for (size_t i = 0; i < l->n && !found; i++)
		found = !l->v[i]->gone && l->v[i]->pid == pid ? l->v[i] : NULL;
	return found;
}

static struct made_map *hold(struct maps *m, int pid, const struct look *l, uint64_t identity)
{
	struct made_maps *list = m->made_maps;
	struct made_map *map = xcalloc(1, sizeof(*map));

	*map = (struct made_map){
		.pid = pid, .image = l->image, .identity = identity, .binary = NONE_BINARY
	};
	for (int i = 0; i < FILES; i++)
		map->file[i].fd = -1;
	array_reserve(list->v, list->cap, list->n + 1);
	list->v[list->n++] = map;
	return map;
}

static void let_go(struct maps *m, struct made_map *map)
{
	for (size_t i = 0; i < m->made_maps->n; i++) {
		if (m->made_maps->v[i] == map) {
			drop(m, i);
			return;
		}
	}
}

/* Takes @fd over, which is closed where as many are open as may be. */
static void keep(struct maps *m, struct made_source *s, int fd, const char *path)
{
	if (s->fd >= 0) {
		close(s->fd);
	} else if (m->made_maps->n_fd + m->made_maps->ahead.n >= m->max_made_fd) {
		close(fd);
		return;
	} else {
		m->made_maps->n_fd++;
	}
	s->fd = fd;
	free(s->path);
	s->path = xstrdup(path);
}

void made_expect(struct maps *m, int pid)
{
	struct made_maps *l = m->made_maps;

	files_ahead_open(&l->ahead, pid, m->max_made_fd > l->n_fd ? m->max_made_fd - l->n_fd : 0);
}

/* What was opened of it while it ran, as that image; -1: nothing. */
static int take_ahead(struct maps *m, int pid, char **path)
{
	const struct process *p;
	uint64_t since;

	pthread_rwlock_rdlock(&m->lock);
	p = maps_process(m, pid);
	since = !p ? UINT64_MAX : p->execed > p->born ? p->execed : p->born;
	pthread_rwlock_unlock(&m->lock);
	return files_ahead_take(&m->made_maps->ahead, pid, since, path);
}

static void tell(struct maps *m, struct look *l, const struct error *err)
{
	if (!l->told && made_may_warn(m))
		log_warn("%s", err->text);
	l->told = true;
}

static void close_source(struct maps *m, struct made_source *s)
{
	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	m->made_maps->n_fd--;
}

/* Its perf map, as it is now. What is not believed any more is not read on. */
static void open_perf_map(struct maps *m, struct made_map **map, int pid, struct look *l,
			  uint64_t identity)
{
	_cleanup_free_ char *path = NULL;
	struct error err = { 0 };
	struct stat st;
	int fd = perf_map_open(pid, &st, &path, &err);

	if (err.code) {
		tell(m, l, &err);
		if (*map)
			close_source(m, &(*map)->file[CODE_LOADS_PERF_MAP]);
		return;
	}
	if (fd < 0 && !*map)
		fd = take_ahead(m, pid, &path);
	if (fd < 0) /* one that was removed is read to its end */
		return;
	if (!*map)
		*map = hold(m, pid, l, identity);
	keep(m, &(*map)->file[CODE_LOADS_PERF_MAP], fd, path);
}

/* What the process has mapped; opened once. */
static int take_dump(struct maps *m, uint32_t id, char **path)
{
	struct sighting first;
	struct opened o;
	struct binary *b;
	int fd;

	pthread_rwlock_wrlock(&m->lock);
	b = m->binary[id];
	fd = b->fd;
	b->fd = -1;
	m->n_fd -= fd >= 0;
	first = b->first;
	*path = xstrdup(b->pub.path);
	pthread_rwlock_unlock(&m->lock);
	if (fd >= 0)
		return fd;
	sighting_open(&first, &o);
	return o.fd;
}

/* As it is now: its owner, and who may write to it, may have changed. */
static int check_dump(struct maps *m, int pid, int fd, const char *path, struct look *l)
{
	struct error err = { 0 };
	struct stat st;
	int ret = fd < 0 || fstat(fd, &st) ? -ENOENT : jitdump_check(pid, path, &st, &err);

	if (err.code)
		tell(m, l, &err);
	return ret;
}

static void open_dump(struct maps *m, struct made_map **map, int pid, struct look *l,
		      uint64_t identity)
{
	struct made_source *s = *map ? &(*map)->file[CODE_LOADS_JITDUMP] : NULL;
	_cleanup_free_ char *path = NULL;
	int fd;

	if (l->dump == NONE_BINARY)
		return;
	if (s && s->fd >= 0) {
		if (check_dump(m, pid, s->fd, s->path, l) == -EPERM)
			close_source(m, s);
		return;
	}
	fd = take_dump(m, l->dump, &path);
	if (check_dump(m, pid, fd, path, l)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (!*map)
		*map = hold(m, pid, l, identity);
	keep(m, &(*map)->file[CODE_LOADS_JITDUMP], fd, path);
}

static bool has_files(const struct made_map *map)
{
	bool any = false;

	for (int i = 0; i < FILES; i++)
		any |= map->file[i].fd >= 0;
	return any;
}

/* Who has the number of a process whose end was not seen has made nothing of what that had. */
static void forget_other(struct maps *m, int pid, const struct look *l)
{
	struct process *p;

	pthread_rwlock_wrlock(&m->lock);
	p = maps_process(m, pid);
	if (p && p->image == l->image) {
		p->image = ++m->images;
		made_init(p);
	}
	pthread_rwlock_unlock(&m->lock);
}

static bool is_of_other(const struct made_map *map, uint64_t identity)
{
	return map && identity && map->identity && map->identity != identity;
}

/* ---- reading ---- */

/* The binary that those who look up know it by. */
static bool make_binary(struct maps *m, struct made_map *map, const struct look *l)
{
	const struct made_source *s = &map->file[CODE_LOADS_PERF_MAP];
	struct process *p;

	if (map->binary != NONE_BINARY)
		return true;
	if (s->fd < 0)
		s = &map->file[CODE_LOADS_JITDUMP];
	pthread_rwlock_wrlock(&m->lock);
	p = maps_process(m, map->pid);
	if (p && p->image == l->image) {
		map->binary = binary_add_made(m, map->pid, s->path,
					      made_code_create(m->made_maps->names));
		p->made.binary = map->binary;
	}
	pthread_rwlock_unlock(&m->lock);
	return map->binary != NONE_BINARY;
}

static void start_read(struct maps *m, struct made_map *map, const struct look *l, bool anew,
		       const bool tried[FILES])
{
	struct made_read *r = xcalloc(1, sizeof(*r));

	pthread_rwlock_rdlock(&m->lock);
	r->code = m->binary[map->binary]->pub.made;
	pthread_rwlock_unlock(&m->lock);
	r->pid = map->pid;
	r->image = map->image;
	r->began_ns = l->began_ns;
	r->dump = l->dump;
	r->anew = anew;
	memcpy(r->tried, tried, sizeof(r->tried));
	memcpy(r->file, map->file, sizeof(r->file));
	map->reading = true;
	map->read_ns = l->began_ns;
	map->n_reads++;
	chores_read(m, r);
}

/* The files are open. */
static void look_at(struct maps *m, struct made_map *map, const struct look *l)
{
	uint64_t pause = (map->n_reads + 1) * READ_NS, due;
	bool anew = false, any = false, tried[FILES] = { false };
	struct stat st[FILES];

	for (int i = 0; i < FILES; i++) {
		struct made_source *s = &map->file[i];

		if (s->fd < 0 || fstat(s->fd, &st[i])) {
			st[i] = (struct stat){ 0 };
			continue;
		}
		tried[i] = true;
		anew |= map->n_reads && s->ino && made_source_is_another(s, &st[i]);
	}
	for (int i = 0; i < FILES; i++) {
		struct made_source *s = &map->file[i];

		tried[i] &= anew || (!s->over && s->failures < MAX_FAILURES &&
				     (s->more || (uint64_t)st[i].st_size > s->seen));
		any |= tried[i];
	}
	if (!any || map->full || l->outside) {
		end(m, map->pid, l, l->began_ns, l->began_ns + LOOK_NS);
		return;
	}
	due = map->read_ns + (pause < MAX_READ_NS ? pause : MAX_READ_NS);
	if (!map->n_reads || l->exited)
		due = 0;
	due = due > m->made_maps->read_after_ns ? due : m->made_maps->read_after_ns;
	if (l->began_ns < due || !make_binary(m, map, l)) {
		end(m, map->pid, l, 0, due);
		return;
	}
	for (int i = 0; i < FILES; i++) {
		if (!tried[i])
			continue;
		if (anew) {
			map->file[i].next = 0;
			map->file[i].over = false;
		}
		made_source_note(&map->file[i], &st[i]);
	}
	start_read(m, map, l, anew, tried);
}

void made_look(struct maps *m, int pid)
{
	struct made_map *map;
	uint64_t identity;
	struct look l;

	if (!begin(m, pid, &l)) {
		held(m, pid); /* lets go those of processes that are gone */
		return;
	}
	identity = process_identity(pid);
	map = held(m, pid);
	if (is_of_other(map, identity)) {
		forget_other(m, pid, &l);
		map = held(m, pid);
		if (!begin(m, pid, &l))
			return;
	}
	if (map && map->reading) {
		end(m, pid, &l, 0, l.began_ns + LOOK_NS);
		return;
	}
	open_perf_map(m, &map, pid, &l, identity);
	open_dump(m, &map, pid, &l, identity);
	if (map && !has_files(map)) {
		let_go(m, map);
		map = NULL;
	}
	if (map)
		look_at(m, map, &l);
	else
		end(m, pid, &l, l.began_ns, l.began_ns + LOOK_NS);
}

static void read_piece(struct maps *m, struct made_read *r, enum code_loads_kind kind,
		       struct code_loads **ret)
{
	struct made_source *s = &r->file[kind];
	struct error err = { 0 };

	*ret = code_loads_open(s->fd, s->path, kind, s->next, &err);
	s->failures = *ret ? 0 : s->failures + 1;
	s->more = false;
	if (!*ret) {
		if (s->failures == 1 && made_may_warn(m))
			log_warn("%s", err.text);
		return;
	}
	s->next = (*ret)->h->next;
	s->more = (*ret)->h->more;
	s->over = (*ret)->h->foreign;
}

void made_read(struct maps *m, struct made_read *r)
{
	struct code_loads *piece[FILES] = { NULL };
	uint64_t began = clock_now_ns(), all, before, most;

	for (int i = 0; i < FILES; i++) {
		if (r->tried[i])
			read_piece(m, r, i, &piece[i]);
	}
	before = made_code_memory(r->code);
	if (r->anew && (piece[0] || piece[1]))
		made_code_clear(r->code);
	for (int i = 0; i < FILES; i++) {
		all = __atomic_load_n(&m->made_bytes, __ATOMIC_RELAXED);
		most = all - before < MAX_ALL_BYTES ? MAX_ALL_BYTES - (all - before) : 0;
		if (piece[i])
			r->full |= !made_code_add(r->code, piece[i],
						  most < MAX_BYTES ? most : MAX_BYTES, began);
		code_loads_free(piece[i]);
	}
	__atomic_add_fetch(&m->made_bytes, made_code_memory(r->code) - before, __ATOMIC_RELAXED);
	r->took_ns = clock_now_ns() - began;
	chores_read_done(m, r);
}

static void note_full(struct maps *m, struct made_map *map, const struct made_read *r)
{
	if (!map->full && made_may_warn(m))
		log_warn("%s: what comes to it from now on is not read: the functions of process "
			 "%d take %llu MB (%d MB are allowed, and %u MB for those of all "
			 "processes)",
			 map->file[r->tried[CODE_LOADS_JITDUMP] ? CODE_LOADS_JITDUMP
								: CODE_LOADS_PERF_MAP]
				 .path,
			 map->pid, (unsigned long long)made_code_memory(r->code) >> 20,
			 MAX_BYTES >> 20, MAX_ALL_BYTES >> 20);
	map->full = true;
}

static void note_foreign(struct maps *m, struct made_source *s)
{
	if (made_may_warn(m))
		log_warn("%s: it is not read on: no jitdump is like that", s->path);
}

void made_read_done(struct maps *m, struct made_read *r)
{
	const struct look l = { .image = r->image, .began_ns = r->began_ns, .dump = r->dump };
	struct made_maps *list = m->made_maps;
	struct made_map *map = NULL;
	uint64_t now = clock_now_ns();
	bool more = false;

	for (size_t i = 0; i < list->n && !map; i++)
		map = list->v[i]->pid == r->pid && list->v[i]->image == r->image ? list->v[i]
										 : NULL;
	list->read_after_ns = now + IDLE * r->took_ns;
	if (!map) {
		free(r);
		return;
	}
	map->reading = false;
	for (int i = 0; i < FILES; i++) {
		if (!r->tried[i])
			continue;
		if (r->file[i].over && !map->file[i].over)
			note_foreign(m, &map->file[i]);
		map->file[i].next = r->file[i].next;
		map->file[i].failures = r->file[i].failures;
		map->file[i].more = r->file[i].more;
		map->file[i].over = r->file[i].over;
		more |= r->file[i].more;
	}
	if (r->full)
		note_full(m, map, r);
	if (map->gone)
		let_go(m, map);
	else
		end(m, r->pid, &l, more ? 0 : r->began_ns, r->began_ns + LOOK_NS);
	free(r);
}

void made_read_free(struct made_read *r)
{
	free(r);
}

void made_mapped(struct maps *m, struct process *p, uint32_t binary, const char *path)
{
	if (!m->perf_maps || binary == p->made.dump || !is_jitdump(path))
		return;
	p->made.dump = binary;
	/* Its mapping may be told long after a look at what there was before. */
	p->made.looked_ns = p->made.due_ns = 0;
	/* While it can be opened by its process. */
	if (ask(p))
		chores_made(m, p->pid);
}
