// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that processes make while they run lies in no file. What they tell of it, in their perf maps
 * (perf_map.h), is read as tables of binaries of their own: a table for what was there when the map
 * was first looked at, and one more whenever it has grown since. A lookup begins with the newest:
 * memory is used again, and what was written last counts.
 *
 * When there is a look: when an address is seen that is in no file (then, and after pauses that
 * grow, as most such processes have no map), now and then while there is such code, and when
 * somebody waits for a name (maps_names_awaited()). Looks are chores: they wait for file systems.
 *
 * Each table costs a process of the symbolizer's and memory, and whose map it is decides how often
 * it grows. So they come at growing distances, and a process may have so many of them, so large.
 */
#include "maps/maps_internal.h"
#include "maps/perf_map.h"
#include "table/table.h"

#include <fcntl.h>
#include <unistd.h>

#define FIRST_PAUSE_NS (50 * NSEC_PER_MSEC)
#define LAST_PAUSE_NS  (2 * NSEC_PER_SEC)
#define LOOK_NS	       (100 * NSEC_PER_MSEC) /* between looks that somebody waits for */
#define STALE_NS       (200 * NSEC_PER_MSEC) /* a look is due though nobody waits */
#define TABLE_NS       (100 * NSEC_PER_MSEC) /* between tables, for each there is */
#define MAX_TABLE_NS   (2 * NSEC_PER_SEC)
#define MAX_TABLES     1000
#define MAX_BYTES      (64 << 20)   /* of a process's tables */
#define MAX_ALL_BYTES  (256u << 20) /* of all */
#define MAX_FAILURES   10 /* tables of a map that could not be made, one after the other */
#define MAX_WARNINGS   10 /* about all maps */

/* A map that is read. Only who does chores has them. */
struct made_map {
	int pid;
	uint64_t image;
	uint64_t started; /* perf_map_started() */
	int fd;		  /* held: the process may end before the last of it is read; counted in
			     n_fd */
	dev_t dev;
	ino_t ino;
	int64_t mtime_ns;
	uint64_t seen;	   /* its size when the newest table was asked for */
	uint64_t table_ns; /* when that was */
	char end[64];	   /* the last bytes of what was there then */
	size_t n_end;
	char *path;
	uint32_t newest; /* the binary of the newest table, or NONE_BINARY */
	size_t n_tables;
	uint64_t bytes; /* of all tables but the newest, those of what was written anew included */
	uint32_t failures; /* tables that could not be made since one could be */
	bool full;
};

struct made_maps {
	struct made_map *v;
	size_t n, cap;
};

struct made_maps *made_maps_create(void)
{
	return xcalloc(1, sizeof(struct made_maps));
}

static void release(struct made_maps *l, size_t i)
{
	if (l->v[i].fd >= 0)
		close(l->v[i].fd);
	free(l->v[i].path);
	l->v[i] = l->v[--l->n];
}

static bool is_of_somebody(const struct maps *m, uint32_t binary)
{
	bool found = false;

	for (size_t i = 0; i < m->n_process && !found; i++)
		found = m->process[i]->made.binary == binary;
	return found;
}

/* Nobody has asked for the newest table, nor will: only what it would be read from is let go. */
static int take_unread(struct maps *m, uint32_t id)
{
	struct binary *b = id == NONE_BINARY ? NULL : m->binary[id];
	int fd = -1;

	if (b && b->fd >= 0 && !chores_build_asked(m, id) && !is_of_somebody(m, id)) {
		fd = b->fd;
		b->fd = -1;
		m->n_fd--;
	}
	return fd;
}

static void drop(struct maps *m, size_t i)
{
	struct made_map *map = &m->made_maps->v[i];
	int unread;

	pthread_rwlock_wrlock(&m->lock);
	m->n_fd -= map->fd >= 0;
	unread = take_unread(m, map->newest);
	pthread_rwlock_unlock(&m->lock);
	if (unread >= 0)
		close(unread);
	release(m->made_maps, i);
}

void made_maps_destroy(struct made_maps *l)
{
	while (l->n)
		release(l, 0);
	free(l->v);
	free(l);
}

bool made_may_warn(struct maps *m)
{
	uint32_t n = __atomic_fetch_add(&m->made_warnings, 1, __ATOMIC_RELAXED);

	if (n == MAX_WARNINGS)
		log_warn("perf maps: what else is wrong with them is not told");
	return n < MAX_WARNINGS;
}

void made_init(struct process *p)
{
	p->made = (struct made){ .binary = NONE_BINARY };
}

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

	if (d->binary != NONE_BINARY && due < d->looked_ns + STALE_NS)
		due = d->looked_ns + STALE_NS;
	return now >= due && ask(p);
}

bool maps_names_awaited(struct maps *m, int pid, uint64_t time)
{
	bool awaited = false, look = false;
	uint64_t now = clock_now_ns();
	struct process *p;

	if (!m->perf_maps)
		return false;
	pthread_rwlock_rdlock(&m->lock);
	p = maps_process(m, pid);
	if (p && p->made.looked_ns < time) {
		/* Where there is no map, none is waited for but the first time. */
		awaited = p->made.binary != NONE_BINARY || now >= p->made.due_ns;
		look = now >= p->made.due_ns && ask(p);
	}
	pthread_rwlock_unlock(&m->lock);
	if (look)
		chores_made(m, pid);
	return awaited;
}

/* What is known when a look begins. */
struct look {
	uint64_t image, began_ns;
	uint32_t binary; /* the newest */
	bool ready;	 /* its table is there, or never will be */
	uint64_t next;	 /* where that ends */
	uint64_t bytes;	 /* of it */
	bool crowded;	 /* no descriptor may be held more */
	bool failed;	 /* that table could not be made */
	bool outside;	 /* of --binary-scope */
	bool told;
};

static bool begin(struct maps *m, int pid, struct look *l)
{
	const struct process *p;
	const struct binary *b;

	*l = (struct look){ .ready = true, .began_ns = clock_now_ns() };
	pthread_rwlock_rdlock(&m->lock);
	p = maps_process(m, pid);
	if (p) {
		l->image = p->image;
		l->binary = p->made.binary;
		l->told = p->made.told;
		l->crowded = m->n_fd >= m->max_fd;
		b = l->binary == NONE_BINARY ? NULL : m->binary[l->binary];
		l->ready = !b || __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT;
		l->outside = b && b->pub.outside;
		if (b && l->ready) {
			l->failed = !b->pub.table;
			l->next = b->pub.table ? b->pub.table->h->file_size : b->from;
			l->bytes = b->pub.table ? maptable_memory(b->pub.table) : 0;
		}
	}
	pthread_rwlock_unlock(&m->lock);
	return p;
}

/* @looked: what was written before @l began is known, or will be by the newest table. */
static void end(struct maps *m, int pid, const struct look *l, uint64_t looked_ns, uint64_t due_ns)
{
	struct process *p;

	pthread_rwlock_wrlock(&m->lock);
	p = maps_process(m, pid);
	if (p && p->image == l->image) {
		struct made *d = &p->made;

		if (looked_ns)
			d->looked_ns = looked_ns;
		if (d->binary == NONE_BINARY) {
			d->pause_ns = d->pause_ns ? 2 * d->pause_ns : FIRST_PAUSE_NS;
			if (d->pause_ns > LAST_PAUSE_NS)
				d->pause_ns = LAST_PAUSE_NS;
			due_ns = l->began_ns + d->pause_ns;
		}
		d->due_ns = due_ns;
		d->told = l->told;
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

/* The map that is held of @pid, or NULL. Those of images that are gone are let go. */
static struct made_map *held(struct maps *m, int pid)
{
	struct made_maps *l = m->made_maps;
	struct made_map *found = NULL;

	for (size_t i = l->n; i-- > 0;) {
		if (!lives(m, &l->v[i]))
			drop(m, i);
	}
	for (size_t i = 0; i < l->n && !found; i++)
		found = l->v[i].pid == pid ? &l->v[i] : NULL;
	return found;
}

static struct made_map *hold(struct maps *m, int pid, const struct look *l, char *path)
{
	struct made_maps *list = m->made_maps;

	array_reserve(list->v, list->cap, list->n + 1);
	list->v[list->n] =
		(struct made_map){ .pid = pid, .image = l->image, .fd = -1, .newest = NONE_BINARY };
	list->v[list->n].path = path;
	return &list->v[list->n++];
}

static int64_t mtime_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
}

/* The last bytes up to where the map ended when its newest table was asked for. */
static size_t read_end(const struct made_map *map, char *to)
{
	size_t n = map->seen < sizeof(map->end) ? map->seen : sizeof(map->end);
	ssize_t got = pread(map->fd, to, n, map->seen - n);

	return got > 0 ? got : 0;
}

/* A table of the map from @from on. */
static void add_table(struct maps *m, struct made_map *map, const struct look *l, uint64_t from,
		      const struct stat *st)
{
	int fd = fcntl(map->fd, F_DUPFD_CLOEXEC, 0);
	struct process *p;
	uint32_t id;

	if (fd < 0)
		return;
	map->dev = st->st_dev;
	map->ino = st->st_ino;
	map->mtime_ns = mtime_of(st);
	map->seen = st->st_size;
	map->n_end = read_end(map, map->end);
	map->table_ns = l->began_ns;
	map->n_tables++;
	map->failures = l->failed ? map->failures + 1 : 0;
	map->bytes += l->bytes;
	pthread_rwlock_wrlock(&m->lock);
	p = maps_process(m, map->pid);
	if (p && p->image == l->image) {
		id = binary_add_made(m, map->pid, map->path, fd, from,
				     from ? l->binary : NONE_BINARY);
		p->made.binary = map->newest = id;
		fd = -1;
	}
	pthread_rwlock_unlock(&m->lock);
	if (fd >= 0)
		close(fd);
}

static bool has_room(struct maps *m, struct made_map *map, const struct look *l)
{
	uint64_t all = __atomic_load_n(&m->made_bytes, __ATOMIC_RELAXED);
	uint64_t bytes = map->bytes + l->bytes;

	if (map->failures >= MAX_FAILURES)
		return false;
	if (map->n_tables < MAX_TABLES && bytes < MAX_BYTES && all < MAX_ALL_BYTES)
		return true;
	if (!map->full && made_may_warn(m))
		log_warn("%s: what comes to it from now on is not read: its functions have taken "
			 "%llu MB in %zu tables (%d MB and %d are allowed, and %u MB for those of "
			 "all processes)",
			 map->path, (unsigned long long)bytes >> 20, map->n_tables, MAX_BYTES >> 20,
			 MAX_TABLES, MAX_ALL_BYTES >> 20);
	map->full = true;
	return false;
}

/* Written anew: not what the tables so far are of. */
static bool is_another(const struct made_map *map, const struct look *l, const struct stat *st)
{
	char end[sizeof(map->end)];

	if (map->dev != st->st_dev || map->ino != st->st_ino || (uint64_t)st->st_size < l->next)
		return true;
	if (mtime_of(st) == map->mtime_ns)
		return false;
	return (uint64_t)st->st_size == map->seen || read_end(map, end) != map->n_end ||
	       memcmp(end, map->end, map->n_end) != 0;
}

/* @map is open, and @st tells of it. */
static void look_at(struct maps *m, struct made_map *map, const struct look *l,
		    const struct stat *st)
{
	bool another = l->binary == NONE_BINARY || is_another(map, l, st);
	uint64_t size = st->st_size, pause = (map->n_tables + 1) * TABLE_NS;
	uint64_t due = map->table_ns + (pause < MAX_TABLE_NS ? pause : MAX_TABLE_NS);

	/* Of what could not be read once, no more is to be had as long as nothing is added. */
	if ((!another && size <= map->seen &&
	     (l->failed || l->next + TABLE_PERF_LINE >= map->seen)) ||
	    l->outside || !has_room(m, map, l)) {
		end(m, map->pid, l, l->began_ns, l->began_ns + LOOK_NS);
		return;
	}
	if ((map->table_ns && l->began_ns < due) || l->crowded) {
		end(m, map->pid, l, 0, l->crowded ? l->began_ns + LAST_PAUSE_NS : due);
		return;
	}
	add_table(m, map, l, another ? 0 : l->next, st);
	end(m, map->pid, l, l->began_ns, l->began_ns + LOOK_NS);
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

static bool is_of_other(const struct made_map *map, uint64_t started)
{
	return map && started && map->started && map->started != started;
}

/* The map has been opened at @fd. False: no more may be held. */
static bool keep(struct maps *m, struct made_map *map, int fd)
{
	bool room = true;

	if (map->fd >= 0) {
		close(map->fd);
	} else {
		pthread_rwlock_wrlock(&m->lock);
		room = m->n_fd < m->max_fd;
		m->n_fd += room;
		pthread_rwlock_unlock(&m->lock);
	}
	map->fd = room ? fd : -1;
	if (!room)
		close(fd);
	return room;
}

/* Returns what is held of its map, to be read, or NULL. */
static struct made_map *open_map(struct maps *m, int pid, struct look *l, uint64_t started,
				 struct stat *st)
{
	struct made_map *map = held(m, pid);
	_cleanup_free_ char *path = NULL;
	struct error err = { 0 };
	int fd = perf_map_open(pid, st, &path, &err);

	if (err.code && !l->told) {
		if (made_may_warn(m))
			log_warn("%s", err.text);
		l->told = true;
	}
	if (err.code) { /* nor is what it was believed to be read on */
		if (map)
			drop(m, map - m->made_maps->v);
		return NULL;
	}
	if (fd < 0)
		return map && !fstat(map->fd, st) ? map : NULL;
	if (!map) {
		map = hold(m, pid, l, path);
		map->started = started;
		path = NULL;
	}
	if (keep(m, map, fd))
		return map;
	drop(m, map - m->made_maps->v);
	return NULL;
}

void made_look(struct maps *m, int pid)
{
	uint64_t started;
	struct made_map *map;
	struct look l;
	struct stat st;

	if (!begin(m, pid, &l)) {
		held(m, pid); /* lets go those of processes that are gone */
		return;
	}
	started = perf_map_started(pid);
	if (is_of_other(held(m, pid), started)) {
		forget_other(m, pid, &l);
		if (!begin(m, pid, &l))
			return;
	}
	if (!l.ready) {
		end(m, pid, &l, 0, l.began_ns + LOOK_NS);
		return;
	}
	map = open_map(m, pid, &l, started, &st);
	if (map)
		look_at(m, map, &l, &st);
	else
		end(m, pid, &l, l.began_ns, l.began_ns + LOOK_NS);
}
